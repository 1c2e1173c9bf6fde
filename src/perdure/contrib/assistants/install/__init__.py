"""Putting Perdure into the configuration of coding assistants, and taking it out again."""
