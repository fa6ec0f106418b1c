"""Files in and out: one module per format, reading and writing side by side."""
