"""Documents that a language model writes; every sentence is checked against the facts that it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel

from perdure.domain.fact import Fact
from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.mental_model import MentalModel, ModelSection, ModelSentence, render_sections
from perdure.domain.rendering import fenced, one_line
from perdure.errors import LlmInvalid
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.llm import ChatMessage
from perdure.reflect.components import ReflectComponents
from perdure.reflect.support import source_of, unsaid
from perdure.reflect.worded import ShownFacts, WordedSentence, fitting

FACT_TOKENS = 6000
"""Tokens of facts in one request, the best first; fewer if the window is small."""


class WrittenSection(BaseModel):
    """Sentences about one thing."""

    heading: str
    sentences: list[WordedSentence]


class WrittenDocument(BaseModel):
    """The answer of the language model."""

    sections: list[WrittenSection]


@dataclass(frozen=True, slots=True)
class Written:
    """A checked document."""

    sections: tuple[ModelSection, ...]
    call: Mapping[str, object]
    """The request, for a trace."""
    written_by: str
    refused: int = 0
    """Sentences that were left out: an unknown id, no id, or not supported."""


def write_document(
    components: ReflectComponents, caller: Caller, model: MentalModel, facts: Sequence[Fact]
) -> Written:
    """Return a document on the model's question. Raise `LlmInvalid` if no sentence of it is supported."""
    count = components.recall.tokens.count
    room = min(FACT_TOKENS, caller.window(LlmOperation.MENTAL_MODEL) // 2)
    shown = ShownFacts(fitting(facts, count, room), components.recall.reranker)
    prompt = load("mental_model")
    system = prompt.fill(question=one_line(model.source_query), tokens=str(model.max_tokens))
    messages = [
        ChatMessage(role="system", text=system),
        ChatMessage(role="user", text=fenced(shown.lines())),
    ]
    purpose = Purpose(bank=model.bank, operation=LlmOperation.MENTAL_MODEL, prompt=prompt.version)
    reply = caller.structured(purpose, messages, expect(WrittenDocument), max_tokens=2 * model.max_tokens)
    call = {
        "model": reply.model,
        "prompt": prompt.version,
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
    }
    sections = [_section(shown, one) for one in reply.value.sections]
    kept = [section for section in sections if section.sentences]
    while kept and count(render_sections(kept)) > model.max_tokens:  # the last sentences go first
        shorter = kept[-1].sentences[:-1]
        kept = [*kept[:-1], replace(kept[-1], sentences=shorter)] if shorter else kept[:-1]
    if not kept:
        raise LlmInvalid(f"{reply.model}: no sentence of the document is supported by its facts")
    return Written(tuple(kept), call, f"{prompt.version} {reply.model}", shown.refused)


def _section(shown: ShownFacts, written: WrittenSection) -> ModelSection:
    """Return a section; a heading that names or counts what the facts of its sentences do not is dropped."""
    checked = shown.check(written.sentences)
    sources = [source_of(fact) for one in checked for fact in one.facts]
    heading = inert(written.heading).lstrip("# ")
    sentences = tuple(ModelSentence(one.text, tuple(fact.id for fact in one.facts)) for one in checked)
    return ModelSection("" if unsaid(heading, sources) else heading, sentences)
