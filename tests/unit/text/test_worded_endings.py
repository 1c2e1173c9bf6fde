"""Values that sentences in German, Spanish and French name as over."""

from __future__ import annotations

import pytest

from perdure.text.ended_values import SPEAKER
from perdure.text.worded_endings import worded_endings


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("Statt Polnisch lerne ich jetzt Tschechisch.", "de", "Polnisch"),
        ("Ich bin von Tee auf Kaffee umgestiegen.", "de", "Tee"),
        ("Den Astra haben wir gegen einen Zoe getauscht.", "de", "Astra"),
        ("Meinen Golf habe ich verkauft.", "de", "Golf"),
        ("Cambié el metro por el patinete.", "es", "metro"),
        ("Ahora hago yoga en vez de pilates.", "es", "pilates"),
        ("He dejado el pádel.", "es", "pádel"),
        ("J'ai remplacé le vélo par la trottinette.", "fr", "vélo"),
        ("Je fais du yoga au lieu de la boxe.", "fr", "boxe"),
        ("J'ai arrêté la poterie.", "fr", "poterie"),
    ],
)
def test_values_that_are_over(text: str, language: str, value: str) -> None:
    assert value in [ended.value for ended in worded_endings(text, language)]


def test_the_owner_is_the_speaker_or_whom_the_sentence_names() -> None:
    assert {ended.owner for ended in worded_endings("Ich habe den Golf verkauft.", "de")} == {SPEAKER}
    assert {ended.owner for ended in worded_endings("Tom hat den Golf verkauft.", "de")} == {"Tom"}


def test_a_person_who_left_is_marked_as_one() -> None:
    assert [ended.of_person for ended in worded_endings("Karim ist ausgezogen.", "de")] == [True]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich will den Golf verkaufen.", "de"),
        ("Hast du den Golf verkauft?", "de"),
        ("Ich habe den Golf nicht verkauft.", "de"),
        ("Lena sagt, Tom hat den Golf verkauft.", "de"),
        ("Quiero dejar el pádel.", "es"),
        ("No he vendido el coche.", "es"),
        ("Je vais arrêter la poterie.", "fr"),
        ("J'ai rêvé que j'avais vendu la Clio.", "fr"),
        ("I sold the car.", "en"),
    ],
)
def test_what_is_planned_denied_or_told_by_others_ends_nothing(text: str, language: str) -> None:
    assert worded_endings(text, language) == []
