"""The decision, apart from the ranking: candidates are kept once, rules are compared offline."""
