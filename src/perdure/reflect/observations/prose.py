"""Observations as prose: a model says what new facts change in the sentences of profiles; the code checks and carries it out.

Facts are sent once for all profiles that they take part in. A sentence stands while its sources do; a fact that was seen is not sent again, so
that a run in which nothing is new costs no call. Counts, times and proofs are computed from the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

from perdure.domain.fact import Fact
from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.observation import OBSERVATION_RECORD, Clause, Subject, fingerprint, read_clauses
from perdure.domain.record import Record
from perdure.domain.rendering import cited_line, fenced, one_line
from perdure.errors import DeadlineExceeded, LlmCut, LlmError, LlmInvalid
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.llm import ChatMessage, TokenUsage
from perdure.ports.store import Reading
from perdure.reflect.components import ReflectComponents
from perdure.reflect.observations.compose import LEAST_SOURCES, Profile
from perdure.reflect.observations.subjects import ENTITY, ObservationOptions
from perdure.reflect.observations.twins import merge_twins
from perdure.reflect.observations.write import PlannedProfile, open_version
from perdure.reflect.support import check_support, source_of

FACT_TOKENS = 2000
"""Tokens of new facts in one request."""
WINDOW_PART = 6
"""They take at most this part of a window: sentences, instructions and the reply take the rest."""
REPLY_TOKENS = 2500
MOST_IN_VAIN = 3
"""Facts in a row on which the model fails alone, after which it is not asked any more."""
LENGTH = 3
"""Prose may be so many times as long as a composed profile."""
MARK_DIGITS = 4
NO_MISSION = "remembering for a user."
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Operation(BaseModel):
    """What to do with a sentence; the reason stands before the verdict, so that it is thought of first."""

    profile: str
    reason: str
    operation: Literal["create", "update", "delete"]
    sentence: str = Field("", description="S…, of an update or delete")
    text: str = Field("", description="The sentence, of a create or update")
    sources: list[str] = Field(default=[], description="F…")


class Operations(BaseModel):
    """A model's answer."""

    operations: list[Operation]


@dataclass(slots=True)
class ProseReport:
    """What writing prose came to, beside the profiles."""

    failed: dict[str, Fact] = field(default_factory=dict)
    """Facts on which the model fails even alone."""
    local: list[Subject] = field(default_factory=list)
    """Subjects that have their composed profile, because the model could not be asked."""
    reason: str = ""
    """Why not."""
    dropped: int = 0
    """Operations that were refused: an unknown id, no id, or a sentence that its sources do not support."""
    calls: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)

    def told(self) -> dict[str, object]:
        """What an operation shows of it."""
        told: dict[str, object] = {
            "llm_calls": self.calls,
            "llm_input_tokens": self.usage.input,
            "llm_output_tokens": self.usage.output,
            "sentences_refused": self.dropped,
        }
        return told | (
            {"observations_local": len(self.local), "llm_error": self.reason} if self.local else {}
        )


@dataclass(slots=True)
class _Sentence:
    text: str
    sources: dict[str, Fact]
    is_new: bool = False


@dataclass(slots=True)
class _Work:
    """A profile that is being written."""

    plan: PlannedProfile
    facts: dict[str, Fact]
    sentences: list[_Sentence]
    seen: dict[str, str]
    """Fact id -> its mark when a model saw it."""
    model: str = ""
    is_local: bool = False

    @property
    def new(self) -> list[Fact]:
        """Facts that no model has seen as they are, oldest first."""
        unseen = [fact for fact in self.facts.values() if self.seen.get(fact.id) != seen_mark(fact)]
        return sorted(unseen, key=lambda fact: (fact.mentioned_at or fact.recorded_at or _LONG_AGO, fact.id))


