"""Memory for coding assistants: hooks, the warm process that answers them, and installers."""
