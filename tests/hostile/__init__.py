"""Attempts to break what the command line promises; run all with ``python -m tests.hostile``."""
