"""How statements are shown."""

from __future__ import annotations

from datetime import UTC, datetime

from perdure.domain.fact import MADE_BY, Fact
from perdure.domain.statement import is_verbatim, render_statement, spell_dates

SAID = datetime(2026, 5, 3, 9, 30, tzinfo=UTC)


def said(text: str, **fields: object) -> Fact:
    values: dict[str, object] = {"source_text": text, "speaker": "Ann", "mentioned_at": SAID} | fields
    return Fact(id="f", bank="b", text=text, **values)  # type: ignore[arg-type]


def test_a_statement_says_when_who_and_which_day_is_meant() -> None:
    fact = said("Jonas and I broke up on Sunday.", dates=(("Sunday", "2026-05-03"),))
    assert render_statement(fact) == (
        '2026-05-03 Ann: "Jonas and I broke up on Sunday." [Sunday = 2026-05-03]'
    )
    assert spell_dates(fact) == "Jonas and I broke up on Sunday [3 May 2026]."


def test_an_answer_is_shown_with_its_question() -> None:
    assert render_statement(said("In Porto.", asked="Where do you live?")) == (
        '2026-05-03 Ann, asked "Where do you live?": "In Porto."'
    )


def test_what_nobody_said_and_what_was_worded_anew_keep_their_text() -> None:
    assert render_statement(said("Oslo lies by the sea.", speaker="")) == "2026-05-03 Oslo lies by the sea."
    worded = said("Ann lives in Porto.", source_text="I live in Porto.", flags=(MADE_BY + "extract@1",))
    assert not is_verbatim(worded)
    assert render_statement(worded) == "2026-05-03 Ann lives in Porto."


def test_a_date_that_a_caller_states_is_shown_in_brackets() -> None:
    day = datetime(2026, 6, 1, tzinfo=UTC)
    assert render_statement(said("We marry.", occurred_start=day, occurred_end=day)) == (
        '2026-05-03 Ann: "We marry." [2026-06-01]'
    )
