"""The week of the documentation: how misses are told from what was believed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from bench.week import (
    Expectations,
    Week,
    bare,
    beyond,
    curve_of,
    excerpt,
    missed,
    needless,
    read_week,
    unasked,
)
from perdure import Observation, Opinion, Question
from perdure.domain.observation import Clause, Subject
from perdure.domain.opinion import EvidenceLabel, OpinionEvidence, Polarity

DAY = datetime(2026, 11, 16, tzinfo=UTC)


def opinion(statement: str, subject: str) -> Opinion:
    row = OpinionEvidence(opinion_id="o", fact_id="f", label=EvidenceLabel.SUPPORTING, strength=0.65, at=DAY)
    return Opinion(
        id="o", bank="b", statement=statement, subject=subject, entity_id=None, polarity=Polarity.POSITIVE, c0=0.65,
        confidence=0.65, evidence=(row,),
    )  # fmt: skip


def profile(*clauses: str) -> Observation:
    return Observation(
        id="p", bank="b", text="", subject=Subject(kind="entity", key="ann"), name="Ann",
        clauses=tuple(Clause(text=text, fact_ids=("f",), proofs=1) for text in clauses), source_fact_ids=("f",),
        proof_count=1,
    )  # fmt: skip


def test_a_belief_is_missed_unless_an_opinion_on_the_same_person_has_its_words() -> None:
    week = Week(opinions=[opinion("Ann likes hiking in the Alps", "Ann"), opinion("Bob likes maps", "Bob")])
    expected = Expectations(opinions=[("Ann", "hikes", "why"), ("Ann", "maps", "she said so")])
    assert missed(week, expected) == [("Ann", "maps", "she said so")]
    assert [one.subject for one in beyond(week, expected)] == ["Bob"]


def test_a_needless_clause_is_told_once() -> None:
    week = Week(observations=[profile("has kids", "likes tea"), profile("has kids")])
    assert needless(week, Expectations(needless=[("has kids", "wrong")])) == [("has kids", "wrong")]


def test_a_conflict_that_nobody_was_asked_about_is_missed() -> None:
    assert missed_questions("Ann") == [("Rita", "two cities")]
    assert missed_questions("Rita") == []


def missed_questions(asked_about: str) -> list[tuple[str, str]]:
    question = Question(id="q", bank="b", subject=asked_about, relation="lives_in", options=())
    return unasked(Week(questions=[question]), Expectations(questions=[("Rita", "two cities")]))


def test_a_curve_has_a_bar_per_piece_of_evidence() -> None:
    head, line = curve_of(opinion("Ann likes tea", "Ann"), {"f": "Ann loves tea."}, quote=True)
    assert head == "Ann likes tea (c = 0.65)"
    assert line == "  Mon + █████████████······· 0.65 Ann loves tea."


def test_what_is_not_ours_is_quoted_by_a_few_words_and_notes_without_ids() -> None:
    assert excerpt("one two " * 20) == "one two " * 3 + "one two …"
    assert bare("# d\n\n<!-- perdure note 1 -->\n\n- Ann sings. <!-- f1 -->\n") == ["# d", "- Ann sings."]


def test_the_first_seven_sessions_are_the_days(tmp_path: Path) -> None:
    items = [{"session": str(n // 2), "speaker": "Ann", "text": f"t{n}"} for n in range(20)]
    (tmp_path / "d.json").write_text(json.dumps([{"bank": "x", "items": items}]))
    bank, turns = read_week(tmp_path / "d.json", None)
    assert (bank, len(turns), turns[-1].day) == ("x", 14, 6)
