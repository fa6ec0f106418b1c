"""From two graphs to an Alignment: the stages in their order, one module per method."""
