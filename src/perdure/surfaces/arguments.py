"""Arguments of requests, read once for the command line, REST and MCP; errors name them as the surface spells them.

What a recall takes passes through `RecallOptions`, `recall_with` and `reflect_with` alone: surfaces use the engine's recall nowhere else.
Names of types, budgets, recipes and tags are checked by the engine itself, under the same names on every surface.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypedDict

from perdure.domain.time import AsOf, Window, parse_instant
from perdure.domain.work import departure
from perdure.errors import InvalidInput, NotFound

if TYPE_CHECKING:  # a command's help loads none of these
    from perdure.arguments import RecallArguments as EngineOptions
    from perdure.domain.bank import Bank
    from perdure.domain.fact import Document, Entity
    from perdure.domain.filter import Filter
    from perdure.domain.recall import RecallResult
    from perdure.engine import Perdure
    from perdure.recall.option_groups import MinScores, Situation
    from perdure.recall.recipe import Recipe
    from perdure.reflect.reflection import Reflection

_DATE_ONLY = len("2025-01-31")
_DAY = timedelta(days=1)
_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)
"""Nothing comes after it: as an end it is no bound."""
_FIRST_YEAR, _LAST_YEAR = 2, 9998
_INCLUSIVE = timedelta(microseconds=1)
MAX_CHUNK_TOKENS = 8192


class FilterOptions(TypedDict, total=False):
    """Conditions on facts; what is left out does not restrict."""

    types: Sequence[str] | None
    tags: Sequence[str] | None
    tags_match: str
    tag_groups: Sequence[Mapping[str, object]] | None
    metadata: Mapping[str, str] | None
    topic: str | None
    tier: str | None
    max_classification: int | None
    document_ids: Collection[str] | None
    during: Window | None
    as_of: AsOf | datetime | None
    include_expired: bool
    include_closed: bool


class RecallOptions(FilterOptions, total=False):
    """What a surface may ask of a recall; what is left out is as the engine has it."""

    budget: str
    max_tokens: int
    limit: int | None
    recipe: str | Recipe | None
    query_timestamp: datetime | None
    asker: str | None
    temporal_window: Window | None
    entity_hints: Sequence[str]
    situation: Situation | None
    include_chunks: bool
    max_chunk_tokens: int
    include_entities: bool
    min_scores: MinScores | None
    explain: bool
    track: bool
    precision: str


def recall_with(engine: Perdure, bank: str, query: str, options: RecallOptions) -> RecallResult:
    """What memory holds on a question."""
    return engine.recall(bank, query, **_engine_options(options))


def reflect_with(
    engine: Perdure,
    bank: str,
    query: str,
    options: RecallOptions,
    *,
    directives: Sequence[str] = (),
    apply_all_directives: bool = False,
    response_schema: Mapping[str, object] | None = None,
    mental_models: bool = True,
    exclude_mental_model_ids: Sequence[str] = (),
    cancelled: Callable[[], bool] | None = None,
) -> Reflection:
    """An answer that cites the facts it rests on; work that was called off ends between two calls of a language model."""
    called_off = departure()
    return engine.reflect(
        bank,
        query,
        directives=directives,
        apply_all_directives=apply_all_directives,
        response_schema=response_schema,
        mental_models=mental_models,
        exclude_mental_model_ids=exclude_mental_model_ids,
        cancelled=lambda: called_off() or (cancelled is not None and cancelled()),
        **_engine_options(options),
    )


def _engine_options(options: RecallOptions) -> EngineOptions:
    """The flat options of a surface as the engine takes them."""
    from perdure.recall.option_groups import Hints, Include

    engine_options: EngineOptions = {
        "where": read_filter(options),
        "include": Include(
            chunks=options.get("include_chunks", False),
            max_chunk_tokens=options.get("max_chunk_tokens", MAX_CHUNK_TOKENS),
            entities=options.get("include_entities", False),
        ),
        "hints": Hints(
            window=options.get("temporal_window"),
            entities=tuple(options.get("entity_hints", ())),
            situation=options.get("situation"),
        ),
        "asked_at": options.get("query_timestamp"),
    }
    for name in (
        "budget", "max_tokens", "limit", "recipe", "min_scores", "explain", "track", "asker", "precision",
    ):  # fmt: skip
        if name in options:
            engine_options[name] = options[name]
    return engine_options


def read_filter(options: FilterOptions) -> Filter:
    """The conditions of a recall or a listing as one filter."""
    from perdure.domain.filter import Conditions

    names = FilterOptions.__annotations__
    alone: dict[str, object] = {
        name: options[name] for name in ("types", "tags", "tags_match", "as_of") if name in options
    }
    where = {name: value for name, value in options.items() if name in names and name not in alone}
    where["tags"] = where.pop("tag_groups", None)
    return Conditions.read({"where": where, **alone}).where


def read_moment(value: str | datetime | None, field: str) -> datetime | None:
    """A moment from ISO 8601 text; without a time zone it is UTC."""
    return parse_instant(value, field)


def read_utc(value: str | datetime | None, field: str) -> datetime | None:
    """The same in UTC, in a year that calendar arithmetic cannot overflow."""
    moment = parse_instant(value, field)
    if moment is None:
        return None
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise InvalidInput(field, f"a year from {_FIRST_YEAR} to {_LAST_YEAR}", value)
    return moment.astimezone(UTC)


def read_window(
    since: str | None,
    until: str | None,
    fields: tuple[str, str] = ("since", "until"),
    *,
    whole_days: bool = False,
) -> Window | None:
    """From `since` to just before `until`, either of which may be open; `whole_days` takes in the day of a bare date."""
    start, end = parse_instant(since, fields[0]), parse_instant(until, fields[1])
    if start is not None and end is not None and start > end:
        raise InvalidInput(fields[0], f"a date not after {fields[1]} ({until})", since)
    if whole_days and end is not None and until is not None and len(until.strip()) == _DATE_ONLY:
        end = end + _DAY if end < _LAST_DAY else None
    return Window(start, end) if start is not None or end is not None else None


def read_closed_window(start: datetime, end: datetime, field: str) -> Window:
    """From `start` to `end`, both included."""
    first, last = read_utc(start, f"{field}.start"), read_utc(end, f"{field}.end")
    if first is None or last is None or first > last:
        raise InvalidInput(field, "a start that is not after the end")
    return Window(first, last + _INCLUSIVE)


def find_bank(engine: Perdure, bank: str) -> Bank | None:
    """The bank, None when there is none."""
    try:
        return engine.banks.get(bank)
    except NotFound:
        return None


def find_document(engine: Perdure, bank: str, document_id: str) -> Document:
    """The document of that id."""
    for document in engine.documents.list(bank, [document_id]):
        return document
    raise NotFound("document", document_id)


def find_entity(engine: Perdure, bank: str, name: str) -> Entity:
    """The entity of that id, else of that name or alias in any case."""
    for entity in engine.entities.list(bank, [name]) or engine.entities.list(bank, name=name):
        return entity
    raise NotFound("entity", name)
