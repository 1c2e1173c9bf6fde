"""Automatic refreshes: after consolidation, and by schedule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from perdure.domain.bank import Bank
from perdure.domain.cron import Cron
from perdure.domain.mental_model import MAX_COUNT, MentalModel, RefreshPreview
from perdure.errors import NotFound, RefreshFailed
from perdure.ports.store import Store
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.record import every_model, find_model, put_model
from perdure.reflect.mental_models.refresh import refresh_mental_model
from perdure.reflect.mental_models.scope import is_stale, meets

MIN_INTERVAL = "mental_model_min_refresh_interval_seconds"
"""The bank's setting for models whose trigger names no interval of its own."""
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(days=1)
MOST_DOUBLINGS = 20
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DueModel:
    """A model whose refresh is due, and the moment before which it may not begin (None: at once)."""

    model: MentalModel
    not_before: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRefreshes:
    """The results of the refreshes that were due."""

    refreshed: tuple[RefreshPreview, ...] = ()
    failed: tuple[str, ...] = ()
    """Models that kept their content, because nothing was read that could replace it."""
    parked: tuple[DueModel, ...] = ()
    """Models that were refreshed too recently; the background work keeps them until their time."""


def min_interval(model: MentalModel, bank: Bank | None) -> timedelta:
    """Return the least time between automatic refreshes of a model."""
    own = model.trigger.min_refresh_interval_seconds
    shared = bank.settings.get(MIN_INTERVAL, 0) if bank is not None else 0
    seconds = own if own is not None else shared
    return timedelta(seconds=min(seconds, MAX_COUNT) if isinstance(seconds, int) else 0)


def parked_until(model: MentalModel, bank: Bank | None, now: datetime) -> datetime | None:
    """Return the moment before which the model may not be refreshed automatically; None if it may now."""
    moments = []
    if model.last_refreshed_at is not None:
        moments.append(model.last_refreshed_at + min_interval(model, bank))
    if model.last_refresh_failed_at is not None and model.refresh_failures:
        moments.append(model.last_refresh_failed_at + back_off(model.refresh_failures))
    until = max(moments, default=now)
    return until if until > now else None


def back_off(failures: int) -> timedelta:
    """Return a minute after the first failure of a language model, twice as long after each further one in a row, a day at most."""
    doublings = min(failures - 1, MOST_DOUBLINGS)
    return min(FIRST_WAIT * float(2**doublings), LONGEST_WAIT)


def due_after_consolidation(
    store: Store, bank: str, touched_tags: Collection[frozenset[str]] | None, now: datetime
) -> list[DueModel]:
    """Return stale models that ask for it and have facts with one of these sets of tags in scope (None: any)."""
    with store.reading(bank) as reading:
        return [
            DueModel(model, parked_until(model, reading.bank(), now))
            for model in every_model(reading)
            if model.trigger.refresh_after_consolidation
            and (touched_tags is None or meets(model, touched_tags))
            and is_stale(reading, model, now)
        ]


def due_by_schedule(store: Store, bank: str, now: datetime) -> list[DueModel]:
    """Return stale models whose schedule has a moment since it was last handled; others let it pass."""
    with store.reading(bank) as reading:
        ticked = [model for model in every_model(reading) if _ticks(model, now)]
        due = [model for model in ticked if is_stale(reading, model, now)]
        own = reading.bank()
    if ticked:
        with store.transaction(bank) as tx:
            for model in ticked:
                try:
                    put_model(tx, replace(find_model(tx, model.id), cron_ticked_at=now))
                except NotFound:
                    continue  # It was deleted meanwhile.
    return [DueModel(model, parked_until(model, own, now)) for model in due]


def _ticks(model: MentalModel, now: datetime) -> bool:
    if model.trigger.refresh_cron is None:
        return False
    since = max(model.cron_ticked_at or _LONG_AGO, model.created_at or _LONG_AGO)
    return Cron.read(model.trigger.refresh_cron).next_after(since) <= now


def refresh_due_models(
    components: ReflectComponents,
    bank: str,
    touched_tags: Collection[frozenset[str]] | None,
    now: datetime,
) -> DueRefreshes:
    """Refresh the models that consolidation of facts with these sets of tags made due."""
    return refresh_models(components, due_after_consolidation(components.store, bank, touched_tags, now))


def refresh_models(components: ReflectComponents, due: Sequence[DueModel]) -> DueRefreshes:
    """Refresh the models that may be refreshed now; a failure does not stop the others."""
    refreshed: list[RefreshPreview] = []
    failed: list[str] = []
    for one in due:
        if one.not_before is not None:
            continue
        try:
            refreshed.append(refresh_mental_model(components, one.model.bank, one.model.id))
        except (RefreshFailed, NotFound):
            failed.append(one.model.id)
    parked = tuple(one for one in due if one.not_before is not None)
    return DueRefreshes(refreshed=tuple(refreshed), failed=tuple(failed), parked=parked)
