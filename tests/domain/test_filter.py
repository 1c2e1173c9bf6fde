"""Filters read what callers give, and refuse by name what they cannot read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.fact import FactType, Tier
from perdure.domain.filter import Conditions, Filter, TagAnd, TagLeaf, TagNot, TagOr, TagsMatch, read_tags
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput

NAIVE = datetime(2024, 5, 1)
AWARE = datetime(2024, 5, 1, tzinfo=UTC)


def test_names_lists_and_moments_without_a_zone_are_read() -> None:
    options: dict[str, Any] = {
        "types": ["world"], "tier": "core", "document_ids": ["d1", "d1"], "as_of": NAIVE, "now": NAIVE,
        "during": Window(NAIVE, None), "tags": [TagLeaf(frozenset({"a"}))],
    }  # fmt: skip
    assert Filter(**options) == Filter(
        types=frozenset({FactType.WORLD}),
        tier=Tier.CORE,
        document_ids=frozenset({"d1"}),
        as_of=AsOf(valid=AWARE),
        now=AWARE,
        during=Window(AWARE, None),
        tags=(TagLeaf(frozenset({"a"})),),
    )


@pytest.mark.parametrize(
    "field_and_value",
    [
        ("types", "world"),
        ("types", ["poem"]),
        ("types", 5),
        ("tags", "work"),
        ("tags[0]", ["work"]),
        ("metadata", {"a": 1}),
        ("metadata", "a"),
        ("topic", 5),
        ("tier", "central"),
        ("max_classification", 9),
        ("max_classification", True),
        ("document_ids", "d1"),
        ("document_ids", [1]),
        ("during", (AWARE, AWARE)),
        ("as_of", "2024"),
        ("include_expired", "yes"),
        ("include_closed", 1),
        ("now", "2024"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(field_and_value: tuple[str, Any]) -> None:
    field, value = field_and_value
    with pytest.raises(InvalidInput) as caught:
        Filter(**{field.partition("[")[0]: value})
    assert caught.value.field == field


def test_an_empty_set_of_types_admits_nothing_but_no_names_mean_all() -> None:
    assert Filter(types=frozenset()).types == frozenset()
    assert Conditions.read({"types": []}).where.types is None
    assert Conditions.read({"types": ["opinion"]}).where.types == frozenset({FactType.OPINION})


def test_a_filter_without_a_present_cannot_be_applied() -> None:
    with pytest.raises(ValueError, match="no present"):
        _ = Filter().judged_at
    assert Filter().at(AWARE).judged_at == AWARE


def test_tag_groups_nest() -> None:
    groups: list[dict[str, object]] = [
        {"and": [{"tags": ["a"]}, {"not": {"or": [{"tags": ["b"], "match": "all"}]}}]}
    ]
    assert read_tags(["x"], "all_strict", groups) == (
        TagLeaf(frozenset({"x"}), TagsMatch.ALL_STRICT),
        TagAnd((TagLeaf(frozenset({"a"})), TagNot(TagOr((TagLeaf(frozenset({"b"}), TagsMatch.ALL),))))),
    )
    assert read_tags(None) == ()
    assert read_tags(None, "exact") == (TagLeaf(frozenset(), TagsMatch.EXACT),)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"tags": "work"}, "tags"),
        ({"tags": ["work"], "tags_match": "some"}, "tags_match"),
        ({"tags": None, "tag_groups": ["work"]}, "tag_groups[0]"),
        ({"tags": None, "tag_groups": [{"tags": "work"}]}, "tag_groups[0].tags"),
        ({"tags": None, "tag_groups": [{"tags": [], "match": "some"}]}, "tag_groups[0].match"),
        ({"tags": None, "tag_groups": [{"and": {"tags": ["a"]}}]}, "tag_groups[0].and"),
        ({"tags": None, "tag_groups": [{"or": [{"not": 5}]}]}, "tag_groups[0].or[0].not"),
    ],
)
def test_tags_that_cannot_be_read_are_refused_by_their_path(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_tags(**options)
    assert caught.value.field == field
