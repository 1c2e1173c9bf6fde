"""The short form of `python -m bench.patroni`: etcd, three members, real kills."""

from __future__ import annotations

import pytest

from bench import patroni
from bench.patroni_cluster import Missing


@pytest.mark.long
@pytest.mark.parametrize("nodes", [0, 3], ids=["in-process", "three-nodes"])
def test_nothing_is_lost_doubled_or_missed_while_patroni_changes_the_leader(nodes: int) -> None:
    try:
        held = patroni.run(1, nodes=nodes, ttl=20, loop_wait=2, retry_timeout=5)
    except Missing as missing:
        pytest.skip(str(missing))
    assert held
