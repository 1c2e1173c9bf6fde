"""Normal forms and lookup keys of names."""

from __future__ import annotations

import pytest

from perdure.text.names import entity_keys, initials, name_tokens, normal_name


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("Caroline", "caroline"),
        ("the Louvre", "louvre"),
        ("Bob's", "bob"),
        ("José  García", "jose garcia"),
        ("U.S.A.", "usa"),
        ("AT&T", "at&t"),
        ("GPT-4.1", "gpt-4.1"),
        ("@bob_smith", "@bob smith"),
        ("https://example.org/a/", "https://example.org/a"),
        ("  ", ""),
        ("The", "the"),
        ("O’Brien", "obrien"),
        ("東京", "東京"),
    ],
)
def test_normal_form(name: str, normal: str) -> None:
    assert normal_name(name) == normal


def test_normal_form_is_stable() -> None:
    for name in ("The A.B.C. Company's", "Dr. Ann-Marie O'Neill Jr.", "a an the x"):
        assert normal_name(normal_name(name)) == normal_name(name)


def test_titles_and_suffixes_do_not_tell_names_apart() -> None:
    assert name_tokens("Dr. Ann Lee Jr.") == ("ann", "lee")
    assert name_tokens("Acme Inc.") == ("acme",)
    assert name_tokens("King") == ("king",)


def test_keys_join_full_and_short_names() -> None:
    assert set(entity_keys("Bob")) & set(entity_keys("Robert Smith"))
    assert "smith" in entity_keys("Bob Smith")
    assert not set(entity_keys("Alice Jones")) & set(entity_keys("Bob Smith"))


def test_keys_join_an_abbreviation_with_its_long_form() -> None:
    assert initials("International Business Machines") == "ibm"
    assert initials("University of California") == "uc"
    assert "ibm" in entity_keys("IBM")
    assert "ibm" in entity_keys("International Business Machines")


def test_hostile_names_have_keys_or_none() -> None:
    assert entity_keys("") == ()
    assert entity_keys("\ud800") == ("\ud800",) or entity_keys("\ud800") == ()
    assert len(normal_name("x" * 10_000)) <= 200
