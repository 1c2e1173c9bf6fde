"""What many banks need, worked out from measured bytes per fact: `python -m bench.capacity [--disk 4800] [--memory 4000]`.

The bytes are what `python -m bench.nodes --figures` prints at its end. Nothing here is measured: these are sums.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import ceil

DISK, MEMORY = 4_800.0, 4_000.0
"""Bytes per fact in PostgreSQL with its indexes, and of a bank's search index in a node's memory."""
SIZES = ((1_000, 10**6), (10_000, 10**7), (100_000, 10**8), (100_000, 10**9))
"""(banks, facts)"""
ACTIVE = (0.01, 0.1)
"""Shares of the banks that are asked within the time for which an index stays in memory."""
NODE_GB, SHARD_GB = 32.0, 2_000.0
"""Memory of a node for indexes; what one database holds."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a number of facts needs."""

    disk_gb: float
    shards: int
    memory_gb: tuple[float, ...]
    """Of indexes, for each share of active banks."""
    nodes: tuple[int, ...]


def need(
    facts: int, disk: float, memory: float, node_gb: float = NODE_GB, shard_gb: float = SHARD_GB
) -> Need:
    """Bytes per fact times facts; memory only for the banks that are active, banks being of one size."""
    disk_gb = facts * disk / 1e9
    memory_gb = tuple(facts * share * memory / 1e9 for share in ACTIVE)
    return Need(
        disk_gb=disk_gb,
        shards=max(1, ceil(disk_gb / shard_gb)),
        memory_gb=memory_gb,
        nodes=tuple(max(1, ceil(one / node_gb)) for one in memory_gb),
    )


def show(disk: float, memory: float) -> None:
    """A table for docs/scale.md."""
    shares = " | ".join(
        f"indexes, {share:.0%} of banks active | nodes of {NODE_GB:.0f} GB" for share in ACTIVE
    )
    print(f"| banks | facts | PostgreSQL | databases of {SHARD_GB / 1000:.0f} TB | {shares} |")
    print("| ---: |" + " ---: |" * (3 + 2 * len(ACTIVE)))
    for banks, facts in SIZES:
        one = need(facts, disk, memory)
        cells = [f"{gb:,.1f} GB | {nodes}" for gb, nodes in zip(one.memory_gb, one.nodes, strict=True)]
        print(f"| {banks:,} | {facts:,} | {one.disk_gb:,.0f} GB | {one.shards} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--disk", type=float, default=DISK, help="bytes per fact in PostgreSQL")
    parser.add_argument("--memory", type=float, default=MEMORY, help="bytes per fact of an index in memory")
    options = parser.parse_args()
    show(options.disk, options.memory)


if __name__ == "__main__":
    main()
