"""`perdure demo`: retain a short conversation, ask it questions, show how each was answered."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from perdure.domain.item import RetainResult
from perdure.domain.plain import to_plain
from perdure.domain.recall import RecallResult
from perdure.errors import InvalidInput, ModelError
from perdure.surfaces.cli.draw import plural
from perdure.surfaces.cli.draw_recall import KEEP_LOADED, draw_recall, why_first
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import AsJson, load_settings
from perdure.surfaces.plain import plain_recall

if TYPE_CHECKING:  # the command's help loads neither
    from perdure.engine import Perdure
    from perdure.settings import Settings

BANK = "demo"
SHOWN = 3


def demo(
    keep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the memory in this new database file")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Remember a conversation, then ask for it by meaning, name, time and in two hops, for a change, and for what it lacks."""
    if keep is not None and keep.exists():
        raise InvalidInput("--keep", "a file that does not exist yet", str(keep))
    script = load_script()
    with tempfile.TemporaryDirectory(prefix="perdure-demo-") as folder:
        _run(script, keep or Path(folder) / "demo.db", as_json)
    if keep is not None and not as_json:
        line = f'kept: perdure recall "…" --bank {BANK} --database {keep}'
        console().print(line, style="dim", markup=False)


def load_script() -> dict[str, Any]:
    """Return the conversation and the questions."""
    file = resources.files("perdure.surfaces.cli").joinpath("demo_conversation.json")
    script: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return script


def _run(script: dict[str, Any], database: Path, as_json: bool) -> None:
    from perdure.engine import Perdure

    settings, missing = at_hand(load_settings(str(database)))
    for reason in missing:
        console(stderr=True).print(reason, style="yellow", markup=False)
    with Perdure.open(settings=settings) as engine:
        started = time.perf_counter()
        with console(stderr=True).status("loading the models and remembering a conversation"):
            done = remember(engine, script)
        seconds = time.perf_counter() - started
        answers = ask(engine, script)
        if as_json:
            retained = {**to_plain(done), "seconds": round(seconds, 3)}
            told = [{"kind": q["kind"], "why": q["why"], **plain_recall(result)} for q, result in answers]
            emit({"retain": retained, "questions": told})
            return
        shown = console()
        draw_opening(shown, script, done, seconds)
        for number, (question, result) in enumerate(answers, start=1):
            draw_question(shown, number, question, result)
        shown.print(Text('\nNext: perdure retain notes/ then perdure recall "…" --explain', style="bold"))
        shown.print(Text(KEEP_LOADED, style="dim"))


def at_hand(settings: Settings) -> tuple[Settings, list[str]]:
    """Return the settings without the models that are not on this machine, and what is missing."""
    from perdure.adapters import make_embedder, make_reader

    missing = []
    for name, choose in (("embedder", make_embedder), ("reranker", make_reader)):
        try:
            model: Any = choose(settings)
            _ = getattr(model, "weights", None)
        except ModelError as error:
            missing.append(f"goes on without {name}: {error}")
            settings = settings.model_copy(update={name: "none"})
    return settings, missing


def remember(engine: Perdure, script: dict[str, Any]) -> RetainResult:
    """Retain the conversation, one document per day."""
    items = [
        {
            "content": turn["text"],
            "speaker": turn["speaker"],
            "role": "assistant" if turn["speaker"] == "assistant" else "user",
            "timestamp": turn["date"],
            "document_id": f"chat of {turn['date'][:10]}",
        }
        for turn in script["turns"]
    ]
    return engine.retain(BANK, items)


def ask(engine: Perdure, script: dict[str, Any]) -> Iterator[tuple[dict[str, str], RecallResult]]:
    """Each question with its answer, explained, as of the script's own date; the models are loaded before the first."""
    engine.recall(BANK, script["questions"][0]["text"], track=False)
    for question in script["questions"]:
        precision = question.get("precision", "search")
        yield question, engine.recall(
            BANK, question["text"], asked_at=script["asked_at"], precision=precision, explain=True, track=False
        )  # fmt: skip


def draw_opening(console: Console, script: Mapping[str, Any], done: RetainResult, seconds: float) -> None:
    """Draw what was remembered, from what, and how long it took."""
    turns, days = len(script["turns"]), len(done.document_ids)
    console.print(Text("perdure demo: memory on this machine, without a language model", style="bold cyan"))
    told = (
        f"Remembered {turns} turns of {days} days as {plural(len(done.fact_ids), 'fact')} in {seconds:.1f} s"
    )
    console.print(Text(f"{told}, the loading of the models included. Asked on {script['asked_at'][:10]}:"))


def draw_question(console: Console, number: int, question: Mapping[str, str], result: RecallResult) -> None:
    """Draw a question: why it is hard, the first facts with who said them, and why the first one won."""
    console.print(Text(f"\n{number}. {question['kind']}: {question['why']}", style="cyan"))
    draw_recall(console, replace(result, recollections=result.recollections[:SHOWN]))
    if result.recollections:
        console.print(Text(why_first(result), style="cyan"))
