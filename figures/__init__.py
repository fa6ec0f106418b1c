"""The figures that README.md and docs state: measured, kept, filled into the text."""
