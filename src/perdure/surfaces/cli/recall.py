"""`perdure recall`, `perdure context` and `perdure reflect`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from perdure.domain.recall import Recollection
from perdure.domain.time import AsOf
from perdure.surfaces.arguments import RecallOptions, read_moment, recall_with, reflect_with
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.draw_recall import CUT_SHOWN, draw_explained, draw_recall, draw_reflection
from perdure.surfaces.cli.output import harmless, tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Since,
    Tags,
    Types,
    Until,
    read_text,
    reading,
    window,
)
from perdure.surfaces.plain import plain_recall, plain_reflection

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads standard input")]
PrecisionName = Annotated[
    str,
    typer.Option(metavar="HOW", help="search: all that may help; inject: what probably helps, or nothing"),
]
Count = Annotated[int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many facts")]


def shared_options(
    budget: Annotated[str, typer.Option(metavar="BUDGET", help="Search depth: low, mid or high")] = "mid",
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", "-t", min=0, metavar="N", help="Tokens of fact text")
    ] = 4096,
    types: Types = None,
    tags: Tags = None,
    since: Since = None,
    until: Until = None,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="What was true at this time")] = None,
    known_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="As memory knew it at this time")
    ] = None,
    asked_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="When the question is asked [now]")
    ] = None,
    asker: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whom I and my mean [the bank's user]")
    ] = None,
    hint: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Entity to start from; repeatable")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(metavar="RECIPE", help="default, tempr, memoria, abmind or fast")
    ] = None,
    track: Annotated[
        bool, typer.Option("--track/--no-track", help="Count the recall in the facts' statistics")
    ] = True,
) -> RecallOptions:
    """The options of all three commands, read as the engine takes them."""
    return {
        "budget": budget,
        "max_tokens": max_tokens,
        "recipe": recipe,
        "query_timestamp": read_moment(asked_at, "--asked-at"),
        "asker": asker,
        "as_of": AsOf(valid=read_moment(as_of, "--as-of"), known=read_moment(known_at, "--known-at")),
        "entity_hints": hint or (),
        "track": track,
        "types": types,
        "tags": tags,
        "during": window(since, until),
    }


def with_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the shared options on its command line, and what they read to as its argument `options`."""
    shared = inspect.signature(shared_options, eval_str=True).parameters
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        options = shared_options(**{name: arguments.pop(name) for name in shared})
        command(**arguments, options=options)

    parameters: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += shared.values() if name == "options" else [parameter]
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    run.__signature__ = own.replace(parameters=keywords)  # type: ignore[attr-defined]
    return run


@with_shared_options
def recall(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    explain: Annotated[
        bool, typer.Option("--explain", "-x", help="Show channels, ranks, scores, cuts")
    ] = False,
    limit: Count = None,
    *,
    options: RecallOptions,
    tags_match: Annotated[
        str,
        typer.Option(metavar="HOW", help="any, all (with untagged facts), any_strict, all_strict or exact"),
    ] = "any",
    precision: PrecisionName = "search",
    chunks: Annotated[bool, typer.Option("--chunks", help="Add the texts the facts were drawn from")] = False,
    entities: Annotated[bool, typer.Option("--entities", help="Add the entities the facts mention")] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What memory holds on a question, best first, within a token budget."""
    options |= {
        "limit": limit, "tags_match": tags_match, "include_chunks": chunks, "include_entities": entities,
        "explain": explain, "precision": precision,
    }  # fmt: skip
    with reading(database, bank) as engine:
        result = recall_with(engine, bank, read_text(query), options)
        cut = result.cut[:CUT_SHOWN] if explain and not as_json else ()
        left_out = {candidate.fact_id: engine.facts.get(bank, candidate.fact_id).text for candidate in cut}
    tell(
        as_json,
        {"bank": bank, **plain_recall(result)},
        lambda shown: draw_explained(shown, result, left_out) if explain else draw_recall(shown, result),
    )
    _leave(result.recollections)


def _leave(recollections: Sequence[Recollection]) -> None:
    if not recollections:
        raise typer.Exit(exits.NOTHING_RECALLED)


@with_shared_options
def context(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    limit: Count = None,
    *,
    options: RecallOptions,
    precision: PrecisionName = "inject",
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What probably helps as a fenced text with citations, ready to paste into a prompt; all of it within --max-tokens."""
    with reading(database, bank) as engine:
        result = recall_with(
            engine, bank, read_text(query), {**options, "limit": limit, "precision": precision}
        )
    prompt = result.fit_prompt()
    value = {
        "bank": bank, "query": result.query.text, "evidence": result.evidence.value, "context": prompt.text,
        "tokens": prompt.tokens, "abstained": result.abstained, "abstained_because": result.abstained_because,
    }  # fmt: skip
    tell(as_json, value, lambda _: print(harmless(prompt.text)) if prompt.text else None)
    if result.abstained and not as_json:
        typer.echo(f"nothing: {result.abstained_because}", err=True)
    _leave(result.recollections[: prompt.shown])


@with_shared_options
def reflect(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    explain: Annotated[
        bool, typer.Option("--explain", "-x", help="Show tiers, reader, disposition, directives")
    ] = False,
    *,
    options: RecallOptions,
    directive: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="Rule for the answer; repeatable")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """A short answer and sentences that cite the facts they rest on, or that memory holds none."""
    with reading(database, bank) as engine:
        answer = reflect_with(engine, bank, read_text(query), options, directives=directive or ())
    value = {"bank": bank, **plain_reflection(answer)}
    tell(as_json, value, lambda shown: draw_reflection(shown, answer, explain=explain))
    _leave(answer.based_on)
