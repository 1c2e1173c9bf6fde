"""Postings of large banks: blocks of `large_posting`, read and written as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from perdure.stores.index.arrays import Scores, run_starts
from perdure.stores.sql.columns import Values

POSTING = np.dtype([("fact", "<i8"), ("frequency", "<f4"), ("length", "<f4")])
"""One posting of a block."""
PER_BLOCK = 110
"""Postings of a full block: what stays below 2 KB, where PostgreSQL would move it to another table."""
Postings = NDArray[np.void]
"""An array of POSTING, by rising number of the fact."""
_BYTES = POSTING.itemsize
Keys = NDArray[np.int64]
Select = Callable[..., list[Values]]


def read_blocks(bodies: Iterable[bytes]) -> Postings:
    """Return the postings of blocks."""
    return np.frombuffer(b"".join(bodies), POSTING)


def postings_of(select: Select, bank: int, keys: Sequence[int]) -> dict[int, Postings]:
    """Return key -> all its postings."""
    bodies: defaultdict[int, list[bytes]] = defaultdict(list)
    query = "SELECT key, body FROM large_posting WHERE bank = ? AND key = ANY(?::int8[]) ORDER BY key, block"
    for key, body in select(query, bank, list(keys)):
        bodies[key].append(body)
    return {key: read_blocks(some) for key, some in bodies.items()}


def postings_at(select: Select, bank: int, keys: Sequence[int], facts: Sequence[int]) -> dict[int, Postings]:
    """Return key -> its postings in the blocks where these facts would stand."""
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
        """Append the postings of facts with a number above `filled`, which have none yet."""
        self._filled = filled
        self._added: list[tuple[Keys, Postings]] = []
        self._removed: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, keys: Keys, facts: Keys, frequencies: Scores, lengths: Scores) -> None:
        """Add facts under keys, one line each."""
        postings = np.empty(len(keys), POSTING)
        postings["fact"], postings["frequency"], postings["length"] = facts, frequencies, lengths
        self._added.append((keys, postings))

    def remove(self, key: int, fact: int) -> None:
        """Remove a fact from a key, unless it is added again."""
        self._removed[key].add(fact)

    def blocks(self, select: Select, bank: int) -> BlockChanges:
        """Return what is to be written and deleted."""
        keys = np.concatenate([np.empty(0, np.int64), *(some for some, _ in self._added)])
        postings = np.concatenate([np.empty(0, POSTING), *(some for _, some in self._added)])
        order = np.lexsort((postings["fact"], keys))
        keys, postings = keys.take(order), postings.take(order)
        starts = run_starts(keys)
        ends = np.append(starts[1:], len(keys))[: len(starts)].tolist()
        spans = dict(zip(keys.take(starts).tolist(), zip(starts.tolist(), ends, strict=True), strict=True))
        facts, raw = postings["fact"].tolist(), postings.tobytes()
        asked = [(key, fact) for key, gone in self._removed.items() for fact in gone]
        for key, (start, end) in spans.items():
            # Those that are appended all stand behind the last block.
            asked += [(key, fact) for fact in facts[start:end] if fact <= self._filled]
            if facts[end - 1] > self._filled:
                asked.append((key, facts[end - 1]))
        stored = _stored_blocks(select, bank, asked)
        changes = BlockChanges()
        for key in spans.keys() | self._removed.keys():
            start, end = spans.get(key, (0, 0))
            blocks, gone = stored.get(key, {}), self._removed.get(key)
            if not gone and end and facts[start] > self._filled:
                last = max(blocks, default=None)
                body = raw[_BYTES * start : _BYTES * end]
                if last is not None and len(blocks[last]) < _BYTES * PER_BLOCK:
                    changes.put(key, last, blocks[last] + body, replaces=True)
                else:
                    changes.put(key, facts[start], body, replaces=False)
            else:
                _merge(changes, key, blocks, gone or set(), postings[start:end])
        return changes


class BlockChanges:
    """Blocks to write, and those to delete before that."""

    def __init__(self) -> None:
        self.written: dict[tuple[int, int], bytes] = {}
        """(key, first fact) -> body."""
        self.deleted: list[tuple[int, int]] = []
        self.emptied: list[int] = []
        """Keys that may have no posting left."""

    def put(self, key: int, name: int, body: bytes, *, replaces: bool) -> None:
        """Write a block, split where it exceeds the limit."""
        if replaces:
            self.deleted.append((key, name))
        full = _BYTES * PER_BLOCK
        self.written[key, name] = body[:full]
        for at in range(full, len(body), full):
            part = body[at : at + full]
            self.written[key, int.from_bytes(part[:8], "little", signed=True)] = part


def _merge(
    changes: BlockChanges, key: int, blocks: Mapping[int, bytes], gone: set[int], added: Postings
) -> None:
    """Take postings out of the blocks of a key, and put others in where they belong."""
    names = sorted(blocks)
    places = np.searchsorted(names, added["fact"], side="right") - 1
    first = added[places < 0]
    if len(first):
        changes.put(key, int(first["fact"][0]), first.tobytes(), replaces=False)
    for place, name in enumerate(names):
        body = np.frombuffer(blocks[name], POSTING)
        merged = np.concatenate([body[~np.isin(body["fact"], list(gone))], added[places == place]])
        if len(merged):
            merged = merged[np.argsort(merged["fact"], kind="stable")]
            changes.put(key, name, merged.tobytes(), replaces=True)
        else:
            changes.deleted.append((key, name))
            changes.emptied.append(key)


def _stored_blocks(
    select: Select, bank: int, asked: Sequence[tuple[int, int]]
) -> dict[int, dict[int, bytes]]:
    """Return key -> first fact -> block, of the blocks where (key, fact) stand or would be put."""
    stored: defaultdict[int, dict[int, bytes]] = defaultdict(dict)
    query = (
        "SELECT DISTINCT ON (p.key, p.block) p.key, p.block, p.body FROM"
        " unnest(?::int8[], ?::int8[]) AS asked (key, fact), LATERAL (SELECT key, block, body FROM large_posting"
        " WHERE bank = ? AND key = asked.key AND block <= asked.fact ORDER BY block DESC LIMIT 1) AS p"
    )
    for start in range(0, len(asked), 50_000):
        some = asked[start : start + 50_000]
        for key, block, body in select(query, [key for key, _ in some], [fact for _, fact in some], bank):
            stored[key][block] = body
    return stored
