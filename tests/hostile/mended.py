"""What attempts have shown and what was mended since, by kind; kept by hand."""

from __future__ import annotations

MENDED: dict[str, tuple[str, ...]] = {
    "bombs": (
        "Parquet that repeats one long text, as a graph",
        "the same as links, converted",
        "the same as links, evaluated",
    ),
    "encodings": ("XML in UTF-32 as an alignment was an internal fault",),
    "options": ("columns that stand twice in a table of records were an internal fault",),
    "mutated records": (
        "a column that stands twice was an internal fault",
        "lines that end with CR alone were an internal fault",
    ),
    "mutated property graphs": (
        "GraphRAG's ids, titles, types and ends as lists or bytes were internal faults",
        "a header of neo4j with :ID and :END_ID was an internal fault",
    ),
    "endpoints": ("a port above 65,535 was taken modulo 65,536",),
    "shapes": (
        "a sexagesimal number of 20,000 parts in the header of SSSOM was computed",
        "RDF/XML with 100,000 attributes or namespaces on one element took quadratic time",
    ),
    "folders": (
        "an encoder that run.json names was loaded",
        "paths and addresses in run.json were opened",
    ),
    "outputs": (
        "`report` on a full disk was an internal fault",
        "a checkpoint that could not be written ended `align` and stayed",
    ),
    "overwriting": (
        "an output that is an input replaced it",
        "`-o memory://x` and an empty output were accepted",
        "a host that does not exist was shown as a Python tuple",
    ),
    "clients": (
        "unfinished headers and bodies kept other clients out",
        "accept and reject of one pair in one request were both stored",
        "clients that send many requests at once and do not read kept others out",
    ),
    "databases": (
        "a database that is a link was followed",
        "`report` wrote into the run folder",
    ),
    "environments": ("little address space gave a wrong error, or an abort with much noise",),
    "memory": ("names of millions of letters were compared as a whole",),
    "mutated runs": ("a figure of another type in run.json was an internal fault",),
}
