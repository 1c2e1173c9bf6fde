"""`perdure eval`: recall quality and latency on a labelled data file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from perdure.errors import InvalidInput
from perdure.evaluation.data import CACHE, LabelledBank, load_banks
from perdure.evaluation.measures import TOTAL, Report
from perdure.surfaces.cli.draw import table
from perdure.surfaces.cli.output import bars, console, emit

COLUMNS = ("recall@1", "recall@5", "recall@10", "any@5", "all@5", "mrr", "ndcg@10")


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
    from perdure.evaluation.run import evaluate, write_rankings  # loads the engine
    from perdure.settings import read_settings

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise InvalidInput("--out", "a file in a folder that exists", str(out))
    settings = read_settings(None, {"extractor": extractor, "recipe": recipe})
    if not no_cache:
        _make_folder(cache)
    banks = load_banks(data)
    folder = tempfile.TemporaryDirectory() if no_cache else nullcontext(cache)
    with folder as kept_in, _progress(banks, quiet=as_json) as progress:
        options = {"budget": budget, "max_tokens": max_tokens}
        report = evaluate(banks, settings, Path(kept_in), options, progress)
    if out is not None:
        write_rankings(out, report)
    if as_json:
        emit(report.figures())
    else:
        draw(report, console())


def _make_folder(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput("--cache", f"a folder that can be made ({error.strerror})", str(cache)) from error


@contextmanager
def _progress(banks: Sequence[LabelledBank], quiet: bool) -> Iterator[Callable[[str, int], None]]:
    with bars(quiet=quiet) as bar:
        tasks = {
            "items": bar.add_task("retain", total=sum(len(bank.items) for bank in banks), at=""),
            "queries": bar.add_task("ask", total=sum(len(bank.queries) for bank in banks), at=""),
        }
        yield lambda name, count: bar.advance(tasks[name], count)


def draw(report: Report, shown: Console) -> None:
    """Draw tables of the measures, over items and over sessions, and the latency."""
    figures = report.figures()
    for over in ("items", "sessions"):
        shown.print(Text(f"{report.recipe} · {report.extractor} · over {over}", style="italic"))
        drawn = table(
            "",
            *(Column(name, justify="right", no_wrap=True) for name in ("n", *COLUMNS)),
            expand=False,
            padding=0,
        )
        for kind, row in figures[over].items():
            if row["queries"]:
                cells = (f"{row['queries']:.0f}", *(f"{row[name]:.3f}" for name in COLUMNS))
                drawn.add_row(kind, *cells, style="bold" if kind == TOTAL else "")
        shown.print(drawn)
    times = figures["latency_ms"]
    shown.print(f"latency of a recall: p50 {times['p50']:.1f} ms, p95 {times['p95']:.1f} ms")
