"""Deduplication: which statements are the same one said again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from perdure.domain.fact import Fact, FactType
from perdure.retain.build import Draft

_NOISE = re.compile(r"[\W_]+")
_EVENT_TYPES = frozenset({FactType.EXPERIENCE})


def dedupe_key(fact: Fact) -> str:
    """Equal for facts that state the same: words alike, same type, same time if they are of a time.

    Something the agent did counts each time it was said; a statement about the world counts once.
    """
    words = _NOISE.sub(" ", fact.text.casefold()).strip()
    when = ""
    if fact.occurred_start is not None:
        when = fact.occurred_start.isoformat()
    elif fact.type in _EVENT_TYPES and fact.mentioned_at is not None:
        when = fact.mentioned_at.isoformat()
    joined = "\x1f".join((fact.type.value, fact.speaker.casefold(), words, when, *sorted(fact.tags)))
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def split_known(
    drafts: Sequence[Draft], known: dict[str, str], keys: Sequence[str]
) -> tuple[list[Draft], dict[str, str]]:
    """(drafts that say something new, new fact's id -> id of the fact that says it already)."""
    said: dict[str, str] = dict(known)
    fresh: list[Draft] = []
    merged: dict[str, str] = {}
    for draft, key in zip(drafts, keys, strict=True):
        if key in said:
            merged[draft.fact.id] = said[key]
        else:
            said[key] = draft.fact.id
            fresh.append(draft)
    return fresh, merged
