"""The outline of a recall and a reflection: what the web page draws, in a fraction of the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from perdure import Perdure
from perdure.surfaces.rest.outline import FIRST
from tests.support.rest_server import open_quick, running

BANK = "zoo"
TURNS = 3 * FIRST
QUESTION = {"query": "Which animal does keeper Ann feed?"}


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Perdure, httpx.Client]]:
    folder: Path = tmp_path_factory.mktemp("zoo")
    with open_quick(folder) as engine:
        turns = [f"Keeper Ann feeds animal number {number} at noon." for number in range(TURNS)]
        engine.retain(BANK, [{"speaker": "Ann", "content": one} for one in turns], document_id="diary")
        with (
            running(engine) as url,
            httpx.Client(base_url=f"{url}/v1/perdure/banks/{BANK}", timeout=60) as client,
        ):
            yield engine, client


def asked(client: httpx.Client, verb: str, **arguments: object) -> httpx.Response:
    return client.post(verb, json={**QUESTION, **arguments}, params={"form": "outline"})


def test_an_outline_has_every_fact_of_the_recall_in_order(zoo: tuple[Perdure, httpx.Client]) -> None:
    engine, client = zoo
    whole = engine.recall(BANK, QUESTION["query"], explain=True, track=False)
    told = asked(client, "recall", explain=True, track=False).json()
    assert len(whole) > FIRST
    assert len(told["recollections"]) == FIRST
    ids = [one["fact_id"] for one in (*told["recollections"], *told["others"])]
    assert ids == [one.fact.id for one in whole]
    first, one = told["recollections"][0], whole.recollections[0]
    assert first["fact"]["text"] == one.fact.text
    assert one.candidate is not None
    assert first["ranks"] == {rank.channel: rank.rank for rank in one.candidate.ranks}
    assert told["cut_count"] == len(whole.cut)


def test_the_outline_of_a_reflection_has_its_sentences_facts_and_steps(
    zoo: tuple[Perdure, httpx.Client],
) -> None:
    engine, client = zoo
    whole = engine.reflect(BANK, QUESTION["query"])
    told = asked(client, "reflect").json()
    assert [one["text"] for one in told["sentences"]] == [one.text for one in whole.sentences]
    assert [one["fact_id"] for one in told["based_on"]] == [one.fact.id for one in whole.based_on]
    steps = [(one.tool, len(one.fact_ids)) for one in whole.trace.steps]
    assert [(one["tool"], one["facts"]) for one in told["trace"]["steps"]] == steps
