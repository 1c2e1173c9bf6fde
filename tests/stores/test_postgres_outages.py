"""A server that breaks off or hangs at any statement: callers are told to come again, or have their whole answer."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from perdure import Perdure
from perdure.surfaces.mcp.http import mount
from tests.support.breaking_proxy import Break, BreakingProxy, breaking_proxy
from tests.support.postgres import new_database, server
from tests.support.rest_server import QUICK, running

BANKS = "/v1/default/banks/ann"
OTHER = "/v1/default/banks/bob"
QUESTION = "Where does Ann keep bees?"
WHOLE = ("reader: no reader is configured",)
"""What an answer leaves out with these models, and nothing else."""


@contextmanager
def proxied() -> Iterator[tuple[BreakingProxy, str]]:
    """A proxy before a new database, and the database's URL through it."""
    with new_database() as url, breaking_proxy(server().folder) as proxy:
        yield proxy, url.partition("?")[0] + f"?host={proxy.folder}"


@dataclass
class Surfaces:
    """A server on a database behind a proxy; each method asks one thing of it."""

    proxy: BreakingProxy
    http: httpx.Client
    numbers: Iterator[int]

    def retain(self) -> httpx.Response:
        number = next(self.numbers)
        item = {"content": f"Bob bought hive number {number}.", "document_id": f"d{number}"}
        return self.http.post(f"{OTHER}/memories", json={"items": [item]})

    def recall(self) -> httpx.Response:
        return self.http.post(f"{BANKS}/memories/recall", json={"query": QUESTION})

    def reflect(self) -> httpx.Response:
        return self.http.post(f"{BANKS}/reflect", json={"query": QUESTION})

    def mcp_recall(self) -> httpx.Response:
        return self._tool("recall", query=QUESTION)

    def mcp_retain(self) -> httpx.Response:
        return self._tool("retain", bank="bob", content=f"Bob saw fox number {next(self.numbers)}.")

    def _tool(self, name: str, **arguments: object) -> httpx.Response:
        params = {"name": name, "arguments": {"bank": "ann", **arguments}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.http.post("/mcp", json=body, headers={"accept": "application/json, text/event-stream"})


@contextmanager
def surfaces(**settings: Any) -> Iterator[Surfaces]:
    chosen = {**QUICK, "extractor": "verbatim", "database_patience": 0.1, **settings}
    with proxied() as (proxy, url), Perdure.open(url, **chosen) as engine:

        def with_mcp(app: Any) -> None:
            mount(app)

        with (
            running(engine, extend=with_mcp) as base,
            httpx.Client(base_url=base, timeout=60, trust_env=False) as http,
        ):
            asked = Surfaces(proxy, http, itertools.count())
            item = {"content": "Ann keeps bees in Leeds."}
            http.post(f"{BANKS}/memories", json={"items": [item]}).raise_for_status()
            yield asked


def check_answer(answer: httpx.Response) -> str:
    """What an answer amounts to: "whole" or "later"; anything else fails."""
    if answer.status_code == 503:
        assert int(answer.headers["retry-after"]) >= 1
        return "later"
    assert answer.status_code == 200, answer.text
    body = answer.json()
    if body.get("result", {}).get("isError"):
        assert "does not answer" in answer.text or "not known" in answer.text, answer.text
        return "later"
    told = body.get("result", {}).get("structuredContent", body)
    degraded = [
        one if isinstance(one, str) else f"{one['part']}: {one['reason']}" for one in told.get("degraded", ())
    ]
    assert set(degraded) <= set(WHOLE), degraded
    if "evidence" in told or "results" in told:
        assert "bees" in answer.text
    return "whole"


def until_whole(ask: Callable[[], httpx.Response]) -> None:
    """Ask until there is an answer: connections that broke before may be met once more."""
    until = time.monotonic() + 60
    while check_answer(ask()) != "whole":
        assert time.monotonic() < until


def break_everywhere(asked: Surfaces, verb: str, how: Break, *, stays_away: bool, stride: int) -> set[str]:
    """Ask again and again, each time with a break some messages later, until none is met any more."""
    ask: Callable[[], httpx.Response] = getattr(asked, verb)
    until_whole(ask)
    outcomes = set()
    for number in itertools.count(1, stride):
        asked.proxy.arm(number, how, stays_away=stays_away)
        outcomes.add(check_answer(ask()))
        is_over = not asked.proxy.broke.is_set()
        asked.proxy.arm()
        if is_over:
            return outcomes
    raise AssertionError


VERBS = ("retain", "recall", "reflect", "mcp_recall", "mcp_retain")


def test_a_break_at_any_message_is_bridged_or_told_and_leaves_nothing_out() -> None:
    with surfaces(database_patience=20.0) as asked:
        for verb, how in zip(VERBS, itertools.cycle((Break.BEFORE, Break.AFTER, Break.TOLD))):
            outcomes = break_everywhere(asked, verb, how, stays_away=False, stride=17)
            assert "whole" in outcomes, (verb, how)
            if verb in ("recall", "reflect", "mcp_recall"):
                assert outcomes == {"whole"}, (verb, how, "one broken connection is bridged by reads")


def test_a_server_that_goes_at_any_message_and_stays_away_is_told() -> None:
    with surfaces() as asked:
        for verb, how in zip(VERBS, itertools.cycle((Break.TOLD, Break.BEFORE, Break.AFTER))):
            assert "later" in break_everywhere(asked, verb, how, stays_away=True, stride=31), (verb, how)


@pytest.mark.long
@pytest.mark.parametrize("how", [Break.BEFORE, Break.AFTER, Break.TOLD])
@pytest.mark.parametrize("stays_away", [False, True])
def test_every_single_message(how: Break, stays_away: bool) -> None:
    with surfaces(database_patience=0.1 if stays_away else 20.0) as asked:
        for verb in VERBS:
            break_everywhere(asked, verb, how, stays_away=stays_away, stride=1)


def test_work_in_the_background_is_done_later_when_a_connection_breaks_under_it() -> None:
    with surfaces(database_patience=0.0) as asked:

        def retained_later(number: int) -> str:
            item = {"content": f"Ann planted walnut tree {number}.", "document_id": f"tree-{number}"}
            body = {"items": [item], "async": True}
            asked.proxy.arm(number, Break.BEFORE)
            answer = asked.http.post(f"{BANKS}/memories", json=body)
            if answer.status_code == 503:
                return "refused"
            until = time.monotonic() + 60
            path = f"{BANKS}/operations/{answer.json()['operation_id']}"
            while time.monotonic() < until:
                told = asked.http.get(path)
                if told.status_code == 200 and told.json()["status"] not in ("pending", "processing"):
                    return str(told.json()["status"])
                time.sleep(0.1)
            return "not done"

        outcomes = [retained_later(number) for number in (146, 204)]
        assert set(outcomes) <= {"refused", "completed"}
        assert "completed" in outcomes


# A server that hangs


@pytest.mark.parametrize("verb", ["recall", "retain"])
def test_a_server_that_hangs_is_told_within_the_time_out(verb: str) -> None:
    with surfaces(database_timeout=1.0) as asked:
        ask = getattr(asked, verb)
        until_whole(ask)
        for number in (1, 30, 70):
            asked.proxy.arm(number, Break.HANGING, stays_away=True)
            began = time.monotonic()
            assert check_answer(ask()) in ("later", "whole")
            assert time.monotonic() - began < 40
            asked.proxy.arm()
        until_whole(ask)


# A standby
