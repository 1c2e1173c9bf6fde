"""Profiles in the words of a language model: sentences that name their facts, checked against them.

A profile is worded when its facts changed, from its newest facts, in a request of its own. Where the model fails, the
selection of statements stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import BaseModel

from perdure.domain.fact import Fact
from perdure.domain.inert import inert
from perdure.domain.llm_call import LlmOperation
from perdure.domain.observation import Clause, Subject
from perdure.domain.rendering import fenced, one_line
from perdure.errors import DeadlineExceeded, LlmCut, LlmError, LlmInvalid
from perdure.llm.answer import expect
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.llm import ChatMessage, TokenUsage
from perdure.reflect.answer import SENTENCE_ENDS
from perdure.reflect.components import ReflectComponents
from perdure.reflect.observations.compose import LEAST_SOURCES, Profile
from perdure.reflect.observations.subjects import ObservationOptions
from perdure.reflect.observations.write import PlannedProfile
from perdure.reflect.worded import ShownFacts, WordedSentence, fitting

FACT_TOKENS = 2000
"""Tokens of facts in one request."""
WINDOW_PART = 6
"""They take at most this part of a window."""
REPLY_TOKENS = 2500
LENGTH = 3
"""Prose may be this many times as long as a selection of statements."""
NO_MISSION = "remembering for a user."


class WordedProfile(BaseModel):
    """The answer of the language model."""

    sentences: list[WordedSentence]


@dataclass(slots=True)
class ProseReport:
    """What wording profiles took, in addition to the profiles."""

    local: list[Subject] = field(default_factory=list)
    """Subjects that keep their selection of statements."""
    reason: str = ""
    """Why the model did not word one of them."""
    refused: int = 0
    """Sentences that were left out: an unknown id, no id, or not supported."""
    calls: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)

    def told(self) -> dict[str, object]:
        """Return what the operation shows of it."""
        told: dict[str, object] = {
            "llm_calls": self.calls,
            "llm_input_tokens": self.usage.input,
            "llm_output_tokens": self.usage.output,
            "sentences_refused": self.refused,
        }
        failed = {"observations_local": len(self.local), "llm_error": self.reason}
        return told | (failed if self.local else {})


def write_prose(
    components: ReflectComponents,
    caller: Caller,
    bank: str,
    plans: Sequence[PlannedProfile],
    facts: Mapping[Subject, Sequence[Fact]],
    options: ObservationOptions,
) -> tuple[list[PlannedProfile], ProseReport]:
    """Return the plans in prose. A profile that the model does not word keeps its selection of statements."""
    report = ProseReport()
    with components.store.reading(bank) as reading:
        own = reading.bank()
    mission = one_line(own.mission) if own is not None else ""
    worded: list[PlannedProfile] = []
    is_reached = True
    for plan in plans:
        if plan.profile is None:
            worded.append(plan)
            continue
        try:
            if not is_reached:
                raise LlmInvalid(report.reason)
            worded.append(
                _word(components, caller, bank, mission, plan, facts[plan.subject], options, report)
            )
        except (LlmError, DeadlineExceeded) as error:
            # A model that gives no usable answer is asked again for the next profile; one out of reach is not.
            is_reached = is_reached and isinstance(error, LlmCut | LlmInvalid)
            report.reason = str(error)
            report.local.append(plan.subject)
            worded.append(plan)
    return worded, report


def _word(
    components: ReflectComponents,
    caller: Caller,
    bank: str,
    mission: str,
    plan: PlannedProfile,
    facts: Sequence[Fact],
    options: ObservationOptions,
    report: ProseReport,
) -> PlannedProfile:
    """Return the plan in prose, or as it is if too few sentences are supported."""
    count = components.recall.tokens.count
    room = min(FACT_TOKENS, caller.window(LlmOperation.CONSOLIDATE) // WINDOW_PART)
    shown = ShownFacts(fitting(facts, count, room), components.recall.reranker)
    prompt = load("observe")
    messages = [
        ChatMessage(role="system", text=prompt.fill(mission=mission or NO_MISSION)),
        ChatMessage(role="user", text=fenced([f"Profile of {inert(plan.name)}", *shown.lines()])),
    ]
    purpose = Purpose(bank=bank, operation=LlmOperation.CONSOLIDATE, prompt=prompt.version)
    report.calls += 1
    reply = caller.structured(
        purpose, messages, expect(WordedProfile, items="sentences"), max_tokens=REPLY_TOKENS
    )
    report.usage += reply.usage
    checked = shown.check(reply.value.sentences)
    report.refused += shown.refused
    clauses = [
        Clause(
            text=one.text if one.text.endswith(SENTENCE_ENDS) else f"{one.text}.",
            fact_ids=tuple(fact.id for fact in one.facts),
            proofs=sum(fact.proof_count for fact in one.facts),
        )
        for one in checked
    ]
    while len(clauses) > 1 and count(_text(plan.name, clauses)) > LENGTH * options.max_tokens:
        clauses.remove(min(clauses, key=lambda clause: clause.proofs))
    profile = Profile(_text(plan.name, clauses), tuple(clauses))
    if len(profile.source_ids) < LEAST_SOURCES:
        return plan
    sources = {fact.id: fact for one in checked for fact in one.facts if fact.id in profile.source_ids}
    origin = {"prompt": prompt.version, "model": reply.model}
    return replace(plan, profile=profile, sources=sources, prose=origin)


def _text(name: str, clauses: Sequence[Clause]) -> str:
    body = " ".join(clause.text for clause in clauses)
    return body if name.casefold() in body.casefold() else f"{name}: {body}"
