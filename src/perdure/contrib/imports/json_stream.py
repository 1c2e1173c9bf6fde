"""JSON of any size, one value at a time: the elements of the arrays of a file, and lines of JSON.

By the standard library: `JSONDecoder.raw_decode` on a window of text that grows only while a value does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from perdure.errors import InvalidInput

WINDOW = 1 << 20
"""Characters read at a time."""
LARGEST_VALUE = 200_000_000
"""Characters of one value, and of one line."""
_SPACE = " \t\n\r"
_NUMBER_GOES_ON = 3
_NEAR_END = 16
"""A fault so near to the end of the window may be a value that goes on behind it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A value of a file: an element of its array, or of an array under a key of its object, or the value of a key itself."""

    key: str
    """The key of the object; empty for an array's file."""
    number: int
    """Which element of the array, from 0; -1 for a value that is no array."""
    value: Any


def stream_members(text: IO[str], name: str) -> Iterator[Member]:
    """Yield the members of a file that is an array or an object, in order; InvalidInput says what is wrong, and where."""
    window = _Window(text, name)
    opening = window.peek()
    if opening == "[":
        window.take()
        for number, value in enumerate(_elements(window)):
            yield Member("", number, value)
    elif opening == "{":
        window.take()
        yield from _object_members(window)
    else:
        raise window.fault("a JSON array or object")
    if window.peek():
        raise window.fault("the end of the file after the JSON value")


def _object_members(window: _Window) -> Iterator[Member]:
    first = True
    while True:
        if first and window.peek() == "}":
            window.take()
            return
        first = False
        key = window.value()
        if not isinstance(key, str):
            raise window.fault("a key in double quotes")
        if window.peek() != ":":
            raise window.fault("a colon after the key")
        window.take()
        if window.peek() == "[":
            window.take()
            for number, value in enumerate(_elements(window)):
                yield Member(key, number, value)
        else:
            yield Member(key, -1, window.value())
        if not _goes_on(window, "}"):
            return


def _elements(window: _Window) -> Iterator[Any]:
    if window.peek() == "]":
        window.take()
        return
    while True:
        yield window.value()
        if not _goes_on(window, "]"):
            return


def _goes_on(window: _Window, closing: str) -> bool:
    after = window.peek()
    if after not in (",", closing):
        raise window.fault(f"a comma or {closing}")
    window.take()
    return after == ","


class _Window:
    """A part of the text, and where in the file it stands."""

    def __init__(self, text: IO[str], name: str) -> None:
        self._text, self._name = text, name
        self._decoder = json.JSONDecoder()
        self._window, self._at = "", 0
        self._lines = 1
        self._ended = False

    def peek(self) -> str:
        """Return the next character that is no white space; empty at the end."""
        while True:
            while self._at < len(self._window) and self._window[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._window):
                return self._window[self._at]
            if self._ended:
                return ""
            self._read()

    def take(self) -> None:
        self._at += 1

    def value(self) -> Any:
        """Return the next value, whole."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._window, self._at)
            except RecursionError as error:
                raise self.fault("JSON that is nested less deeply") from error
            except json.JSONDecodeError as error:
                may_go_on = error.msg.startswith("Unterminated string")
                if self._ended or not (may_go_on or error.pos >= len(self._window) - _NEAR_END):
                    self._at = min(error.pos, len(self._window))
                    raise self.fault(f"valid JSON ({error.msg})") from error
            else:
                # A number near the end of the window may go on behind it ("1" of "1.5", "2" of "2e+3").
                whole = not isinstance(value, int | float) or end + _NUMBER_GOES_ON <= len(self._window)
                if whole or self._ended:
                    self._at = end
                    return value
            if len(self._window) - self._at > LARGEST_VALUE:
                raise self.fault(f"a value of at most {LARGEST_VALUE:,} characters")
            self._read()

    def fault(self, expected: str) -> InvalidInput:
        line = self._lines + self._window.count("\n", 0, self._at)
        column = self._at - self._window.rfind("\n", 0, self._at)
        what = "the end of the file" if self._at >= len(self._window) and self._ended else None
        return InvalidInput(f"{self._name}, line {line}, column {column}", expected, what)

    def _read(self) -> None:
        rest = self._window[self._at :]
        self._lines += self._window.count("\n", 0, self._at)
        try:
            more = self._text.read(max(WINDOW, len(rest)))
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{self._name}, near line {self._lines}", "UTF-8 text") from error
        self._ended = not more
        self._window, self._at = rest + more, 0


def stream_lines(text: IO[str], name: str) -> Iterator[tuple[int, Any | InvalidInput]]:
    """Lines of JSON with their numbers, blank ones left out; a line that is none as the error that says so."""
    number = 0
    while True:
        try:
            line = text.readline(LARGEST_VALUE + 1)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{name}, near line {number + 1}", "UTF-8 text") from error
        if not line:
            return
        number += 1
        if len(line) > LARGEST_VALUE:
            raise InvalidInput(f"{name}, line {number}", f"at most {LARGEST_VALUE:,} characters")
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            yield number, InvalidInput(f"{name}, line {number}", f"valid JSON ({error})")
