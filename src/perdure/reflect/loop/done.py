"""An answer that a model gave: its sentences checked against what they cite, and put into a reflection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from perdure.domain.recall import Evidence, RecallResult, Recollection
from perdure.domain.rendering import one_line
from perdure.ports.reranker import Reranker
from perdure.reflect.directive_rules import Rules
from perdure.reflect.loop.tools import Cited, DoneArguments, DoneSentence, Toolbox
from perdure.reflect.reflection import NO_ANSWER, MentalModelText, Reflection, ReflectionSentence
from perdure.reflect.schema import SchemaField
from perdure.reflect.support import SourceText, Support, check_support, unsaid

MARK = " (not supported by its sources)"
_ENDS = (".", "!", "?", "…", '"', "”", ")", "。")


@dataclass(frozen=True, slots=True)
class _Kept:
    """A sentence that stands, and what it cites."""

    text: str
    cited: tuple[Cited, ...]
    support: Support


def unknown_ids(done: DoneArguments, toolbox: Toolbox) -> list[str]:
    """Ids in an answer that no tool returned."""
    named = (one for sentence in done.sentences for one in sentence.sources)
    return list(dict.fromkeys(one_line(one)[:40] for one in named if toolbox.cited(one) is None))


def unsourced(done: DoneArguments) -> list[DoneSentence]:
    """Sentences that cite nothing."""
    return [sentence for sentence in done.sentences if not sentence.sources]


@dataclass(slots=True)
class CheckedAnswer:
    """What is left of an answer, and why the rest is not."""

    reflection: Reflection
    notes: list[str]
    removed: int
    sources: list[SourceText]
    """What the sentences that stand rest on."""


def check_answer(
    done: DoneArguments,
    toolbox: Toolbox,
    recalled: RecallResult,
    reranker: Reranker | None,
    rules: Rules,
    *,
    mark: bool,
    fits: Callable[[str], bool],
) -> CheckedAnswer:
    """Return the answer with the sentences that their sources support; the others are left out, or marked.

    A sentence that cites nothing, or an id that no tool returned, is left out either way; and the last ones, where the text does not fit.
    """
    notes: list[str] = []
    kept: list[_Kept] = []
    for sentence in done.sentences:
        text = one_line(sentence.text)
        cited = [toolbox.cited(one) for one in sentence.sources]
        if not cited or any(one is None for one in cited):
            notes.append(f"left out, as it cites nothing that was read: {text}")
            continue
        own = tuple(one for one in cited if one is not None)
        if rules.forbids(text):
            notes.append("a sentence was left out, as a directive forbids to mention what it says")
            continue
        support = check_support(text, [toolbox.source(one) for one in own], reranker)
        if not support.holds:
            notes.append(f"{'marked' if mark else 'left out'}: {text} ({support.reason})")
            if not mark:
                continue
        kept.append(_Kept(text, own, support))
    if rules.max_sentences is not None:
        kept = kept[: rules.max_sentences]
    reflection = _reflection(kept, recalled, rules)
    while len(kept) > 1 and not fits(reflection.text):
        notes.append(f"left out for want of room: {kept.pop().text}")
        reflection = _reflection(kept, recalled, rules)
    sources = [toolbox.source(one) for sentence in kept if sentence.support.holds for one in sentence.cited]
    short = one_line(done.answer)
    if short and sources and not unsaid(short, sources, is_value=True) and not rules.forbids(short):
        reflection = replace(reflection, answer=short)
    elif short and sources:
        notes.append(f"the short answer was left out, as no source says it: {short}")
    return CheckedAnswer(
        reflection, notes, len(done.sentences) - sum(one.support.holds for one in kept), sources
    )


def _reflection(kept: Sequence[_Kept], recalled: RecallResult, rules: Rules) -> Reflection:
    cited = [one for sentence in kept for one in sentence.cited]
    based_on = {one.fact.id: one for each in cited for one in each.recollections}
    models = {each.model.id: each.model for each in cited if each.model is not None}
    number = {fact_id: place for place, fact_id in enumerate(based_on, start=1)}
    sentences = tuple(_sentence(one) for one in kept)
    texts = [_with_citations(one, lambda recollection: number[recollection.fact.id]) for one in kept]
    body = " ".join(texts) or NO_ANSWER
    levels = [sentence.evidence for sentence in sentences if sentence.is_supported]
    return Reflection(
        text=body,
        sentences=sentences,
        based_on=tuple(based_on.values()),
        mental_models=tuple(models.values()),
        evidence=Evidence.STRONG if Evidence.STRONG in levels else Evidence.WEAK if levels else Evidence.NONE,
        recalled=recalled,
    )


def _sentence(kept: _Kept) -> ReflectionSentence:
    facts = [one for each in kept.cited for one in each.recollections]
    models = [each.model for each in kept.cited if each.model is not None]
    fact_ids = [one.fact.id for one in facts] + [one for model in models for one in model.fact_ids]
    return ReflectionSentence(
        text=kept.text if kept.support.holds else kept.text + MARK,
        fact_ids=tuple(dict.fromkeys(fact_ids)),
        model_ids=tuple(dict.fromkeys(model.id for model in models)),
        evidence=_level(facts, models) if kept.support.holds else Evidence.NONE,
        is_supported=kept.support.holds,
    )


def _level(facts: Sequence[Recollection], models: Sequence[MentalModelText]) -> Evidence:
    levels = {one.evidence for one in facts} | {model.evidence for model in models}
    return Evidence.STRONG if Evidence.STRONG in levels else Evidence.WEAK


def _with_citations(kept: _Kept, number: Callable[[Recollection], int]) -> str:
    text = kept.text if kept.text.endswith(_ENDS) else f"{kept.text}."
    marked = text if kept.support.holds else text + MARK
    numbers = dict.fromkeys(number(one) for each in kept.cited for one in each.recollections)
    return f"{marked} {''.join(f'[{one}]' for one in numbers)}".rstrip()


def without_unsaid(
    fields: Sequence[SchemaField],
    value: Mapping[str, object],
    sources: Sequence[SourceText],
    notes: list[str],
) -> dict[str, object]:
    """Return the object with null for numbers and names that no source has; choices of the schema stay."""
    return {field.name: _said(field, value.get(field.name), sources, notes) for field in fields}


def _said(field: SchemaField, value: object, sources: Sequence[SourceText], notes: list[str]) -> object:
    if value is None or isinstance(value, bool) or field.choices:
        return value
    if isinstance(value, Mapping):
        return without_unsaid(field.fields, value, sources, notes) if field.fields else dict(value)
    if isinstance(value, list):
        item = field.item or SchemaField(name=field.name, kind="string")
        parts = [_said(item, one, sources, notes) for one in value]
        return [part for part in parts if part is not None]
    missing = unsaid(str(value), sources, is_value=True)
    if missing:
        notes.append(f"{field.name} was left out: no source says {', '.join(missing)}")
        return None
    return value
