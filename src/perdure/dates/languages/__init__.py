"""One data file for each language."""
