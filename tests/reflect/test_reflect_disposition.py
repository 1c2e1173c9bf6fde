"""Each trait changes what is said, as far as the bias is strong."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from perdure.domain.bank import Disposition
from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence
from perdure.reflect.answer import compose
from perdure.reflect.disposition import WEAKLY_SUPPORTED, leaning_of
from perdure.reflect.reflection import Reflection
from tests.reflect.reflect_kit import fact, recalled

QUESTION = "What did Nils bake?"
LOAF = fact(
    "Nils baked a rye loaf.", 1, speaker="Nils", source_text="I baked a rye loaf!!", emotion=4.0, emotion_tags=("joy",)
)  # fmt: skip


def said(disposition: Disposition, evidence: Evidence = Evidence.STRONG, loaf: Fact = LOAF) -> Reflection:
    return compose(
        recalled(QUESTION, [loaf], evidence),
        leaning=leaning_of(disposition),
        linked=lambda ids, most: [fact("Nils bought a mill.", 2)][:most],
    )


def test_a_neutral_bank_says_the_fact_as_it_is() -> None:
    plain = said(Disposition())
    assert [one.text for one in plain.sentences] == ["2026-06-10 Nils baked a rye loaf."]
    assert plain.trace.disposition == ()


@pytest.mark.parametrize("level", [1, 2, 4, 5])
def test_without_bias_no_trait_changes_anything(level: int) -> None:
    leaning = Disposition(skepticism=level, literalism=level, empathy=level, bias_strength=0.0)
    assert said(leaning).text == said(Disposition()).text


def test_skepticism_marks_then_leaves_out_what_has_little_support() -> None:
    marked = said(Disposition(skepticism=4, bias_strength=0.5), Evidence.WEAK)
    assert marked.sentences[0].text == f"2026-06-10 Nils baked a rye loaf. {WEAKLY_SUPPORTED}"
    assert any(effect.startswith("skepticism") for effect in marked.trace.disposition)
    assert said(Disposition(skepticism=5, bias_strength=1.0), Evidence.WEAK).is_refusal
    proven = said(Disposition(skepticism=4, bias_strength=0.5), Evidence.WEAK, replace(LOAF, proof_count=2))
    assert WEAKLY_SUPPORTED not in proven.text


def test_literalism_quotes_the_speaker() -> None:
    quoted = said(Disposition(literalism=5, bias_strength=1.0))
    assert quoted.sentences[0].text == "Nils: “I baked a rye loaf!!”"
    assert any("quoted" in effect for effect in quoted.trace.disposition)


def test_little_literalism_adds_what_follows_over_links() -> None:
    followed = said(Disposition(literalism=1, bias_strength=1.0))
    assert [one.text for one in followed.sentences] == [
        "2026-06-10 Nils baked a rye loaf.",
        "2026-06-10 Nils bought a mill.",
    ]
    assert followed.sentences[1].fact_ids == ("f2",)


def test_literalism_leaves_out_a_value_that_nobody_said() -> None:
    dated = replace(LOAF, occurred_start=datetime(2026, 5, 1, tzinfo=UTC))
    result = recalled("How many days ago did Nils bake?", [dated])
    assert compose(result).answer == "40 days, since 2026-05-01"
    literal = compose(result, leaning=leaning_of(Disposition(literalism=5, bias_strength=1.0)))
    assert literal.answer is None
    assert literal.sentences


def test_empathy_adds_what_is_felt() -> None:
    felt = said(Disposition(empathy=5, bias_strength=1.0))
    assert felt.sentences[0].text == "2026-06-10 Nils baked a rye loaf. [felt: joy]"
    assert felt.trace.disposition == ("empathy: what is felt was added",)
    assert "felt" not in said(Disposition(empathy=1, bias_strength=1.0)).text
