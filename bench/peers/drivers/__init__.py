"""One driver a memory; each runs in that memory's own environment and imports nothing else of the project."""
