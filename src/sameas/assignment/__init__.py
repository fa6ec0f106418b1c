"""The assignment problem: one-to-one links of largest total profit, exact or soft."""
