"""Sentences of other languages that an English tagger cut in two."""

from __future__ import annotations

from itertools import pairwise

from perdure.extract.local.units import lay_out, read_units
from perdure.ports.tagger import Sentence


def _units(text: str, *cuts: int) -> list[str]:
    borders = [0, *cuts, len(text)]
    sentences = [Sentence(text[start:end], start, end) for start, end in pairwise(borders)]
    return [unit.text for unit in read_units(lay_out(text), [sentences])]


def test_a_german_date_stays_whole() -> None:
    text = "Der Termin ist am 8. Oktober. Ich freue mich."
    assert _units(text, 21, 30) == ["Der Termin ist am 8. Oktober.", "Ich freue mich."]


def test_a_cut_without_a_full_stop_is_mended() -> None:
    text = "Seit heute arbeite ich nur noch 30 Stunden die Woche."
    assert _units(text, 35) == [text]


def test_sentences_stay_apart() -> None:
    assert _units("Ich bin müde. Wir gehen nach Hause.", 14) == ["Ich bin müde.", "Wir gehen nach Hause."]


def test_an_english_cut_stays_as_the_tagger_made_it() -> None:
    assert _units("I am tired we go home", 11) == ["I am tired", "we go home"]
