from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from perdure.domain.recall import Candidate, ChannelRank
from perdure.domain.revise import revised

KNOWN = Candidate(
    fact_id="a", ranks=(ChannelRank(channel="keyword", rank=1, score=2.0),), fused=0.5, boosts={"proof": 1.1}
)


def test_a_revised_copy_is_what_replace_makes() -> None:
    copy = revised(KNOWN, late=0.25, title=1.0)
    assert copy == replace(KNOWN, late=0.25, title=1.0)
    assert KNOWN.late is None
    assert revised(KNOWN) == KNOWN


def test_the_copy_is_frozen_and_knows_no_other_fields() -> None:
    with pytest.raises(FrozenInstanceError):
        revised(KNOWN, late=0.25).late = 0.5  # type: ignore[misc]
    with pytest.raises(KeyError):
        revised(KNOWN, lateness=0.25)
