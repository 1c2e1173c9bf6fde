"""How a fact stands: whether it is over, and whether others contradict it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.text.relation_table import is_single_valued


def is_over(fact: Fact, where: Filter) -> bool:
    """Whether the fact was true and is no longer, as far as the filter knows."""
    known_at = where.as_of.known
    if fact.valid_to is None:
        return False
    if fact.end_recorded_at is not None:
        return known_at is None or fact.end_recorded_at <= known_at
    return fact.valid_to <= (where.as_of.valid or where.judged_at)


def conflicts(facts: Sequence[Fact]) -> dict[str, str]:
    """Fact id -> warning, for facts that give one subject different objects of a single-valued relation."""
    stated: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.subject and fact.relation and fact.object and is_single_valued(fact.relation):
            stated[(fact.subject.casefold(), fact.relation)].append(fact)
    warnings: dict[str, str] = {}
    for (_, relation), same in stated.items():
        objects = {fact.id: fact.object or "" for fact in same}
        for fact_id, own in objects.items():
            others = {other for other in objects.values() if other.casefold() != own.casefold()}
            if others:
                warnings[fact_id] = f"Conflicts with another result: {relation} {', '.join(sorted(others))}"
    return warnings
