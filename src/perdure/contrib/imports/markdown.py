"""Markdown as people and note programs write it: front matter, links, tags, and what is no prose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from perdure.contrib.imports.values import as_moment, as_tags, as_text

_FRONT = re.compile(
    r"\A---[ \t]*\r?\n(?P<front>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_FENCED = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^(?P=fence)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(
    r"(?P<embed>!)?\[\[(?P<target>[^\[\]|#^\n]*)(?P<part>[#^][^\[\]|\n]*)?(?:\|(?P<alias>[^\[\]\n]*))?\]\]"
)
_TAG = re.compile(r"(?<![\w/&#\]])#(?=[^\d\s]|\d+[^\d\s])(?P<tag>[\w/-]+)")
_DAILY = re.compile(r"(?<!\d)(?P<day>\d{4}-\d{2}-\d{2})(?!\d)")
_FIELD = re.compile(r"(?P<key>[\w -]+?)\s*:(?:[ \t]+(?P<value>.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)$")
_FILE_TARGET = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|pdf|mp3|mp4|wav|m4a|webm|canvas|base|excalidraw)$", re.IGNORECASE
)
_DATES = ("date", "created", "created_at", "creation date", "date created")


_TASK = re.compile(r"^(?P<lead>[ \t]*(?:[-*+]|\d+[.)])[ \t]+)\[(?P<mark>[^\[\]\n])\][ \t]+", re.MULTILINE)
_LAST_TAGS = re.compile(r"(?:(?<=\s)|^)(?:#[^\s#]+[ \t]*)+$", re.MULTILINE)
_CALLOUT = re.compile(r"^(?P<lead>(?:>[ \t]?)+)\[![\w-]+\][+-]?[ \t]*", re.MULTILINE)
"""What makes a quotation a box in Obsidian: "[!note]"."""
_HIGHLIGHT = re.compile(r"==(?=\S)(?P<words>[^=\n]+)(?<=\S)==")
_HEADING = re.compile(r"#{1,6}[ \t]")
_BLANK = re.compile(r"\n[ \t]*\n\s*")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, with the heading over it, and the notes that it links to."""

    text: str
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A note: its front matter, its prose, and what it links to."""

    front: Mapping[str, str | list[str]]
    blocks: tuple[Block, ...]
    """Without front matter, code, queries, comments and closing tags; links as their words, tasks as what is to do or done."""
    tags: frozenset[str] = frozenset()
    raw: str = field(default="", repr=False)
    """The text below the front matter, as written."""

    @property
    def body(self) -> str:
        """The prose as one text."""
        return "\n\n".join(block.text for block in self.blocks)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the notes that it links to, once each, in order."""
        return tuple(dict.fromkeys(name for block in self.blocks for name in block.links))

    def texts(self, key: str) -> list[str]:
        """Return the values of a field of the front matter."""
        value = self.front.get(key, [])
        return [value] if isinstance(value, str) else list(value)

    def text(self, key: str) -> str:
        """Return the first value of a field of the front matter."""
        return next(iter(self.texts(key)), "")


def read_note(text: str) -> Note:
    """Read a note; code blocks, Dataview and other queries, and comments say nothing that a person said."""
    match = _FRONT.match(text)
    front = read_front_matter(match["front"]) if match else {}
    raw = text[match.end() :] if match else text
    prose = _COMMENT.sub(" ", _FENCED.sub("", raw))
    inline = [match["tag"] for match in _TAG.finditer(_INLINE_CODE.sub("", _LINK.sub("", prose)))]
    listed = [part for key in ("tags", "tag") for part in _front_tags(front.get(key))]
    return Note(front=front, blocks=tuple(_blocks(prose)), tags=as_tags([*listed, *inline]), raw=raw)


def _blocks(prose: str) -> Iterator[Block]:
    """Paragraphs, each with the headings right before it."""
    heads: list[str] = []
    for part in _BLANK.split(prose.strip()):
        marked = _HIGHLIGHT.sub(r"\g<words>", _CALLOUT.sub(r"\g<lead>", part))
        text = _TASK.sub(_as_task, _LAST_TAGS.sub("", _LINK.sub(_as_words, marked))).strip()
        if not text:
            continue
        if all(_HEADING.match(line) for line in text.splitlines()):
            heads.append(text)
            continue
        links = dict.fromkeys(
            name
            for link in _LINK.finditer(_INLINE_CODE.sub("", part))
            if (name := _name_of(link["target"])) and not _FILE_TARGET.search(name)
        )
        yield Block("\n".join([*heads, text]), tuple(links))
        heads = []


def _as_task(match: re.Match[str]) -> str:
    return match["lead"] + ("Done: " if match["mark"] in "xX" else "To do: ")


def _as_words(link: re.Match[str]) -> str:
    """Return a link as its words; an embedded file is none."""
    name = _name_of(link["target"])
    if link["embed"] and (not name or _FILE_TARGET.search(name)):
        return ""
    return (link["alias"] or "").strip() or name or (link["part"] or "").lstrip("#^").strip()


def _name_of(target: str) -> str:
    """Return the note that a link means: without its folder and `.md`."""
    return target.strip().removesuffix(".md").rsplit("/", 1)[-1].strip()


def _front_tags(value: str | list[str] | None) -> list[str]:
    if value is None:
        return []
    return re.split(r"[,\s]+", value) if isinstance(value, str) else value


def read_front_matter(front: str) -> dict[str, str | list[str]]:
    """Read the simple YAML that notes have: texts, lists in brackets or on lines with dashes, quoted or not; keys in lower case."""
    fields: dict[str, str | list[str]] = {}
    key = ""
    for line in front.splitlines():
        item = _ITEM.match(line)
        if item and key and (line[:1] in " \t-"):
            before = fields.get(key)
            fields[key] = [*(before if isinstance(before, list) else []), _unquoted(item["value"])]
            continue
        match = _FIELD.match(line)
        if not match or line[:1] in " \t#":
            continue
        key = match["key"].strip().casefold()
        value = (match["value"] or "").strip()
        if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
            fields[key] = [part for one in _commas(value[1:-1]) if (part := _unquoted(one))]
        elif value:
            fields[key] = _unquoted(value)
        else:
            fields[key] = []
    return fields


def _commas(value: str) -> list[str]:
    return re.findall(r"\"[^\"]*\"|'[^']*'|[^,]+", value)


def _unquoted(value: str) -> str:
    text = as_text(value).strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    text = text[1:-1] if quoted else re.split(r"\s#", text, maxsplit=1)[0].strip()
    return text.strip()


def written_at(note: Note, stem: str) -> datetime | None:
    """When a note was written: as its front matter says, or its name where that is a day; the file's own time is none."""
    stated = (as_moment(value) for key in _DATES for value in note.texts(key))
    moment = next((one for one in stated if one is not None), None)
    return moment or day_of(stem)


def day_of(stem: str) -> datetime | None:
    """Return the day that a daily note is named after."""
    match = _DAILY.search(stem)
    try:
        day = date.fromisoformat(match["day"]) if match else None
    except ValueError:
        return None
    return None if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC)
