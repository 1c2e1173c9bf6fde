"""Files as text: one reader per kind, chosen by the file's name."""
