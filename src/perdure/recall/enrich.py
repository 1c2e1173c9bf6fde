"""Enrichment: notes on how the recalled facts relate to each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from perdure.domain.fact import Fact

MAX_TIMELINE = 5


def conflicts(facts: Sequence[Fact]) -> dict[str, str]:
    """Fact id -> warning, for facts that give one subject and relation different objects at once."""
    stated: defaultdict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.subject and fact.relation and fact.object:
            stated[(fact.subject.casefold(), fact.relation)].append(fact)
    warnings: dict[str, str] = {}
    for same in stated.values():
        for fact in same:
            others = {o.object for o in same if (o.object or "").casefold() != (fact.object or "").casefold()}
            if others and fact.relation in SINGLE_VALUED:
                shown = ", ".join(sorted(str(other) for other in others))
                warnings[fact.id] = f"Conflicts with another result: {fact.relation} {shown}"
    return warnings


SINGLE_VALUED = frozenset(
    [
        "address",
        "age",
        "birthday",
        "email",
        "favourite",
        "job",
        "lives_in",
        "married_to",
        "name",
        "nationality",
        "phone",
        "reports_to",
        "works_as",
        "works_at",
    ]
)
"""Relations of which a subject has one object at a time."""


def timelines(facts: Sequence[Fact]) -> list[str]:
    """For each topic that several dated facts share: how it went on over time."""
    topics: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.topic and fact.dated is not None:
            topics[fact.topic].append(fact)
    lines = []
    for topic, members in sorted(topics.items()):
        if len(members) > 1:
            ordered = sorted(members, key=lambda f: (f.dated, f.id))[-MAX_TIMELINE:]
            steps = " -> ".join(f"{f.dated:%Y-%m-%d} {_short(f.text)}" for f in ordered)
            lines.append(f"Timeline of {topic}: {steps}")
    return lines


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
