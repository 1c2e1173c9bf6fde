"""Supersession: which older statement a new one ends, on both time axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from rapidfuzz.fuzz import ratio

from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.ports.store import Reading, Selection
from perdure.retain.commit import Closure
from perdure.text.names import name_tokens, normal_name
from perdure.text.relation_table import is_single_valued

ENDS = {"left": "works_at", "moved_from": "lives_in", "divorced": "married_to"}
"""Relations that end another one of the same subject and object."""

CURRENT_VALUES = 50
"""Values of one subject and relation that are looked at, the newest first."""
_ALIKE = 92.0
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


def find_closures(reading: Reading, new: Sequence[Fact], now: datetime) -> list[Closure]:
    """The ends that the new facts put to older ones, stored or new themselves."""
    everything = Filter(include_closed=True, include_expired=True).at(now)
    old: dict[str, Fact] = {}
    for subject, relation in sorted(contested_pairs(new)):
        chosen = Selection(where=everything, subject=subject, relation=relation, limit=CURRENT_VALUES)
        old.update((fact.id, fact) for fact in reading.browse(chosen).facts if fact.retired_at is None)
    return closures(new, list(old.values()), now)


def same_value(first: str, second: str) -> bool:
    """Whether two objects are the same, or one says the other more exactly ("Lisbon, Portugal")."""
    left, right = normal_name(first), normal_name(second)
    if left == right:
        return True
    left_words, right_words = set(name_tokens(first)), set(name_tokens(second))
    if left_words and right_words and (left_words <= right_words or right_words <= left_words):
        return True
    digits = any(char.isdigit() for char in left + right)
    return not digits and ratio(left, right) >= _ALIKE


def subject_key(fact: Fact) -> tuple[str, str] | None:
    """(subject, relation) under which facts may supersede each other; None for what never does."""
    if not fact.subject or not fact.relation or not fact.object or "instruction" in fact.flags:
        return None
    return normal_name(fact.subject), fact.relation


def closures(
    new: Sequence[Fact],
    old: Sequence[Fact],
    now: datetime,
    *,
    single_valued: Callable[[str], bool] = is_single_valued,
) -> list[Closure]:
    """The ends that the new facts put to older ones, on both time axes.

    `old` are the current facts of the same subjects and relations. Statements are put in the order in which
    they began to hold: each closes the one before it that says something else. A new fact that began before
    what is known already is closed itself. What the subject said of itself is not closed by others.
    """
    first: dict[str, Closure] = {}
    fresh = {fact.id for fact in new}
    for (_, relation), facts in _by_subject(new, old).items():
        if single_valued(relation):
            for closure in _chain(facts, fresh, now):
                first.setdefault(closure.fact_id, closure)
    for closure in _endings(new, old, now):
        first.setdefault(closure.fact_id, closure)
    return list(first.values())


def contested_pairs(facts: Iterable[Fact]) -> set[tuple[str, str]]:
    """(subject, relation) pairs whose older facts `closures` needs to see, subjects as worded."""
    pairs = set()
    for fact in facts:
        key = subject_key(fact)
        if key is None or fact.subject is None:
            continue
        if is_single_valued(key[1]):
            pairs.add((fact.subject, key[1]))
        elif key[1] in ENDS:
            pairs.add((fact.subject, ENDS[key[1]]))
    return pairs


def _by_subject(new: Sequence[Fact], old: Sequence[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """Facts by subject and relation, where at least one is new; those already closed are left out."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in new:
        key = subject_key(fact)
        if key is not None:
            groups.setdefault(key, []).append(fact)
    for fact in old:
        key = subject_key(fact)
        if key in groups and fact.retired_at is None and fact.superseded_by is None:
            groups[key].append(fact)
    return groups


def _chain(facts: Sequence[Fact], fresh: set[str], now: datetime) -> list[Closure]:
    """Each statement that a later one contradicts, closed by the first that does."""
    ordered = sorted(facts, key=lambda fact: (_since(fact), fact.id in fresh, fact.ordinal, fact.id))
    ended = []
    for index, fact in enumerate(ordered):
        later = next((other for other in ordered[index + 1 :] if _replaces(other, fact)), None)
        if later is not None and (later.id in fresh or fact.id in fresh):
            ended.append(_close(fact, later, now))
    return ended


def _replaces(later: Fact, earlier: Fact) -> bool:
    if same_value(later.object or "", earlier.object or ""):
        return False
    own = normal_name(earlier.subject or "")
    return not (_said_by(earlier, own) and later.speaker and not _said_by(later, own))


def _said_by(fact: Fact, subject: str) -> bool:
    return bool(fact.speaker) and normal_name(fact.speaker) == subject


def _endings(new: Sequence[Fact], old: Sequence[Fact], now: datetime) -> list[Closure]:
    """ "Left Google" ends "works at Google"."""
    ended = []
    for fact in new:
        key = subject_key(fact)
        if key is None or key[1] not in ENDS:
            continue
        for other in old:
            if (
                subject_key(other) == (key[0], ENDS[key[1]])
                and other.retired_at is None
                and same_value(other.object or "", fact.object or "")
                and _since(other) <= _since(fact)
            ):
                ended.append(_close(other, fact, now))
    return ended


def _close(fact: Fact, by: Fact, now: datetime) -> Closure:
    """Over when the other began to hold, or was said; never before it began itself."""
    end = by.valid_from or by.occurred_start or by.mentioned_at or now
    start = fact.valid_from
    return Closure(
        fact_id=fact.id,
        retired_at=max(now, fact.recorded_at) if fact.recorded_at else now,
        valid_to=max(end, start) if start is not None else end,
        superseded_by=by.id,
    )


def _since(fact: Fact) -> datetime:
    return fact.valid_from or fact.mentioned_at or fact.recorded_at or _START_OF_TIME
