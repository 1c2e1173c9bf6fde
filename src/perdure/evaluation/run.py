"""Running an evaluation: retain every bank and ask every question; results are cached."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

from perdure.domain.plain import from_plain, to_plain
from perdure.domain.recall import RecallResult
from perdure.domain.time import parse_instant
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledBank, LabelledItem, LabelledQuery
from perdure.evaluation.measures import Ranking, Report
from perdure.settings import Settings

PASSAGES_PER_CALL = 64
ITEM_KEY = "item"
SESSION_KEY = "session"

Progress = Callable[[str, int], None]
"""Called with `items` or `queries` and how many of them were done."""


def evaluate(
    banks: Sequence[LabelledBank],
    settings: Settings,
    cache: Path,
    options: Mapping[str, Any],
    progress: Progress = lambda *_: None,
) -> Report:
    """Retain and ask everything, or read the results of the same evaluation from the cache.

    `options` are arguments of `Perdure.recall`.
    """
    database = bank_database(banks, settings, cache)
    results = database.with_name(f"{database.stem}-{_results_key(banks, settings, options)}.json")
    if results.exists():
        rankings = from_cache(results.read_text(encoding="utf-8"))
        progress("items", sum(len(bank.items) for bank in banks))
        progress("queries", len(rankings))
    else:
        with Perdure.open(database, settings=settings) as engine:
            retain_banks(engine, banks, progress)
            rankings = ask_all(engine, banks, progress, **options)
        results.write_text(to_cache(rankings), encoding="utf-8")
    return Report(settings.recipe, settings.extractor, rankings)


def _results_key(banks: Sequence[LabelledBank], settings: Settings, options: Mapping[str, Any]) -> str:
    """Return a digest of the questions, their labels, the options, and the code that answers."""
    queries = [
        [bank.id, q.id, q.text, q.date, q.type, sorted(q.evidence), sorted(q.evidence_sessions)]
        for bank in banks
        for q in bank.queries
    ]
    key = [settings.recipe, options, settings.reranker, queries, source_digest("recall", "engine.py")]
    return blake2b(json.dumps(key, sort_keys=True).encode(), digest_size=8).hexdigest()


def source_digest(*packages: str) -> str:
    """Return a digest of the code of these parts of the package."""
    root = Path(__file__).resolve().parents[1]
    total = blake2b(digest_size=12)
    for name in packages:
        folder = root / name
        for path in sorted(folder.rglob("*.*") if folder.is_dir() else [folder]):
            if path.suffix in (".py", ".toml", ".json", ".sql"):
                total.update(path.read_bytes())
    return total.hexdigest()


def bank_database(banks: Sequence[LabelledBank], settings: Settings, cache: Path) -> Path:
    """Return the file with the retained banks of these items and settings."""
    parts = [bank.digest() for bank in banks]
    parts += [settings.extractor, settings.embedder, settings.tagger]
    parts.append(source_digest("extract", "retain", "dates", "text", "models", "stores", "domain", "ports"))
    return cache / f"{blake2b(json.dumps(parts).encode(), digest_size=12).hexdigest()}.db"


def retain_banks(engine: Perdure, banks: Sequence[LabelledBank], progress: Progress) -> None:
    """Retain what is missing, one session at a time."""
    complete = {bank.id for bank in engine.banks.list() if bank.settings.get("complete")}
    for bank in banks:
        if bank.id in complete:
            progress("items", len(bank.items))
            continue
        for batch in _batches(bank.items):
            engine.retain(bank.id, [_item(item) for item in batch])
            progress("items", len(batch))
        engine.banks.configure(bank.id, settings={"complete": True})


def _batches(items: Sequence[LabelledItem]) -> Iterator[list[LabelledItem]]:
    """Yield whole sessions; items without one together, up to `PASSAGES_PER_CALL`."""
    waiting: list[LabelledItem] = []
    for session, group in groupby(items, key=lambda item: item.session):
        members = list(group)
        if session is not None:
            yield members
            continue
        for item in members:
            waiting.append(item)
            if len(waiting) == PASSAGES_PER_CALL:
                yield waiting
                waiting = []
    if waiting:
        yield waiting


def _item(item: LabelledItem) -> dict[str, Any]:
    session = item.session or item.id
    return {
        "content": item.text,
        "speaker": item.speaker,
        "role": item.speaker if item.speaker in ("user", "assistant") else "",
        "title": item.title,
        "document_id": session,
        "timestamp": item.date if item.date is not None else "unset",
        "metadata": {ITEM_KEY: item.id, SESSION_KEY: session},
    }


def ask(engine: Perdure, bank: str, query: LabelledQuery, **options: Any) -> tuple[Ranking, RecallResult]:
    """Ask one question; each recalled fact counts as the item that it came from."""
    started = time.perf_counter()
    asked_at = parse_instant(query.date, "date")
    result = engine.recall(bank, query.text, track=False, asked_at=asked_at, **options)
    elapsed = (time.perf_counter() - started) * 1000.0
    sources = [r.fact.metadata for r in result.recollections]
    ranking = Ranking(
        query_id=query.id,
        type=query.type,
        items=_distinct(source.get(ITEM_KEY, "") for source in sources),
        sessions=_distinct(source.get(SESSION_KEY, "") for source in sources),
        evidence=query.evidence,
        evidence_sessions=query.evidence_sessions,
        milliseconds=elapsed,
    )
    return ranking, result


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def ask_all(
    engine: Perdure, banks: Sequence[LabelledBank], progress: Progress, **options: Any
) -> list[Ranking]:
    """Ask every question of every bank, in order."""
    rankings = []
    for bank in banks:
        for query in bank.queries:
            rankings.append(ask(engine, bank.id, query, **options)[0])
            progress("queries", 1)
    return rankings


def write_rankings(path: Path, report: Report) -> None:
    """Write one JSON line per query: id, ranked item ids, milliseconds."""
    lines = [
        {"id": r.query_id, "ranked": list(r.items), "ms": round(r.milliseconds, 3)} for r in report.rankings
    ]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


def to_cache(rankings: Sequence[Ranking]) -> str:
    """Return rankings as JSON, with everything that the measures need."""
    return json.dumps(to_plain(rankings))


def from_cache(text: str) -> list[Ranking]:
    return from_plain(list[Ranking], json.loads(text))
