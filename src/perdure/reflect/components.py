"""What thinking works with; chosen elsewhere, passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from perdure.ports.clock import Clock
from perdure.ports.store import Store
from perdure.recall.components import RecallComponents
from perdure.recall.recipe import Recipe
from perdure.retain.components import RetainComponents

if TYPE_CHECKING:
    from perdure.llm.caller import Caller
    from perdure.reflect.opinions.forming import EvidenceJudge


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
