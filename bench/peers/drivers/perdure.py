"""Perdure, as `perdure eval` drives it; with the option `plain` it gets the same bare strings as the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bench.peers.drivers.protocol import Bank, Item, Job, Query, drive
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledBank, LabelledItem, LabelledQuery
from perdure.evaluation.run import ask, retain_banks
from perdure.settings import Settings

RECALL = {"budget": "mid", "max_tokens": 8192}


class PerdureMemory:
    """An open database."""

    def __init__(self, engine: Perdure, plain: bool) -> None:
        self._engine = engine
        self._labelled = _bare if plain else _whole

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """A session a call, or 64 texts where there are no sessions."""
        items = [self._labelled(item) for item in bank.items]
        labelled = LabelledBank(id=bank.id, items=items, queries=())
        retain_banks(self._engine, [labelled], lambda _, count: progress(count))

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        """A recall; how many come back is a matter of its token budget."""
        asked = LabelledQuery(
            id=query.id,
            text=query.text,
            type="all",
            evidence=frozenset(),
            evidence_sessions=frozenset(),
            date=query.date,
        )
        return ask(self._engine, bank.id, asked, **RECALL)[0].items


def _whole(item: Item) -> LabelledItem:
    return LabelledItem(
        id=item.id,
        text=item.text,
        session=item.session,
        date=item.date,
        speaker=item.speaker,
        title=item.title,
    )


def _bare(item: Item) -> LabelledItem:
    return LabelledItem(id=item.id, text=item.plain)


@contextmanager
def opening(job: Job) -> Iterator[PerdureMemory]:
    """A new database file in the job's folder."""
    settings = Settings.model_validate({"recipe": job.options["recipe"]})
    with Perdure.open(job.folder / "memory.db", settings=settings) as engine:
        yield PerdureMemory(engine, bool(job.options.get("plain")))


if __name__ == "__main__":
    drive(opening, ("perdure", "onnxruntime"))
