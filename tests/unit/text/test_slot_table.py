"""The table of slots: what is single-valued, and what ends what."""

from __future__ import annotations

import pytest

from perdure.extract.local.slots_phrases import phrases_by_verb, phrases_without_verb
from perdure.text.relation_table import is_single_valued
from perdure.text.slot_table import end_of, ended_slots, question_of, read_toml, slot_family, slots


@pytest.mark.parametrize(
    ("relation", "single"),
    [("lives_in", True), ("likes", False), ("visited", False), ("dentist", True), ("wifi_password", True), ("brother_of", False),
     ("enjoys", False), ("bought", False), ("left", False), ("favourite_colour", True), ("uses_database", True), ("uses", False),
     ("work_phone", True), ("worked_at", False), ("no_longer_takes", False), ("also_works_at", False), ("takes", False)],
)  # fmt: skip
def test_slots_and_open_attributes_are_single_valued_and_verbs_are_not(relation: str, single: bool) -> None:
    assert is_single_valued(relation) is single


def test_ends_lead_back_to_what_they_end() -> None:
    for name in slots():
        assert name in ended_slots(end_of(name))
    assert ended_slots(end_of("gym")) == ("gym",)
    assert ended_slots("lives_in") == ()
    assert slot_family("married_to") == slot_family("partner")


def test_every_english_wording_belongs_to_a_slot_and_compiles() -> None:
    assert set(read_toml("slots/en.toml")) <= set(slots())
    assert phrases_by_verb()["move"]
    assert list(phrases_without_verb("nothing of the kind")) == []


def test_a_slot_is_a_question() -> None:
    assert question_of("lives_in", "Ann") == "Where does Ann live?"
    assert question_of("wifi_password", "Ann") == "What is Ann's wifi password?"
