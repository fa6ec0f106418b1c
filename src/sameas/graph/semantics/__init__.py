"""What a graph is about: kinds, names, paths, aliases."""
