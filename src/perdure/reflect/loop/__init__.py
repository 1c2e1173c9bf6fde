"""Reflect with a language model: a loop of tools over memory, and an answer whose sentences are checked against their sources."""
