"""Programs for those who work on Perdure; none of them is installed with it."""
