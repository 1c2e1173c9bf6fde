"""Slots in English beyond verb phrases: frames, cue words, notes, and what is said of things."""

from __future__ import annotations

import pytest

from perdure.extract.local.slots import slot_triples
from perdure.extract.local.units import Unit
from perdure.text.voice import Voice

ANN = Voice("Ann")


def _said(text: str) -> set[str]:
    unit = Unit(text, 0, len(text))
    return {f"{t.subject} {t.relation} {t.object}" for t in slot_triples(unit, ANN, None)}


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("The keys for the flat in Malmö came today.", "Ann lives_in Malmö"),
        ("I just moved into a flat in Porto, two rooms above a bakery.", "Ann lives_in Porto"),
        ("My sister lives in a small house near Bergen.", "Ann's sister lives_in Bergen"),
        ("We sold our house in Derby.", "Ann moved_from Derby"),
        ("Second week at Brightwell!", "Ann works_at Brightwell"),
        ("Yesterday was my last day at Brightwell.", "Ann left Brightwell"),
        ("By profession I'm a carpenter.", "Ann works_as carpenter"),
        ("Supervisor: Ingrid Moe.", "Ann reports_to Ingrid Moe"),
        ("My brother was widowed in May.", "Ann's brother marital_status widowed"),
        ("Dad is on beta blockers.", "Ann's dad takes beta blockers"),
        ("no dairy for me please", "Ann diet no dairy"),
        ("Nina belongs to the Lutheran church.", "Nina religion Lutheran church"),
    ],
)
def test_a_frame_gives_or_ends_a_value_whoever_it_is_about(text: str, triple: str) -> None:
    assert triple in _said(text)


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("New deadline: 12 June", "the deadline date 12 June"),
        ("dentist: Dr. Aalto", "Ann dentist Dr Aalto"),
        ("Mira has a new login, mira77", "Mira login mira77"),
        ("The spare key is under the blue pot.", "the spare key location blue pot"),
        ("I moved the drill to the garden shed.", "the drill location garden shed"),
        ("Our dishwasher is broken.", "the dishwasher status broken"),
        ("The museum holds forty thousand maps.", "the museum number_of_maps forty thousand"),
    ],
)
def test_notes_and_what_is_said_of_things_fill_slots(text: str, triple: str) -> None:
    assert triple in _said(text)


def test_a_verb_behind_and_has_the_subject_before_it() -> None:
    said = _said("My sister packed her bags and moved to Lima.")
    assert "Ann's sister lives_in Lima" in said
    assert "Ann lives_in Lima" not in said


@pytest.mark.parametrize(
    "text",
    [
        "People keep congratulating me, but I didn't move to Rome.",
        "If I had a flat in Malmö I'd cycle more.",
        "While Hannes is on leave, we report to Xiomara.",
        "During the migration, write to backup@harbour.example for a few days.",
        "As a child I had a goat called Heidi.",
        "I live in a castle in Transylvania now, can't you tell?",
        "They moved the piano into a room in Porto.",
        "I want to live in a house in Porto.",
        "Started the washing machine, went to bed.",
        "The train was packed with football fans.",
    ],
)
def test_denials_wishes_memories_and_stopgaps_fill_no_slot(text: str) -> None:
    unit = Unit(text, 0, len(text))
    assert not [t for t in slot_triples(unit, ANN, None) if t.single_valued]
