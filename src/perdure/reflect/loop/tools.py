"""The tools of reflect: what a model may ask for, and the readings that it gets; only ids that were returned can be cited."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from perdure.domain.fact import Fact, FactType
from perdure.domain.inert import inert
from perdure.domain.recall import Evidence, RecallResult, Recollection
from perdure.domain.rendering import cited_line
from perdure.llm.answer import complete_items
from perdure.ports.llm import JsonSchema, Tool, ToolCall
from perdure.recall.options import MAX_QUERY_CHARACTERS, RecallRequest
from perdure.recall.pipeline import recall
from perdure.reflect.components import ReflectComponents
from perdure.reflect.loop.conversation import ReadingText
from perdure.reflect.reflection import MentalModelText, ReflectionStep
from perdure.reflect.support import SourceText, source_of

SEARCH_MODELS, SEARCH_OBSERVATIONS, RECALL, EXPAND, DONE = (
    "search_mental_models", "search_observations", "recall", "expand", "done",
)  # fmt: skip
MODEL_CHARACTERS = 4000
DOCUMENT_CHARACTERS = 12_000
LINE_CHARACTERS = 600
"""Of surroundings that `expand` reads: a line each, so that the window can be kept."""
M = TypeVar("M", bound=BaseModel)
ModelSearch = Callable[[str, str], Sequence[MentalModelText]]


class SearchArguments(BaseModel):
    """Arguments of a search."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS, description="What to look for")


class ExpandArguments(BaseModel):
    """Arguments of `expand`."""

    fact: str = Field(description="Id of a fact that was returned, such as F3")
    scope: Literal["chunk", "document"] = Field("chunk", description="How much of what was said around it")


class DoneSentence(BaseModel):
    """A sentence of the answer."""

    text: str = Field(min_length=1)
    sources: list[str] = Field(description="Ids of the facts and models that it rests on")


class DoneArguments(BaseModel):
    """Arguments of `done`."""

    sentences: list[DoneSentence] = Field(default=[], description="The answer; empty if memory has none")
    answer: str = Field("", description="The answer in a few words, or empty")
    directives: list[int] = Field(default=[], description="Numbers of the rules that the answer obeys")


class ToolRefused(Exception):
    """A call that is not carried out; the reason is told to the model."""


def tools_for(schema: JsonSchema | None, *, only_done: bool, with_models: bool) -> list[Tool]:
    """Return the tools; with a response schema `done` takes the object too."""
    done: dict[str, object] = DoneArguments.model_json_schema()
    if schema is not None:
        properties = done["properties"]
        assert isinstance(properties, dict)
        done = {**done, "properties": {**properties, "structured": dict(schema)}, "required": ["sentences", "structured"]}  # fmt: skip
    last = Tool(name=DONE, description="Give the answer and end", parameters=done)
    if only_done:
        return [last]
    search, expand = SearchArguments.model_json_schema(), ExpandArguments.model_json_schema()
    models = Tool(
        name=SEARCH_MODELS, description="Documents that the user keeps on a topic", parameters=search
    )
    return [
        *([models] if with_models else []),
        Tool(name=SEARCH_OBSERVATIONS, description="Profiles of people and topics", parameters=search),
        Tool(name=RECALL, description="Facts that were said or happened, best first", parameters=search),
        Tool(name=EXPAND, description="What was said around a fact", parameters=expand),
        last,
    ]