def write_prose(
    components: ReflectComponents,
    caller: Caller,
    bank: str,
    plans: Sequence[PlannedProfile],
    facts_of: Callable[[Subject], Sequence[Fact]],
    options: ObservationOptions,
) -> tuple[list[PlannedProfile], ProseReport]:
    """The plans with prose in the place of composed profiles; where the model cannot be asked the composed ones stay, and are named."""
    report = ProseReport()
    facts = [facts_of(plan.subject) for plan in plans]
    with components.store.reading(bank) as reading:
        works = [_work(reading, bank, plan, own, options) for plan, own in zip(plans, facts, strict=True)]
        own = reading.bank()
    open_ones = [work for work in works if work is not None]
    writer = _Writer(components, caller, bank, one_line(own.mission) if own is not None else "", report)
    room = min(FACT_TOKENS, caller.window(LlmOperation.CONSOLIDATE) // WINDOW_PART)
    for batch in _batches(open_ones, components.recall.tokens.count, room):
        writer.ask(batch, open_ones)
    changed = [work for work in open_ones if not work.is_local and any(one.is_new for one in work.sentences)]
    writer.merge_twins(changed)
    report.local = [work.plan.subject for work in open_ones if work.is_local]
    count, limit = components.recall.tokens.count, LENGTH * options.max_tokens
    planned = [
        plan if work is None else _planned(work, count, limit)
        for plan, work in zip(plans, works, strict=True)
    ]
    return planned, report


def _work(
    reading: Reading, bank: str, plan: PlannedProfile, facts: Sequence[Fact], options: ObservationOptions
) -> _Work | None:
    """What is stored of a profile, as far as it still stands; None for one that is not to be written."""
    is_named = plan.subject.kind != ENTITY or plan.name != plan.subject.key
    if not options.enabled or not is_named or len(facts) < options.min_facts:
        return None
    work = _Work(plan, {fact.id: fact for fact in facts}, [], {})
    version = open_version(reading, bank, plan.subject)
    for record in reading.records(OBSERVATION_RECORD, [version.id]) if version is not None else ():
        prose = read_prose(record)
        if prose is None:
            continue
        work.seen, work.model = dict(prose.seen), prose.model
        for clause in read_clauses(record):
            sources = {one: work.facts[one] for one in clause.fact_ids if one in work.facts}
            holds = all(work.seen.get(one) == seen_mark(fact) for one, fact in sources.items())
            if len(sources) == len(clause.fact_ids) and holds:
                work.sentences.append(_Sentence(clause.text, sources))
    if not work.sentences:
        work.seen = {}
    return work


def seen_mark(fact: Fact) -> str:
    """Tells whether a fact changed since a model saw it, but too short to tell anything of a fact that was forgotten."""
    return fingerprint(fact)[:MARK_DIGITS]


@dataclass(frozen=True, slots=True)
class Prose:
    """What the record of an observation keeps of how its prose was made."""

    prompt: str
    model: str
    seen: Mapping[str, str]


def read_prose(record: Record) -> Prose | None:
    """How an observation's prose was made; None for a composed one."""
    body = record.body.get("prose")
    if not isinstance(body, dict) or not isinstance(body.get("seen"), dict):
        return None
    return Prose(prompt=str(body["prompt"]), model=str(body["model"]), seen=body["seen"])


def _batches(works: Sequence[_Work], count: Callable[[str], int], most: int) -> list[list[Fact]]:
    """New facts in requests of a bounded size, each once, those of one profile together."""
    facts = {fact.id: fact for work in works for fact in work.new}
    batches: list[list[Fact]] = []
    room = 0
    for fact in facts.values():
        size = count(cited_line(1, fact))
        if not batches or size > room:
            batches.append([])
            room = most
        batches[-1].append(fact)
        room -= size
    return batches


class _Writer:
    """Asks for batches of facts, halving those that fail."""

    def __init__(
        self, components: ReflectComponents, caller: Caller, bank: str, mission: str, report: ProseReport
    ) -> None:
        self._components, self._caller, self._bank = components, caller, bank
        self._prompt, self._mission, self._report = load("observe"), mission, report
        self._in_vain = 0

    def ask(self, facts: Sequence[Fact], works: Sequence[_Work]) -> None:
        """Have the model look at facts. A failure of the model itself leaves the composed profiles."""
        touched = [work for work in works if any(fact.id in work.facts for fact in facts)]
        if any(work.is_local for work in works):
            # The model is out of reach: it is not asked again in this step.
            for work in touched:
                work.is_local = True
            return
        try:
            left = self._attempt(facts, touched)
        except (LlmCut, LlmInvalid):
            if len(facts) == 1:
                self._set_aside(facts[0], touched)
                return
            left = list(facts)
        except (LlmError, DeadlineExceeded) as error:
            self._report.reason = str(error)
            for work in touched:
                work.is_local = True
            return
        else:
            self._in_vain = 0
        if len(left) > 1 and len(left) == len(facts):
            self.ask(left[: len(left) // 2], works)
            self.ask(left[len(left) // 2 :], works)
        elif left:
            self.ask(left, works)

    def _set_aside(self, fact: Fact, works: Sequence[_Work]) -> None:
        """A fact on which the model fails alone; where that goes on it is no fact's fault, and none is set aside."""
        self._in_vain += 1
        self._report.failed[fact.id] = fact
        for work in works:
            work.facts.pop(fact.id, None)
        if self._in_vain >= MOST_IN_VAIN:
            self._report.failed.clear()
            self._report.reason = f"the model gave no usable answer on {self._in_vain} facts in a row"
            for work in works:
                work.is_local = True

    def _attempt(self, facts: Sequence[Fact], works: Sequence[_Work]) -> list[Fact]:
        """One request; the facts that a cut answer did not come to are returned."""
        handles = _Handles(facts, works)
        messages = [
            ChatMessage(role="system", text=self._prompt.fill(mission=self._mission or NO_MISSION)),
            ChatMessage(role="user", text=handles.text()),
        ]
        purpose = Purpose(bank=self._bank, operation=LlmOperation.CONSOLIDATE, prompt=self._prompt.version)
        self._report.calls += 1
        reply = self._caller.structured(
            purpose, messages, expect(Operations, items="operations"), max_tokens=REPLY_TOKENS
        )
        self._report.usage += reply.usage
        named: set[str] = set()
        for operation in reply.value.operations:
            named |= self._carry_out(operation, handles)
        left = [fact for fact in facts if fact.id not in named] if reply.cut else []
        for work in works:
            work.model = reply.model
            work.seen |= {
                fact.id: seen_mark(fact) for fact in facts if fact.id in work.facts and fact not in left
            }
        return left

    def _carry_out(self, operation: Operation, handles: _Handles) -> set[str]:
        """Apply an operation that names what it was given; returns the facts that it names."""
        work = handles.work(operation.profile)
        sources = [handles.fact(one) for one in operation.sources]
        fact_of = {fact.id: fact for fact in sources if fact is not None}
        stands = handles.sentence(operation.sentence)
        in_place = work is not None and all(fact_id in work.facts for fact_id in fact_of)
        if work is None or not fact_of or len(fact_of) < len(set(operation.sources)) or not in_place:
            return self._refuse(fact_of)
        if operation.operation != "create" and (stands is None or stands not in work.sentences):
            return self._refuse(fact_of)
        if operation.operation == "delete":
            work.sentences = [one for one in work.sentences if one is not stands]
            return set(fact_of)
        text = one_line(operation.text)
        support = check_support(
            text, [source_of(fact) for fact in fact_of.values()], self._components.recall.reranker
        )
        if not text or not support.holds:
            return self._refuse(fact_of)
        sentence = _Sentence(text, fact_of, is_new=True)
        if stands is not None and operation.operation == "update":
            work.sentences = [sentence if one is stands else one for one in work.sentences]
        else:
            work.sentences.append(sentence)
        return set(fact_of)

    def _refuse(self, fact_ids: Iterable[str]) -> set[str]:
        self._report.dropped += 1
        return set(fact_ids)

    def merge_twins(self, works: Sequence[_Work]) -> None:
        """Have near twins decided again; what the model takes for the same becomes one sentence with the sources of both."""
        texts = [[(one.text, one.is_new) for one in work.sentences] for work in works]
        decided = merge_twins(self._components, self._caller, self._bank, texts)
        self._report.calls += decided.calls
        self._report.usage += decided.usage
        for place, first, second in decided.same:
            sentences = works[place].sentences
            sentences[second].sources = sentences[first].sources | sentences[second].sources
        for place, work in enumerate(works):
            gone = {first for at, first, _ in decided.same if at == place}
            work.sentences = [one for number, one in enumerate(work.sentences) if number not in gone]


class _Handles:
    """Short ids for what one request shows, and its text."""

    def __init__(self, facts: Sequence[Fact], works: Sequence[_Work]) -> None:
        self._works = {f"P{number}": work for number, work in enumerate(works, start=1)}
        self._facts: dict[str, Fact] = {f"F{number}": fact for number, fact in enumerate(facts, start=1)}
        self._new = list(self._facts)
        self._sentences: dict[str, _Sentence] = {}
        self._ids = {fact.id: handle for handle, fact in self._facts.items()}
        self._numbers: dict[int, str] = {}
        for work in works:
            for sentence in work.sentences:
                self._numbers[id(sentence)] = f"S{len(self._sentences) + 1}"
                self._sentences[self._numbers[id(sentence)]] = sentence
                for fact in sentence.sources.values():
                    if fact.id not in self._ids:
                        self._ids[fact.id] = f"F{len(self._facts) + 1}"
                        self._facts[self._ids[fact.id]] = fact

    def text(self) -> str:
        """Profiles with their sentences, then the new facts, each with the profiles that it takes part in."""
        lines: list[str] = []
        for handle, work in self._works.items():
            lines.append(f"Profile [{handle}] {inert(work.plan.name)}")
            for sentence in work.sentences:
                ids = ", ".join(self._ids[fact_id] for fact_id in sentence.sources)
                lines.append(f"[{self._numbers[id(sentence)]}] {inert(sentence.text)} ({ids})")
        lines.append("New facts")
        for number, handle in enumerate(self._new, start=1):
            fact = self._facts[handle]
            own = ", ".join(one for one, work in self._works.items() if fact.id in work.facts)
            lines.append(f"[F{cited_line(number, fact)[1:]} ({own})")
        return fenced(lines)

    def work(self, handle: str) -> _Work | None:
        """The profile of an id."""
        return self._works.get(_bare(handle))

    def fact(self, handle: str) -> Fact | None:
        """The fact of an id."""
        return self._facts.get(_bare(handle))

    def sentence(self, handle: str) -> _Sentence | None:
        """The sentence of an id."""
        return self._sentences.get(_bare(handle))


def _bare(handle: str) -> str:
    return handle.strip().strip("[]").upper()


def _planned(work: _Work, count: Callable[[str], int], max_tokens: int) -> PlannedProfile:
    """The plan with the sentences that fit, the best proven first to stay; the composed profile where prose rests on too little."""
    if work.is_local or not work.sentences:
        return work.plan
    clauses = [_clause(sentence) for sentence in work.sentences]
    while len(clauses) > 1 and count(_text(work.plan.name, clauses)) > max_tokens:
        clauses.remove(min(clauses, key=lambda clause: clause.proofs))
    profile = Profile(_text(work.plan.name, clauses), tuple(clauses))
    if len(profile.source_ids) < LEAST_SOURCES:
        return work.plan
    sources = {fact_id: work.facts[fact_id] for fact_id in profile.source_ids}
    origin = {"prompt": load("observe").version, "model": work.model, "seen": dict(work.seen)}
    return replace(work.plan, profile=profile, sources=sources, prose=origin)


def _clause(sentence: _Sentence) -> Clause:
    text = sentence.text if sentence.text.endswith((".", "!", "?", "…", "。")) else f"{sentence.text}."
    proofs = sum(fact.proof_count for fact in sentence.sources.values())
    return Clause(text=text, fact_ids=tuple(sentence.sources), proofs=proofs)


def _text(name: str, clauses: Sequence[Clause]) -> str:
    body = " ".join(clause.text for clause in clauses)
    return body if name.casefold() in body.casefold() else f"{name}: {body}"
