"""A table of a TOML file, changed as text: the standard library reads TOML and writes none.

The table stands as `[a.b]` with plain `key = value` lines below it. Whatever else the file holds stays letter for letter; that
nothing else changed is checked by reading the file before and after.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from perdure.errors import InvalidInput

Value = str | list[str] | int | bool | Mapping[str, str]


def put_table(text: str, name: str, path: Sequence[str], values: Mapping[str, Value]) -> str:
    """Return the text with a table of these values; other keys of such a table, and tables below it, stay."""
    before = _read(text, name)
    present = _table(before, path)
    merged = {**(present or {}), **values}
    if present == merged:
        return text
    lines = [f"{key} = {_written(value)}" for key, value in values.items()]
    if present is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        after = "\n".join([f"{text}{gap}[{'.'.join(path)}]", *lines]) + "\n"
    else:
        start, end = _section(text, name, path)
        kept = [line for line in text[start:end].splitlines() if not _is_line_of(line, values)]
        while kept and not kept[-1].strip():
            kept.pop()
        tail = text[end:]
        after = text[:start] + "\n".join([kept[0], *lines, *kept[1:]]) + "\n" + (f"\n{tail}" if tail else "")
    _check(after, name, before, path, merged)
    return after


def drop_table(text: str, name: str, path: Sequence[str]) -> str:
    """Return the text without a table and the tables below it."""
    before = _read(text, name)
    if _table(before, path) is None:
        return text
    start, end = _section(text, name, path, below=True)
    head, tail = text[:start].rstrip("\n"), text[end:].lstrip("\n")
    after = f"{head}\n" + (f"\n{tail}" if tail else "") if head else tail
    _check(after, name, before, path, None)
    return after


def table(text: str, name: str, path: Sequence[str]) -> Mapping[str, object] | None:
    """Return the table as it is; None where there is none."""
    return _table(_read(text, name), path)


def _read(text: str, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(name, f"valid TOML: {error}") from error


def _table(document: Mapping[str, object], path: Sequence[str]) -> Mapping[str, object] | None:
    at: object = document
    for step in path:
        at = at.get(step) if isinstance(at, Mapping) else None
    return at if isinstance(at, Mapping) else None


def _section(text: str, name: str, path: Sequence[str], *, below: bool = False) -> tuple[int, int]:
    """Where the table's lines stand, from its header to the next one; with `below` to the next that is not below it."""
    key = r"\s*\.\s*".join(rf"(?:{re.escape(step)}|\"{re.escape(step)}\")" for step in path)
    header = re.compile(rf"^[ \t]*\[\s*{key}\s*\][^\n]*\n?", re.MULTILINE)
    heads = list(header.finditer(text))
    if len(heads) != 1:
        raise InvalidInput(name, f"the table [{'.'.join(path)}] under a header of its own, to change it")
    inside = re.compile(rf"[ \t]*\[\s*{key}\s*\.")
    for following in re.finditer(r"^[ \t]*\[", text[heads[0].end() :], re.MULTILINE):
        at = heads[0].end() + following.start()
        if not (below and inside.match(text, at)):
            return heads[0].start(), at
    return heads[0].start(), len(text)


def _is_line_of(line: str, values: Mapping[str, Value]) -> bool:
    key = line.partition("=")[0].strip().strip('"')
    return "=" in line and key in values


def _written(value: Value) -> str:
    """Return a value as TOML, which writes texts, numbers and lists of them as JSON does."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {json.dumps(text)}" for key, text in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _check(
    after: str,
    name: str,
    before: Mapping[str, object],
    path: Sequence[str],
    expected: Mapping[str, object] | None,
) -> None:
    """Raise unless the table is as expected and everything else as it was."""
    try:
        document = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        document = {}
    if _table(document, path) != expected or _without(document, path) != _without(before, path):
        raise InvalidInput(
            name, f"[{'.'.join(path)}] in a form that can be changed without touching the rest"
        )


def _without(document: Mapping[str, object], path: Sequence[str]) -> dict[str, object]:
    first, *rest = path
    copy = dict(document)
    inner = copy.pop(first, None)
    if rest and isinstance(inner, Mapping):
        left = _without(inner, rest)
        if left:
            copy[first] = left
    return copy
