"""Postings of large banks: blocks of `large_posting`, read as arrays and written where facts come, change or go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from perdure.stores.sql.columns import Values

POSTING = np.dtype([("fact", "<i8"), ("frequency", "<f4"), ("length", "<f4")])
"""One posting of a block."""
PER_BLOCK = 110
"""Postings of a full block: what stays below 2 KB, where PostgreSQL would move it to another table."""
Postings = NDArray[np.void]
"""An array of POSTING, by rising number of the fact."""
Select = Callable[..., list[Values]]


def read_blocks(bodies: Iterable[bytes]) -> Postings:
    """The postings of blocks."""
    return np.frombuffer(b"".join(bodies), POSTING)


def postings_of(select: Select, bank: int, keys: Sequence[int]) -> dict[int, Postings]:
    """Key -> all its postings."""
    bodies: defaultdict[int, list[bytes]] = defaultdict(list)
    query = "SELECT key, body FROM large_posting WHERE bank = ? AND key = ANY(?::int8[]) ORDER BY key, block"
    for key, body in select(query, bank, list(keys)):
        bodies[key].append(body)
    return {key: read_blocks(some) for key, some in bodies.items()}


def postings_at(select: Select, bank: int, keys: Sequence[int], facts: Sequence[int]) -> dict[int, Postings]:
    """Key -> its postings in the blocks where these facts would stand."""
    bodies: defaultdict[int, list[bytes]] = defaultdict(list)
    query = (
        "SELECT asked.key, p.body FROM (SELECT DISTINCT k.key, (SELECT max(b.block) FROM large_posting b"
        " WHERE b.bank = ? AND b.key = k.key AND b.block <= n.fact) AS block"
        " FROM unnest(?::int8[]) AS k (key) CROSS JOIN unnest(?::int8[]) AS n (fact)) AS asked"
        " JOIN large_posting p ON p.bank = ? AND p.key = asked.key AND p.block = asked.block"
        " ORDER BY asked.key, asked.block"
    )
    for key, body in select(query, bank, list(keys), list(facts), bank):
        bodies[key].append(body)
    return {key: read_blocks(some) for key, some in bodies.items()}


class PostingChanges:
    """Postings to add and to remove, written together."""

    def __init__(self, filled: int) -> None:
        """Facts with a number above `filled` have no posting yet: theirs are appended."""
        self._filled = filled
        self._added: defaultdict[int, list[tuple[int, float, float]]] = defaultdict(list)
        self._removed: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, key: int, fact: int, frequency: float, length: float) -> None:
        """A fact under a key."""
        self._added[key].append((fact, frequency, length))

    def remove(self, key: int, fact: int) -> None:
        """A fact no longer under a key, unless it is added again."""
        self._removed[key].add(fact)

    def blocks(
        self, select: Select, bank: int
    ) -> tuple[dict[tuple[int, int], bytes], list[tuple[int, int]], list[int]]:
        """(blocks to write, blocks to delete, keys that may have no posting left): (key, first fact) -> body."""
        pairs = {(key, fact) for key, facts in self._removed.items() for fact in facts}
        for key, added in self._added.items():
            earlier = {fact for fact, _, _ in added if fact <= self._filled}
            later = min((fact for fact, _, _ in added if fact > self._filled), default=None)
            pairs |= {(key, fact) for fact in earlier} | ({(key, later)} if later is not None else set())
        stored = _stored_blocks(select, bank, sorted(pairs))
        written: dict[tuple[int, int], bytes] = {}
        emptied: list[tuple[int, int]] = []
        for key in self._added.keys() | self._removed.keys():
            removed, fresh_postings = self._removed.get(key, set()), sorted(self._added.get(key, ()))
            blocks = stored.get(key, {})
            for start, body, fresh in _assigned(blocks, fresh_postings):
                kept = body[~np.isin(body["fact"], list(removed))] if removed else body
                merged = np.concatenate([kept, np.array(fresh, POSTING)]) if fresh else kept
                if fresh and len(kept) and kept["fact"][-1] > fresh[0][0]:
                    merged = merged[np.argsort(merged["fact"], kind="stable")]
                if len(merged) == 0:
                    emptied.append((key, start))
                    continue
                # The first part keeps the block's name; what does not fit stands in blocks of its own.
                for at in range(0, len(merged), PER_BLOCK):
                    part = merged[at : at + PER_BLOCK]
                    name = start if at == 0 and start >= 0 else int(part["fact"][0])
                    written[key, name] = part.tobytes()
        return written, emptied, [key for key, _ in emptied]


def _stored_blocks(
    select: Select, bank: int, pairs: Sequence[tuple[int, int]]
) -> dict[int, dict[int, Postings]]:
    """Key -> first fact -> block, of the blocks where (key, fact) stand or would be put."""
    stored: defaultdict[int, dict[int, Postings]] = defaultdict(dict)
    query = (
        "SELECT DISTINCT ON (p.key, p.block) p.key, p.block, p.body FROM"
        " unnest(?::int8[], ?::int8[]) AS asked (key, fact), LATERAL (SELECT key, block, body FROM large_posting"
        " WHERE bank = ? AND key = asked.key AND block <= asked.fact ORDER BY block DESC LIMIT 1) AS p"
    )
    for start in range(0, len(pairs), 20_000):
        some = pairs[start : start + 20_000]
        for key, block, body in select(query, [key for key, _ in some], [fact for _, fact in some], bank):
            stored[key][block] = np.frombuffer(body, POSTING)
    return stored


def _assigned(
    blocks: Mapping[int, Postings], added: Sequence[tuple[int, float, float]]
) -> Iterable[tuple[int, Postings, list[tuple[int, float, float]]]]:
    """(first fact, block, what is added to it); -1 stands for a block that is not there yet."""
    starts = sorted(blocks)
    places = np.searchsorted(starts, [posting[0] for posting in added], side="right") - 1 if starts else None
    fresh: defaultdict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for at, posting in enumerate(added):
        fresh[-1 if places is None or places[at] < 0 else starts[int(places[at])]].append(posting)
    if fresh[-1]:
        yield -1, np.empty(0, POSTING), fresh[-1]
    for start in starts:
        yield start, blocks[start], fresh[start]
