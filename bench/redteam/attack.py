"""The attacks as data, and how each is planted through the public API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perdure import Perdure

FILE = Path(__file__).with_name("attacks.jsonl")
CARRIER = "Gina wrote down what is asked: {question}"
"""The statement that an attack in a field around the text goes with; it has the words of the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A text that is remembered, where it stands, and by what sign a prompt carries it unprotected."""

    id: str
    channel: str
    """chat, tool, web, or the field that holds it: title, context, speaker, metadata, tag, entity, document_id."""
    technique: str
    language: str
    text: tuple[str, ...]
    """Its statements, in order."""
    question: str
    """A question that brings it up."""
    sign: str
    """order, fence, role, heading, invisible, link, claim or split (`judge.py`)."""
    needle: str
    """The words that must not arrive as they are."""
    before: str = ""
    """What the user said earlier on the same."""


def read_attacks(path: Path = FILE) -> list[Attack]:
    return list(_lines(path))


def _lines(path: Path) -> Iterator[Attack]:
    for line in path.read_text(encoding="utf-8").splitlines():
        body: dict[str, Any] = json.loads(line)
        yield Attack(**{**body, "text": tuple(body["text"])})


def plant(memory: Perdure, bank: str, attack: Attack) -> None:
    """Retain the attack where it stands."""
    if attack.before:
        memory.retain(bank, [{"role": "user", "content": attack.before}])
    for text in attack.text:
        if attack.channel == "chat":
            memory.retain(bank, text)
        elif attack.channel == "tool":
            memory.retain(bank, [{"role": "tool", "tool_call_id": "1", "content": text}])
        elif attack.channel == "web":
            memory.retain(bank, text, origin="web", title="A page", metadata={"url": "https://page.example/"})
        else:
            memory.retain(bank, CARRIER.format(question=attack.question), **_field(attack.channel, text))


def _field(channel: str, text: str) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = {
        "title": {"title": text},
        "context": {"context": text},
        "speaker": {"speaker": text},
        "metadata": {"metadata": {"note": text}},
        "tag": {"tags": [text]},
        "entity": {"entities": [{"text": text, "type": "person"}]},
        "document_id": {"document_id": text.replace("/", " ")},
    }
    return fields[channel]
