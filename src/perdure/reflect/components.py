"""What thinking works with; chosen elsewhere, passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.ports.clock import Clock
from perdure.ports.store import Store
from perdure.ports.tagger import Tagger
from perdure.recall.components import RecallComponents
from perdure.recall.recipe import Recipe
from perdure.retain.components import RetainComponents

if TYPE_CHECKING:
    from perdure.llm.caller import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectComponents:
    """The store, what writes thoughts as facts and what finds the facts that they rest on."""

    store: Store
    clock: Clock
    retain: RetainComponents
    recall: RecallComponents
    recipe: Recipe
    """The recipe of every recall that thinking makes by itself."""
    tagger: Tagger | None = None
    """Reads sentences for short answers; without a parser fewer are found."""
    llm: Caller | None = None
    """Asks a language model; None where none is set."""
