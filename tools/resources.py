"""The table of resources in docs/python.md, written from their classes."""

from __future__ import annotations

import inspect

from perdure.verbs import RESOURCES, public_members

START, END = "<!-- resources: written by python -m tools.generate -->", "<!-- end of resources -->"


def with_resources(page: str) -> str:
    """Return a page with the present table between its markers."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    rows = [
        f"| `memory.{name}` | {_summary(kind)} | {', '.join(f'`{verb}`' for verb in _verbs(kind))} |"
        for name, kind in RESOURCES.items()
    ]
    table = "\n".join(["| resource | what it is | methods |", "| --- | --- | --- |", *rows])
    return f"{before}{START}\n{table}\n{END}{after}"


def _summary(kind: type) -> str:
    """Return the first line of the module that a resource is defined in."""
    module = inspect.getmodule(kind)
    first = (inspect.getdoc(module) or "").split("\n")[0].rstrip(".")
    return first[0].lower() + first[1:]


def _verbs(kind: type) -> list[str]:
    order = {name: place for place, name in enumerate(vars(kind))}
    return sorted((name for name, _ in public_members(kind)), key=lambda name: (name != "list", order[name]))
