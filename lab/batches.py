"""Batches of examples as tensors, in an order that depends on the seed and the step alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lab.augment import Rates
from lab.examples import (
    UNKNOWN,
    Example,
    Pair,
    Question,
    Sampler,
    Statement,
    chat_pairs_of,
    labelled_pairs_of,
    other_pairs_of,
    questions_of,
    statements_of,
)
from lab.scenes import Scene
from perdure.models.reader_input import InputLayout

QUESTIONS, UNLABELLED, STATEMENTS, SENTENCES, PAIRS, OTHER_PAIRS, CHAT_PAIRS, COMPOSED_PAIRS = (
    "questions", "unlabelled", "statements", "sentences", "pairs", "other_pairs", "chat_pairs", "composed_pairs",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mix:
    """What a block consists of: batches of each task, and where their examples come from."""

    question_batches: int = 9
    statement_batches: int = 4
    pair_batches: int = 5
    groups: int = 8
    group_size: int = 4
    unlabelled_groups: int = 2
    public_groups: int = 2
    statements: int = 24
    sentences: int = 8
    pairs: int = 14
    other_pairs: int = 10
    chat_pairs: int = 4
    composed_pairs: int = 4


class Batch(NamedTuple):
    """Inputs as (rows, tokens), and the labels; `UNKNOWN` and NaN mark what is not known."""

    task: str
    ids: Tensor
    mask: Tensor
    types: Tensor
    text: Tensor
    """True at the tokens of the statement's text."""
    answers: Tensor
    relevance: Tensor
    spans: Tensor
    meaning: Tensor
    about: Tensor
    tags: Tensor
    effect: Tensor
    group: Tensor


@dataclass(slots=True)
class _Deck:
    """Items in an order shuffled anew in each round; the n-th draw is always the same."""

    name: str
    items: Sequence[Any]
    seed: int
    _round: int = -1
    _order: list[int] = field(default_factory=list)

    def draw(self, first: int, count: int) -> list[Any]:
        return [self._at(number) for number in range(first, first + count)] if self.items else []

    def _at(self, number: int) -> Any:
        round, place = divmod(number, len(self.items))
        if round != self._round:
            self._round, self._order = round, list(range(len(self.items)))
            random.Random(f"{self.seed} {self.name} {round}").shuffle(self._order)
        return self.items[self._order[place]]


