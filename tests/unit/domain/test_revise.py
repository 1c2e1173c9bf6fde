from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from perdure.domain.recall import Candidate, ChannelRank
from perdure.domain.revise import made, revised

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


def test_many_are_made_from_columns_with_defaults_for_the_rest() -> None:
    first, second = made(Candidate, fact_id=["a", "b"], fused=iter([0.5, 0.25]))
    assert (first, second) == (Candidate(fact_id="a", fused=0.5), Candidate(fact_id="b", fused=0.25))
    assert first.boosts is not second.boosts
    with pytest.raises(FrozenInstanceError):
        first.late = 0.5  # type: ignore[misc]


def test_columns_of_other_fields_or_without_a_needed_one_are_errors() -> None:
    with pytest.raises(KeyError):
        made(Candidate, fact_id=["a"], lateness=[0.25])
    with pytest.raises(KeyError):
        made(Candidate, fused=[0.5])
