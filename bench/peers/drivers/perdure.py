"""Perdure, as `perdure eval` drives it; with the option `plain` it gets the same bare strings as the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bench.peers.drivers.protocol import Bank, Item, Job, Query, drive
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledBank, LabelledItem, LabelledQuery
from perdure.evaluation.run import ITEM_KEY, PASSAGES_PER_CALL, ask, retain_banks
from perdure.settings import Settings

RECALL = {"budget": "mid", "max_tokens": 8192}


class PerdureMemory:
    """An open database."""

    def __init__(self, engine: Perdure, plain: bool) -> None:
        self._engine = engine
        self._plain = plain

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """A session a call, or 64 texts where there are no sessions; bare strings are 64 a call too."""
        if self._plain:
            self._retain_plain(bank, progress)
            return
        labelled = LabelledBank(id=bank.id, items=[_whole(item) for item in bank.items], queries=())
        retain_banks(self._engine, [labelled], lambda _, count: progress(count))

    def _retain_plain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """The strings with nothing beside them but the id by which they are known again."""
        for start in range(0, len(bank.items), PASSAGES_PER_CALL):
            batch = bank.items[start : start + PASSAGES_PER_CALL]
            texts = [
                {"content": item.plain, "timestamp": "unset", "metadata": {ITEM_KEY: item.id}}
                for item in batch
            ]
            self._engine.retain(bank.id, texts)
            progress(len(batch))

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


@contextmanager
def opening(job: Job) -> Iterator[PerdureMemory]:
    """A new database file in the job's folder."""
    settings = Settings.model_validate({"recipe": job.options["recipe"]})
    with Perdure.open(job.folder / "memory.db", settings=settings) as engine:
        yield PerdureMemory(engine, bool(job.options.get("plain")))


if __name__ == "__main__":
    drive(opening, ("perdure", "onnxruntime"))
