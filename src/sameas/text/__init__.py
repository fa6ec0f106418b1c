"""Names to numbers: folding, n-grams, words, encoders, languages."""
