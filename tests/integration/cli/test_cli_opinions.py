"""`perdure opinions` and `perdure opinion`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from perdure import Perdure
from tests.integration.cli.conftest import Cli
from tests.integration.rest_server import open_quick

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def filled(cli: Cli) -> Cli:
    with open_quick(cli.folder) as engine:
        fill(engine)
    (cli.folder / "memory.db").rename(cli.folder / "perdure.db")
    return cli


def fill(engine: Perdure) -> None:
    said = ("I prefer morning meetings.", "I hate morning meetings.", "I prefer green tea.")
    for number, text in enumerate(said):
        message = {"role": "user", "speaker": "Ann", "content": text}
        engine.retain("default", [message], timestamp=START + timedelta(days=number))
    engine.opinions.form("default")


def test_opinions_are_listed_surest_first(filled: Cli) -> None:
    shown = filled("opinions", "--json").json
    assert [(one["text"], round(one["confidence"], 3)) for one in shown["opinions"]] == [
        ("Ann prefers green tea", 0.85),
        ("Ann prefers morning meetings, with reservations", 0.425),
    ]
    drawn = filled("opinions", "--subject", "Ann").out
    assert "2 opinions" in drawn
    assert "0.85" in drawn


def test_opinions_as_of_a_moment(filled: Cli) -> None:
    (then,) = filled("opinions", "--as-of", "2026-01-01T18:00", "--json").json["opinions"]
    assert then["text"] == "Ann prefers morning meetings"
    assert "0 opinions" in filled("opinions", "--known-at", "2020-01-01").out


def test_an_opinion_is_drawn_with_its_curve(filled: Cli) -> None:
    opinion_id = filled("opinions", "--json").json["opinions"][1]["id"]
    lines = filled("opinion", opinion_id).out.splitlines()
    assert lines[0] == "Ann prefers morning meetings, with reservations  c = 0.42"
    assert lines[2].split()[:2] == ["2026-01-01", "+"]
    bars = [line.count("█") for line in lines[2:4]]
    assert bars[0] == 20
    assert bars[1] == 10
    points = filled("opinion", opinion_id, "--json").json["curve"]
    assert [round(point["confidence"], 3) for point in points] == [0.85, 0.425]


def test_an_unknown_opinion_is_not_found(filled: Cli) -> None:
    ran = filled("opinion", "nothing", "--json")
    assert (ran.code, ran.error["code"]) == (3, "not_found")
