"""What a model reads: its scope, what is new in it since the last refresh, and whether what it says still holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter, TagExpression, TagsMatch, admits, read_tags
from perdure.domain.mental_model import MentalModel, Retraction, SeenFacts
from perdure.ports.store import Order, Reading, Rows, Selection

MARKS = 32
"""Facts that are remembered as the newest ones seen: the place in the recorded order survives if one of them does."""
PAGE = 200


def scope_tags(model: MentalModel) -> tuple[TagExpression, ...]:
    """The conditions on tags: the trigger's groups, else the model's tags."""
    if model.trigger.tag_groups is not None:
        return read_tags(None, TagsMatch.ANY, model.trigger.tag_groups)
    return read_tags(model.tags, model.tags_match)


def scope_of(model: MentalModel) -> Filter:
    """The facts that the model may read, as far as they hold."""
    types = model.trigger.fact_types
    return Filter(types=None if types is None else frozenset(types), tags=scope_tags(model))


def meets(model: MentalModel, touched_tags: Collection[frozenset[str]]) -> bool:
    """Whether facts with one of these sets of tags are in the model's scope."""
    conditions = scope_tags(model)
    return any(all(one.admits(tags) for one in conditions) for tags in touched_tags)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeState:
    """A scope as it is now, beside what the model has seen of it."""

    seen: SeenFacts
    newest_at: datetime | None
    """When the newest of its facts was recorded."""
    new_ids: frozenset[str] | None
    """Facts that the model has not seen; None when it may have missed any, so that all count as new."""
    has_new: bool
    """Whether a fact that holds is among them."""


def read_scope(reading: Reading, model: MentalModel, now: datetime, *, until_new: bool = False) -> ScopeState:
    """What the scope holds and what of it is new; with `until_new` no more than whether there is something new.

    Facts are numbered in the order in which they were committed, whatever their clocks say: what stands before the newest
    one that was seen is new. When none of the remembered ones is left, or more facts are in scope than were seen and are
    new together (others were tagged into it), nothing can be ruled out.
    """
    marks = frozenset(model.seen.newest)
    newest: list[Fact] = []
    new: list[str] = []
    has_new = reached = False
    total = 0
    for fact, total in _newest_first(reading, model, now):
        if len(newest) < MARKS:
            newest.append(fact)
        reached = reached or fact.id in marks
        if not reached:
            new.append(fact.id)
            has_new = has_new or admits(scope_of(model).at(now), fact)
        is_full = len(newest) == min(MARKS, total)
        if (until_new and has_new) or (is_full and (reached or (has_new and not marks))):
            break
    moved_in = reached and total > model.seen.total + len(new)
    if moved_in:
        has_new = True
    moments = [fact.recorded_at for fact in newest if fact.recorded_at is not None]
    return ScopeState(
        seen=SeenFacts(newest=tuple(fact.id for fact in newest), total=total),
        newest_at=max(moments, default=None),
        new_ids=frozenset(new) if reached and not moved_in else None,
        has_new=has_new,
    )


def _newest_first(reading: Reading, model: MentalModel, now: datetime) -> Iterator[tuple[Fact, int]]:
    """Every fact of the scope, closed or not, and how many there are."""
    scope = scope_of(model)
    where = Filter(types=scope.types, tags=scope.tags, include_closed=True, include_expired=True).at(now)
    offset = 0
    while True:
        page = reading.browse(Selection(where=where, order=Order.NEWEST_RECORDED, offset=offset, limit=PAGE))
        for fact in page.facts:
            yield fact, page.total
        offset += len(page.facts)
        if offset >= page.total or not page.facts:
            return


def lost_facts(rows: Rows, model: MentalModel, now: datetime) -> list[str]:
    """The facts that the model cites and that no longer are as it says: ended, taken back, open again, or gone.

    Tags and types do not matter here: a sentence that was read rightly stays while it is true.
    """
    cited = model.cited_fact_ids
    stored = {fact.id: fact for fact in rows.facts(cited)} if cited else {}
    present = Filter().at(now)
    lost: dict[str, None] = {}
    for section in model.sections:
        for sentence in section.sentences:
            lost |= dict.fromkeys(one for one in sentence.fact_ids if one not in stored)
            # What is told as over rests on what ended it too; any other sentence on all of its facts.
            for stated_id in sentence.fact_ids[:1] if sentence.ended else sentence.fact_ids:
                stated = stored.get(stated_id)
                if stated is not None and (
                    stated.retired_at is not None or admits(present, stated) == sentence.ended
                ):
                    lost[stated.id] = None
    return list(lost)


def retraction_of(rows: Rows, model: MentalModel, now: datetime) -> Retraction | None:
    """What has to be unsaid, and how it read; None when all holds."""
    lost = lost_facts(rows, model, now)
    if not lost:
        return None
    return Retraction(fact_ids=tuple(lost), fact_texts=tuple(fact.text for fact in rows.facts(lost)))


def is_stale(reading: Reading, model: MentalModel, now: datetime) -> bool:
    """Whether a refresh would read something new, or would have to take something back."""
    if model.retracted or lost_facts(reading, model, now):
        return True
    return read_scope(reading, model, now, until_new=True).has_new
