"""Composing an answer without a language model: up to three cited statements, or that memory holds no answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact, FactType
from perdure.domain.inert import inert
from perdure.domain.recall import Evidence, RecallResult, Recollection
from perdure.domain.rendering import iso_day, marked, one_line, order_mark
from perdure.domain.statement import render_statement
from perdure.reflect.arithmetic import order_note, time_since
from perdure.reflect.directive_rules import Rules
from perdure.reflect.disposition import (
    HEDGE,
    MAX_SHORTFALL,
    Leaning,
    feelings,
    quoted,
    shortfall,
)
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
"""Probability of answering from which on the reader's words are a short answer."""
MAX_OF_MODEL = 8
"""Sentences that are taken from a mental model."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ENDS = (".", "!", "?", "…", '"', "]", "。", "”")

Linked = Callable[[Sequence[str], int], Sequence[Fact]]
"""(fact ids, how many) -> facts that follow from them over links."""
Fits = Callable[[str], bool]
"""Whether a text is within the tokens that an answer may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A sentence before it is numbered."""

    text: str
    sources: tuple[Recollection, ...]
    evidence: Evidence


def compose(
    recalled: RecallResult,
    *,
    rules: Rules = Rules(),
    leaning: Leaning = Leaning(),
    linked: Linked | None = None,
    fits: Fits = lambda text: True,
) -> Reflection:
    """Return the statements that answer, best first, with a short answer where it can be worked out; or a refusal.

    Of several sentences as many are said as fit, one at least.
    """
    effects: list[str] = []
    usable = _usable(recalled, rules, leaning, effects)
    said = [_sentence(one, rules, leaning, effects) for one in usable[:MAX_SENTENCES]]
    said += _feelings(said, leaning, effects)
    said += _following(said, leaning, linked, rules, effects)
    said = said if rules.max_sentences is None else said[: rules.max_sentences]
    answer, source = _short_answer(recalled, said, rules, leaning)
    counted = order_note([source.fact for one in said for source in one.sources])
    trace = ReflectionTrace(
        reader=source,
        directives=rules.uses,
        disposition=tuple(effects),
        notes=() if counted is None else (counted,),
    )
    if not said:
        text = _framed(NO_ANSWER, rules)
        return Reflection(text=text, evidence=Evidence.NONE, recalled=recalled, trace=trace)
    while True:
        reflection = _reflection(recalled, answer, said, rules, trace)
        if len(said) == 1 or fits(reflection.text):
            return reflection
        said = said[:-1]


def _usable(recalled: RecallResult, rules: Rules, leaning: Leaning, effects: list[str]) -> list[Recollection]:
    """Return the recollections that may be said: supported, allowed, and believed enough; none without any evidence."""
    if recalled.evidence is Evidence.NONE:
        return []
    usable = [one for one in recalled.recollections if one.evidence is not Evidence.NONE]
    if rules.only_strong:
        usable = [one for one in usable if one.evidence is Evidence.STRONG]
    usable = [one for one in usable if not rules.forbids(one.fact.text)]
    believed = [one for one in usable if shortfall(one, leaning) <= MAX_SHORTFALL]
    if len(believed) < len(usable):
        effects.append(
            f"skepticism: {len(usable) - len(believed)} facts with too little support were left out"
        )
    return believed


def _sentence(recollection: Recollection, rules: Rules, leaning: Leaning, effects: list[str]) -> _Said:
    fact = recollection.fact
    text = quoted(fact) if leaning.quotes or rules.quote else render_statement(fact)
    if leaning.quotes:
        _note(effects, "literalism: the speakers' own words are quoted")
    if rules.cite_dates and iso_day(fact.mentioned_at) not in text:
        text = f"{iso_day(fact.mentioned_at)} {text}"
    text = _closed(text)
    if shortfall(recollection, leaning) > 0.0:
        _note(effects, "skepticism: weakly supported sentences are hedged")
        text = HEDGE + text
    return _Said(text=text, sources=(recollection,), evidence=recollection.evidence)


def _closed(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."


def _note(effects: list[str], effect: str) -> None:
    if effect not in effects:
        effects.append(effect)


def _short_answer(
    recalled: RecallResult, said: Sequence[_Said], rules: Rules, leaning: Leaning
) -> tuple[str | None, str]:
    """Return a few words that answer, and what gave them: arithmetic over the first statement, or the reader's words of it.

    What was worked out and not said is left out where only quotes are wanted.
    """
    if not said:
        return None, ""
    first = said[0].sources[0]
    counted = time_since(recalled.query.text, first.fact, recalled.query.asked_at)
    if counted is not None and recalled.evidence is Evidence.STRONG and not leaning.quotes:
        return (None, "") if rules.forbids(counted) else (counted, "time since")
    if (first.answers or 0.0) < SURE or not first.span.strip() or rules.forbids(first.span):
        return None, ""
    words = one_line(first.span)
    meant = "; ".join(date for spoken, date in first.fact.dates if spoken in words)
    return f"{words} ({meant})" if meant else words, "reader"


def _feelings(said: Sequence[_Said], leaning: Leaning, effects: list[str]) -> list[_Said]:
    by_id = {source.fact.id: source for one in said for source in one.sources}
    told = feelings([source.fact for source in by_id.values()], leaning)
    if told:
        effects.append("empathy: what is felt was added")
    return [
        _Said(text=text, sources=(by_id[fact.id],), evidence=by_id[fact.id].evidence) for text, fact in told
    ]


def _following(
    said: Sequence[_Said], leaning: Leaning, linked: Linked | None, rules: Rules, effects: list[str]
) -> list[_Said]:
    if not leaning.followed or linked is None or not said:
        return []
    ids = [source.fact.id for one in said for source in one.sources]
    facts = [fact for fact in linked(ids, leaning.followed) if not rules.forbids(fact.text)]
    if facts:
        effects.append(f"literalism: {len(facts)} facts that follow over links were added")
    return [
        _Said(
            text=_closed(render_statement(fact)),
            sources=(Recollection(fact=fact, score=0.0, citation=0, evidence=Evidence.WEAK),),
            evidence=Evidence.WEAK,
        )
        for fact in facts
    ]


def _reflection(
    recalled: RecallResult, answer: str | None, said: Sequence[_Said], rules: Rules, trace: ReflectionTrace
) -> Reflection:
    based_on = list({source.fact.id: source for one in said for source in one.sources}.values())
    number = {source.fact.id: place for place, source in enumerate(based_on, start=1)}
    cited = [
        f"{_inert(one)} {''.join(f'[{number[source.fact.id]}]' for source in one.sources)}" for one in said
    ]
    opening = [_as_sentence(answer)] if answer is not None and rules.max_sentences != 1 else []
    return Reflection(
        text=_framed(" ".join([*opening, *cited]), rules),
        answer=answer,
        sentences=tuple(
            ReflectionSentence(
                text=one.text, fact_ids=tuple(source.fact.id for source in one.sources), evidence=one.evidence
            )
            for one in said
        ),
        based_on=tuple(based_on),
        opinions=tuple(one for one in recalled.recollections if one.fact.type is FactType.OPINION),
        evidence=Evidence.STRONG if any(one.evidence is Evidence.STRONG for one in said) else Evidence.WEAK,
        recalled=recalled,
        trace=trace,
    )


def compose_from_model(
    query: str,
    model: MentalModelText,
    recalled: RecallResult,
    rules: Rules,
    fits: Fits = lambda text: True,
) -> Reflection:
    """The sentences of a mental model that hold most of the question's words, in their order; as many as fit, one at least."""
    terms = set(index_terms(query))
    sentences = [
        part for part in _SENTENCE_END.split(one_line(model.content)) if part and not rules.forbids(part)
    ]
    most = rules.max_sentences or MAX_OF_MODEL
    best = sorted(
        range(len(sentences)), key=lambda place: (-len(terms & set(index_terms(sentences[place]))), place)
    )[:most]
    while len(best) > 1 and not fits(" ".join(sentences[place] for place in best)):
        best = best[:-1]
    said = [sentences[place] for place in sorted(best)]
    text = " ".join([*map(marked, said), f"[{inert(model.name)}]"]) if said else NO_ANSWER
    return Reflection(
        text=_framed(text, rules),
        sentences=tuple(
            ReflectionSentence(
                text=part, fact_ids=model.fact_ids, model_ids=(model.id,), evidence=model.evidence
            )
            for part in said
        ),
        mental_models=(model,) if said else (),
        evidence=model.evidence if said else Evidence.NONE,
        recalled=recalled,
        trace=ReflectionTrace(directives=rules.uses),
    )


def _inert(said: _Said) -> str:
    """A sentence as a model may read it: unable to pass for a citation, and marked where its fact reads like an order."""
    text = inert(said.text)
    mark = next(filter(None, (order_mark(source.fact, text) for source in said.sources)), "")
    return f"{mark}{text}"


def _as_sentence(answer: str) -> str:
    return _closed(marked(answer[:1].upper() + answer[1:]))


def _framed(text: str, rules: Rules) -> str:
    return " ".join(part for part in (rules.opening, text, rules.closing) if part)
