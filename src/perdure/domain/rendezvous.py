"""Which of several places a thing belongs to, worked out by everybody alike and kept by nobody."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from perdure.errors import InvalidInput


def weight(key: str, member: str) -> int:
    """The weight of a member for a key: 64 bits of BLAKE2b over both."""
    pair = f"{len(member)}:{member}{key}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(pair, digest_size=8).digest(), "big")


def rendezvous(key: str, members: Iterable[str]) -> str:
    """The member with the highest weight for the key, whatever the order of the members.

    A member that joins takes over the keys for which it is now the highest, and no other key moves; of one that leaves, its
    own keys move and no others: Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
    Transactions on Networking 6 (1), 1998 (highest random weight).
    """
    chosen = max(((weight(key, member), member) for member in members), default=None)
    if chosen is None:
        raise InvalidInput("members", "at least one")
    return chosen[1]
