"""Identity: names made from content."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from uuid import UUID

from perdure.domain.fact import Fact, FactType

POSITION_BITS = 24
"""Facts of one call that sort in order: 16 million."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PROCESS_KEY = secrets.token_bytes(32)
_NOISE = re.compile(r"[\W_]+")
_EVENT_TYPES = frozenset({FactType.EXPERIENCE})


def digest(*parts: str) -> str:
    """Return a stable 128-bit hash in the form of a UUID, the same wherever and whenever it is made."""
    return str(UUID(bytes=blake2b("\x1f".join(parts).encode("utf-8"), digest_size=16).digest()))


def new_hash_key() -> str:
    """Return a random key for the ids that a bank makes from content."""
    return secrets.token_hex(16)


def new_fact_id(now: datetime, position: int, *content: str) -> str:
    """Return a UUIDv7 (RFC 9562): sorts by the millisecond, then by the position within the call; the rest tells facts apart.

    The rest is a digest of the content under a key that only this process has, so that an id says nothing of its fact.
    48 bits of time, 4 of version, 12 of position, 2 of variant, 12 of position, 50 of digest.
    """
    milliseconds = max(now - _EPOCH, timedelta(0)) // timedelta(milliseconds=1) & (1 << 48) - 1
    place = min(position, (1 << POSITION_BITS) - 1)
    joined = "\x1f".join((str(position), now.isoformat(), *content)).encode("utf-8")
    rest = int.from_bytes(blake2b(joined, digest_size=8, key=_PROCESS_KEY).digest(), "big") & (1 << 50) - 1
    high, low = place >> 12, place & 0xFFF
    return str(UUID(int=milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low << 50 | rest))


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
    joined = "\x1f".join(
        (
            fact.type.value,
            "?" * fact.is_question + "foreign" * fact.is_foreign,
            fact.asked,
            fact.speaker.casefold(),
            words,
            when,
            *sorted(fact.tags),
        )
    )
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