def read_arguments(model: type[M], call: ToolCall) -> M:
    """Return the arguments of a call; ToolRefused says what is wrong."""
    if call.invalid:
        raise ToolRefused("the arguments are no JSON object")
    try:
        return model.model_validate(dict(call.arguments))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ToolRefused(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def written_calls(text: str) -> tuple[ToolCall, ...]:
    """Return the call that a model wrote as JSON into its text, as small ones do: a name with arguments, or the arguments of `done` alone.

    Of `done`, also those whose end is missing, with the sentences that are whole. It has no id, since the provider knows of no call.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        value = complete_items(text, "sentences")
    if not isinstance(value, dict):
        return ()
    name, arguments = value.get("name"), value.get("arguments", value.get("parameters"))
    if isinstance(name, str) and isinstance(arguments, dict):
        return (ToolCall(id="", name=name, arguments=arguments),)
    return (ToolCall(id="", name=DONE, arguments=value),) if "sentences" in value else ()


@dataclass(frozen=True, slots=True)
class Cited:
    """What an id stands for: facts, and the mental model where it is one."""

    recollections: tuple[Recollection, ...]
    model: MentalModelText | None = None


class Toolbox:
    """Runs tools within one question's filter, and keeps what they returned: nothing else may be cited."""

    def __init__(
        self, components: ReflectComponents, request: RecallRequest, search_models: ModelSearch | None
    ) -> None:
        self._components, self._request, self._search_models = components, request, search_models
        self._facts: dict[str, Recollection] = {}
        self._numbers: dict[str, int] = {}
        self._models: dict[str, MentalModelText] = {}
        self._expanded: dict[str, list[str]] = {}
        self._calls: set[tuple[str, str]] = set()
        self.steps: list[ReflectionStep] = []
        self.recalled: RecallResult | None = None
        """Of the first recall over facts."""

    @property
    def has_read(self) -> bool:
        """Return whether any tool returned something."""
        return bool(self._facts or self._models)

    @property
    def opinions(self) -> tuple[Recollection, ...]:
        """Opinions among what was read."""
        return tuple(one for one in self._facts.values() if one.fact.type is FactType.OPINION)

    def run(self, call: ToolCall) -> ReadingText:
        """Return the reading of a call; ToolRefused where it is not carried out."""
        key = (call.name, repr(sorted(call.arguments.items())))
        if key in self._calls:
            raise ToolRefused("this was read already, see above; use other words, or call done")
        if call.name == EXPAND:
            reading = self.expand(read_arguments(ExpandArguments, call))
        elif call.name in (SEARCH_OBSERVATIONS, RECALL, SEARCH_MODELS):
            query = read_arguments(SearchArguments, call).query.strip()
            if not query:
                raise ToolRefused("query: words to look for are missing")
            reading = self.search(call.name, query)
        else:
            raise ToolRefused(f"there is no tool {inert(call.name)[:60]!r}")
        self._calls.add(key)
        return reading

    def search(self, tool: str, query: str, *, track: bool = False) -> ReadingText:
        """Run one of the searches."""
        if tool == SEARCH_MODELS:
            return self._models_on(query)
        request = self._request.changed(query=query, track=track and self._request.track)
        if tool == SEARCH_OBSERVATIONS:
            types = request.where.types
            if types is not None and FactType.OBSERVATION not in types:
                return ReadingText("Profiles are not to be read for this question.")
            where = request.where.changed(types=frozenset({FactType.OBSERVATION}))
            request = request.changed(where=where)
        started = time.perf_counter()
        recalled = recall(self._components.recall, request)
        if tool == RECALL and self.recalled is None:
            self.recalled = recalled
        self._step(
            tool, query, started, tuple(one.fact.id for one in recalled.recollections), recalled=recalled
        )
        kind = "Profiles" if tool == SEARCH_OBSERVATIONS else "Facts"
        if not recalled.recollections:
            return ReadingText(f"{kind}: none.")
        lines = [self._line(one) for one in recalled.recollections]
        return ReadingText(f"{kind}, most relevant first; evidence: {recalled.evidence.value}.", lines)

    def expand(self, arguments: ExpandArguments) -> ReadingText:
        """Return what was said around a fact."""
        recollection = self._facts.get(_id(arguments.fact))
        if recollection is None:
            raise ToolRefused(f"{inert(arguments.fact)[:40]} was never returned by a tool")
        started, fact = time.perf_counter(), recollection.fact
        text = self._surroundings(fact, arguments.scope)
        self._step(EXPAND, f"{arguments.fact} {arguments.scope}", started, (fact.id,))
        if not text:
            return ReadingText(f"Nothing more was kept of what was said around {arguments.fact}.")
        self._expanded.setdefault(fact.id, []).append(text)
        lines = [inert(text[at : at + LINE_CHARACTERS]) for at in range(0, len(text), LINE_CHARACTERS)]
        return ReadingText(f"What was said around {_id(arguments.fact)}; cite it by that id.", lines)

    def cited(self, handle: str) -> Cited | None:
        """Return what an id stands for; None for one that no tool returned."""
        handle_id = _id(handle)
        if handle_id in self._facts:
            return Cited((self._facts[handle_id],))
        model = self._models.get(handle_id)
        return None if model is None else Cited((), model)

    def source(self, cited: Cited) -> SourceText:
        """Return what a cited thing says."""
        if cited.model is not None:
            return SourceText(texts=(cited.model.content,), names=(cited.model.name,))
        (recollection,) = cited.recollections
        fact = recollection.fact
        return source_of(fact, self._expanded.get(fact.id, ()))

    def refused(self, tool: str, query: str, reason: str) -> None:
        """Note a call that was not carried out."""
        self.steps.append(ReflectionStep(tool=tool, query=query, refused=reason))

    def _models_on(self, query: str) -> ReadingText:
        started = time.perf_counter()
        models = self._search_models(self._request.bank, query) if self._search_models is not None else ()
        lines = []
        for model in models:
            handle = next(
                (one for one, shown_model in self._models.items() if shown_model.id == model.id), None
            )
            handle = handle or f"M{len(self._models) + 1}"
            self._models[handle] = model
            lines.append(f"[{handle}] {inert(model.name)}: {inert(model.content[:MODEL_CHARACTERS])}")
        evidence = models[0].evidence if models else Evidence.NONE
        self._step(
            SEARCH_MODELS, query, started, (), model_ids=tuple(one.id for one in models), evidence=evidence
        )
        return ReadingText("Documents, nearest first." if lines else "Documents: none.", lines)

    def _line(self, recollection: Recollection) -> str:
        fact_id = recollection.fact.id
        number = self._numbers.setdefault(fact_id, len(self._numbers) + 1)
        self._facts.setdefault(f"F{number}", recollection)
        return "[F" + cited_line(number, recollection.fact, recollection.notes)[1:]

    def _surroundings(self, fact: Fact, scope: str) -> str:
        with self._components.store.reading(self._request.bank) as reading:
            if scope == "document" and fact.document_id is not None:
                chunks = sorted(reading.chunks(document_id=fact.document_id), key=lambda one: one.ordinal)
            else:
                chunks = reading.chunks(ids=[fact.chunk_id]) if fact.chunk_id is not None else []
        return "\n".join(chunk.text for chunk in chunks)[:DOCUMENT_CHARACTERS] or fact.source_text

    def _step(
        self,
        tool: str,
        query: str,
        started: float,
        fact_ids: tuple[str, ...],
        *,
        model_ids: tuple[str, ...] = (),
        evidence: Evidence | None = None,
        recalled: RecallResult | None = None,
    ) -> None:
        level = evidence or (recalled.evidence if recalled is not None else Evidence.NONE)
        self.steps.append(
            ReflectionStep(
                tool=tool,
                query=query,
                fact_ids=fact_ids,
                model_ids=model_ids,
                evidence=level,
                milliseconds=(time.perf_counter() - started) * 1000.0,
                recalled=recalled,
            )
        )


def _id(handle: str) -> str:
    """Return an id as the model wrote it, without brackets."""
    return handle.strip().strip("[]").upper()


def told_arguments(arguments: Mapping[str, object]) -> str:
    """Return a call's arguments for a trace, shortened."""
    return inert(", ".join(f"{name}={value}" for name, value in arguments.items()))[:200]
