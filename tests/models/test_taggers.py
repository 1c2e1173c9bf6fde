from __future__ import annotations

import pytest

from perdure.errors import InvalidInput, ModelMissing
from perdure.models import spacy_tagger
from perdure.models.rule_tagger import RuleTagger
from perdure.models.spacy_tagger import SpacyTagger, choose_tagger, find_pipeline
from perdure.models.tagging import without_overlaps
from perdure.ports.tagger import Mention


def named(text: str, *names: str) -> dict[str, str]:
    (mentions,) = RuleTagger().tag([text], names)
    return {mention.text: mention.type for mention in mentions}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We flew to New York with Aunt Carla.", {"New York": "place", "Aunt Carla": "person"}),
        ("Luna is my cat, and Luna sleeps.", {"Luna": "person"}),
        ("She studies at the University of Porto.", {"University of Porto": "organisation"}),
        ("She studies at Porto University.", {"Porto University": "organisation"}),
        ("Email him tomorrow. What a Monday!", {}),
        ("I think I'm late. The end.", {}),
        ("THIS IS SHOUTED AT EVERYONE", {}),
        ("See https://x.org/a_b?c=1). Mail a.b@example.com or @drsmith!", {
            "https://x.org/a_b?c=1": "url", "a.b@example.com": "handle", "@drsmith": "handle",
        }),
        ("fix PROJ-12 in my_func and parseDate for #release", {
            "PROJ-12": "concept", "my_func": "concept", "parseDate": "concept", "#release": "concept",
        }),
        ("Ana's brother met Zoë Müller.", {"Ana": "concept", "Zoë Müller": "concept"}),
    ],
)  # fmt: skip
def test_rules_name_things(text: str, expected: dict[str, str]) -> None:
    assert named(text) == expected


def test_known_names_are_found_in_any_case_but_not_inside_words() -> None:
    assert named("so mel said melanie and mary  jane came; melon", "Mel", "Melanie", "Mary Jane", "") == {
        "mel": "person", "melanie": "person", "mary  jane": "person",
    }  # fmt: skip
    assert named("C++ and a.b", "C++", "a.b", "x") == {"C++": "person", "a.b": "person"}


def test_overlaps_go_to_the_longer_then_to_the_earlier_group() -> None:
    short, long, same = Mention("b", "x", 2, 3), Mention("a b c", "y", 0, 5), Mention("b", "z", 2, 3)
    assert without_overlaps([short], [long]) == [long]
    assert without_overlaps([short], [same]) == [short]


def test_auto_falls_back_to_rules_and_spacy_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy_tagger, "find_pipeline", lambda: None)
    assert choose_tagger().name == "rules"
    assert find_pipeline(("no_such_pipeline",)) is None
    tagger = SpacyTagger()
    monkeypatch.setattr(tagger, "_folder", None)
    with pytest.raises(ModelMissing, match=r"pip install 'perdure\[nlp\]'"):
        tagger.tag(["x"])
    with pytest.raises(InvalidInput, match="auto, spacy or rules"):
        choose_tagger("magic")
