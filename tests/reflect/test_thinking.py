"""Opinions and doubts on a database file: with a real tagger, across processes, in archives, over REST."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from perdure import InvalidInput, Perdure
from tests.reflect.thinking import SureTasteJudge, judge_tastes
from tests.support.rest_checked import BANKS, Checked
from tests.support.rest_server import open_quick, running

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
SAID = ("I prefer morning meetings.", "I hate morning meetings.")
ASK = """
import sys
from perdure import Perdure
with Perdure.open(sys.argv[1], embedder="hashing", reranker="none", tagger="rules") as memory:
    print(*memory.opinions.list("b"), sep="\\n")
    print(*(one.doubt for one in memory.recall("b", "commute") if one.doubt), sep="\\n")
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        judge_tastes(engine, SureTasteJudge())
        yield engine


def say(engine: Perdure, *texts: str) -> list[str]:
    ids: list[str] = []
    for number, text in enumerate(texts):
        message = {"role": "user", "speaker": "Ann", "content": text}
        ids += engine.retain("b", [message], timestamp=START + timedelta(days=number)).fact_ids
    engine.opinions.form("b")
    return ids


def asked_elsewhere(folder: Path) -> str:
    command = [sys.executable, "-c", ASK, str(folder / "memory.db")]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_another_process_sees_at_once_what_became_of_the_evidence(engine: Perdure, tmp_path: Path) -> None:
    _, against = say(engine, *SAID)
    assert "with reservations" in asked_elsewhere(tmp_path)
    engine.facts.invalidate("b", against)
    told = asked_elsewhere(tmp_path)
    assert "I prefer morning meetings" in told
    assert "with reservations" not in told
    engine.forget("b", everything=True)
    assert "morning" not in asked_elsewhere(tmp_path)


def test_no_word_of_a_forgotten_opinion_is_left_in_the_files(engine: Perdure, tmp_path: Path) -> None:
    (fact_id,) = say(engine, "I prefer xylophonic quince jam.")
    assert [one.statement for one in engine.opinions.list("b")] == ["I prefer xylophonic quince jam."]
    engine.forget("b", fact_id=fact_id)
    engine.close()
    for file in tmp_path.iterdir():
        assert b"xylophonic" not in file.read_bytes(), file.name


def test_an_export_takes_opinions_along_with_their_logs(engine: Perdure) -> None:
    say(engine, *SAID)
    lines = list(engine.banks.export("b"))
    engine.banks.restore("copy", lines)
    assert list(map(str, engine.opinions.list("copy"))) == list(map(str, engine.opinions.list("b")))
    assert engine.opinions.form("copy").changed == ()
    broken = [line.replace('"record":"opinion"', '"record":"whim"') for line in lines]
    with pytest.raises(InvalidInput, match="whim"):
        engine.banks.restore("other", broken)


def test_retaining_a_document_anew_takes_back_what_it_no_longer_states(engine: Perdure) -> None:
    def retain(text: str) -> None:
        message = {"role": "user", "speaker": "Ann", "content": text}
        engine.retain("b", [message], document_id="d", timestamp=START)
        engine.opinions.form("b")

    retain("I prefer green tea.")
    retain("I prefer loud music.")
    assert [one.statement for one in engine.opinions.list("b")] == ["I prefer loud music."]


def test_opinions_over_rest(engine: Perdure) -> None:
    say(engine, *SAID, "I prefer green tea.")
    with running(engine) as url, Checked(base_url=url) as client:

        def opinions(**arguments: object) -> list[dict[str, object]]:
            answer = client.post("/v1/perdure/banks/b/opinions.list", json=arguments)
            assert answer.status_code == 200, answer.text
            listed: list[dict[str, object]] = answer.json()
            return listed

        green, morning = opinions(subject="ann")
        assert green["statement"] == "I prefer green tea."
        assert "morning meetings" in str(morning["statement"])
        assert len(opinions(min_confidence=0.5)) == 1
        config = client.patch(f"{BANKS}/b/config", json={"updates": {"opinion_gamma": 0.9}})
        assert config.json()["config"]["opinion_gamma"] == 0.9
        assert opinions(subject="ann")[1]["confidence"] == pytest.approx(0.81)
        recalled = client.post(
            f"{BANKS}/b/memories/recall", json={"query": "morning meetings", "types": ["opinion"]}
        ).json()["results"]
        assert [(one["type"], round(one["confidence"], 3)) for one in recalled][:1] == [("opinion", 0.81)]
