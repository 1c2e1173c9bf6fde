"""Composing an answer without a language model: up to three cited statements, or that memory holds no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from perdure.domain.fact import Fact, FactType
from perdure.domain.inert import inert
from perdure.domain.recall import Evidence, RecallResult, Recollection
from perdure.domain.rendering import marked, one_line, order_mark
from perdure.domain.statement import render_statement
from perdure.reflect.arithmetic import order_note, time_since
from perdure.reflect.directive_rules import Rules
from perdure.reflect.disposition import MAX_SHORTFALL, WEAKLY_SUPPORTED, Leaning, quoted
from perdure.reflect.reflection import (
    NO_ANSWER,
    MentalModelText,
    Reflection,
    ReflectionSentence,
    ReflectionTrace,
)
from perdure.text.terms import index_terms

MAX_SENTENCES = 3
SURE = 0.9
"""Probability of answering from which the reader's words are a short answer."""
MAX_OF_MODEL = 8
"""Lines that are taken from a mental model."""
SENTENCE_ENDS = (".", "!", "?", "…", '"', "”", "]", ")", "。")

Linked = Callable[[Sequence[str], int], Sequence[Fact]]
"""(fact ids, how many) -> facts that follow from them over links."""
Fits = Callable[[str], bool]
"""Whether a text is within the tokens that an answer may have."""


def compose(
    recalled: RecallResult,
    *,
    rules: Rules = Rules(),
    leaning: Leaning = Leaning(),
    linked: Linked | None = None,
    fits: Fits = lambda text: True,
) -> Reflection:
    """Return the statements that answer, best first, with a short answer where one is certain; or a refusal.

    As many statements are kept as fit, at least one.
    """
    effects: dict[str, None] = {}
    said = _usable(recalled, rules, leaning, effects)[:MAX_SENTENCES]
    if leaning.followed and linked is not None and said:
        facts = linked([one.fact.id for one in said], leaning.followed)
        following = [
            Recollection(fact=fact, score=0.0, citation=0, evidence=Evidence.WEAK)
            for fact in facts
            if not rules.forbids(fact.text)
        ]
        effects |= dict.fromkeys(["literalism: facts that follow over links were added"] if following else [])
        said += following
    said = said[: rules.max_sentences]
    answer, source = _short_answer(recalled, said, rules, leaning)
    counted = order_note([one.fact for one in said])
    texts = [_sentence(one, leaning, effects) for one in said]
    trace = ReflectionTrace(
        reader=source,
        directives=rules.uses,
        disposition=tuple(effects),
        notes=() if counted is None else (counted,),
    )
    if not said:
        return Reflection(text=NO_ANSWER, recalled=recalled, trace=trace)
    opening = (
        [_closed(marked(answer[:1].upper() + answer[1:]))] if answer and rules.max_sentences != 1 else []
    )
    lines = [
        f"{order_mark(one.fact, inert(text))}{inert(text)} [{number}]"
        for number, (one, text) in enumerate(zip(said, texts, strict=True), start=1)
    ]
    while len(lines) > 1 and not fits(" ".join([*opening, *lines])):
        lines.pop()
    said = said[: len(lines)]
    return Reflection(
        text=" ".join([*opening, *lines]),
        answer=answer,
        sentences=tuple(
            ReflectionSentence(text=text, fact_ids=(one.fact.id,), evidence=one.evidence)
            for one, text in zip(said, texts, strict=False)
        ),
        based_on=tuple(said),
        opinions=tuple(one for one in recalled.recollections if one.fact.type is FactType.OPINION),
        evidence=Evidence.STRONG if any(one.evidence is Evidence.STRONG for one in said) else Evidence.WEAK,
        recalled=recalled,
        trace=trace,
    )


def _usable(
    recalled: RecallResult, rules: Rules, leaning: Leaning, effects: dict[str, None]
) -> list[Recollection]:
    """Return the recollections with evidence, allowed and with enough support; none if the recall has no evidence."""
    if recalled.evidence is Evidence.NONE:
        return []
    supported = [one for one in recalled.recollections if one.evidence is not Evidence.NONE]
    usable = [one for one in supported if not rules.forbids(one.fact.text)]
    believed = [one for one in usable if leaning.shortfall(one) <= MAX_SHORTFALL]
    if len(believed) < len(usable):
        effects["skepticism: facts with too little support were left out"] = None
    return believed


def _sentence(recollection: Recollection, leaning: Leaning, effects: dict[str, None]) -> str:
    """Return a statement as the disposition has it: quoted, with what is felt in it, marked where weakly supported."""
    fact = recollection.fact
    text = quoted(fact) if leaning.quotes else render_statement(fact)
    if leaning.quotes:
        effects["literalism: the speakers' own words are quoted"] = None
    if leaning.feels(fact):
        effects["empathy: what is felt was added"] = None
        text = f"{text} [felt: {', '.join(fact.emotion_tags[:2])}]"
    if leaning.shortfall(recollection) > 0.0:
        effects["skepticism: weakly supported statements are marked"] = None
        text = f"{text} {WEAKLY_SUPPORTED}"
    return _closed(text)


def _short_answer(
    recalled: RecallResult, said: Sequence[Recollection], rules: Rules, leaning: Leaning
) -> tuple[str | None, str]:
    """Return a few words that answer, and what gave them: arithmetic over the first statement, or the reader.

    What was calculated and not said is left out if only quotations are wanted.
    """
    if not said:
        return None, ""
    first = said[0]
    counted = time_since(recalled.query.text, first.fact, recalled.query.asked_at)
    if counted is not None and recalled.evidence is Evidence.STRONG and not leaning.quotes:
        return (None, "") if rules.forbids(counted) else (counted, "time since")
    if (first.answers or 0.0) < SURE or not first.span.strip() or rules.forbids(first.span):
        return None, ""
    words = one_line(first.span)
    meant = "; ".join(date for spoken, date in first.fact.dates if spoken in words)
    return f"{words} ({meant})" if meant else words, "reader"


def _closed(text: str) -> str:
    return text if text.endswith(SENTENCE_ENDS) else f"{text}."


def compose_from_model(
    query: str, model: MentalModelText, recalled: RecallResult, rules: Rules, fits: Fits = lambda text: True
) -> Reflection:
    """Return the lines of a mental model that share most words with the question, in their order; as many as fit."""
    terms = index_terms(query).keys()
    lines = [line.removeprefix("- ") for line in model.content.splitlines() if not line.startswith("#")]
    lines = [line for line in lines if line.strip() and not rules.forbids(line)]
    best = sorted(range(len(lines)), key=lambda place: -len(terms & index_terms(lines[place]).keys()))
    best = best[: rules.max_sentences or MAX_OF_MODEL]
    while len(best) > 1 and not fits(" ".join(lines[place] for place in best)):
        best.pop()
    said = [lines[place] for place in sorted(best)]
    empty = Reflection(text=NO_ANSWER, recalled=recalled, trace=ReflectionTrace(directives=rules.uses))
    if not said:
        return empty
    return replace(
        empty,
        text=" ".join([*map(marked, said), f"[{inert(model.name)}]"]),
        sentences=tuple(
            ReflectionSentence(
                text=text, fact_ids=model.fact_ids, model_ids=(model.id,), evidence=model.evidence
            )
            for text in said
        ),
        mental_models=(model,),
        evidence=model.evidence,
    )
