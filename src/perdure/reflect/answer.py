"""Composing an answer: which facts are said, in which words, under which disposition and rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perdure.domain.fact import Fact, FactType
from perdure.domain.inert import inert
from perdure.domain.recall import Evidence, RecallResult, Recollection
from perdure.domain.rendering import marked, one_line, order_mark
from perdure.reflect.asked import Asked, AskedKind
from perdure.reflect.attribution import misattributed
from perdure.reflect.directive_rules import Rules
from perdure.reflect.disposition import (
    HEDGE,
    MAX_SHORTFALL,
    Leaning,
    feelings,
    quoted,
    shortfall,
)
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers import read_answer
from perdure.reflect.readers.reading import Reading
from perdure.reflect.readers.when import day_in_words, stated_time, window_in_words
from perdure.reflect.reflection import (
    NO_ANSWER,
    MentalModelText,
    Reflection,
    ReflectionSentence,
    ReflectionTrace,
)
from perdure.text.terms import index_terms

MAX_SENTENCES = 8
MAX_LISTED = 15
"""Sentences of an answer that is gathered from several facts."""
LEAST_SCORE = 0.05
"""A weakly supported fact below it is not said beside others, unless it is among the nearest."""
NEAREST = 10
"""Facts of a recall that are said beside supported ones, though nothing but their place speaks for them; of a list as many as
it may have."""
_GATHERED = (AskedKind.LIST, AskedKind.HOW_MANY)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ENDS = (".", "!", "?", "…", '"', "。", "”")

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
    asked: Asked,
    recalled: RecallResult,
    passages: Sequence[Passage],
    *,
    rules: Rules = Rules(),
    leaning: Leaning = Leaning(),
    linked: Linked | None = None,
    fits: Fits = lambda text: True,
) -> Reflection:
    """The short answer that a reader gives and the facts behind it; the best facts where none does; or that memory holds none.

    Of several sentences as many are said as fit, one at least.
    """
    notes: list[str] = []
    effects: list[str] = []
    usable = _usable(asked, passages, rules, leaning, notes, effects)
    reading = None if not usable else read_answer(asked, usable)
    if reading is not None and reading.is_derived and leaning.quotes:
        effects.append(f"literalism: “{reading.answer}” is worked out, not said, and is left out")
        reading = None
    if reading is not None and rules.forbids(reading.answer):
        reading = None
    beside = _beside(asked, passages, usable, rules, leaning)
    said = _sentences(asked, usable, beside, reading, rules, leaning, effects)
    said += _feelings(said, leaning, effects)
    said += _following(said, leaning, linked, rules, effects)
    if rules.max_sentences is not None:
        said = said[: rules.max_sentences]
    if reading is not None and reading.note:
        notes.append(reading.note)
    trace = ReflectionTrace(
        kind=asked.kind.value,
        reader=reading.reader if reading is not None and said else "",
        directives=rules.uses,
        disposition=tuple(effects),
        notes=tuple(notes),
    )
    if not said:
        text = _refusal(notes)
        return Reflection(text=_framed(text, rules), evidence=Evidence.NONE, recalled=recalled, trace=trace)
    while True:
        reflection = _reflection(recalled, reading, said, rules, trace)
        if len(said) == 1 or fits(reflection.text):
            return reflection
        said = said[:-1]


def _refusal(notes: Sequence[str]) -> str:
    told = next((note for note in notes if note.startswith("what memory holds")), "")
    return f"{NO_ANSWER[:-1]}: {inert(told)}." if told else NO_ANSWER


def _usable(
    asked: Asked,
    passages: Sequence[Passage],
    rules: Rules,
    leaning: Leaning,
    notes: list[str],
    effects: list[str],
) -> list[Passage]:
    """The passages that may be said: supported, of the person asked about, allowed, and believed enough."""
    other = misattributed(asked, passages)
    if other is not None:
        notes.append(str(other))
        return []
    usable = [one for one in passages if one.is_supported and one.asserts and one.about is not About.OTHER]
    if asked.persons and len(usable) < sum(one.is_supported for one in passages):
        notes.append(f"facts about others than {', '.join(asked.persons)} were left out")
    if rules.only_strong:
        usable = [one for one in usable if one.recollection.evidence is Evidence.STRONG]
    if rules.never:
        usable = [one for one in usable if not rules.forbids(one.fact.text)]
    believed = [one for one in usable if shortfall(one.recollection, leaning) <= MAX_SHORTFALL]
    if len(believed) < len(usable):
        effects.append(
            f"skepticism: {len(usable) - len(believed)} facts with too little support were left out"
        )
    return believed


def _beside(
    asked: Asked, passages: Sequence[Passage], usable: Sequence[Passage], rules: Rules, leaning: Leaning
) -> list[Passage]:
    """The nearest facts, which may be said where others answer: an answer may be spread over facts of which none has it."""
    if not usable or rules.only_strong:
        return []
    return [
        one
        for one in passages[: MAX_LISTED if asked.kind in _GATHERED else NEAREST]
        if one.asserts
        and one.about in (About.OWN, About.MENTIONED)
        and not rules.forbids(one.fact.text)
        and shortfall(one.recollection, leaning) <= MAX_SHORTFALL
    ]


def _sentences(
    asked: Asked,
    usable: Sequence[Passage],
    beside: Sequence[Passage],
    reading: Reading | None,
    rules: Rules,
    leaning: Leaning,
    effects: list[str],
) -> list[_Said]:
    first = list(reading.passages) if reading is not None else []
    strong = [one for one in usable if one.recollection.evidence is Evidence.STRONG]
    rest = [*strong, *(one for one in usable if one.recollection.score >= LEAST_SCORE), *beside]
    rest = rest or ([] if first else list(usable[:1]))
    most = MAX_LISTED if asked.kind in _GATHERED else MAX_SENTENCES
    chosen = list(dict.fromkeys([*first, *rest]))[:most]
    if reading is None:
        chosen.sort(key=lambda one: (one.fact.type is not FactType.OBSERVATION, one.recollection.citation))
    return [
        _Said(
            text=_worded(asked, one.recollection, rules, leaning, effects),
            sources=(one.recollection,),
            evidence=one.recollection.evidence,
        )
        for one in chosen
    ]


def _worded(
    asked: Asked, recollection: Recollection, rules: Rules, leaning: Leaning, effects: list[str]
) -> str:
    fact = recollection.fact
    if leaning.quotes or rules.quote:
        text = quoted(fact)
        if leaning.quotes and "literalism: the speakers' own words are quoted" not in effects:
            effects.append("literalism: the speakers' own words are quoted")
    else:
        text = one_line(fact.text)
    if asked.kind in (AskedKind.WHEN, AskedKind.HOW_LONG) or rules.cite_dates:
        text = with_times(text, fact)
    text = text if text.endswith(_ENDS) else f"{text}."
    if shortfall(recollection, leaning) > 0.0:
        if "skepticism: weakly supported sentences are hedged" not in effects:
            effects.append("skepticism: weakly supported sentences are hedged")
        return HEDGE + text
    return text


def with_times(text: str, fact: Fact) -> str:
    """A sentence with when it happened and when it was said behind it, as far as that is sure and not in its words."""
    window = stated_time(fact)
    happened = window_in_words(window) if window is not None else ""
    said = f"said on {day_in_words(fact.mentioned_at)}" if fact.mentioned_at is not None else ""
    marks = "; ".join(mark for mark in (happened, said) if mark and mark not in text)
    return f"{text.rstrip('.')} ({marks})." if marks else text


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
            text=one_line(fact.text) if fact.text.endswith(_ENDS) else f"{one_line(fact.text)}.",
            sources=(Recollection(fact=fact, score=0.0, citation=0, evidence=Evidence.WEAK),),
            evidence=Evidence.WEAK,
        )
        for fact in facts
    ]


def _reflection(
    recalled: RecallResult,
    reading: Reading | None,
    said: Sequence[_Said],
    rules: Rules,
    trace: ReflectionTrace,
) -> Reflection:
    based_on = list({source.fact.id: source for one in said for source in one.sources}.values())
    number = {source.fact.id: place for place, source in enumerate(based_on, start=1)}
    cited = [
        f"{_inert(one)} {''.join(f'[{number[source.fact.id]}]' for source in one.sources)}" for one in said
    ]
    answer = reading.answer if reading is not None else None
    opening = [f"{_head(reading)}"] if reading is not None and rules.max_sentences != 1 else []
    return Reflection(
        text=_framed(" ".join([*opening, *cited]), rules),
        answer=answer,
        values=reading.values if reading is not None else (),
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
    most = rules.max_sentences or MAX_SENTENCES
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


def _head(reading: Reading) -> str:
    """The short answer as a sentence of its own; how it was worked out stands with it."""
    words = marked(reading.answer[:1].upper() + reading.answer[1:])
    note = f" ({inert(reading.note)})" if reading.is_derived and reading.note else ""
    return f"{words}{note}" if f"{words}{note}".endswith(_ENDS) else f"{words}{note}."


def _framed(text: str, rules: Rules) -> str:
    return " ".join(part for part in (rules.opening, text, rules.closing) if part)
