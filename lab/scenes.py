"""Scenes: conversations of every source in one form, with what is labelled in them, and the file that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from perdure.ports.reader import PlacedStatement

TRAIN, DEV, TEST = "train", "dev", "test"


@dataclass(slots=True)
class Said:
    """A statement, and its labels if it has any."""

    text: str
    speaker: str = ""
    listener: str = ""
    date: str = ""
    meaning: str = ""
    about: str = ""


@dataclass(slots=True)
class Expected:
    """A statement that answers a question; the words are empty where only the statement is labelled."""

    index: int
    words: str
    is_stale: bool = False


@dataclass(slots=True)
class Asked:
    """A question about a scene."""

    text: str
    asker: str = ""
    type: str = ""
    answers: list[Expected] = field(default_factory=list)
    pool: list[int] = field(default_factory=list)
    """The statements that look most like answers and are none."""
    relevance: dict[int, float] = field(default_factory=dict)
    """The teacher's logits of statements."""

    @property
    def is_labelled(self) -> bool:
        """Whether it is known which statements answer; otherwise only the teacher's logits are."""
        return self.type != "unlabelled"


@dataclass(slots=True)
class Scene:
    """A conversation."""

    id: str
    source: str
    split: str
    language: str = "en"
    statements: list[Said] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    questions: list[Asked] = field(default_factory=list)
    effects: list[tuple[int, int, str]] = field(default_factory=list)
    """Later, earlier, and what the later one does."""
    is_bank: bool = False
    """Whether the statements are unrelated messages, without turns before each other."""

    def placed(self, index: int) -> PlacedStatement:
        """Return a statement in its place."""
        said = self.statements[index]
        before = ""
        if index and not self.is_bank:
            previous = self.statements[index - 1]
            before = f"{previous.speaker}: {previous.text}" if previous.speaker else previous.text
        day = date.fromisoformat(said.date[:10]) if said.date else None
        return PlacedStatement(said.text, said.speaker, said.listener, day, before)


def write_scenes(scenes: Iterable[Scene], path: Path) -> None:
    """Write one scene per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for scene in scenes:
            file.write(json.dumps(asdict(scene), ensure_ascii=False) + "\n")


def read_scenes(path: Path) -> Iterator[Scene]:
    """Yield the scenes of a file."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield _scene(json.loads(line))


def _scene(data: dict[str, Any]) -> Scene:
    data["statements"] = [Said(**said) for said in data["statements"]]
    for asked in data["questions"]:
        asked["answers"] = [Expected(**answer) for answer in asked["answers"]]
        asked["relevance"] = {int(index): logit for index, logit in asked["relevance"].items()}
    data["questions"] = [Asked(**asked) for asked in data["questions"]]
    data["effects"] = [(later, earlier, effect) for later, earlier, effect in data["effects"]]
    return Scene(**data)
