"""Changes to JSON files as text: what is not changed stays letter for letter, comments and order included.

A file is read into nodes that know where they stand; a change puts a value in, or takes one out, at a path of keys and positions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.errors import InvalidInput

Path = Sequence[str | int]
"""Keys of objects and positions in arrays, from the root on."""

_SPACE = re.compile(r"[ \t\r\n]*")
_SPACE_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_LITERAL = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_COMMENT_TO_LINE_END = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*\*/[ \t]*)(?=\n|$)")
MOST_DEPTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value and where it stands in the text."""

    start: int
    end: int
    value: object
    keys: tuple[str, ...] | None = None
    """Of an object."""
    items: tuple[Node, ...] = ()
    """Values of an object, or elements of an array."""
    starts: tuple[int, ...] = ()
    """Where each of them begins, its key included."""

    @property
    def is_container(self) -> bool:
        return self.keys is not None or isinstance(self.value, list)

    def position(self, step: str | int) -> int | None:
        """Where a key or an index stands among the items; the last of equal keys counts."""
        if isinstance(step, int):
            return step if self.keys is None and 0 <= step < len(self.items) else None
        if self.keys is None or step not in self.keys:
            return None
        return len(self.keys) - 1 - self.keys[::-1].index(step)


class JsonText:
    """A JSON file that can be changed; with `comments` one that may have comments and trailing commas."""

    def __init__(self, text: str, name: str, *, comments: bool = False) -> None:
        self.text = text
        self._name, self._comments = name, comments
        self._root = self._parse()

    def get(self, path: Path) -> object:
        """Return the value at a path; None where there is none."""
        node = self._find(path)
        return None if node is None else node.value

    def has(self, path: Path) -> bool:
        """Whether there is a value at a path."""
        return self._find(path) is not None

    def put(self, path: Path, value: object) -> None:
        """Set the value at a path, making the objects on the way; a position behind an array's end adds to it."""
        node = self._root
        for depth, step in enumerate(path):
            if not node.is_container or isinstance(step, str) != (node.keys is not None):
                where = ".".join(map(str, path[:depth])) or "the whole"
                raise InvalidInput(
                    self._name, f"{where} to be {'an object' if isinstance(step, str) else 'a list'}"
                )
            position = node.position(step)
            if position is None:
                for inner in reversed(path[depth + 1 :]):
                    value = {inner: value} if isinstance(inner, str) else [value]
                self._insert(node, step, value)
                break
            node = node.items[position]
        else:
            if node.value == value:
                return
            self.text = self.text[: node.start] + self._dump(value, node.start) + self.text[node.end :]
        self._root = self._parse()

    def drop(self, path: Path) -> None:
        """Take out the value at a path, and the objects and arrays on the way that are empty then."""
        *above, step = path
        parent = self._find(above)
        position = None if parent is None else parent.position(step)
        if parent is None or position is None:
            return
        self._cut(parent, position)
        self._root = self._parse()
        rest = self._find(above)
        if above and rest is not None and not rest.items:
            self.drop(above)

    def _find(self, path: Path) -> Node | None:
        node = self._root
        for step in path:
            position = node.position(step)
            if position is None:
                return None
            node = node.items[position]
        return node

    # Changing

    def _insert(self, parent: Node, key: str | int, value: object) -> None:
        label = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
        text = self.text
        if not parent.items:
            outer = self._indent(parent.start)
            inner = outer + self._unit()
            content = f"\n{inner}{label}{_indented(value, self._unit(), inner)}"
            rest = text[parent.start + 1 : parent.end - 1]
            closing = rest if rest.strip() else f"\n{outer}"
            self.text = text[: parent.start + 1] + content + closing + text[parent.end - 1 :]
            return
        end, first = parent.items[-1].end, parent.starts[0]
        if not self._begins_line(first):
            comma = self._comma_after(end)
            at = end if comma is None else comma + 1
            before, after = (", ", "") if comma is None else (" ", ",")
            content = f"{before}{label}{json.dumps(value, ensure_ascii=False)}{after}"
            self.text = text[:at] + content + text[at:]
            return
        indent = self._indent(first)
        content = f"\n{indent}{label}{_indented(value, self._unit(), indent)}"
        comma = self._comma_after(end)
        if comma is not None:
            content += ","
        else:
            text = f"{text[:end]},{text[end:]}"
            comma = end
        note = _COMMENT_TO_LINE_END.match(text, comma + 1)
        at = note.end() if note is not None else comma + 1
        self.text = text[:at] + content + text[at:]

    def _cut(self, parent: Node, position: int) -> None:
        text = self.text
        start, end = parent.starts[position], parent.items[position].end
        comma = self._comma_after(end)
        before = None
        if comma is not None:
            end = comma + 1
        elif position:
            before = self._comma_after(parent.items[position - 1].end)
        line = text.rfind("\n", 0, start) + 1
        if not text[line:start].strip():
            start = line
            line_end = text.find("\n", end)
            if line_end >= 0 and not text[end:line_end].strip():
                end = line_end + 1
        elif before is not None:
            start, before = before, None
        elif comma is not None:
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        text = text[:start] + text[end:]
        if before is not None:
            text = text[:before] + text[before + 1 :]
        closing = parent.end - (len(self.text) - len(text))
        if len(parent.items) == 1 and not text[parent.start + 1 : closing - 1].strip():
            text = text[: parent.start + 1] + text[closing - 1 :]
        self.text = text

    def _dump(self, value: object, at: int) -> str:
        return _indented(value, self._unit(), self._indent(at))

    def _comma_after(self, at: int) -> int | None:
        place = self._skip(at)
        return place if self.text[place : place + 1] == "," else None

    def _begins_line(self, at: int) -> bool:
        return not self.text[self.text.rfind("\n", 0, at) + 1 : at].strip()

    def _indent(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 :]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _unit(self) -> str:
        """One step of indentation, as the file's first member has it."""
        if self._root.starts and self._begins_line(self._root.starts[0]):
            return self._indent(self._root.starts[0]) or "  "
        return "  "

    # Reading

    def _parse(self) -> Node:
        root = self._node(self._skip(0), 0)
        at = self._skip(root.end)
        if at != len(self.text):
            raise self._wrong(at, "the end of the file")
        return root

    def _skip(self, at: int) -> int:
        space = (_SPACE_AND_COMMENTS if self._comments else _SPACE).match(self.text, at)
        return at if space is None else space.end()

    def _node(self, at: int, depth: int) -> Node:
        if depth > MOST_DEPTH:
            raise self._wrong(at, f"at most {MOST_DEPTH} levels")
        mark = self.text[at : at + 1]
        if mark == "{" or mark == "[":
            return self._container(at, depth, "}" if mark == "{" else "]")
        scalar = (_STRING if mark == '"' else _LITERAL).match(self.text, at)
        if scalar is None:
            raise self._wrong(at, "a value")
        return Node(start=at, end=scalar.end(), value=self._scalar(scalar))

    def _container(self, start: int, depth: int, closing: str) -> Node:
        keys: list[str] = []
        items: list[Node] = []
        starts: list[int] = []
        at = self._skip(start + 1)
        while self.text[at : at + 1] != closing:
            starts.append(at)
            if closing == "}":
                key = _STRING.match(self.text, at)
                if key is None:
                    raise self._wrong(at, "a key in double quotes or }")
                keys.append(str(self._scalar(key)))
                at = self._skip(key.end())
                if self.text[at : at + 1] != ":":
                    raise self._wrong(at, ":")
                at = self._skip(at + 1)
            items.append(self._node(at, depth + 1))
            at = self._skip(items[-1].end)
            if self.text[at : at + 1] == ",":
                after = self._skip(at + 1)
                if self.text[after : after + 1] == closing and not self._comments:
                    raise self._wrong(at, f"no comma before {closing}")
                at = after
            elif self.text[at : at + 1] != closing:
                raise self._wrong(at, f", or {closing}")
        values = [item.value for item in items]
        return Node(
            start=start,
            end=at + 1,
            value=dict(zip(keys, values, strict=True)) if closing == "}" else values,
            keys=tuple(keys) if closing == "}" else None,
            items=tuple(items),
            starts=tuple(starts),
        )

    def _scalar(self, match: re.Match[str]) -> object:
        try:
            return json.loads(match[0])
        except ValueError as error:
            raise self._wrong(match.start(), "a valid text or number") from error

    def _wrong(self, at: int, expected: str) -> InvalidInput:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return InvalidInput(
            self._name, f"{expected} at line {line}, column {column}", self.text[at : at + 20] or "the end"
        )


def _indented(value: object, unit: str, indent: str) -> str:
    """Return a value over several lines, each behind the first with the indentation before it."""
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{indent}")
