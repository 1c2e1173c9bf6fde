"""Delta refreshes: operations on the sentences of a document, each told; what none of them touches stays byte for byte."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.mental_model import DeltaOperations, ModelSection, ModelSentence, render_sections
from perdure.ports.tokens import Tokens
from perdure.reflect.mental_models.compose import REST, group_facts, sentence_of

NO_ROOM = "no room within max_tokens"


@dataclass(frozen=True, slots=True)
class DeltaResult:
    """The document after the operations."""

    sections: tuple[ModelSection, ...]
    operations: DeltaOperations


def apply_delta(
    sections: Sequence[ModelSection],
    new: Sequence[Fact],
    lost: Collection[str],
    successors: Mapping[str, str],
    tokens: Tokens,
    max_tokens: int,
    now: datetime,
) -> DeltaResult:
    """Take out the sentences that rest on `lost` facts and put in those of `new` facts, best first, as far as they fit.

    `successors` tells, for a lost fact, the fact that ended it: its sentence takes the place of the old one.
    """
    stated = {sentence.fact_ids[0] for section in sections for sentence in section.sentences}
    coming = {fact.id: fact for fact in new if fact.id not in stated}
    applied: list[Mapping[str, object]] = []
    skipped: list[Mapping[str, object]] = []
    kept: list[ModelSection] = []
    for section in sections:
        sentences: list[ModelSentence] = []
        for sentence in section.sentences:
            if not set(sentence.fact_ids) & set(lost):
                sentences.append(sentence)
                continue
            successor = coming.pop(successors.get(sentence.fact_ids[0], ""), None)
            if successor is None:
                applied.append(_operation("remove_sentence", section.heading, sentence.fact_ids))
            else:
                sentences.append(sentence_of(successor, now))
                ids = (*sentence.fact_ids, successor.id)
                applied.append(_operation("replace_sentence", section.heading, ids))
        if sentences:
            kept.append(replace(section, sentences=tuple(sentences)))
        else:
            applied.append(_operation("remove_section", section.heading, ()))
    for heading, facts in group_facts(list(coming.values()), [one.heading for one in kept]).items():
        for fact in facts:
            longer = _with_sentence(kept, heading, sentence_of(fact, now))
            operation = _operation("add_sentence", heading, (fact.id,))
            if tokens.count(render_sections(longer)) > max_tokens:
                skipped.append({**operation, "reason": NO_ROOM})
            else:
                kept = longer
                applied.append(operation)
    return DeltaResult(tuple(kept), DeltaOperations(applied=tuple(applied), skipped=tuple(skipped)))


def _with_sentence(
    sections: Sequence[ModelSection], heading: str, sentence: ModelSentence
) -> list[ModelSection]:
    """The sentence at the end of the section of that heading, a new one if there is none; a lone section has no heading."""
    place = next((at for at, one in enumerate(sections) if one.heading == heading), None)
    if place is None and heading == REST:
        place = next((at for at, one in enumerate(sections) if not one.heading), None)
    if place is None:
        return [*sections, ModelSection(heading if sections or heading != REST else "", (sentence,))]
    longer = replace(sections[place], sentences=(*sections[place].sentences, sentence))
    return [*sections[:place], longer, *sections[place + 1 :]]


def _operation(name: str, heading: str, fact_ids: Sequence[str]) -> Mapping[str, object]:
    return {"op": name, "section": heading, "fact_ids": list(fact_ids)}
