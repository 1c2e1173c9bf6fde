"""A turn's structure: blocks (paragraphs, list items with their heading, code), and the units that are grouped into facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from perdure.extract.local.language import language_of
from perdure.ports.tagger import Mention, Sentence, Token
from perdure.text.sentence import is_readable
from perdure.text.wordings import LANGUAGES

BlockKind = Literal["prose", "item", "code"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_BOLD_HEADING = re.compile(r"\s*(?:\*\*|__)[^*_\n]{2,80}(?:\*\*|__):?\s*$")
_ITEM = re.compile(r"\s*(?:[-*+•◦‣–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_TABLE_RULE = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$")
_SENTENCE_END = re.compile(r"[.!?:;…。！？]['\"”’)\]*_]*\s*$")
_BORDER = re.compile(r"(?<=[.!?。！？])\s+|\n")

_WRAPPED = 50
"""A line shorter than this was ended on purpose, not wrapped by a mail program or an editor."""
_LONGEST_BLOCK = 4000
_LONGEST_HEADING = 160
_SHORT_HEADING = 60

_DOUBLE = r"\"[^\"\n]*\"|“[^”\n]*”"
_INTRODUCED = r"(?:^|(?<=[,:] )|(?<=says )|(?<=said )|(?<=like )|(?<=asked )|(?<=asks ))"
_SINGLE = rf"{_INTRODUCED}'(?![Cc]ause\b|[Tt]il\b|[Ee]m\b)\w(?:[^'\n]|'(?=\w)){{0,300}}'(?=[\s,.!?;:)]|$)|‘[^‘\n]{{0,300}}’(?!\w)"

QUOTED = re.compile(f"{_DOUBLE}|{_SINGLE}")
"""Quoted words; in single quotes, which are apostrophes too, only where something introduces them."""

_REPORTED_QUESTION = re.compile(
    r"(?:[,:]|\b(?:ask|say)(?:s|ed|ing)?|\bsaid)\s+(?:\"[^\"\n]*\?\"|“[^”\n]*\?”)\s*$"
)
"""A statement that ends with somebody else's question: `He asked: "Who?"`."""

_DAY_END = re.compile(r"\b\d{1,2}\.$")
_MONTH_START = re.compile(
    r"(?:Jan|Feb|Mär|Maer|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)\w*\b|(?:Klasse|Stock|Etage|Semester|Platz|Geburtstag|Hochzeitstag|Jahrestag|Lebensjahr)\b"
)
"""What a German ordinal number, written with a full stop, goes on with."""

