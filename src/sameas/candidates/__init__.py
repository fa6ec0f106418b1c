"""Pairs worth a look."""
