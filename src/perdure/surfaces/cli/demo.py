"""`perdure demo`: retain a short conversation, ask it four questions, show how each was answered."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput, ModelError
from perdure.surfaces.cli.options import AsJson
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import load_settings
from perdure.surfaces.plain import plain, plain_recall

if TYPE_CHECKING:
    from perdure.domain.item import RetainResult
    from perdure.domain.recall import RecallResult
    from perdure.engine import Perdure
    from perdure.settings import Settings

BANK = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, why it is hard, and what came of it."""

    kind: str
    why: str
    result: RecallResult


def demo(
    keep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the memory in this new database file")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Remember a conversation of two people and an assistant, then ask for it by meaning, name, time and in two hops."""
    if keep is not None and keep.exists():
        raise InvalidInput("--keep", "a file that does not exist yet", str(keep))
    script = load_script()
    with tempfile.TemporaryDirectory(prefix="perdure-demo-") as folder:
        _run(script, keep or Path(folder) / "demo.db", as_json)
    if keep is not None and not as_json:
        line = f'kept: perdure recall "…" --bank {BANK} --database {keep}'
        console().print(line, style="dim", markup=False)


def load_script() -> dict[str, Any]:
    """The conversation and the questions."""
    file = resources.files("perdure.surfaces.cli").joinpath("demo_conversation.json")
    script: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return script


def _run(script: dict[str, Any], database: Path, as_json: bool) -> None:
    from perdure.engine import Perdure
    from perdure.models.blas import limit_blas_threads

    settings, missing = at_hand(load_settings(str(database)))
    limit_blas_threads(settings.blas_threads)
    for reason in missing:
        console(stderr=True).print(reason, style="yellow", markup=False)
    with Perdure.open(settings=settings) as engine:
        started = time.perf_counter()
        with console(stderr=True).status("loading the models and remembering a conversation"):
            done = remember(engine, script)
        seconds = time.perf_counter() - started
        if as_json:
            asked = [ask(engine, script, number) for number in range(len(script["questions"]))]
            emit(
                {
                    "retain": {**plain(done), "seconds": round(seconds, 3)},
                    "questions": [_plain(one) for one in asked],
                }
            )
        else:
            _draw(engine, script, done, seconds)


def at_hand(settings: Settings) -> tuple[Settings, list[str]]:
    """The settings without the models that are not on this machine, and what is missing."""
    from perdure.compose import choose_embedder, choose_reranker

    missing = []
    for name, choose in (("embedder", choose_embedder), ("reranker", choose_reranker)):
        try:
            model: Any = choose(settings)
            _ = getattr(model, "weights", None)
        except ModelError as error:
            missing.append(f"goes on without {name}: {error}")
            settings = settings.model_copy(update={name: "none"})
    return settings, missing


def _draw(engine: Perdure, script: dict[str, Any], done: RetainResult, seconds: float) -> None:
    from perdure.surfaces.cli.draw.demo import draw_close, draw_opening, draw_question

    shown = console()
    draw_opening(shown, script, done, seconds)
    for number in range(len(script["questions"])):
        draw_question(shown, number + 1, ask(engine, script, number))
    draw_close(shown)


def remember(engine: Perdure, script: dict[str, Any]) -> RetainResult:
    """Retain the conversation, one document a day."""
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


def ask(engine: Perdure, script: dict[str, Any], number: int) -> Asked:
    """One question, asked at the script's own date and explained; once before, so that no model load is timed."""
    question = script["questions"][number]
    asked_at = parse_instant(script["asked_at"], "asked_at")
    if number == 0:
        engine.recall(BANK, question["text"], track=False)
    result = engine.recall(BANK, question["text"], query_timestamp=asked_at, explain=True, track=False)
    return Asked(kind=question["kind"], why=question["why"], result=result)


def _plain(asked: Asked) -> dict[str, Any]:
    return {"kind": asked.kind, "why": asked.why, **plain_recall(asked.result)}
