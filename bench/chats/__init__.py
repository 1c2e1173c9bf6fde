"""Messy conversations with questions: what memory brings up first, what is stale, what it makes up."""
