"""Who said a fact to whom is part of the text under which it is found."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from perdure.domain.fact import Fact
from perdure.ports.extractor import Turn
from perdure.retain.index_text import index_text
from perdure.text.voice import nearest_other


def listener(turns: list[Turn], index: int) -> str:
    other = nearest_other(turns, index)
    return other.speaker if other is not None else ""


def turns(*speakers: str) -> list[Turn]:
    return [Turn(text="Something.", speaker=speaker) for speaker in speakers]


def test_the_speaker_before_is_spoken_to() -> None:
    assert listener(turns("Ann", "Bob", "Cid"), 1) == "Ann"


def test_the_first_turn_is_said_to_who_answers() -> None:
    assert listener(turns("Ann", "Bob"), 0) == "Bob"


def test_a_speaker_who_goes_on_still_speaks_to_the_other() -> None:
    assert listener(turns("Bob", "Ann", "Ann"), 2) == "Bob"


def test_nobody_is_spoken_to_alone_or_from_afar() -> None:
    assert listener(turns("Ann"), 0) == ""
    assert listener(turns("", "Ann", ""), 1) == ""
    assert listener(turns("Bob", "Ann", "Ann", "Ann"), 3) == ""


def test_index_text_names_both_and_the_day() -> None:
    fact = _fact(
        "Bob won the race.", speaker="Bob", mentioned_at=datetime(2023, 5, 4, tzinfo=UTC), listener="Ann"
    )
    assert index_text(fact).own == "Bob to Ann: Bob won the race. (4 May 2023)"


def test_index_text_spells_out_the_dates_that_the_words_mean() -> None:
    fact = replace(_fact("We met on Sunday.", speaker="Bob"), dates=(("on Sunday", "2023-05-07"),))
    assert index_text(fact).own == "Bob: We met on Sunday [7 May 2023]."


def test_index_text_without_voices_is_the_fact() -> None:
    assert index_text(_fact("Oslo lies by the sea.")).own == "Oslo lies by the sea."
    assert index_text(_fact("I won.", speaker="Bob")).own == "Bob: I won."


def test_roles_are_no_names() -> None:
    assert index_text(_fact("I like tea.", speaker="user", listener="assistant")).own == "I like tea."


def _fact(text: str, speaker: str = "", mentioned_at: datetime | None = None, listener: str = "") -> Fact:
    return Fact(id="f", bank="b", text=text, speaker=speaker, listener=listener, mentioned_at=mentioned_at)
