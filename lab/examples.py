"""Examples of each task, drawn from scenes and varied anew every time."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lab.augment import Rates, Variation
from lab.names import TAGS
from lab.scenes import Asked, Scene
from perdure.models.reader_input import InputLayout, ReaderInput
from perdure.ports.reader import ABOUTS, EFFECTS, MEANINGS

UNKNOWN = -100
"""A label that is not known, and takes no part in the loss."""


@dataclass(slots=True)
class Example:
    """An input and the labels that are known of it."""

    input: ReaderInput
    answers: int = UNKNOWN
    relevance: float | None = None
    span: tuple[int, int] = (UNKNOWN, UNKNOWN)
    meaning: int = UNKNOWN
    about: int = UNKNOWN
    tags: list[int] = field(default_factory=list)
    effect: int = UNKNOWN
    group: int = 0
    """Examples of one question have the same number within a batch."""


class Question(NamedTuple):
    """A question in its scene."""

    scene: Scene
    asked: Asked


class Statement(NamedTuple):
    """A statement of a scene whose meaning is labelled."""

    scene: Scene
    row: int


class Pair(NamedTuple):
    """An earlier and a later statement of a scene, and what the later one does."""

    scene: Scene
    earlier: int
    later: int
    effect: str


class Sampler:
    """Draws varied examples; the same seed draws the same ones."""

    def __init__(self, layout: InputLayout, rates: Rates, seed: int) -> None:
        self._layout = layout
        self._rates = rates
        self._chooser = random.Random(seed)

    def question(self, item: Question, size: int) -> list[Example]:
        """Return a group: one statement that answers, if any does, and others that do not."""
        scene, asked = item
        chooser = self._chooser
        chosen: list[tuple[int, str, int]] = []
        if asked.answers:
            answer = chooser.choice(asked.answers)
            # Of a statement with a value that holds and one that does not, the words of the former.
            answer = next(
                (each for each in asked.answers if each.index == answer.index and not each.is_stale), answer
            )
            chosen.append((answer.index, answer.words, 1))
        answering = {answer.index for answer in asked.answers}
        label = 0 if asked.is_labelled else UNKNOWN
        pool = list(asked.pool)
        chooser.shuffle(pool)
        hard = pool[: size - len(chosen) - (chooser.random() < 0.5 and asked.is_labelled)]
        chosen += [(index, "", label) for index in hard]
        others = [
            index for index in range(len(scene.statements)) if index not in answering and index not in pool
        ]
        while len(chosen) < size and others and asked.is_labelled:
            chosen.append((others.pop(chooser.randrange(len(others))), "", 0))
        variation = Variation(chooser, scene.names, self._rates, scene.language)
        question, asker = variation.question(asked.text, asked.asker)
        examples = []
        for index, words, label in chosen:
            placed, marked = variation.placed(scene.placed(index), words)
            [windows] = self._layout.question(question, asker, [placed])
            example = Example(windows[0], label, asked.relevance.get(index))
            if label == 1 and words:
                example.span = token_span(windows[0], marked.start, marked.end)
            examples.append(example)
        return examples

    def statement(self, item: Statement) -> Example:
        """Return a statement with its meaning and names."""
        scene, index = item
        said = scene.statements[index]
        variation = Variation(self._chooser, scene.names, self._rates, scene.language)
        placed, _ = variation.placed(scene.placed(index))
        read = self._layout.statement(placed)
        names = {variation.renamed.get(name.casefold(), name): type for name, type in scene.names.items()}
        tags = name_tags(read, placed.text, names) if names else []
        return Example(read, meaning=MEANINGS.index(said.meaning), about=ABOUTS.index(said.about), tags=tags)

    def pair(self, item: Pair) -> Example:
        """Return a pair with its effect."""
        variation = Variation(self._chooser, item.scene.names, self._rates, item.scene.language)
        earlier, _ = variation.placed(item.scene.placed(item.earlier))
        later, _ = variation.placed(item.scene.placed(item.later))
        return Example(self._layout.pair(earlier, later), effect=EFFECTS.index(item.effect))


def token_span(read: ReaderInput, start: int, end: int) -> tuple[int, int]:
    """Return the first and last token position of characters `start` to `end` of the text."""
    rows = [row for row, (begin, stop) in enumerate(read.offsets) if begin < end and stop > start]
    return (read.first + rows[0], read.first + rows[-1]) if rows else (UNKNOWN, UNKNOWN)


def name_tags(read: ReaderInput, text: str, names: Mapping[str, str]) -> list[int]:
    """Return one tag per token of the text."""
    tags = [0] * len(read.offsets)
    for name, type in sorted(names.items(), key=lambda item: len(item[0])):
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            rows = [
                row
                for row, (begin, stop) in enumerate(read.offsets)
                if begin < match.end() and stop > match.start()
            ]
            for row in rows:
                tags[row] = TAGS.index(f"{'B' if row == rows[0] else 'I'}-{type}")
    return tags


def questions_of(scenes: Sequence[Scene]) -> list[Question]:
    """Return all questions."""
    return [Question(scene, asked) for scene in scenes for asked in scene.questions]


def statements_of(scenes: Sequence[Scene]) -> list[Statement]:
    """Return all statements with a labelled meaning."""
    return [
        Statement(scene, index)
        for scene in scenes
        for index, said in enumerate(scene.statements)
        if said.meaning
    ]


def labelled_pairs_of(scenes: Sequence[Scene]) -> list[Pair]:
    """Return all labelled pairs."""
    return [
        Pair(scene, earlier, later, effect) for scene in scenes for later, earlier, effect in scene.effects
    ]


def other_pairs_of(scenes: Sequence[Scene], each: int, seed: int) -> list[Pair]:
    """Return changes behind other earlier statements, and earlier statements before other later ones."""
    return [
        pair for scene in scenes for pair in _other_pairs(scene, each, random.Random(f"{seed} {scene.id}"))
    ]


def _other_pairs(scene: Scene, each: int, chooser: random.Random) -> Iterator[Pair]:
    labelled = {(earlier, later) for later, earlier, _ in scene.effects}
    for later, earlier, effect in scene.effects:
        if effect not in ("ends", "corrects"):
            continue
        befores = [index for index in range(later) if (index, later) not in labelled]
        afters = [
            index for index in range(earlier + 1, len(scene.statements)) if (earlier, index) not in labelled
        ]
        for index in chooser.sample(befores, min(each, len(befores))):
            yield Pair(scene, index, later, "unrelated")
        for index in chooser.sample(afters, min(max(1, each // 3), len(afters))):
            yield Pair(scene, earlier, index, "unrelated")


def chat_pairs_of(scenes: Sequence[Scene], each: int, seed: int) -> list[Pair]:
    """Return random pairs of the same speaker in real chat, which hardly ever are changes."""
    pairs = []
    for scene in scenes:
        chooser = random.Random(f"{seed} {scene.id}")
        for _ in range(each):
            earlier, later = sorted(chooser.sample(range(len(scene.statements)), 2))
            same = scene.statements[earlier].speaker == scene.statements[later].speaker
            if same and len(scene.statements[earlier].text) > 12:
                pairs.append(Pair(scene, earlier, later, "unrelated"))
    return pairs
