"""A reconciliation service: other tools ask which entity of a graph a name means."""
