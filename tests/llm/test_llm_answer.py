"""Reading answers: whole, wrapped, cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.llm.answer import complete_items, read_json
from perdure.llm.prompt import Prompt, load, prompt_names

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"facts": []}',
        '  {"facts": []}\n',
        'Here it is:\n```json\n{"facts": []}\n```\nDone.',
        'Sure! {"facts": []} I hope that helps.',
    ],
)
def test_json_is_read_also_from_among_words(text: str) -> None:
    assert read_json(text) == {"facts": []}


@pytest.mark.parametrize("text", ["", "I cannot do that.", '{"facts": [oops]}'])
def test_what_is_no_json_is_an_error_that_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        read_json(text)


@given(st.lists(JSON, max_size=4), st.data())
def test_of_a_cut_answer_only_complete_items_are_kept(items: list[object], data: st.DataObject) -> None:
    text = json.dumps({"note": "x", "facts": items, "more": True})
    at = data.draw(st.integers(0, len(text)))
    kept = complete_items(text[:at], "facts")
    assert kept is None or kept["facts"] == items[: len(kept["facts"])]  # type: ignore[arg-type, index]


def test_every_complete_item_of_a_cut_answer_is_kept() -> None:
    text = '{"facts": [{"text": "a"}, {"text": "b, with ] and }"}, {"text": "c'
    assert complete_items(text, "facts") == {"facts": [{"text": "a"}, {"text": "b, with ] and }"}]}
    assert complete_items('{"facts": [1, 2, 3', "facts") == {"facts": [1, 2]}
    assert complete_items('{"facts": [{"text": "a', "facts") is None
    assert complete_items('{"other": [1, 2], "fac', "facts") is None


def test_a_prompt_is_filled_in_one_pass() -> None:
    prompt = Prompt("test", "{{first}} and {{second}}")
    assert prompt.fill(first="{{second}}", second="b") == "{{second}} and b"
    with pytest.raises(KeyError):
        prompt.fill(first="a")
    with pytest.raises(KeyError):
        prompt.fill(first="a", second="b", third="c")


def test_a_prompt_changes_its_version_with_its_text() -> None:
    assert "repair" in prompt_names()
    assert load("repair").version.startswith("repair@")
    assert Prompt("a", "x").version != Prompt("a", "y").version
