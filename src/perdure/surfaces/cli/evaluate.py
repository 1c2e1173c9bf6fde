"""`perdure eval`: recall quality and latency on a labelled data file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from perdure.errors import InvalidInput
from perdure.surfaces.cli.output import console

CACHE = Path.home() / ".cache" / "perdure" / "eval"
COLUMNS = ("recall@1", "recall@5", "recall@10", "any@5", "all@5", "mrr", "ndcg@10")
TOTAL = "all"
"""The row over every question; no type's."""


@dataclass(frozen=True, slots=True)
class Report:
    """What an evaluation found."""

    recipe: str
    extractor: str
    rankings: Sequence[Any]

    def figures(self) -> dict[str, Any]:
        """Every measure, per type of question, over items and over sessions; and latency."""
        from perdure.evaluation.data import UNTYPED
        from perdure.evaluation.metrics import latency, summarise

        named = {r.type for r in self.rankings} - {TOTAL}
        types = sorted(named) if named != {UNTYPED} else []
        chosen = {kind: [r for r in self.rankings if r.type == kind] for kind in types}
        return {
            "recipe": self.recipe,
            "extractor": self.extractor,
            "latency_ms": latency(self.rankings),
            **{
                over: {
                    TOTAL: summarise(self.rankings, over),
                    **{kind: summarise(rows, over) for kind, rows in chosen.items()},
                }
                for over in ("items", "sessions")
            },
        }


def evaluate(
    data: Annotated[Path, typer.Argument(help="Labelled data file: banks of items and queries")],
    out: Annotated[Path | None, typer.Option(help="Rankings file, one JSON line a query")] = None,
    recipe: Annotated[str, typer.Option(help="Recipe to recall with")] = "default",
    extractor: Annotated[str, typer.Option(help="local or verbatim")] = "local",
    budget: Annotated[str, typer.Option(help="low, mid or high")] = "mid",
    max_tokens: Annotated[int, typer.Option(help="Token budget of a recall")] = 8192,
    cache: Annotated[Path, typer.Option(help="Where retained banks and results are kept")] = CACHE,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Retain and ask anew")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print figures as JSON")] = False,
) -> None:
    """Retain a labelled data file, ask its questions, and print recall, MRR, nDCG and latency."""
    from perdure.settings import read_settings

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise InvalidInput("--out", "a file in a folder that exists", str(out))
    settings = read_settings(None, {"extractor": extractor, "recipe": recipe})
    options = {"budget": budget, "max_tokens": max_tokens}
    if no_cache:
        with tempfile.TemporaryDirectory() as folder:
            report = run(data, settings, Path(folder), options, quiet=as_json)
    else:
        _make_folder(cache)
        report = run(data, settings, cache, options, quiet=as_json)
    if out is not None:
        write_rankings(out, report)
    if as_json:
        print(json.dumps(report.figures()))
    else:
        draw(report, console())


def _make_folder(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("--cache", f"a folder that can be made ({error.strerror})", str(cache)) from error


def run(data: Path, settings: Any, cache: Path, options: dict[str, Any], quiet: bool = False) -> Report:
    """Evaluate, or read the results of the same evaluation from the cache."""
    from perdure.evaluation.data import load_banks
    from perdure.evaluation.run import bank_database, from_cache, source_digest, to_cache

    banks = load_banks(data)
    database = bank_database(banks, settings, cache)
    queries = [
        [bank.id, q.id, q.text, q.date, q.type, sorted(q.evidence), sorted(q.evidence_sessions)]
        for bank in banks
        for q in bank.queries
    ]
    key = [settings.recipe, options, settings.reranker, queries, source_digest("recall", "engine.py")]
    name = blake2b(json.dumps(key, sort_keys=True).encode(), digest_size=8).hexdigest()
    results = database.with_name(f"{database.stem}-{name}.json")
    if results.exists():
        return Report(settings.recipe, settings.extractor, from_cache(results.read_text(encoding="utf-8")))
    rankings = _run(banks, database, settings, options, quiet)
    results.write_text(to_cache(rankings), encoding="utf-8")
    return Report(settings.recipe, settings.extractor, rankings)


def _run(
    banks: Sequence[Any], database: Path, settings: Any, options: dict[str, Any], quiet: bool
) -> list[Any]:
    from perdure.engine import Perdure
    from perdure.evaluation.run import ask_all, retain_banks
    from perdure.models.blas import limit_blas_threads

    limit_blas_threads(settings.blas_threads)
    with Perdure.open(database, settings=settings) as engine, _bars(banks, quiet) as advance:
        retain_banks(engine, banks, advance)
        return ask_all(engine, banks, advance, **options)


@contextmanager
def _bars(banks: Sequence[Any], quiet: bool) -> Iterator[Any]:
    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        tasks = {
            "items": bars.add_task("retain", total=sum(len(bank.items) for bank in banks)),
            "queries": bars.add_task("ask", total=sum(len(bank.queries) for bank in banks)),
        }
        yield lambda name, count: bars.advance(tasks[name], count)


def write_rankings(path: Path, report: Report) -> None:
    """One JSON line a query: id, ranked item ids, milliseconds."""
    from perdure.evaluation.run import to_line

    path.write_text("".join(to_line(r) + "\n" for r in report.rankings), encoding="utf-8")


def draw(report: Report, shown: Console) -> None:
    """Tables of the measures, over items and over sessions, and the latency."""
    figures = report.figures()
    for over in ("items", "sessions"):
        shown.print(Text(f"{report.recipe} · {report.extractor} · over {over}", style="italic"))
        _draw_measures(shown, {kind: row for kind, row in figures[over].items() if row["queries"]})
        shown.print()
    times = figures["latency_ms"]
    shown.print(f"latency of a recall: p50 {times['p50']:.1f} ms, p95 {times['p95']:.1f} ms")


def _draw_measures(shown: Console, rows: Mapping[str, Mapping[str, float]]) -> None:
    """A type of question a row; where there is little room, above its figures."""
    widest = max(map(len, rows), default=0)
    head = _line(["n", *COLUMNS])
    beside = widest + 1 + len(head) <= shown.width
    shown.print(Text((" " * (widest + 1) if beside else "") + head, style="dim"))
    for kind, row in rows.items():
        figures = _line([f"{row['queries']:.0f}", *(f"{row[name]:.3f}" for name in COLUMNS)])
        line = f"{kind:<{widest}} {figures}" if beside else f"{kind}\n{figures}"
        shown.print(Text(line, style="bold" if kind == TOTAL else ""))


def _line(cells: Sequence[str]) -> str:
    return " ".join(cell.rjust(max(len(name), 5)) for cell, name in zip(cells, ("n", *COLUMNS), strict=True))
