"""`perdure recall`, `perdure context` and `perdure reflect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from perdure.domain.recall import Recollection
from perdure.recall.options import PromptOptions, RecallOptions
from perdure.reflect.options import ReflectOptions
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw_recall import CUT_SHOWN, draw_explained, draw_recall, draw_reflection
from perdure.surfaces.cli.options import with_options
from perdure.surfaces.cli.output import harmless, tell
from perdure.surfaces.cli.session import DEFAULT_BANK, AsJson, BankName, Database, read_text, reading
from perdure.surfaces.plain import plain_recall, plain_reflection

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads standard input")]


@with_options(RecallOptions)
def recall(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    *,
    options: RecallOptions,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What memory holds on a question, best first, within a token budget."""
    with reading(database, bank) as engine:
        result = engine.recall(bank, read_text(query), **options.given())
        cut = result.cut[:CUT_SHOWN] if options.explain and not as_json else ()
        left_out = {candidate.fact_id: engine.facts.get(bank, candidate.fact_id).text for candidate in cut}
    tell(
        as_json,
        {"bank": bank, **plain_recall(result)},
        lambda shown: (
            draw_explained(shown, result, left_out) if options.explain else draw_recall(shown, result)
        ),
    )
    _leave(result.recollections)


def _leave(recollections: Sequence[Recollection]) -> None:
    if not recollections:
        raise typer.Exit(exits.NOTHING_RECALLED)


@with_options(PromptOptions, without=("chunks", "entities", "explain"))
def context(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    *,
    options: PromptOptions,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What probably helps as a fenced text with citations, ready to paste into a prompt; all of it within --max-tokens."""
    with reading(database, bank) as engine:
        result = engine.recall(bank, read_text(query), **options.given() | {"precision": options.precision})
    prompt = result.fit_prompt()
    value = {
        "bank": bank, "query": result.query.text, "evidence": result.evidence.value, "context": prompt.text,
        "tokens": prompt.tokens, "abstained": result.abstained, "abstained_because": result.abstained_because,
    }  # fmt: skip
    tell(as_json, value, lambda _: print(harmless(prompt.text)) if prompt.text else None)
    if result.abstained and not as_json:
        typer.echo(f"nothing: {result.abstained_because}", err=True)
    _leave(result.recollections[: prompt.shown])


@with_options(ReflectOptions, without=("chunks", "entities", "precision", "limit"))
def reflect(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    *,
    options: ReflectOptions,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """A short answer and sentences that cite the facts they rest on, or that memory holds none."""
    with reading(database, bank) as engine:
        answer = engine.reflect(bank, read_text(query), **options.given())
    value = {"bank": bank, **plain_reflection(answer)}
    tell(as_json, value, lambda shown: draw_reflection(shown, answer, explain=options.explain))
    _leave(answer.based_on)
