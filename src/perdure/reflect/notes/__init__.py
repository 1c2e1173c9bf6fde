"""Notes: what happened in a day, week or quarter, what changed and what is open, as Markdown made from the store."""
