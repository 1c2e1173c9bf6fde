"""What the recall pipeline works with: the adapters, chosen elsewhere, and one recall in progress."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from perdure.domain.fact import FactType, ranking_fields
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate, Trace
from perdure.ports.clock import Clock
from perdure.ports.embedder import Embedder
from perdure.ports.notes import NOTE_PREFIX, Notes
from perdure.ports.reader import Reader
from perdure.ports.reranker import Reranker
from perdure.ports.store import Reading, Store
from perdure.ports.telemetry import Telemetry
from perdure.ports.tokens import Tokens
from perdure.recall.beliefs import as_recalled
from perdure.recall.budget import BudgetPlan
from perdure.recall.options import RecallRequest
from perdure.recall.track import RecallTracker


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallComponents:
    """The adapters and settings of a recall."""

    store: Store
    tokens: Tokens
    clock: Clock
    executor: Executor
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    reader: Reader | None = None
    notes: Notes | None = None
    tracker: RecallTracker | None = None
    budgets: BudgetPlan = field(default_factory=BudgetPlan)
    pool: int | None = None
    """Overrides a recipe's pool of fused candidates."""
    channel_timeout: float = 10.0
    similarity_floor: float = 0.5
    """Lowest cosine of the channel `semantic_floor`."""
    telemetry: Telemetry | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecallRun:
    """One recall in progress: the request, the state of the bank that it reads, and its trace."""

    components: RecallComponents
    request: RecallRequest
    reading: Reading
    where: Filter
    """The request's filter, judged at the moment that the recall began."""
    trace: Trace

    @property
    def budget(self) -> int:
        """How many hits each channel may bring."""
        return self.components.budgets.size(self.request.budget, self.request.max_tokens)

    @property
    def limit(self) -> int | None:
        """How many facts may be returned at most."""
        return self.request.limit or self.request.recipe.limit

    def read_ranking_fields(self, pool: Sequence[Candidate]) -> list[Candidate]:
        """The candidates with their ranking fields; those whose fact is gone are left out."""
        fields = self.reading.ranking_fields([candidate.fact_id for candidate in pool])
        notes = [candidate for candidate in pool if candidate.fact_id.startswith(NOTE_PREFIX)]
        self.read_facts(notes)
        fields |= {note.fact_id: ranking_fields(note.fact) for note in notes if note.fact is not None}
        present = [candidate for candidate in pool if candidate.fact_id in fields]
        for candidate in present:
            candidate.fields = fields[candidate.fact_id]
        return present

    def read_facts(self, candidates: Sequence[Candidate]) -> None:
        """Read the facts of candidates that lack theirs; those that were erased meanwhile stay without.

        So do opinions that are not held at the moment asked for; the others say how sure they are then.
        """
        ids = [candidate.fact_id for candidate in candidates if candidate.fact is None]
        if not ids:
            return
        facts = {fact.id: fact for fact in self.reading.facts(ids)}
        opinions = {fact.id: fact for fact in facts.values() if fact.type is FactType.OPINION}
        if opinions:
            recalled = as_recalled(self.reading, self.where, opinions)
            facts = {
                fact_id: recalled.get(fact_id, fact)
                for fact_id, fact in facts.items()
                if fact_id not in opinions or fact_id in recalled
            }
        note_ids = [fact_id for fact_id in ids if fact_id.startswith(NOTE_PREFIX)]
        if note_ids and self.components.notes is not None:
            facts |= {note.id: note for note in self.components.notes.read(self.request.bank, note_ids)}
        for candidate in candidates:
            candidate.fact = candidate.fact or facts.get(candidate.fact_id)
