"""Reflect: tiers are read in order, and cited statements answer; where a language model is set, it words the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from perdure.domain.bank import Disposition
from perdure.domain.directive import DirectiveText
from perdure.domain.fact import Fact, FactType, LinkKind
from perdure.domain.filter import Filter, admits
from perdure.domain.recall import Budget, Degraded, Evidence, Query, RecallResult
from perdure.ports.store import Selection
from perdure.recall.options import RecallRequest
from perdure.recall.pipeline import recall
from perdure.reflect.answer import Fits, compose, compose_from_model
from perdure.reflect.components import ReflectComponents
from perdure.reflect.directive_rules import Rules, read_directives
from perdure.reflect.disposition import Leaning, leaning_of
from perdure.reflect.options import ReflectOptions
from perdure.reflect.reflection import MentalModelText, Reflection, ReflectionStep
from perdure.reflect.schema import SchemaField, fill_schema, read_schema

if TYPE_CHECKING:
    from perdure.reflect.loop.run import Thought

ModelSearch = Callable[[str, str], Sequence[MentalModelText]]
"""(bank, question) -> the mental models that bear on it, best first, each with its evidence."""
_WEIGHT_OF_LINKS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectRequest:
    """A question to be answered from memory."""

    recall: RecallRequest
    """The recall of the last tier."""
    directives: Sequence[str | DirectiveText] = ()
    """Those in force: the bank's and the given ones."""
    options: ReflectOptions = field(default_factory=ReflectOptions)


def reflect_in_tiers(
    components: ReflectComponents, request: ReflectRequest, search_models: ModelSearch | None = None
) -> Reflection:
    """Mental models, observations, facts: a tier that answers with strong evidence ends it, except at budget high.

    Where a language model is set for it, the model answers, and this is the answer where it fails.
    """
    schema = request.options.response_schema
    fields = read_schema(schema) if schema is not None else None
    rules = read_directives(request.directives)
    disposition = request.options.disposition or _disposition(components, request.recall.bank)
    run = _Run(components, rules, leaning_of(disposition))
    thought = _think(components, request, rules, disposition, fields or (), search_models)
    if thought is not None and thought.reflection is not None:
        reflection = thought.reflection
        if not thought.needs_structure:
            return reflection
    else:
        # What a model's loop has read is tracked already.
        recall_request = request.recall if thought is None else request.recall.changed(track=False)
        reflection = run.through_tiers(recall_request, search_models)
        reflection = reflection if thought is None else _without_model(reflection, thought)
    if fields is None:
        return reflection
    untracked = request.recall.changed(track=False)
    filled = fill_schema(
        fields, request.recall.query, lambda question: run.on_facts(untracked.changed(query=question))
    )
    return replace(reflection, structured=filled)


def _think(
    components: ReflectComponents,
    request: ReflectRequest,
    rules: Rules,
    disposition: Disposition,
    fields: Sequence[SchemaField],
    search_models: ModelSearch | None,
) -> Thought | None:
    """Return what a language model makes of it; None where none is set, and then nothing of the loop is imported."""
    if components.llm is None:
        return None
    from perdure.domain.llm_call import LlmOperation
    from perdure.reflect.loop.run import LoopRequest, think

    if not components.llm.serves(LlmOperation.REFLECT):
        return None
    loop = LoopRequest(
        recall=request.recall,
        rules=rules,
        disposition=disposition,
        schema=request.options.response_schema,
        fields=fields,
        cancelled=request.options.cancelled,
    )
    return think(components, components.llm, loop, search_models)


def _without_model(reflection: Reflection, thought: Thought) -> Reflection:
    """Return a local answer in a model's place: what failed is named, and what it cost is counted."""
    trace = replace(
        reflection.trace,
        steps=(*thought.steps, *reflection.trace.steps),
        degraded=(*reflection.trace.degraded, Degraded(part="llm", reason=thought.failure)),
    )
    return replace(reflection, usage=thought.usage, trace=trace)


