"""Parsing the JSON of a model's answer: complete, wrapped in prose, or cut."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from perdure.ports.llm import JsonSchema

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder()
_WHITE = re.compile(r"\s*")


def read_json(text: str) -> object:
    """Return the JSON value of an answer, also from a code fence or from among words; raise ValueError if there is none."""
    candidates = [text, *(match.group(1) for match in _FENCED.finditer(text))]
    for candidate in candidates:
        try:
            return _strict(candidate)
        except ValueError:
            continue
    start = _start(text)
    if start < 0:
        raise ValueError("the answer has no JSON")
    try:
        value: object = _DECODER.raw_decode(text, start)[0]
    except ValueError as error:
        raise ValueError(f"the answer is not JSON: {error}") from error
    return value


def close_brackets(text: str) -> str | None:
    """Return an answer with missing closing brackets added; None if anything else is missing, as after a half-written item."""
    start = _start(text)
    body = text[start:].rstrip() if start >= 0 else ""
    if not body.endswith(("}", "]")):
        return None
    missing: list[str] = []
    quoted = escaped = False
    for letter in body:
        if quoted:
            quoted = escaped or letter != '"'
            escaped = letter == "\\" and not escaped
        elif letter == '"':
            quoted = True
        elif letter in "{[":
            missing.append("}" if letter == "{" else "]")
        elif letter in "}]" and (not missing or missing.pop() != letter):
            return None
    return body + "".join(reversed(missing)) if missing and not quoted else None


def is_truncated(text: str) -> bool:
    """Return whether an answer is valid JSON except that its end is missing."""
    start = _start(text)
    if start < 0:
        return False
    try:
        _DECODER.raw_decode(text, start)
    except ValueError:
        try:
            from_json(text[start:], allow_partial=True)
        except ValueError:
            return False
        return True
    return False


def complete_items(text: str, items: str) -> dict[str, object] | None:
    """Return the complete fields of a cut object, and of its list `items` the complete items.

    None if not one item is complete.
    """
    at = text.find("{")
    if at < 0:
        return None
    fields: dict[str, object] = {}
    at += 1
    try:
        while text[at := _skip(text, at)] != "}":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if text[at] != ":":
                break
            at = _skip(text, at + 1)
            if key == items and text[at] == "[":
                complete, end = _elements(text, at + 1)
                fields[key] = complete
                if end is None:
                    break
                at = end
            else:
                value, after = _DECODER.raw_decode(text, at)
                if text[_skip(text, after)] not in ",}":
                    break
                fields[key], at = value, after
            at = _skip(text, at)
            if text[at] == ",":
                at += 1
    except (ValueError, IndexError):
        pass  # The end of what was sent.
    return fields if fields.get(items) else None


def _elements(text: str, at: int) -> tuple[list[object], int | None]:
    """Return the complete elements of the list that begins at `at`, and where the list ends; None if it does not."""
    complete: list[object] = []
    try:
        while text[at := _skip(text, at)] != "]":
            value, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            # A number, true or null may go on where the text was cut; the others close themselves.
            if at >= len(text) and not isinstance(value, dict | list | str):
                return complete, None
            complete.append(value)
            if text[at] == ",":
                at += 1
            elif text[at] != "]":
                return complete, None
    except (ValueError, IndexError):
        return complete, None
    return complete, at + 1


def _strict(text: str) -> object:
    value: object = from_json(text.strip())
    return value


def _start(text: str) -> int:
    return min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)


def _skip(text: str, at: int) -> int:
    match = _WHITE.match(text, at)
    return at if match is None else match.end()


T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected(Generic[T]):
    """A structured answer. `read` raises ValueError that says what is wrong, in words that a model can act on."""

    schema: JsonSchema
    read: Callable[[object], T]
    items: str = ""
    """The list in the answer whose complete items are kept if the answer was cut; empty: a cut answer is useless."""


def expect(model: type[M], *, items: str = "") -> Expected[M]:
    """Expect an answer that satisfies a pydantic model."""

    def read(value: object) -> M:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error

    return Expected(schema=model.model_json_schema(), read=read, items=items)
