"""Names that hold another name are not forms of it."""

from __future__ import annotations

import pytest

from perdure.retain.likeness import compare


@pytest.mark.parametrize(
    ("name", "known"), [("Nora", "Nora's manager"), ("Imran", "Imran’s cat"), ("Ann", "Ann and the band")]
)
def test_a_possessor_is_not_what_it_possesses(name: str, known: str) -> None:
    assert compare(name, known, "person", "person").score == 0.0
    assert compare(known, name, "person", "person").score == 0.0


def test_a_given_name_is_a_form_of_the_full_name() -> None:
    assert compare("Nora", "Nora Quist", "person", "person").score > 0.75
