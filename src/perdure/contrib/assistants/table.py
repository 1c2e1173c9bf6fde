"""The table of the commands of coding assistants; the help of `perdure` reads it without loading them."""

from __future__ import annotations

from perdure.surfaces.plugins import SERVE, Entry

COMMANDS = tuple(
    Entry(SERVE, name, f"commands:{name}", summary, package="perdure.contrib.assistants")
    for name, summary in (
        ("install", "Put memory into a coding assistant, or take it out again"),
        ("assistant", "Serve MCP with the memory that hooks use in this project"),
        ("hook", "Answer an event of a coding assistant; its hooks call it"),
    )
)
