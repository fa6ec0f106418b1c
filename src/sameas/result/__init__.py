"""What came out: the alignment, and what is done with it."""
