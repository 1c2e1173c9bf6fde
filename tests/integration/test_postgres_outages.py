"""A server that breaks off or hangs at any statement: callers are told to come again, or have their whole answer."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from perdure import Perdure
from perdure.domain.record import Record
from perdure.errors import StoreUnreachable
from perdure.ports.probe import KeywordProbe
from perdure.stores.postgres import connections as postgres_connections
from perdure.stores.postgres.connections import Connections, copying, is_lost
from perdure.stores.postgres.store import PostgresStore
from perdure.surfaces.mcp.http import mount
from perdure.testing import BANK, CURRENT, make_fact, new, put, search
from tests.breaking_proxy import Break, BreakingProxy, breaking_proxy
from tests.integration.rest_server import QUICK, running
from tests.postgres import Server, new_database, server

BANKS = "/v1/default/banks/ann"
OTHER = "/v1/default/banks/bob"
QUESTION = "Where does Ann keep bees?"
WHOLE = ("reranker: no reranker is configured",)
"""What an answer leaves out with these models, and nothing else."""
TEA = KeywordProbe({"tea": 1.0})


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
            mount(app, app.state.service.engine, app.state.service.workers, engine.settings)

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


def test_a_lost_connection_is_known_in_each_of_its_forms() -> None:
    class MadeUp:
        """A result as libpq makes it up for a connection that is gone: without SQLSTATE."""

        def error_field(self, field: object) -> None:
            return None

        def get_error_message(self, encoding: str) -> str:
            return "SSL connection has been closed unexpectedly"

    assert is_lost(psycopg.errors.error_from_result(MadeUp()))  # type: ignore[arg-type]
    assert is_lost(psycopg.OperationalError("server closed the connection unexpectedly"))
    assert is_lost(psycopg.errors.lookup("57P05")("terminating connection due to idle-session timeout"))
    assert is_lost(psycopg.InterfaceError("the connection is closed"))
    assert not is_lost(psycopg.errors.UniqueViolation("no"))
    assert not is_lost(psycopg.ProgrammingError("no"))
    assert not is_lost(psycopg.errors.PipelineAborted("no"))


def test_a_connection_that_breaks_within_a_copy_is_lost_like_any_other() -> None:
    with proxied() as (proxy, url), closing(PostgresStore.open(url, patience=0.1)) as store:
        put(store, make_fact("first"))
        many = [make_fact(f"f{number}", "tea " * 50) for number in range(100)]
        met = set()
        for number, how in itertools.product(range(1, 400, 7), (Break.BEFORE, Break.AFTER)):
            proxy.arm(number, how)
            try:
                put(store, *many)
            except StoreUnreachable:
                met.add("lost")
            else:
                met.add("written")
            proxy.arm()
            with store.transaction(BANK) as tx:
                tx.delete_facts([fact.id for fact in many])
        assert met == {"lost", "written"}


def test_the_drivers_own_stumble_over_a_broken_copy_is_a_lost_connection() -> None:
    with new_database() as url, closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute(b"CREATE TEMPORARY TABLE t (x text)")
        with pytest.raises(psycopg.OperationalError), copying(db, b"COPY t FROM STDIN"):
            db.pgconn.finish()
            raise ValueError("too many values to unpack (expected 1)")
    with new_database() as url, closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute(b"CREATE TEMPORARY TABLE t (x text)")
        with pytest.raises(ValueError, match="our own"), copying(db, b"COPY t FROM STDIN"):
            raise ValueError("our own")


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


@pytest.fixture
def own_server() -> Iterator[Server]:
    own = Server()
    own.start()
    own.execute("CREATE DATABASE memory")
    yield own
    own.remove()


@contextmanager
def stopped(own: Server) -> Iterator[None]:
    """All processes of a server without a turn, as on a machine that is frozen."""
    processes = [int((own.data / "postmaster.pid").read_text().split()[0])]
    children = Path(f"/proc/{processes[0]}/task/{processes[0]}/children").read_text().split()
    processes += map(int, children)
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def test_a_recall_of_a_server_whose_processes_are_stopped_ends_with_503(own_server: Server) -> None:
    settings = {**QUICK, "extractor": "verbatim", "database_timeout": 1.0, "database_patience": 0.1}
    url = own_server.url("memory") + "&connect_timeout=2"
    with (
        Perdure.open(url, **settings) as engine,
        running(engine) as base,
        httpx.Client(base_url=base, timeout=60, trust_env=False) as http,
    ):
        engine.retain("ann", "Ann keeps bees in Leeds.")
        question = {"query": QUESTION}
        assert "bees" in http.post(f"{BANKS}/memories/recall", json=question).text
        with stopped(own_server):
            began = time.monotonic()
            answer = http.post(f"{BANKS}/memories/recall", json=question)
            assert answer.status_code == 503, answer.text
            assert "retry-after" in answer.headers
            assert time.monotonic() - began < 30
            with pytest.raises(StoreUnreachable):
                engine.recall("ann", QUESTION)
        assert "bees" in engine.recall("ann", QUESTION).recollections[0].text


def test_a_channel_that_waits_for_the_server_until_its_time_is_over_is_not_left_out() -> None:
    settings = {**QUICK, "extractor": "verbatim", "database_patience": 20.0, "channel_timeout": 0.5}
    with proxied() as (proxy, url), Perdure.open(url, **settings) as engine:
        engine.retain("ann", "Ann keeps bees in Leeds.")
        whole = engine.recall("ann", QUESTION)
        with Perdure.open(url, **settings) as cold:
            original = postgres_connections.Connections.reading

            def away_from_here(self: Connections, bank: str = "") -> Any:
                proxy.arm(1, Break.BEFORE, stays_away=True)
                return original(self, bank)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(postgres_connections.Connections, "reading", away_from_here)
                back = threading.Timer(2.0, lambda: (patch.undo(), proxy.arm()))
                back.start()
                with pytest.raises(StoreUnreachable):
                    cold.recall("ann", QUESTION)
                back.join()
            until = time.monotonic() + 30
            while (again := cold.recall("ann", QUESTION)).degraded != whole.degraded:
                assert time.monotonic() < until  # the index is loaded by a thread that had to wait
            assert "bees" in again.recollections[0].text


# A standby


def test_a_standby_behind_a_pooler_is_no_primary(own_server: Server) -> None:
    """Which libpq cannot know: the pooler told it about a primary."""
    PostgresStore.open(own_server.url("memory")).close()
    with closing(PostgresStore.open(own_server.url("memory"))) as store:
        put(store, new(make_fact("a"), words="tea"))
    standby = own_server.standby()
    try:
        url = standby.url("memory") + "&target_session_attrs=any"
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with closing(psycopg.connect(url)) as db:
                rows = db.execute(b"SELECT count(*) FROM perdure.fact").fetchone()
            if rows == (1,):
                break
            time.sleep(0.1)
        with closing(PostgresStore.open(url, patience=0.1)) as store:
            assert len(search(store, TEA, CURRENT)) == 1
            with pytest.raises(StoreUnreachable), store.transaction(BANK) as tx:
                tx.put_records([Record(kind="k", id="1")])
    finally:
        standby.remove()
