"""Questions for a time alone: the window is listed, in the order of time, and nothing is searched for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure import Evidence, Item, Perdure

OPTIONS: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}
NOW = datetime(2026, 6, 17, 12, tzinfo=UTC)
SAID = {
    (4, 2): "Yesterday we talked about what happened last week.",
    (5, 3): "I sold my bike to Leo.",
    (5, 20): "My sister Vera moved to Bergen.",
    (6, 9): "I bought a piano.",
    (6, 15): "I start at Fathom on 1 September.",
    (6, 16): "I adopted a cat called Miso.",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Perdure]:
    path: Path = tmp_path_factory.mktemp("window") / "m.db"
    with Perdure.open(path, clock=lambda: NOW, **OPTIONS) as opened:
        for (month, day), text in SAID.items():
            said_at = datetime(2026, month, day, 9, tzinfo=UTC)
            opened.retain(
                "b",
                [
                    Item(
                        content=text,
                        speaker="Kim",
                        role="user",
                        timestamp=said_at,
                        document_id=f"{month}-{day}",
                    )
                ],
            )
        yield opened


def recalled(memory: Perdure, question: str, **options: Any) -> list[str]:
    return [one.text for one in memory.recall("b", question, asked_at=NOW, **options)]


MAY = ["I sold my bike to Leo.", "My sister Vera moved to Bergen."]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What did we talk about yesterday?", ["I adopted a cat called Miso."]),
        ("What happened last week?", ["I bought a piano."]),
        ("What happened in May 2026?", MAY),
        ("Summarise May 2026", MAY),
        ("Was ist letzte Woche passiert?", ["I bought a piano."]),
        ("Fasse den Mai 2026 zusammen", MAY),
        ("¿De qué hablamos ayer?", ["I adopted a cat called Miso."]),
        ("Resume mayo de 2026", MAY),
        ("Qu'est-ce qui s'est passé la semaine dernière ?", ["I bought a piano."]),
        ("Résume mai 2026", MAY),
    ],
)
@pytest.mark.parametrize("recipe", ["default", "fast"])
def test_a_question_for_a_time_lists_the_facts_of_that_time_in_order(
    memory: Perdure, question: str, texts: list[str], recipe: str
) -> None:
    assert recalled(memory, question, recipe=recipe) == texts


def test_what_was_told_counts_by_when_it_was_said(memory: Perdure) -> None:
    assert recalled(memory, "What did I tell you on Monday?") == ["I start at Fathom on 1 September."]


def test_a_time_that_holds_nothing_gives_nothing(memory: Perdure) -> None:
    result = memory.recall("b", "What did we talk about on 4 May?", asked_at=NOW)
    assert (len(result), result.evidence) == (0, Evidence.NONE)


def test_words_beside_the_time_are_searched_for(memory: Perdure) -> None:
    result = memory.recall("b", "Which piano did I buy last week?", asked_at=NOW)
    assert not result.query.only_time
    assert result.recollections[0].text == "I bought a piano."
