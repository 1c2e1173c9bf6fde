"""The kinds of value that a template's hole may ask for; any other hole is refused when a language's file is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

READ_KINDS = frozenset(
    (
        "address",
        "amount",
        "car",
        "code",
        "dose",
        "employer",
        "employer_name",
        "field",
        "hours",
        "job",
        "job_phrase",
        "known_place",
        "mail",
        "name",
        "new_employer",
        "number",
        "old",
        "organisation",
        "person",
        "phone",
        "phone_brand",
        "place",
        "product",
        "role",
        "school",
        "school_name",
        "street",
        "thing",
        "titled",
        "typed",
        "weight_amount",
        "when",
        "work_amount",
    )
)
"""Kinds that `text/wording_values.py` reads by their looks; other kinds are lists of the language's file."""
OWNED_KINDS = frozenset(("owned", "the", "noun_word"))
"""Holes for what somebody has one of."""
OWN_VALUE = "value"
"""The hole for a value of the kind that the noun before it has."""


class _Hole(Protocol):
    @property
    def kind(self) -> str: ...


def refuse_unknown_kinds(kinds: Iterable[str], lists: Mapping[str, Mapping[str, str]], file: str) -> None:
    """Raises `ValueError` for a kind that is neither read by its looks nor a list of the file."""
    unknown = sorted(set(kinds) - READ_KINDS - OWNED_KINDS - lists.keys() - {OWN_VALUE})
    if unknown:
        raise ValueError(f"{file} has holes for values of no kind: {', '.join(unknown)}")


def has_noun_before_its_value(holes: Iterable[_Hole]) -> bool:
    """Whether a noun stands before each hole for its value, so that its kind is clear."""
    return not any(_lonely(holes))


def _lonely(holes: Iterable[_Hole]) -> Iterator[bool]:
    is_owned = False
    for hole in holes:
        is_owned = is_owned or hole.kind in OWNED_KINDS
        yield hole.kind == OWN_VALUE and not is_owned
