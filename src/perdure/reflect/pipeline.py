"""Reflect without a language model: what was recalled, read for an answer and said in cited sentences."""

from __future__ import annotations

from perdure.domain.recall import RecallResult
from perdure.ports.tagger import Tagger
from perdure.reflect.answer import Linked, compose
from perdure.reflect.asked import read_asked
from perdure.reflect.attribution import names_in
from perdure.reflect.directive_rules import Rules
from perdure.reflect.disposition import Leaning
from perdure.reflect.passages import read_passages
from perdure.reflect.reflection import Reflection

__all__ = ["Reflection", "reflect"]


def reflect(
    recalled: RecallResult,
    *,
    tagger: Tagger | None = None,
    rules: Rules = Rules(),
    leaning: Leaning = Leaning(),
    linked: Linked | None = None,
) -> Reflection:
    """The answer that one recall gives: a short one where a reader finds it, and the facts it rests on."""
    asked = read_asked(recalled.query, names_in(recalled), tagger)
    passages = read_passages(recalled.recollections, asked, tagger)
    return compose(asked, recalled, passages, rules=rules, leaning=leaning, linked=linked)
