"""Directives that a program can obey are obeyed; the others are named as not applied."""

from __future__ import annotations

import pytest

from perdure.errors import InvalidInput
from perdure.reflect.answer import compose
from perdure.reflect.directive_rules import read_directives
from perdure.reflect.options import ReflectOptions
from perdure.reflect.reflection import NO_ANSWER, Reflection
from tests.reflect.reflect_kit import fact, recalled

FACTS = (
    fact("Tove planted tulips.", 1, source_text="I planted tulips"),
    fact("Tove planted roses with Erik.", 2, source_text="Erik and I planted roses"),
)


def said(*directives: str) -> Reflection:
    result = recalled("What did Tove plant?", FACTS)
    return compose(result, rules=read_directives(directives))


def test_one_sentence_is_one_sentence() -> None:
    assert len(said("Answer in one sentence.").sentences) == 1
    assert len(said("Use at most 2 sentences.").sentences) == 2
    assert len(said("Give one sentence.", "Use at most 2 sentences.").sentences) == 1


def test_what_is_never_to_be_mentioned_is_nowhere_in_the_answer() -> None:
    reflection = said("Never mention Erik or the roses.")
    assert "Erik" not in reflection.text
    assert "roses" not in reflection.text
    assert "tulips" in reflection.text
    assert said("Never mention Tove.").text == NO_ANSWER


def test_a_rule_with_a_condition_is_left_to_a_model() -> None:
    reflection = said("Never mention Erik unless asked by his family.")
    assert "Erik" in reflection.text
    assert str(reflection.trace.directives[0]).endswith("not applied without a model")


@pytest.mark.parametrize(
    "content", ["Answer in German.", "Be brief.", "Be kind to beginners.", "Prefer metric units."]
)
def test_what_needs_a_model_is_marked(content: str) -> None:
    use = said(content).trace.directives[0]
    assert use.content == content
    assert use.applied == ""
    assert said(content).text == said().text


@pytest.mark.parametrize("given", ["Be brief.", [5], [{"name": "short"}]])
def test_what_is_no_list_of_directives_is_refused(given: object) -> None:
    with pytest.raises(InvalidInput, match="directives"):
        ReflectOptions.read({"directives": given})
