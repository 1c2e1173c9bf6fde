"""Questions that name a time and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.dates import read_dates
from perdure.text.only_time import OnlyTime, read_only_time

NOW = datetime(2026, 6, 17, 12, tzinfo=UTC)


def read(question: str) -> OnlyTime | None:
    spans = read_dates(question, NOW, prefer="sentence")
    return read_only_time(question, [(span.start, span.end) for span in spans if span.window is not None])


@pytest.mark.parametrize(
    "question",
    [
        "What did we talk about yesterday?",
        "What did I tell you on Monday?",
        "What have we discussed in the last three days?",
        "Worüber haben wir gestern gesprochen?",
        "Was habe ich dir am Montag erzählt?",
        "¿De qué hablamos ayer?",
        "¿Qué te conté el lunes?",
        "De quoi avons-nous parlé hier ?",
        "Qu'est-ce que je t'ai dit lundi ?",
    ],
)
def test_a_time_and_words_of_telling_ask_for_what_was_said_then(question: str) -> None:
    assert read(question) == OnlyTime(told=True)


@pytest.mark.parametrize(
    "question",
    [
        "What happened last week?",
        "What's new since Friday?",
        "Summarise May 2026",
        "Can you give me a summary of May 2026, please?",
        "Was ist letzte Woche passiert?",
        "Fasse den Mai 2026 zusammen",
        "¿Qué pasó la semana pasada?",
        "Resume mayo de 2026",
        "Qu'est-ce qui s'est passé la semaine dernière ?",
        "Que s'est-il passé en mai 2026 ?",
        "Résumé du mois dernier",
    ],
)
def test_a_time_and_words_of_asking_ask_for_what_happened_then(question: str) -> None:
    assert read(question) == OnlyTime(told=False)


@pytest.mark.parametrize(
    "question",
    [
        "What did we talk about?",
        "What happened to the piano last week?",
        "Where did I live in May 2026?",
        "What did Ann tell me yesterday?",
        "Was hat Ann gestern gekauft?",
        "yesterday",
        "",
    ],
)
def test_any_other_word_is_looked_for(question: str) -> None:
    assert read(question) is None
