"""Calls of language models: rules for every call, prompts, and costs."""
