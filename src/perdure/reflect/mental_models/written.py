"""Documents that a language model writes: whole, or section by section; every sentence is checked against the facts that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from pydantic import BaseModel, Field

from perdure.domain.fact import Fact
from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.mental_model import (
    DeltaOperations,
    MentalModel,
    ModelSection,
    ModelSentence,
    render_sections,
)
from perdure.domain.rendering import cited_line, fenced, one_line
from perdure.errors import LlmInvalid
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import Prompt, load
from perdure.ports.llm import ChatMessage
from perdure.reflect.components import ReflectComponents
from perdure.reflect.support import check_support, source_of, unsaid

FACT_TOKENS = 6000
"""Tokens of facts in one request, the best first; less where the window is small."""
M = TypeVar("M", bound=BaseModel)


class WrittenSentence(BaseModel):
    """A sentence and the facts that it rests on."""

    text: str
    sources: list[str]


class WrittenSection(BaseModel):
    """Sentences about one thing."""

    heading: str
    sentences: list[WrittenSentence]


class WrittenDocument(BaseModel):
    """A model's whole document."""

    sections: list[WrittenSection]


class SectionChange(BaseModel):
    """A change of one section; the reason stands before the verdict."""

    reason: str
    change: Literal["add", "replace", "remove"]
    section: str = Field("", description="D…, of a replace or remove")
    heading: str = ""
    sentences: list[WrittenSentence] = []


class SectionChanges(BaseModel):
    """A model's changes."""

    changes: list[SectionChange]


@dataclass(frozen=True, slots=True)
class Written:
    """What a model made of a document."""

    sections: tuple[ModelSection, ...]
    call: Mapping[str, object]
    """The request, for a trace."""
    written_by: str
    refused: int = 0
    """Sentences that were left out: an unknown id, no id, or not supported."""
    operations: DeltaOperations | None = None


@dataclass(slots=True)
class _Checked:
    """Reads sentences, leaving out what does not stand."""

    components: ReflectComponents
    facts: Mapping[str, Fact]
    """Short id -> fact."""
    refused: int = 0
    stands: set[str] = field(default_factory=set)
    """Texts that the document has already: they are not checked again."""

    def sentences(self, written: Iterable[WrittenSentence]) -> tuple[ModelSentence, ...]:
        read = (self._sentence(one) for one in written)
        return tuple(one for one in read if one is not None)

    def section(self, heading: str, written: Iterable[WrittenSentence]) -> ModelSection:
        """A section; its heading goes where it names or counts what the facts of its sentences do not."""
        sentences = self.sentences(written)
        cited = {one for sentence in sentences for one in sentence.fact_ids}
        sources = [source_of(fact) for fact in self.facts.values() if fact.id in cited]
        plain = inert(heading).lstrip("# ")
        return ModelSection("" if unsaid(plain, sources) else plain, sentences)

    def _sentence(self, written: WrittenSentence) -> ModelSentence | None:
        facts = [self.facts.get(one.strip().strip("[]").upper()) for one in written.sources]
        sources = list({fact.id: fact for fact in facts if fact is not None}.values())
        text = inert(written.text)
        if not text or not sources or any(fact is None for fact in facts):
            self.refused += 1
            return None
        reranker = self.components.recall.reranker
        if text not in self.stands and not check_support(text, [source_of(one) for one in sources], reranker).holds:  # fmt: skip
            self.refused += 1
            return None
        return ModelSentence(text, tuple(fact.id for fact in sources))


def write_document(
    components: ReflectComponents, caller: Caller, model: MentalModel, facts: Sequence[Fact]
) -> Written:
    """The whole document anew; LlmInvalid where nothing of it stands."""
    shown = _fitting(components, caller, facts)
    lines = [f"[F{cited_line(number, fact)[1:]}" for number, fact in enumerate(shown, start=1)]
    answer, call, prompt = _ask(components, caller, model, load("mental_model"), lines, WrittenDocument)
    checked = _Checked(components, {f"F{number}": fact for number, fact in enumerate(shown, start=1)})
    sections = [checked.section(one.heading, one.sentences) for one in answer.sections]
    kept = _within(components, [one for one in sections if one.sentences], model.max_tokens)
    if not kept:
        raise LlmInvalid(f"{call['model']}: no sentence of the document is supported by its facts")
    return Written(kept, call, prompt, checked.refused)


