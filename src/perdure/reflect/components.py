"""What thinking works with; chosen elsewhere, passed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from perdure.domain.fact import Fact
from perdure.domain.opinion import EvidenceLabel
from perdure.ports.clock import Clock
from perdure.ports.store import Store
from perdure.recall.components import RecallComponents
from perdure.recall.recipe import Recipe
from perdure.retain.components import RetainComponents

if TYPE_CHECKING:
    from perdure.llm.caller import Caller


class EvidenceJudge(Protocol):
    """Judges which facts state a belief, and what facts say of beliefs."""

    def beliefs(self, facts: Sequence[Fact]) -> Sequence[float]:
        """Return the probability that each fact states a preference, an opinion or a rule of who says it."""

    def labels(self, pairs: Sequence[tuple[str, Fact]]) -> Sequence[EvidenceLabel | None]:
        """Return the label of each (belief, fact); None where the fact says nothing of the belief."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmThinking:
    """How thinking with a language model behaves."""

    unsupported: Literal["remove", "mark"] = "remove"
    """What becomes of a sentence that its sources do not support."""
    reflect_seconds: float = 90.0
    """After which reflect answers without the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectComponents:
    """The store, what writes thoughts as facts and what finds the facts that they rest on."""

    store: Store
    clock: Clock
    retain: RetainComponents
    recall: RecallComponents
    recipe: Recipe
    """The recipe of every recall that thinking makes by itself."""
    evidence_judge: EvidenceJudge | None = None
    """Judges what facts say of opinions; without one only a language model does."""
    llm: Caller | None = None
    """Asks a language model; None where none is set."""
    thinking: LlmThinking = LlmThinking()
