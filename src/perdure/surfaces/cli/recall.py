"""`perdure recall`, `perdure context` and `perdure reflect`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.domain.time import AsOf
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.options import AsJson, BankName, Database, Since, Tags, Types, Until
from perdure.surfaces.cli.output import console, emit, harmless
from perdure.surfaces.cli.session import DEFAULT_BANK, read_moment, read_text, read_window, reading

if TYPE_CHECKING:
    from perdure.domain.recall import RecallResult
    from perdure.engine import Perdure

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads standard input")]
BudgetName = Annotated[str, typer.Option("--budget", metavar="BUDGET", help="Search depth: low, mid or high")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", "-t", min=0, metavar="N", help="Tokens of fact text")]
Count = Annotated[int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most so many facts")]
RecipeName = Annotated[
    str | None, typer.Option("--recipe", metavar="RECIPE", help="default, tempr, memoria, abmind or fast")
]
Asked = Annotated[
    str | None, typer.Option("--asked-at", metavar="TIME", help="When the question is asked [now]")
]
ValidAt = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="What was true at this time")]
KnownAt = Annotated[
    str | None, typer.Option("--known-at", metavar="TIME", help="As memory knew it at this time")
]
Hints = Annotated[
    list[str] | None, typer.Option("--hint", metavar="NAME", help="Entity to start from; repeatable")
]
Track = Annotated[bool, typer.Option("--track/--no-track", help="Count the recall in the facts' statistics")]


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine's recall takes, from the parameters of a command."""
    return {
        "budget": given["budget"],
        "max_tokens": given["max_tokens"],
        "limit": given.get("limit"),
        "recipe": given["recipe"],
        "query_timestamp": read_moment(given["asked_at"], "--asked-at"),
        "as_of": AsOf(
            valid=read_moment(given["as_of"], "--as-of"), known=read_moment(given["known_at"], "--known-at")
        ),
        "entity_hints": given["hint"] or (),
        "track": given["track"],
        "types": given["types"],
        "tags": given["tags"],
        "during": read_window(given["since"], given["until"]),
    }


def recall(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    explain: Annotated[
        bool, typer.Option("--explain", "-x", help="Show channels, ranks, scores, cuts")
    ] = False,
    budget: BudgetName = "mid",
    max_tokens: MaxTokens = 4096,
    limit: Count = None,
    types: Types = None,
    tags: Tags = None,
    tags_match: Annotated[
        str,
        typer.Option(metavar="HOW", help="any, all (with untagged facts), any_strict, all_strict or exact"),
    ] = "any",
    since: Since = None,
    until: Until = None,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
    asked_at: Asked = None,
    hint: Hints = None,
    recipe: RecipeName = None,
    chunks: Annotated[bool, typer.Option("--chunks", help="Add the texts the facts were drawn from")] = False,
    entities: Annotated[bool, typer.Option("--entities", help="Add the entities the facts mention")] = False,
    track: Track = True,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """What memory holds on a question, best first, within a token budget."""
    options = _options(locals())
    with reading(database, bank) as engine:
        result = engine.recall(
            bank, read_text(query), **options, tags_match=tags_match,
            include_chunks=chunks, include_entities=entities, explain=explain,
        )  # fmt: skip
        if as_json:
            from perdure.surfaces.plain import plain_recall

            emit({"bank": bank, **plain_recall(result)})
        else:
            _draw(engine, bank, result, explain)
    _leave(result)


def _draw(engine: Perdure, bank: str, result: RecallResult, explain: bool) -> None:
    from perdure.surfaces.cli.draw.recall import CUT_SHOWN, draw_explained, draw_recall

    if not explain:
        draw_recall(console(), result)
        return
    left_out = {c.fact_id: engine.fact(bank, c.fact_id).text for c in result.cut[:CUT_SHOWN]}
    draw_explained(console(), result, left_out)


def _leave(result: RecallResult) -> None:
    if not result.recollections:
        raise typer.Exit(exits.NOTHING_RECALLED)


def context(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    budget: BudgetName = "mid",
    max_tokens: MaxTokens = 4096,
    limit: Count = None,
    types: Types = None,
    tags: Tags = None,
    since: Since = None,
    until: Until = None,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
    asked_at: Asked = None,
    hint: Hints = None,
    recipe: RecipeName = None,
    track: Track = True,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """A recall as a fenced text with citations, ready to paste into a prompt."""
    options = _options(locals())
    with reading(database, bank) as engine:
        result = engine.recall(bank, read_text(query), **options)
    if as_json:
        emit(
            {"bank": bank, "query": result.query.text, "context": result.to_prompt(), "tokens": result.tokens}
        )
    else:
        print(harmless(result.to_prompt()))
    _leave(result)


def reflect(
    query: Question,
    bank: BankName = DEFAULT_BANK,
    budget: BudgetName = "mid",
    max_tokens: MaxTokens = 4096,
    types: Types = None,
    tags: Tags = None,
    since: Since = None,
    until: Until = None,
    as_of: ValidAt = None,
    known_at: KnownAt = None,
    asked_at: Asked = None,
    hint: Hints = None,
    recipe: RecipeName = None,
    track: Track = True,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """An answer in which every sentence cites the facts it rests on, or that memory holds none."""
    options = _options(locals())
    with reading(database, bank) as engine:
        answer = engine.reflect(bank, read_text(query), **options)
    if as_json:
        based_on = [
            {"citation": number, "id": r.fact.id, "text": r.fact.text, "score": r.score}
            for number, r in enumerate(answer.based_on, start=1)
        ]
        emit({"bank": bank, "text": answer.text, "evidence": answer.evidence, "based_on": based_on})
    else:
        from perdure.surfaces.cli.draw.reflection import draw_reflection

        draw_reflection(console(), answer)
    if not answer.based_on:
        raise typer.Exit(exits.NOTHING_RECALLED)
