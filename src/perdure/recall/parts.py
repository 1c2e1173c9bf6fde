"""What the recall pipeline works with; chosen elsewhere, passed in."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field

from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder, LateInteraction
from perdure.ports.notes import Notes
from perdure.ports.reranker import Reranker
from perdure.ports.store import Store
from perdure.ports.tokens import Tokens
from perdure.recall.budget import BudgetPlan
from perdure.recall.score_abmind import Decay


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallComponents:
    """The adapters and settings of a recall."""

    store: Store
    tokens: Tokens
    clock: Clock
    executor: Executor
    embedder: Embedder | None = None
    late: LateInteraction | None = None
    reranker: Reranker | None = None
    notes: Notes | None = None
    budgets: BudgetPlan = field(default_factory=BudgetPlan)
    pool: int | None = None
    """Overrides a recipe's pool of fused candidates."""
    channel_timeout: float = 10.0
    decay: Decay = field(default_factory=Decay)
    similarity_floor: float = 0.5
    """Lowest cosine of the channel `semantic_floor`."""
