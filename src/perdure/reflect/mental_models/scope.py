"""What a model reads: its scope, what is new in it since the last refresh, and whether what it says still holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.fact import FactType
from perdure.domain.filter import Filter, TagExpression, TagsMatch, admits, read_tags
from perdure.domain.mental_model import MentalModel, Retraction, SeenFacts
from perdure.ports.store import Order, Reading, Rows, Selection

MARKS = 32
"""Facts that are remembered as the newest ones seen."""
STATEMENTS = frozenset(FactType) - {FactType.OBSERVATION}
"""What documents are made of. Observations are selections of these."""


def scope_tags(model: MentalModel) -> tuple[TagExpression, ...]:
    """Return the conditions on tags: the trigger's groups, else the model's tags."""
    if model.trigger.tag_groups is not None:
        return read_tags(None, TagsMatch.ANY, model.trigger.tag_groups)
    return read_tags(model.tags, model.tags_match)


def scope_of(model: MentalModel) -> Filter:
    """Return the filter of the facts that the model may read; observations stand for the statements that they are made of."""
    types = STATEMENTS.intersection(model.trigger.fact_types or ())
    return Filter(types=types or STATEMENTS, tags=scope_tags(model))


def meets(model: MentalModel, touched_tags: Collection[frozenset[str]]) -> bool:
    """Return whether facts with one of these sets of tags are in the model's scope."""
    conditions = scope_tags(model)
    return any(all(one.admits(tags) for one in conditions) for tags in touched_tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """The present state of a scope."""

    seen: SeenFacts
    newest_at: datetime | None
    """When the newest of its facts was recorded."""

    def is_new_to(self, model: MentalModel) -> bool:
        """Return whether the scope has facts that the model has not seen.

        Facts are ordered by their commits, whatever their clocks say. A higher number of facts than were seen means that
        some were tagged into the scope.
        """
        unseen = bool(self.seen.newest) and self.seen.newest[0] not in model.seen.newest
        return unseen or self.seen.total > model.seen.total


def read_scope(reading: Reading, model: MentalModel, now: datetime) -> ScopeState:
    """Return the state of the model's scope, closed facts included."""
    where = scope_of(model).changed(include_closed=True, include_expired=True).at(now)
    page = reading.browse(Selection(where=where, order=Order.NEWEST_RECORDED, limit=MARKS))
    moments = [fact.recorded_at for fact in page.facts if fact.recorded_at is not None]
    seen = SeenFacts(newest=tuple(fact.id for fact in page.facts), total=page.total)
    return ScopeState(seen=seen, newest_at=max(moments, default=None))


def retraction_of(rows: Rows, model: MentalModel, now: datetime) -> Retraction | None:
    """Return the cited facts that ended, were taken back or are gone; None if all hold.

    Tags and types do not matter here: a sentence remains while it is true.
    """
    stored = {fact.id: fact for fact in rows.facts(model.cited_fact_ids)} if model.sections else {}
    present = Filter().at(now)
    lost = [one for one in model.cited_fact_ids if one not in stored or not admits(present, stored[one])]
    if not lost:
        return None
    texts = tuple(stored[fact_id].text for fact_id in lost if fact_id in stored)
    return Retraction(fact_ids=tuple(lost), fact_texts=texts)


def is_stale(reading: Reading, model: MentalModel, now: datetime) -> bool:
    """Return whether a refresh would read something new, or take something back."""
    if model.retracted or retraction_of(reading, model, now) is not None:
        return True
    return read_scope(reading, model, now).is_new_to(model)
