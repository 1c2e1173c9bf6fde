"""A bank for other programs: JSON lines, a vault of Markdown, Hindsight's archive, graphs."""
