"""Choices a user makes, and every number that was chosen."""