class Blocks:
    """Blocks of batches of the training scenes."""

    def __init__(
        self, scenes: Sequence[Scene], layout: InputLayout, mix: Mix, rates: Rates, seed: int
    ) -> None:
        self._layout, self._mix, self._rates, self._seed = layout, mix, rates, seed
        sentences = [scene for scene in scenes if scene.source == "changes"]
        written = [scene for scene in scenes if scene.effects and scene.source != "changes"]
        public = [scene for scene in scenes if not scene.effects]
        chat = [scene for scene in scenes if scene.source == "chitchat" and not scene.is_bank]
        every = questions_of(public)
        known = [question for question in every if question.asked.is_labelled]
        # FriendsQA is closer to what people ask a memory than Molweni, and smaller.
        friends = [question for question in known if question.scene.source == "friendsqa"]
        decks: dict[str, Sequence[Any]] = {
            QUESTIONS: questions_of(written),
            "public": [*known, *friends, *friends],
            UNLABELLED: [question for question in every if not question.asked.is_labelled],
            STATEMENTS: statements_of([scene for scene in scenes if scene.source != "changes"]),
            SENTENCES: statements_of(sentences),
            PAIRS: labelled_pairs_of(written),
            OTHER_PAIRS: other_pairs_of(written, 3, seed),
            CHAT_PAIRS: chat_pairs_of(chat, 8, seed),
            COMPOSED_PAIRS: labelled_pairs_of(sentences),
        }
        self.sizes = {name: len(items) for name, items in decks.items()}
        self._decks = {name: _Deck(name, items, seed) for name, items in decks.items()}

    def __len__(self) -> int:
        mix = self._mix
        return mix.question_batches + mix.statement_batches + mix.pair_batches

    def block(self, number: int) -> list[Batch]:
        """Return the batches of a block, those of a task sorted by length and then all shuffled."""
        mix, sampler = self._mix, Sampler(self._layout, self._rates, hash_seed(self._seed, number))
        own = mix.groups - mix.unlabelled_groups - mix.public_groups
        groups = [
            sampler.question(item, mix.group_size)
            for deck, count in (
                (QUESTIONS, own),
                ("public", mix.public_groups),
                (UNLABELLED, mix.unlabelled_groups),
            )
            for item in self._draw(deck, number, count * mix.question_batches)
        ]
        batches = self._cut("question", groups, mix.question_batches)
        statements = self._draw(STATEMENTS, number, mix.statements * mix.statement_batches)
        statements += self._draw(SENTENCES, number, mix.sentences * mix.statement_batches)
        batches += self._cut(
            "statement", [[sampler.statement(item)] for item in statements], mix.statement_batches
        )
        pairs = [
            [sampler.pair(item)]
            for deck, count in (
                (PAIRS, mix.pairs),
                (OTHER_PAIRS, mix.other_pairs),
                (CHAT_PAIRS, mix.chat_pairs),
                (COMPOSED_PAIRS, mix.composed_pairs),
            )
            for item in self._draw(deck, number, count * mix.pair_batches)
        ]
        batches += self._cut("pair", pairs, mix.pair_batches)
        random.Random(hash_seed(self._seed, number)).shuffle(batches)
        return batches

    def _draw(self, deck: str, block: int, count: int) -> list[Any]:
        return self._decks[deck].draw(block * count, count)

    def _cut(self, task: str, groups: list[list[Example]], parts: int) -> list[Batch]:
        longest: Callable[[list[Example]], int] = lambda group: max(len(each.input.ids) for each in group)  # noqa: E731
        groups = sorted((group for group in groups if group), key=longest)
        size = max(1, -(-len(groups) // max(1, parts)))
        return [collate(task, groups[at : at + size]) for at in range(0, len(groups), size)]


def hash_seed(seed: int, number: int) -> int:
    """Return a seed of its own for a block."""
    return seed * 1_000_003 + number


def dev_batches(scenes: Sequence[Scene], layout: InputLayout) -> list[Batch]:
    """Return the development set as batches without variation, with four statements a question."""
    none = Rates(**dict.fromkeys(Rates.__slots__, 0.0))
    sampler = Sampler(layout, none, 1)
    questions: list[Question] = questions_of(scenes)
    statements: list[Statement] = statements_of(scenes)
    pairs: list[Pair] = [*labelled_pairs_of(scenes), *other_pairs_of(scenes, 2, 1)]
    groups = {
        "question": [sampler.question(item, 4) for item in questions],
        "statement": [[sampler.statement(item)] for item in statements],
        "pair": [[sampler.pair(item)] for item in pairs],
    }
    sizes = {"question": 8, "statement": 32, "pair": 32}
    return [
        collate(task, each[at : at + sizes[task]])
        for task, each in groups.items()
        for at in range(0, len(each), sizes[task])
    ]


def collate(task: str, groups: Sequence[Sequence[Example]]) -> Batch:
    """Pad examples to the longest of them."""
    examples = [example for group in groups for example in group]
    rows, width = len(examples), max(len(example.input.ids) for example in examples)
    ids, types = torch.zeros(rows, width, dtype=torch.long), torch.zeros(rows, width, dtype=torch.long)
    mask, text = torch.zeros(rows, width), torch.zeros(rows, width, dtype=torch.bool)
    tags = torch.full((rows, width), UNKNOWN)
    for row, example in enumerate(examples):
        read = example.input
        end, last = len(read.ids), read.first + len(read.offsets)
        ids[row, :end], types[row, :end] = torch.tensor(read.ids), torch.tensor(read.types)
        mask[row, :end], text[row, read.first : last] = 1, True
        if example.tags:
            tags[row, read.first : last] = torch.tensor(example.tags)
    return Batch(
        task, ids, mask, types, text,
        torch.tensor([example.answers for example in examples]),
        torch.tensor([float("nan") if example.relevance is None else example.relevance for example in examples]),
        torch.tensor([example.span for example in examples]),
        torch.tensor([example.meaning for example in examples]),
        torch.tensor([example.about for example in examples]),
        tags,
        torch.tensor([example.effect for example in examples]),
        torch.tensor([number for number, group in enumerate(groups) for _ in group]),
    )  # fmt: skip
