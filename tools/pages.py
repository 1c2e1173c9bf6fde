"""What is written into the docs from declarations: the options of the verbs on every surface, and the table of resources."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import StrEnum

from perdure.domain.options import FlatOption, Option, Options, Surface, flat_options, options_of
from perdure.manage.facts import FactListOptions
from perdure.recall.options import RecallOptions
from perdure.reflect.options import ConsolidateOptions, ReflectOptions
from perdure.retain.options import RetainLaterOptions, RetainOptions
from perdure.surfaces.cli.options import flags
from perdure.verbs import RESOURCES, public_members

START, END = "<!-- resources: written by python -m tools.generate -->", "<!-- end of resources -->"
HEAD = """# Options of the verbs

Every option is declared once, so that it has the same name, default and meaning in [Python](python.md), over [REST](rest.md), on the
[command line](cli.md) and for [assistants](mcp.md). Where an object has several options (`include`, `hints`), the command line and
MCP take them one by one. Written by `python -m tools.generate` from the declarations.
"""
VERBS: tuple[tuple[str, str, type[Options], type[Options] | None], ...] = (
    ("recall", "`recall` and `prompt`", RecallOptions, None),
    ("reflect", "`reflect`: those of `recall`, and", ReflectOptions, RecallOptions),
    ("retain", "`retain`", RetainOptions, None),
    ("retain_later", "`retain_later`: those of `retain`, and", RetainLaterOptions, RetainOptions),
    ("consolidate", "`consolidate`", ConsolidateOptions, None),
    ("facts.list", "`facts.list`, for assistants `recent`", FactListOptions, None),
)
"""(verb, heading, options, those that are in another table)"""
EVERYWHERE = frozenset({"recall", "reflect", "retain", "facts.list"})
"""Verbs that are commands and tools of assistants too, where `facts.list` is `recent`."""


def options_page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *(line for verb in VERBS for line in _table(*verb))])


def _table(verb: str, heading: str, kind: type[Options], base: type[Options] | None) -> Iterator[str]:
    shown = set() if base is None else {one.name for one in options_of(base)}
    yield f"## {heading}\n"
    yield "| option | default | what it does | command line | MCP |"
    yield "| --- | --- | --- | --- | --- |"
    for option in options_of(kind):
        if option.name in shown:
            continue
        parts = (
            [FlatOption(one.name, one, option.name) for one in options_of(option.group, Surface.PYTHON)]
            if option.group
            else []
        )
        yield _row(verb, kind, FlatOption(option.name, option), option.name)
        for part in parts:
            yield _row(verb, kind, part, f"{option.name}.{part.name}")
    yield ""


def _row(verb: str, kind: type[Options], one: FlatOption, name: str) -> str:
    on = {
        surface: {(flat.group, flat.option.name): flat for flat in flat_options(kind, surface)}
        for surface in (Surface.CLI, Surface.MCP)
    }
    place = (one.group, one.option.name)
    flag = assistant = ""
    if verb in EVERYWHERE and place in on[Surface.CLI]:
        flag = ", ".join(f"`{flag}`" for flag in flags(on[Surface.CLI][place]))
    if verb in EVERYWHERE and place in on[Surface.MCP]:
        assistant = f"`{on[Surface.MCP][place].name}`"
    description = one.option.description.rstrip(".").replace("|", "\\|")
    return f"| `{name}` | {_default(one.option)} | {description} | {flag} | {assistant} |"


def _default(option: Option) -> str:
    if (
        option.group is not None
        or not isinstance(option.default, bool | int | float | str)
        or option.default == ""
    ):
        return ""
    return f"`{option.default.value if isinstance(option.default, StrEnum) else option.default}`"


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
