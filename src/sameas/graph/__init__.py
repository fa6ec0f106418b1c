"""Graphs, conversions, RDF statements, semantics, and the task of an alignment."""
