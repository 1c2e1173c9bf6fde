"""Units: the sentences and list items of a turn, which are grouped into facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from perdure.extract.local.blocks import Block, BlockKind, read_blocks
from perdure.extract.local.quotes import reports_question
from perdure.ports.tagger import Mention, Sentence, Token

_ASIDE = re.compile(r"\[[^\[\]\n]{3,400}\]")
_ITEM_MARK = re.compile(r"\s*(?:[-*+•◦‣–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+")
_QUESTION = re.compile(r"[?？؟]['\"”’)\]*_\s]*$")


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

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark of its own."""
        if self.kind == "code" or _QUESTION.search(self.text) is None:
            return False
        return not reports_question(self.text)

    @property
    def is_aside(self) -> bool:
        """Whether it is a bracketed note such as "[shares a photo: ...]"."""
        return self.text.startswith("[") and self.text.endswith("]")


@dataclass(frozen=True, slots=True)
class Layout:
    """A turn's blocks and what the tagger has to read of them."""

    text: str
    blocks: tuple[Block, ...]
    readable: tuple[int, ...] = field(default=())
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
    units: list[Unit] = []
    for index, block in enumerate(layout.blocks):
        if block.kind == "code":
            units.append(_plain_unit(layout.text, index, block))
        elif block.kind == "item":
            units.append(_item_unit(layout.text, index, block, tagged[index]))
        else:
            for sentence in tagged[index]:
                units.extend(_sentence_units(layout.text, index, block, sentence))
    return [unit for unit in units if unit.text.strip()]


def _plain_unit(text: str, index: int, block: Block) -> Unit:
    start, end = _trim(text, block.start, block.end)
    return Unit(text[start:end], start, end, block.kind, index, block.heading)


def _item_unit(text: str, index: int, block: Block, sentences: Sequence[Sentence]) -> Unit:
    start, end = _trim(text, block.start, block.end)
    tokens: list[Token] = []
    for sentence in sentences:
        first = len(tokens)
        tokens.extend(_move_head(token, first) for token in sentence.tokens)
    mentions = tuple(mention for sentence in sentences for mention in sentence.mentions)
    return Unit(
        text[start:end],
        start,
        end,
        "item",
        index,
        block.heading,
        tuple(tokens),
        mentions,
        start - block.start,
    )


def _move_head(token: Token, by: int) -> Token:
    if not by:
        return token
    return Token(
        token.text, token.lemma, token.pos, token.tag, token.dep, token.head + by, token.start, token.end
    )


def _sentence_units(text: str, index: int, block: Block, sentence: Sentence) -> list[Unit]:
    """The sentence; bracketed asides in it are units of their own."""
    first, last = block.start + sentence.start, block.start + sentence.end
    borders = [first]
    for aside in _ASIDE.finditer(text, first, last):
        if aside.end() == last or text[aside.end() :][:1].isspace():
            borders += [aside.start(), aside.end()]
    borders.append(last)
    units = []
    for piece_start, piece_end in pairwise(borders):
        start, end = _trim(text, piece_start, piece_end)
        if start < end:
            units.append(_cut_out(text, start, end, index, block, sentence))
    return units


def _cut_out(text: str, start: int, end: int, index: int, block: Block, sentence: Sentence) -> Unit:
    origin = start - block.start
    whole = start == block.start + sentence.start and end == block.start + sentence.end
    low, high = origin, end - block.start
    return Unit(
        text[start:end],
        start,
        end,
        "prose",
        index,
        block.heading,
        sentence.tokens if whole else (),
        tuple(m for m in sentence.mentions if low <= m.start and m.end <= high),
        origin,
    )


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
