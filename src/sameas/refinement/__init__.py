"""Learn from the most certain links about the other pairs."""
