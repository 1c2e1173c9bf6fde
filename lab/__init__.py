"""Data, training and export of the reader: the small model that judges meaning."""
