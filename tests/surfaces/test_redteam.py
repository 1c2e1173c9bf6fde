"""The red-team set: attacks that are planted in memory do not reach a model as anything but data."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.redteam.__main__ import PLAIN, QUICK, run
from bench.redteam.attack import Attack, read_attacks
from perdure import Perdure

ATTACKS = read_attacks()
SOME = [*ATTACKS[::8], *(attack for attack in ATTACKS if attack.sign == "claim")]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Perdure]:
    with Perdure.open(tmp_path_factory.mktemp("redteam") / "m.db", require_keys=False, **QUICK) as opened:
        yield opened


def test_the_set_has_at_least_two_hundred_attacks_of_its_own_each() -> None:
    assert len({(attack.channel, attack.text) for attack in ATTACKS}) == len(ATTACKS) >= 200
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("attack", SOME, ids=lambda attack: attack.id)
def test_a_planted_attack_does_not_get_through(memory: Perdure, attack: Attack) -> None:
    exposed, _ = run(memory, attack)
    assert not exposed - {PLAIN}
