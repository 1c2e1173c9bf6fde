"""Staleness: statements of how things are that nobody has said again for a long time.

Nothing is stored: a statement was last mentioned when it was said, or when somebody repeated it, which its proofs tell. What
happened, what is planned and what is over does not go stale, nor does what memory worked out itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeGuard

from perdure.domain.fact import INSTRUCTION, QUESTION, Fact, FactType
from perdure.domain.filter import Filter
from perdure.domain.recall import Candidate
from perdure.domain.time import Window
from perdure.errors import InvalidInput
from perdure.ports.reader import PlacedStatement, Reader
from perdure.ports.store import Order, Reading, Rows, Selection

STALE_AFTER_MONTHS = "stale_after_months"
"""Setting of a bank: months without a mention after which a statement counts as stale; 0 for never."""
DEFAULT_MONTHS, MOST_MONTHS = 12, 1200
LASTING = frozenset({"fact", "begins", "belief"})
"""Meanings of statements that hold until something else is said."""
SHORTEST_MONTH = timedelta(days=28)
PAGE = 100
"""Facts that `stale_facts` reads at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleFact:
    """A statement that should be asked for again."""

    fact: Fact
    last_mentioned_at: datetime
    months: int
    """Whole months since it was last mentioned."""


def check_stale_after(settings: Mapping[str, object]) -> None:
    """Raise `InvalidInput` if the setting is no number of months."""
    if not is_months(settings.get(STALE_AFTER_MONTHS, DEFAULT_MONTHS)):
        raise InvalidInput(
            f"settings.{STALE_AFTER_MONTHS}", "months, or 0 for never", settings[STALE_AFTER_MONTHS]
        )


def is_months(value: object) -> TypeGuard[int]:
    """Return whether a value is a number of months that may be set."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_MONTHS


def _stale_after(rows: Rows) -> int:
    bank = rows.bank()
    months = bank.settings.get(STALE_AFTER_MONTHS) if bank is not None else None
    return months if is_months(months) else DEFAULT_MONTHS


def stale_months(rows: Rows, candidates: Iterable[Candidate], moment: datetime) -> dict[str, int]:
    """Return fact id -> months since the last mention, for the candidates that are stale at the moment."""
    facts = [one.fact for one in candidates if one.fact is not None and _goes_stale(one.fact)]
    if not any(_months(fact.mentioned_at, moment) for fact in facts):
        return {}
    return {one.fact.id: one.months for one in _stale(rows, facts, moment, _stale_after(rows))}


def stale_facts(
    rows: Reading, now: datetime, *, months: int | None, limit: int, reader: Reader | None
) -> list[StaleFact]:
    """Return the current facts that nobody mentioned for so many months, by default the bank's, longest ago first.

    A reader leaves out what its words alone show to be past or passing.
    """
    after = _stale_after(rows) if months is None else months
    stale: list[StaleFact] = []
    for page in _pages(rows, now, after) if after else ():
        old = _stale(rows, [fact for fact in page if _goes_stale(fact)], now, after)
        stale += old if reader is None else _lasting(reader, old)
        if len(stale) >= limit:
            break
    return sorted(stale, key=lambda one: (one.last_mentioned_at, one.fact.id))[:limit]


def _pages(rows: Reading, now: datetime, after: int) -> Iterator[Sequence[Fact]]:
    """Yield the current facts that are old enough, by date."""
    dated, offset, total = Window(None, now - after * SHORTEST_MONTH), 0, 1
    while offset < total:
        page = rows.browse(
            Selection(
                where=Filter().at(now), dated=dated, order=Order.EARLIEST_DATED, offset=offset, limit=PAGE
            )
        )
        yield page.facts
        offset, total = offset + PAGE, page.total


def _lasting(reader: Reader, stale: Sequence[StaleFact]) -> list[StaleFact]:
    readings = reader.meanings([PlacedStatement.of(one.fact) for one in stale])
    return [one for one, reading in zip(stale, readings, strict=True) if reading.meaning in LASTING]


def _goes_stale(fact: Fact) -> bool:
    """Return whether a fact says how things are, as far as its fields tell."""
    marks = {INSTRUCTION, QUESTION}.intersection(fact.flags)
    return fact.type is FactType.WORLD and fact.occurred is None and not (marks or fact.source_fact_ids)


def _stale(rows: Rows, facts: Sequence[Fact], moment: datetime, after: int) -> list[StaleFact]:
    old = [fact for fact in facts if after and _months(fact.mentioned_at, moment) >= after]
    repeated = [fact.id for fact in old if fact.proof_count > 1]
    proofs = rows.proofs(repeated) if repeated else {}
    stale = []
    for fact in old:
        seen = [proof.seen_at for proof in proofs.get(fact.id, ()) if proof.seen_at is not None]
        last = max((at for at in (fact.mentioned_at, *seen) if at is not None and at <= moment), default=None)
        months = _months(last, moment)
        if last is not None and months >= after:
            stale.append(StaleFact(fact=fact, last_mentioned_at=last, months=months))
    return stale


def _months(since: datetime | None, moment: datetime) -> int:
    """Return the whole calendar months from one moment to a later one, 0 without a beginning."""
    if since is None or since >= moment:
        return 0
    until = moment.astimezone(since.tzinfo)
    months = (until.year - since.year) * 12 + until.month - since.month
    return months - (until.day < since.day)
