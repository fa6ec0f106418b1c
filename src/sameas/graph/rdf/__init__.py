"""RDF statements assembled into the parts of a graph."""
