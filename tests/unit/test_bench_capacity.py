"""The sums of the capacity table."""

from __future__ import annotations

from bench.capacity import need


def test_disk_and_memory_grow_with_the_facts_and_memory_only_with_active_banks() -> None:
    one = need(10**9, disk=9_000, memory=2_000, node_gb=32, shard_gb=2_000)
    assert one.disk_gb == 9_000
    assert one.shards == 5
    assert one.memory_gb == (20.0, 200.0)
    assert one.nodes == (1, 7)


def test_a_small_memory_needs_one_of_each() -> None:
    one = need(1000, disk=9_000, memory=2_000)
    assert (one.shards, one.nodes) == (1, (1, 1))
