"""An entity that two writers saw at once."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.fact import Entity


def joined(stored: Entity, seen: Entity, added: int) -> Entity:
    """What is stored with `added` more mentions, of which the last writer saw all of `seen`.

    When nobody stored it since it was read, that is `seen` itself.
    """
    if stored.mentions + added == seen.mentions:
        return seen
    names = dict.fromkeys((*seen.aliases, stored.name, *stored.aliases))
    moments = [moment for moment in (stored.first_seen, seen.first_seen) if moment is not None]
    later = [moment for moment in (stored.last_seen, seen.last_seen) if moment is not None]
    return replace(
        seen,
        aliases=tuple(name for name in names if name.casefold() != seen.name.casefold()),
        mentions=stored.mentions + added,
        first_seen=min(moments, default=None),
        last_seen=max(later, default=None),
    )
