"""Asking language models: what every call obeys, the prompts, and what calls cost."""
