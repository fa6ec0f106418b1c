"""How good a run is, without labels: decoys tell how many links are wrong."""
