"""The paper's experiments and ours, with one command."""
