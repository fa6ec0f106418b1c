"""A web page on which people look at the links of a run, decide, and keep the decisions."""
