"""Changes that no wording tells: by both values named, by the slot named, or by a model's judgement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from perdure.domain.fact import Fact
from perdure.ports.embedder import Vector
from perdure.retain.judged_changes import ANSWERS_AT, changing, judged_changes

SAID = datetime(2025, 9, 1, tzinfo=UTC)
SAME = np.array([1.0, 0.0], dtype=np.float32)


class Judge:
    """Answers every pair with the same logit."""

    name = "judge"

    def __init__(self, logit: float) -> None:
        self.logit = logit
        self.asked = 0

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        self.asked += 1
        return np.full(len(passages), self.logit, dtype=np.float32)


def said(fact_id: str, text: str, relation: str = "", value: str = "", subject: str = "Ann") -> Fact:
    return Fact(
        id=fact_id, bank="b", text=text, source_text=text, speaker="Ann", mentioned_at=SAID, chunk_id=fact_id,
        subject=subject if relation else None, relation=relation or None, object=value or None,
    )  # fmt: skip


def ended(new: str, old: Fact, logit: float = -9.0) -> bool:
    facts = changing([said("n", new)])
    return bool(list(judged_changes(facts, [old], {"n": SAME, "o": SAME}, Judge(logit))))


@pytest.mark.parametrize(
    ("old", "relation", "value", "new"),
    [
        ("I'm learning Italian.", "learns", "Italian", "Swapped Italian for Korean on the app."),
        ("I bank with Barclays.", "banks_with", "Barclays", "Closed my account at Barclays and opened one at Monzo."),
        ("I work at Intel.", "works_at", "Intel", "Intel showed me the door on Friday."),
        ("I pay 700 euros rent.", "rent", "700 euros", "Rent went up, 760 euros."),
        ("I sing in the choir.", "", "", "I quit the choir."),
    ],
)  # fmt: skip
def test_words_alone_tell_where_the_value_or_the_slot_is_named(
    old: str, relation: str, value: str, new: str
) -> None:
    assert ended(new, said("o", old, relation, value))


def test_a_judge_tells_where_only_the_meaning_does() -> None:
    home = said("o", "I live in Swansea.", "lives_in", "Swansea")
    assert ended("The Cardiff flat is our new nest.", home, ANSWERS_AT + 1)
    assert not ended("The Cardiff flat is our new nest.", home, ANSWERS_AT - 1)


@pytest.mark.parametrize(
    "new",
    ["I'd love a new nest in Cardiff.", "Is Cardiff our new home now?", "My cousin has a new flat in Cardiff.", "I'm in Cardiff this week, new hotel.",
     "The new nest is small.", "I also have a new flat in Cardiff."],
)  # fmt: skip
def test_no_judge_is_asked_about_wishes_questions_others_and_stays(new: str) -> None:
    assert not ended(new, said("o", "I live in Swansea.", "lives_in", "Swansea"), 9.0)


def test_what_happened_once_is_no_habit_that_could_end() -> None:
    assert not ended("I quit the choir.", said("o", "I sang in the choir in May."))


def test_a_turn_is_read_as_a_whole() -> None:
    first, second = said("a", "Dr Cole moved abroad."), said("b", "Dr Singh does my check-ups now.")
    facts = changing([Fact(**{**_fields(fact), "chunk_id": "c"}) for fact in (first, second)])
    assert {fact.source_text for fact in facts} == {"Dr Cole moved abroad. Dr Singh does my check-ups now."}
    old = said("o", "My dentist is Dr Cole.", "dentist", "Dr Cole")
    assert [judged.old.id for judged in judged_changes(facts, [old], {}, None)][:1] == ["o"]


def _fields(fact: Fact) -> dict[str, object]:
    return {name: getattr(fact, name) for name in Fact.__dataclass_fields__}
