"""What a trained reading may close, and what words forbid it to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from perdure.domain.fact import INSTRUCTION, Fact
from perdure.ports.statements import StatementReading
from perdure.retain.learned_changes import agreement, learned_changes, may_tell_change, telling_change

FIRST = datetime(2025, 3, 1, tzinfo=UTC)
SLOTS = ("home", "employer", "tool", "none")
ASPECTS = (
    "holds",
    "begins",
    "ends",
    "corrects",
    "also",
    "denied",
    "past",
    "plan",
    "question",
    "temporary",
    "unreal",
    "wish",
    "none",
)
SUBJECTS = ("self", "we", "other", "thing")


def reading(slot: str, aspect: str, subject: str = "self", sure: float = 0.9) -> StatementReading:
    def spread(labels: Sequence[str], likely: str) -> Mapping[str, float]:
        rest = (1 - sure) / (len(labels) - 1)
        return {label: sure if label == likely else rest for label in labels}

    return StatementReading(spread(SLOTS, slot), spread(ASPECTS, aspect), spread(SUBJECTS, subject))


class PreparedClassifier:
    """Reads the sentences that it was prepared for; others state nothing."""

    def __init__(self, readings: Mapping[str, StatementReading]) -> None:
        self.readings = readings

    def classify(self, texts: Sequence[str]) -> list[StatementReading]:
        return [self.readings.get(text, reading("none", "none")) for text in texts]


def fact(text: str, days: int = 0, **fields: object) -> Fact:
    return Fact(
        id=f"{days}:{text}",
        bank="b",
        text=text,
        source_text=text,
        speaker="Ann",
        mentioned_at=FIRST + timedelta(days=days),
        **fields,  # type: ignore[arg-type]
    )


def ended(new: Fact, old: Sequence[Fact], readings: Mapping[str, StatementReading]) -> list[str]:
    classifier = PreparedClassifier(readings)
    telling = telling_change([one for one in [new] if may_tell_change(one)], classifier)
    return [judged.old.text for one in telling for judged in learned_changes(one, old, {}, classifier)]


LIVES: Mapping[str, object] = {"subject": "Ann", "relation": "lives_in", "object": "Ghent"}
OLD = "My bed stands in Ghent."
NEW = "The removal van dropped us in Antwerp."


def test_a_new_value_of_the_same_slot_ends_the_older_one() -> None:
    readings = {OLD: reading("home", "holds"), NEW: reading("home", "begins", "we")}
    assert ended(fact(NEW, 9), [fact(OLD, **LIVES)], readings) == [OLD]


def test_a_sentence_that_shares_nothing_and_gave_no_value_is_ended_only_if_the_slot_is_sure() -> None:
    sure = {OLD: reading("home", "holds"), NEW: reading("home", "begins", "we")}
    doubtful = {OLD: reading("home", "holds", sure=0.5), NEW: reading("home", "begins", "we", sure=0.65)}
    assert ended(fact(NEW, 9), [fact(OLD)], sure) == [OLD]
    assert ended(fact(NEW, 9), [fact(OLD)], doubtful) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My work phone is 030 441 20.", "My home phone is 030 998 13."),
        ("Alice Moreau lives in Lyon.", "Alice Moreaux lives in Rome."),
        ("My bed stands in Ghent.", "My sister got a flat in Antwerp."),
        ("My bed stands in Ghent.", "We are in Antwerp for three weeks."),
    ],
)
def test_another_one_of_the_kind_kin_and_stays_end_nothing(old: str, new: str) -> None:
    readings = {old: reading("home", "holds"), new: reading("home", "begins")}
    assert ended(fact(new, 9), [fact(old, **LIVES)], readings) == []


@pytest.mark.parametrize(
    "aspect", ["plan", "wish", "question", "temporary", "unreal", "denied", "past", "also", "none"]
)
def test_what_is_not_so_ends_nothing(aspect: str) -> None:
    readings = {OLD: reading("home", "holds"), NEW: reading("home", aspect, "we")}
    assert ended(fact(NEW, 9), [fact(OLD, **LIVES)], readings) == []


def test_another_slot_ends_nothing() -> None:
    readings = {OLD: reading("employer", "holds"), NEW: reading("home", "begins", "we")}
    assert ended(fact(NEW, 9), [fact(OLD, **LIVES)], readings) == []


def test_somebody_else_s_move_ends_nothing_of_the_speaker_s() -> None:
    readings = {OLD: reading("home", "holds"), NEW: reading("home", "begins", "other")}
    assert ended(fact(NEW, 9), [fact(OLD, **LIVES)], readings) == []


def test_what_was_said_later_is_not_ended() -> None:
    readings = {OLD: reading("home", "holds"), NEW: reading("home", "begins", "we")}
    assert ended(fact(NEW, 9), [fact(OLD, 10, **LIVES)], readings) == []


def test_the_same_value_again_ends_nothing() -> None:
    again = "We settled down in Ghent."
    readings = {OLD: reading("home", "holds"), again: reading("home", "begins", "we")}
    assert ended(fact(again, 9), [fact(OLD, **LIVES)], readings) == []


def test_of_two_candidates_that_are_as_likely_none_is_ended() -> None:
    other = "My bed stands in Bruges."
    readings = {
        OLD: reading("home", "holds"),
        other: reading("home", "holds"),
        NEW: reading("home", "begins", "we"),
    }
    assert (
        ended(fact(NEW, 9), [fact(OLD, **LIVES), fact(other, 1, **{**LIVES, "object": "Bruges"})], readings)
        == []
    )


def test_tools_replace_each_other_only_for_the_same_thing() -> None:
    billing = "The invoices run on Flask."
    chat, ledger = "The chatbot got ported to Django.", "The invoices got ported to Django."
    readings = {
        billing: reading("tool", "holds", "thing"),
        chat: reading("tool", "begins", "thing"),
        ledger: reading("tool", "begins", "thing"),
    }
    assert ended(fact(chat, 9), [fact(billing)], readings) == []
    assert ended(fact(ledger, 9), [fact(billing)], readings) == [billing]


def test_an_end_names_what_ends() -> None:
    old = "My desk stands at Corvane."
    named, unnamed = "Corvane showed us out.", "Clearing out the locker, it is done."
    readings = {
        old: reading("employer", "holds"),
        named: reading("employer", "ends", "we"),
        unnamed: reading("employer", "ends", "we"),
    }
    assert ended(fact(named, 9), [fact(old)], readings) == [old]
    assert ended(fact(unnamed, 9), [fact(old)], readings) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We also took a flat in Antwerp.", "en"),
        ("Did we move to Antwerp?", "en"),
        ("Your new place in Antwerp is lovely.", "en"),
        ("No me he ido de Correos, eso son rumores.", "es"),
        ("Je n'ai pas quitté Lille.", "fr"),
        ("Ich bin nicht nach Bonn gezogen.", "de"),
        ("We moved. " * 30, "en"),
    ],
)
def test_additions_questions_denials_and_long_texts_are_not_read(text: str, language: str) -> None:
    assert not may_tell_change(fact(text, language=language))


def test_what_is_no_longer_so_is_read() -> None:
    assert may_tell_change(fact("Ya no trabajo en Correos.", language="es"))
    assert may_tell_change(fact("Ich wohne nicht mehr in Bonn.", language="de"))


def test_an_instruction_is_not_read() -> None:
    assert not may_tell_change(fact(NEW, flags=frozenset({INSTRUCTION})))


def test_two_sentences_that_state_nothing_do_not_agree() -> None:
    assert agreement(reading("none", "none"), reading("none", "none")) < 0.01
