"""What the retain pipeline works with; chosen elsewhere, passed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import Extractor
from perdure.ports.store import Store
from perdure.ports.telemetry import Telemetry
from perdure.retain.changes import EffectJudge

if TYPE_CHECKING:
    from perdure.llm.caller import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainComponents:
    """The adapters of a retain."""

    store: Store
    extractor: Extractor
    clock: Clock
    embedder: Embedder | None = None
    judge: EffectJudge | None = None
    """Judges what new statements do to earlier ones; None where no trained model is at hand."""
    llm: Caller | None = None
    """Asks a language model; None where none is set."""
    telemetry: Telemetry | None = None
