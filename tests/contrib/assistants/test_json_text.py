"""Changes to JSON files as text: only what is changed changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure.contrib.assistants.install.json_text import JsonText
from perdure.errors import InvalidInput

ENTRY = {"command": "perdure", "args": ["mcp"]}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
SLOW_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@SLOW_MACHINE
@given(OBJECTS, st.sampled_from([None, 0, 2, 4, "\t"]), st.booleans())
def test_what_is_put_in_and_taken_out_leaves_the_rest(
    body: dict[str, object], indent: int, comments: bool
) -> None:
    body.pop("servers", None)
    written = json.dumps(body, indent=indent)
    text = JsonText(written, "file", comments=comments)
    text.put(("servers", "perdure"), ENTRY)
    assert json.loads(text.text) == {**body, "servers": {"perdure": ENTRY}}
    text.put(("servers", "other"), 1)
    text.drop(("servers", "perdure"))
    assert json.loads(text.text) == {**body, "servers": {"other": 1}}
    text.drop(("servers", "other"))
    assert json.loads(text.text) == body
    if body:
        assert text.text == written


@SLOW_MACHINE
@given(st.lists(VALUES, max_size=4), st.integers(0, 3), st.sampled_from([None, 2]))
def test_elements_of_lists_come_and_go(items: list[object], at: int, indent: int) -> None:
    text = JsonText(json.dumps({"a": {"list": items}, "b": 1}, indent=indent), "file")
    text.put(("a", "list", len(items)), ENTRY)
    assert text.get(("a", "list")) == [*items, ENTRY]
    text.drop(("a", "list", min(at, len(items))))
    left = [one for index, one in enumerate([*items, ENTRY]) if index != min(at, len(items))]
    assert json.loads(text.text) == ({"a": {"list": left}, "b": 1} if left else {"b": 1})


COMMENTED = """// Settings
{
  "theme": "One", // nice
  /* servers */
  "servers": {
    // mine
    "git": {"command": "git"}, // keep
  },
}
"""


def test_comments_and_trailing_commas_stay_where_they_are() -> None:
    text = JsonText(COMMENTED, "settings.json", comments=True)
    text.put(("servers", "perdure"), ENTRY)
    assert '"git": {"command": "git"}, // keep\n    "perdure": {' in text.text
    text.drop(("servers", "perdure"))
    assert text.text == COMMENTED


def test_a_comment_behind_the_last_member_stays_with_it() -> None:
    text = JsonText('{\n  "a": 1 // one\n}\n', "settings.json", comments=True)
    text.put(("b",), 2)
    assert text.text == '{\n  "a": 1, // one\n  "b": 2\n}\n'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1,}', "line 1, column 8"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": // x\n 1}', "line 1, column 7"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1} x', "line 1, column 10"),
        ('{"a": "\\u12"}', "line 1, column 7"),
        ("", "line 1, column 1"),
        ('{"a": [1, 2', "line 1, column 12"),
    ],
)
def test_invalid_json_is_refused_with_file_and_position(text: str, place: str) -> None:
    with pytest.raises(InvalidInput, match=rf"settings\.json: .*{place}"):
        JsonText(text, "settings.json")


def test_a_value_of_another_kind_is_not_replaced_on_the_way() -> None:
    text = JsonText('{"servers": [1]}', "settings.json")
    with pytest.raises(InvalidInput, match="servers to be an object"):
        text.put(("servers", "perdure"), ENTRY)


def test_deep_nesting_is_refused_instead_of_overflowing() -> None:
    with pytest.raises(InvalidInput, match="200 levels"):
        JsonText("[" * 5000, "settings.json")