@dataclass(frozen=True, slots=True)
class _Run:
    components: ReflectComponents
    rules: Rules
    leaning: Leaning

    def through_tiers(self, request: RecallRequest, search_models: ModelSearch | None) -> Reflection:
        steps: list[ReflectionStep] = []
        may_leave = request.budget is not Budget.HIGH
        if search_models is not None:
            model = self._search_models(request, search_models, steps)
            if model is not None and may_leave:
                return _with_steps(self._from_model(request, model), steps)
        if self._has_observations(request):
            where = request.where.changed(types=frozenset({FactType.OBSERVATION}))
            recalled = self._recall(request.changed(where=where), "search_observations", steps)
            if recalled.evidence is Evidence.STRONG and may_leave:
                reflection = self._reflect(recalled, request)
                if reflection.answer is not None:
                    return _with_steps(reflection, steps)
        return _with_steps(self._reflect(self._recall(request, "recall", steps), request), steps)

    def on_facts(self, request: RecallRequest) -> Reflection:
        """Return the answer of the facts alone."""
        return self._reflect(recall(self.components.recall, request), request)

    def _reflect(self, recalled: RecallResult, request: RecallRequest) -> Reflection:
        return compose(
            recalled if request.where.origins is not None else recalled.without_hearsay(),
            rules=self.rules,
            leaning=self.leaning,
            linked=lambda ids, most: self._follow(request, ids, most),
            fits=self._fits(request),
        )

    def _fits(self, request: RecallRequest) -> Fits:
        """Return whether a text has no more tokens than the question allows."""
        return lambda text: self.components.recall.tokens.count(text) <= request.max_tokens

    def _search_models(
        self, request: RecallRequest, search: ModelSearch, steps: list[ReflectionStep]
    ) -> MentalModelText | None:
        """Return the first model with strong evidence."""
        started = time.perf_counter()
        models = search(request.bank, request.query)
        if not models:
            return None
        steps.append(
            ReflectionStep(
                tool="search_mental_models",
                query=request.query,
                model_ids=tuple(model.id for model in models),
                evidence=next((model.evidence for model in models), Evidence.NONE),
                milliseconds=_since(started),
            )
        )
        return next((model for model in models if model.evidence is Evidence.STRONG), None)

    def _from_model(self, request: RecallRequest, model: MentalModelText) -> Reflection:
        asked_at = request.asked_at or self.components.clock()
        query = Query(text=request.query, content=request.query, asked_at=asked_at)
        nothing = RecallResult(query=query, recipe=request.recipe.name)
        return compose_from_model(request.query, model, nothing, self.rules, self._fits(request))

    def _recall(self, request: RecallRequest, tool: str, steps: list[ReflectionStep]) -> RecallResult:
        started = time.perf_counter()
        recalled = recall(self.components.recall, request)
        steps.append(
            ReflectionStep(
                tool=tool,
                query=request.query,
                fact_ids=tuple(one.fact.id for one in recalled.recollections),
                evidence=recalled.evidence,
                milliseconds=_since(started),
                recalled=recalled,
            )
        )
        return recalled

    def _has_observations(self, request: RecallRequest) -> bool:
        types = request.where.types
        if types is not None and FactType.OBSERVATION not in types:
            return False
        where = Filter(types=frozenset({FactType.OBSERVATION})).at(self.components.clock())
        with self.components.store.reading(request.bank) as reading:
            return bool(reading.browse(Selection(where=where, limit=1)).facts)

    def _follow(self, request: RecallRequest, fact_ids: Sequence[str], most: int) -> list[Fact]:
        """Facts that the recall's filter admits and that causes, effects or near meaning join to these; strongest first."""
        cited = set(fact_ids)
        where = request.where.at(self.components.clock())
        with self.components.store.reading(request.bank) as reading:
            links = [link for link in reading.links(list(fact_ids)) if link.kind is not LinkKind.TEMPORAL]
            links.sort(key=lambda link: (link.kind is not LinkKind.CAUSAL, -link.weight))
            ids = [
                end
                for link in links
                if link.weight >= _WEIGHT_OF_LINKS
                for end in (link.target, link.source)
                if end not in cited
            ]
            facts = reading.facts(list(dict.fromkeys(ids)))
            return [fact for fact in facts if admits(where, fact)][:most]


def _with_steps(reflection: Reflection, steps: Sequence[ReflectionStep]) -> Reflection:
    return replace(reflection, trace=replace(reflection.trace, steps=tuple(steps)))


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000.0


def _disposition(components: ReflectComponents, bank: str) -> Disposition:
    return next((one.disposition for one in components.store.banks([bank])), Disposition())