_ASIDE = re.compile(r"\[[^\[\]\n]{3,400}\]")
_QUESTION = re.compile(r"[?？؟]['\"”’)\]*_\s]*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a text that sentences never cross."""

    kind: BlockKind
    start: int
    end: int
    heading: str = ""


def read_blocks(text: str) -> list[Block]:
    """The blocks of a text in order; together they hold everything but blank lines and headings of others."""
    blocks: list[Block] = []
    for block in _Reader(text).read():
        blocks.extend(_cut_long(text, block))
    return blocks


class _Reader:
    """Walks the lines and keeps what is still open: a paragraph, an item, a fence, the last heading."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._heading = ""
        self._heading_used = True
        self._heading_span = (0, 0)
        self._list_lead = ""
        self._open: tuple[BlockKind, int, int] | None = None

    def read(self) -> Iterator[Block]:
        fence_from: int | None = None
        for match in _LINE.finditer(self._text):
            line, start = match[0], match.start()
            if _FENCE.match(line):
                if fence_from is None:
                    yield from self._close()
                    fence_from = start
                else:
                    yield Block("code", fence_from, match.end(), self._lead())
                    fence_from = None
            elif fence_from is None:
                yield from self._take(line, start)
        if fence_from is not None:
            yield Block("code", fence_from, len(self._text), self._lead())
        yield from self._close()
        yield from self._lonely_heading()

    def _take(self, line: str, start: int) -> Iterator[Block]:
        end = start + len(line)
        if not line.strip():
            yield from self._close()
        elif _HEADING.match(line) or _BOLD_HEADING.match(line):
            yield from self._close()
            yield from self._lonely_heading()
            self._set_heading(start, end)
        elif _TABLE_RULE.match(line) and set(line.strip()) & set("-|") and not _ITEM.match(line):
            yield from self._close()
        elif _ITEM.match(line) or _TABLE_ROW.match(line):
            yield from self._close()
            self._open = ("item", start, end)
        elif self._open is not None and not self._ends_here(self._open):
            self._open = (self._open[0], self._open[1], end)
        else:
            yield from self._close()
            self._list_lead = ""
            self._open = ("prose", start, end)

    def _ends_here(self, open_block: tuple[BlockKind, int, int]) -> bool:
        kind, start, end = open_block
        last = self._text[max(start, self._text.rfind("\n", start, end - 1) + 1) : end]
        if kind == "item":
            return bool(_SENTENCE_END.search(last)) and len(last) < _WRAPPED
        return len(last.rstrip()) < _WRAPPED or last.rstrip().endswith(":")

    def _close(self) -> Iterator[Block]:
        if self._open is None:
            return
        kind, start, end = self._open
        self._open = None
        body = self._text[start:end]
        if kind == "prose":
            self._list_lead = _list_lead(body.strip())
            yield Block("prose", start, end, self._take_heading())
        else:
            yield Block("item", start, end, self._lead())

    def _set_heading(self, start: int, end: int) -> None:
        self._heading = self._text[start:end].strip().strip("#*_: ").strip()[:_LONGEST_HEADING]
        self._heading_span = (start, end)
        self._heading_used = False
        self._list_lead = ""

    def _take_heading(self) -> str:
        self._heading_used = True
        return self._heading

    def _lead(self) -> str:
        heading = self._take_heading()
        if self._list_lead and heading and len(heading) + len(self._list_lead) < _LONGEST_HEADING // 2:
            return f"{heading}: {self._list_lead}"
        return self._list_lead or heading

    def _lonely_heading(self) -> Iterator[Block]:
        if not self._heading_used:
            self._heading_used = True
            yield Block("prose", *self._heading_span)


def _list_lead(text: str) -> str:
    """What announces a list: a last sentence that ends with a colon, or a short line without an end."""
    last = _BORDER.split(text)[-1]
    if last.endswith(":"):
        return last if len(last) <= _LONGEST_HEADING else ""
    return last if is_bare_line(last) else ""


def is_bare_line(text: str) -> bool:
    """Whether a line could be a heading without marks: short, capitalised, no sentence's end."""
    return len(text) <= _SHORT_HEADING and text[:1].isupper() and text[-1:].isalnum()


def _cut_long(text: str, block: Block) -> Iterator[Block]:
    start, end = block.start, block.end
    while end - start > _LONGEST_BLOCK:
        cut = _last_border(text, start, start + _LONGEST_BLOCK)
        yield Block(block.kind, start, cut, block.heading)
        start = cut
    yield Block(block.kind, start, end, block.heading)


def _last_border(text: str, start: int, limit: int) -> int:
    """The best place to cut before `limit`: behind a sentence, else at a space, else the limit itself."""
    window = text[start:limit]
    for border in (". ", "! ", "? ", "。", "; ", ", ", "\n", " "):
        place = window.rfind(border, _LONGEST_BLOCK // 2)
        if place >= 0:
            return start + place + len(border)
    return limit


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, a whole list item or a block of code; `start` and `end` count in the turn's text."""

    text: str
    start: int
    end: int
    kind: BlockKind = "prose"
    block: int = 0
    heading: str = ""
    tokens: tuple[Token, ...] = ()
    mentions: tuple[Mention, ...] = ()
    origin: int = 0
    """What to take from the offsets of tokens and mentions to count from this unit's own start."""
    tail: bool = False
    """Whether it is the second half of a sentence that was split at its cause."""
    restated: bool = False
    """Whether it is a statement made of a question and its answer; `start` and `end` are those of the answer."""

    @property
    def is_readable(self) -> bool:
        """Whether rules read it for what it states, answers or leaves unsaid."""
        return is_readable(self.text)

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark of its own."""
        if self.kind == "code" or _QUESTION.search(self.text) is None:
            return False
        return _REPORTED_QUESTION.search(self.text) is None

    @property
    def is_aside(self) -> bool:
        """Whether it is a bracketed note such as "[shares a photo: ...]"."""
        return self.text.startswith("[") and self.text.endswith("]")

    def part(self, start: int, end: int) -> Unit:
        """A stretch of it with the mentions inside; it keeps the whole parse, whose offsets still fit."""
        low, high = self.origin + start, self.origin + end
        return replace(
            self,
            text=self.text[start:end],
            start=self.start + start,
            end=self.start + end,
            mentions=_inside(self.mentions, low, high),
            origin=low,
        )


def _inside(mentions: Sequence[Mention], low: int, high: int) -> tuple[Mention, ...]:
    return tuple(mention for mention in mentions if low <= mention.start and mention.end <= high)


@dataclass(frozen=True, slots=True)
class Layout:
    """A turn's blocks and what the tagger has to read of them."""

    text: str
    blocks: tuple[Block, ...]
    readable: tuple[int, ...]
    """Indices of the blocks that hold language."""

    def texts(self) -> list[str]:
        """What the tagger reads: line breaks inside a block are spaces, so offsets stay."""
        return [
            self.text[self.blocks[index].start : self.blocks[index].end].replace("\n", " ")
            for index in self.readable
        ]


def lay_out(text: str) -> Layout:
    """The blocks of a turn."""
    blocks = tuple(read_blocks(text))
    return Layout(text, blocks, tuple(i for i, block in enumerate(blocks) if block.kind != "code"))


def read_units(layout: Layout, sentences: Sequence[Sequence[Sentence]]) -> list[Unit]:
    """The units of a turn; `sentences` belong to the layout's readable blocks, in order."""
    tagged = dict(zip(layout.readable, sentences, strict=True))
    foreign = language_of(layout.text) in LANGUAGES
    units: list[Unit] = []
    for index, block in enumerate(layout.blocks):
        if block.kind == "code":
            units.append(_code_unit(layout.text, index, block))
        elif block.kind == "item":
            units.append(_item_unit(layout.text, index, block, tagged[index]))
        else:
            whole = (
                _rejoined(layout.text[block.start : block.end], tagged[index]) if foreign else tagged[index]
            )
            for sentence in whole:
                units.extend(_sentence_units(layout.text, index, block, sentence))
    return [unit for unit in units if unit.text.strip()]


def _rejoined(text: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences of a block in another language than the tagger's, joined where it cut within one.

    A sentence ends with a full stop or the like, but not behind a German day of the month ("am 8. Oktober").
    """
    whole: list[Sentence] = []
    for sentence in sentences:
        if whole and _is_cut_within(text[: whole[-1].end].rstrip(), text[sentence.start :]):
            before = whole.pop()
            tokens = [replace(token, head=token.head + len(before.tokens)) for token in sentence.tokens]
            sentence = replace(
                sentence,
                text=text[before.start : sentence.end],
                start=before.start,
                tokens=(*before.tokens, *tokens),
                mentions=(*before.mentions, *sentence.mentions),
            )
        whole.append(sentence)
    return whole


def _is_cut_within(before: str, behind: str) -> bool:
    if _DAY_END.search(before):
        return _MONTH_START.match(behind) is not None
    return _SENTENCE_END.search(before) is None


def _code_unit(text: str, index: int, block: Block) -> Unit:
    start, end = _trim(text, block.start, block.end)
    return Unit(text[start:end], start, end, block.kind, index, block.heading)


def _item_unit(text: str, index: int, block: Block, sentences: Sequence[Sentence]) -> Unit:
    """A list item as one unit; heads count in the tokens of all its sentences."""
    start, end = _trim(text, block.start, block.end)
    tokens: list[Token] = []
    for sentence in sentences:
        before = len(tokens)
        tokens.extend(replace(token, head=token.head + before) for token in sentence.tokens)
    return Unit(
        text[start:end],
        start,
        end,
        block.kind,
        index,
        block.heading,
        tokens=tuple(tokens),
        mentions=tuple(mention for sentence in sentences for mention in sentence.mentions),
        origin=start - block.start,
    )


def _sentence_units(text: str, index: int, block: Block, sentence: Sentence) -> Iterator[Unit]:
    """The sentence; bracketed asides in it are units of their own."""
    first, last = block.start + sentence.start, block.start + sentence.end
    borders = [first]
    for aside in _ASIDE.finditer(text, first, last):
        if aside.end() == last or text[aside.end()].isspace():
            borders += [aside.start(), aside.end()]
    for piece in pairwise([*borders, last]):
        start, end = _trim(text, *piece)
        if start < end:
            origin = start - block.start
            yield Unit(
                text[start:end],
                start,
                end,
                block.kind,
                index,
                block.heading,
                tokens=sentence.tokens if (start, end) == (first, last) else (),
                mentions=_inside(sentence.mentions, origin, end - block.start),
                origin=origin,
            )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
