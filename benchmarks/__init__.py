"""Speed, memory and scale: one script each, run as ``python -m benchmarks.NAME``."""