def change_document(
    components: ReflectComponents,
    caller: Caller,
    model: MentalModel,
    sections: Sequence[ModelSection],
    facts: Sequence[Fact],
) -> Written:
    """The sections with the changes that new facts call for; LlmInvalid where they would leave nothing."""
    shown = _fitting(components, caller, facts)
    cited = [one for section in sections for sentence in section.sentences for one in sentence.fact_ids]
    with components.store.reading(model.bank) as reading:
        earlier = reading.facts(list(dict.fromkeys(cited)))
    every = list({fact.id: fact for fact in (*shown, *earlier)}.values())
    handles = {fact.id: f"F{number}" for number, fact in enumerate(every, start=1)}
    lines: list[str] = []
    for number, section in enumerate(sections, start=1):
        lines.append(f"Section [D{number}] {inert(section.heading)}")
        for sentence in section.sentences:
            ids = ", ".join(handles[one] for one in sentence.fact_ids if one in handles)
            lines.append(f"- {inert(sentence.text)} ({ids})")
    lines.append("New facts")
    lines += [f"[F{cited_line(number, fact)[1:]}" for number, fact in enumerate(shown, start=1)]
    answer, call, prompt = _ask(
        components, caller, model, load("mental_model_changes"), lines, SectionChanges
    )
    stands = {inert(sentence.text) for section in sections for sentence in section.sentences}
    checked = _Checked(components, {handles[fact.id]: fact for fact in every}, stands=stands)
    result, operations = _apply(list(sections), answer.changes, checked)
    kept = _within(components, result, model.max_tokens)
    if not kept:
        raise LlmInvalid(f"{call['model']}: the changes would leave nothing of the document")
    return Written(kept, call, prompt, checked.refused, operations)


def _apply(
    sections: list[ModelSection], changes: Sequence[SectionChange], checked: _Checked
) -> tuple[list[ModelSection], DeltaOperations]:
    """Carry out the changes that name a section of the document and leave it something to say."""
    places: list[ModelSection | None] = list(sections)
    added: list[ModelSection] = []
    applied: list[Mapping[str, object]] = []
    skipped: list[Mapping[str, object]] = []
    for change in changes:
        number = change.section.strip().strip("[]").upper().removeprefix("D")
        place = int(number) - 1 if number.isdigit() and 0 < int(number) <= len(sections) else None
        stored = sections[place].heading if place is not None else ""
        section = checked.section(
            change.heading or stored, change.sentences if change.change != "remove" else ()
        )
        sentences = section.sentences
        ids = [one for sentence in sentences for one in sentence.fact_ids]
        told = {"op": f"{change.change}_section", "section": one_line(change.heading), "fact_ids": ids}
        if change.change == "add" and sentences:
            added.append(section)
        elif place is not None and change.change == "remove":
            places[place] = None
            told["section"] = sections[place].heading
        elif place is not None and change.change == "replace" and sentences:
            places[place] = section
        else:
            skipped.append({**told, "reason": "it names no section, or none of its sentences stands"})
            continue
        applied.append(told)
    kept = [section for section in places if section is not None]
    return [*kept, *added], DeltaOperations(applied=tuple(applied), skipped=tuple(skipped))


def _within(
    components: ReflectComponents, sections: Sequence[ModelSection], max_tokens: int
) -> tuple[ModelSection, ...]:
    """The sections within the size of the document: the last sentences go first."""
    kept = [section for section in sections if section.sentences]
    while kept and components.recall.tokens.count(render_sections(kept)) > max_tokens:
        shorter = kept[-1].sentences[:-1]
        kept = [*kept[:-1], replace(kept[-1], sentences=shorter)] if shorter else kept[:-1]
    return tuple(kept)


def _fitting(components: ReflectComponents, caller: Caller, facts: Sequence[Fact]) -> list[Fact]:
    """The first facts that fit into a request."""
    room = min(FACT_TOKENS, caller.window(LlmOperation.MENTAL_MODEL) // 2)
    shown: list[Fact] = []
    for fact in facts:
        room -= components.recall.tokens.count(cited_line(1, fact))
        if room < 0 and shown:
            break
        shown.append(fact)
    return shown


def _ask(
    components: ReflectComponents,
    caller: Caller,
    model: MentalModel,
    prompt: Prompt,
    lines: Sequence[str],
    answer: type[M],
) -> tuple[M, Mapping[str, object], str]:
    """The answer, the call for a trace, and what wrote it."""
    system = prompt.fill(question=one_line(model.source_query), tokens=str(model.max_tokens))
    messages = [
        ChatMessage(role="system", text=system),
        ChatMessage(role="user", text=fenced(lines)),
    ]
    purpose = Purpose(bank=model.bank, operation=LlmOperation.MENTAL_MODEL, prompt=prompt.version)
    reply = caller.structured(purpose, messages, expect(answer), max_tokens=2 * model.max_tokens)
    call = {
        "model": reply.model,
        "prompt": prompt.version,
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
    }
    return reply.value, call, f"{prompt.version} {reply.model}"
