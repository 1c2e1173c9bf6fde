"""The suites of adapters, each in an environment of its own that is made here: without network they fail, they are never skipped.

By default what other software builds on: the tests of LangGraph's stores and of OpenAI Agents' sessions, with the examples. All
suites in full are `long`, as in `python -m bench.integrations`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.integrations import (
    PAGE,
    README,
    SUITES,
    Suite,
    cache_folder,
    environment_of,
    read_suites,
    result_lines,
    run_borrowed,
    run_example,
    run_suite,
)

ALL = read_suites()
QUICK = [suite for suite in ALL if not suite.long]


@pytest.mark.parametrize("suite", QUICK, ids=lambda suite: suite.name)
def test_the_tests_of_the_framework_pass_with_our_class_in_place_of_theirs(suite: Suite) -> None:
    environment = environment_of(suite, cache_folder())
    environment.make()
    assert suite.borrowed
    outcomes = [run_borrowed(suite, one, environment, cache_folder()) for one in suite.borrowed]
    outcomes.append(run_example(suite, environment))
    assert [failure for outcome in outcomes for failure in outcome.failed] == []


@pytest.mark.long
@pytest.mark.parametrize("suite", ALL, ids=lambda suite: suite.name)
def test_the_whole_suite_of_an_adapter_passes(suite: Suite) -> None:
    report = run_suite(suite, cache_folder())
    assert report.failed == [], "\n".join(result_lines([report]))


def test_the_suite_that_runs_by_default_is_the_one_that_was_chosen() -> None:
    assert [suite.name for suite in QUICK] == ["langchain"]


@pytest.mark.parametrize("suite", ALL, ids=lambda suite: suite.name)
def test_every_suite_has_a_page_an_example_and_tests(suite: Suite) -> None:
    root = SUITES.parents[2]
    assert (root / "docs" / "integrations" / suite.page).exists()
    assert suite.lines > 0
    assert list(suite.folder.glob("check_*.py"))
    assert all("==" in requirement for requirement in suite.requirements)


@pytest.mark.parametrize("suite", ALL, ids=lambda suite: suite.name)
def test_a_page_names_the_version_that_is_tested(suite: Suite) -> None:
    page = (PAGE.parent / "integrations" / suite.page).read_text(encoding="utf-8")
    pins = {one.partition("==")[2] for one in suite.requirements}
    assert set(re.findall(r"tested with ([\d.]+\d)", page)) <= pins


def table_of(page: Path, links: str) -> list[list[str]]:
    """The rows of a page's table of frameworks, with the links as the page of integrations has them."""
    [body] = re.findall(
        r"<!-- frameworks -->\n(.*?)\n<!-- /frameworks -->", page.read_text(encoding="utf-8"), re.DOTALL
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines()]
    return [[cell.replace(f"]({links}/", "](") for cell in row] for row in rows]


def test_the_readme_and_the_page_have_the_same_table_of_all_suites() -> None:
    table = table_of(PAGE, "integrations")
    assert table_of(README, "docs/integrations") == table
    rows = {row[0]: row for row in table[2:]}
    assert list(rows) == [f"[{suite.framework}]({suite.page})" for suite in ALL]
    for suite in ALL:
        _, lines, tested = rows[f"[{suite.framework}]({suite.page})"]
        assert lines == str(suite.lines)
        pins = dict(one.split("==") for one in suite.requirements)
        assert tested.startswith(", ".join(f"{name} {pins[name]}" for name in suite.shown) + ":")


def test_the_results_name_every_suite_and_all_that_it_borrows() -> None:
    [body] = re.findall(
        r"<!-- results -->\n(.*?)<!-- /results -->", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in body.splitlines()
        if line.startswith("|")
    ]
    titles = [(row[0], row[2]) for row in rows[2:]]
    assert titles == [(suite.framework, title) for suite in ALL for title in suite.titles]
    assert {row[4] for row in rows[2:]} == {"0"}, "no suite has failures"
