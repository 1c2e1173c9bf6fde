"""Auth fails closed, over real loopback HTTP: whoever has no key, or no business here, gets nothing."""

from __future__ import annotations

import http.client
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from perdure import Perdure
from perdure.errors import InvalidInput, Unauthorised
from perdure.surfaces.access import check_exposure
from perdure.surfaces.keys import (
    create_key,
    keys_needed,
    list_keys,
    match_key,
    revoke_key,
    rotate_key,
)
from perdure.surfaces.mcp.http import mount
from perdure.surfaces.rest.app import make_server
from tests.support.rest_server import open_quick, running

delete = partial(httpx.delete, timeout=30)
get = partial(httpx.get, timeout=30)
post = partial(httpx.post, timeout=30)
BANKS = "/v1/default/banks"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        engine.retain("main", "Ivan Stone collects stamps.")
        yield engine


def with_mcp(app: Any) -> None:
    mount(app)


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def status_until(url: str, headers: dict[str, str], expected: int, path: str = BANKS) -> int:
    """The status, after the second in which a server may still know the keys of before."""
    until = time.monotonic() + 5
    while True:
        status = get(f"{url}{path}", headers=headers).status_code
        if status == expected or time.monotonic() > until:
            return status
        time.sleep(0.1)


def raw(url: str, path: str, headers: list[tuple[str, str]], method: str = "GET") -> int:
    """The status of a request with exactly these headers."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def test_revoking_the_last_key_leaves_the_server_closed(engine: Perdure) -> None:
    key, secret = create_key(engine, scopes=["admin"])
    with running(engine, extend=with_mcp, require_keys=True) as url:
        assert get(f"{url}{BANKS}", headers=bearer(secret)).status_code == 200
        revoke_key(engine, key.id)
        assert status_until(url, bearer(secret), 401) == 401
        assert delete(f"{url}{BANKS}/main").status_code == 401
        assert post(f"{url}/mcp", json=HELLO, headers=ACCEPT).status_code == 401
    assert engine.banks.list()


def test_a_key_made_while_an_open_server_runs_closes_it(engine: Perdure) -> None:
    with running(engine, extend=with_mcp) as url:
        assert get(f"{url}{BANKS}").status_code == 200
        assert post(f"{url}/mcp", json=HELLO, headers=ACCEPT).status_code == 200
        key, _ = create_key(engine)
        assert status_until(url, {}, 401) == 401
        revoke_key(engine, key.id)
        time.sleep(1.2)
        assert get(f"{url}{BANKS}").status_code == 401
        assert post(f"{url}/mcp", json=HELLO, headers=ACCEPT).status_code == 401


def test_keys_once_made_are_needed_by_every_later_opening(tmp_path: Path) -> None:
    with open_quick(tmp_path) as engine:
        key, _ = create_key(engine)
        revoke_key(engine, key.id)
    with open_quick(tmp_path) as engine:
        assert list_keys(engine) == []
        assert keys_needed(engine)
        with pytest.raises(Unauthorised, match="not served with --open"):
            check_exposure(engine, engine.settings)


def test_without_keys_and_without_open_nothing_is_served(engine: Perdure) -> None:
    closed = engine.settings.model_copy(update={"require_keys": True})
    with pytest.raises(Unauthorised, match="keys create"):
        make_server(engine, closed)
    public = engine.settings.model_copy(update={"host": "0.0.0.0"})
    with pytest.raises(Unauthorised, match="other machines"):
        make_server(engine, public)


def test_a_key_that_expired_stops_working_and_leaves_the_server_closed(engine: Perdure) -> None:
    with pytest.raises(InvalidInput):
        create_key(engine, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    _, secret = create_key(engine, expires_at=datetime.now(UTC) + timedelta(seconds=2))
    with running(engine, require_keys=True) as url:
        assert get(f"{url}{BANKS}", headers=bearer(secret)).status_code == 200
        assert status_until(url, bearer(secret), 401) == 401
        assert get(f"{url}{BANKS}").status_code == 401


def test_rotation_keeps_what_a_key_opens_and_the_old_secret_for_as_long_as_asked(engine: Perdure) -> None:
    old, old_secret = create_key(engine, banks=["main"], scopes=["read"], name="agent")
    new, new_secret = rotate_key(engine, old.id, keep=timedelta(hours=1))
    assert (new.banks, new.scopes, new.name) == (old.banks, old.scopes, old.name)
    kept = {key.id: key for key in list_keys(engine)}
    ends = kept[old.id].expires_at
    assert ends is not None
    assert timedelta(minutes=59) < ends - datetime.now(UTC) <= timedelta(hours=1)
    assert match_key(list_keys(engine), old_secret) == kept[old.id]
    rotate_key(engine, new.id)
    assert match_key(list_keys(engine), new_secret) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.com", "[::1]evil.com", "[::1]evil.com:{port}", "[::1].evil.com:{port}", "localhost.evil.com:{port}",
        "localhost.:{port}", "127.0.0.1.:{port}", "localhost%2eevil.com:{port}", "%6cocalhost:{port}",
        "localhost:{port}@evil.com", "evil.com#localhost:{port}", "user@localhost:{port}", "localhost:1",
        "localhost", "127.1:{port}", "2130706433:{port}", "0x7f000001:{port}", "0.0.0.0:{port}", "[::]:{port}",
        "[::ffff:127.0.0.1]:{port}", "[0:0:0:0:0:0:0:1]:{port}", "localhost:{port} ", "localhost:0{port}", "",
        "localhost:{port}, evil.com", "localhost:{port}/evil.com",
    ],
)  # fmt: skip
def test_an_open_server_answers_under_no_other_name(open_url: str, host: str) -> None:
    port = urlsplit(open_url).port
    for path in (BANKS, "/mcp", "/metrics", "/docs", "/v1/default/banks/main/stats"):
        assert raw(open_url, path, [("Host", host.format(port=port))]) in (400, 403), path


@pytest.fixture(scope="module")
def open_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with (
        open_quick(tmp_path_factory.mktemp("open")) as engine,
        running(engine, extend=with_mcp) as url,
    ):
        engine.retain("main", "Ivan Stone collects stamps.")
        yield url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Forwarded", "for=10.0.0.1"), ("X-Forwarded-For", "10.0.0.1"), ("X-Forwarded-For", "127.0.0.1"),
        ("X-Forwarded-For", ""), ("x-forwarded-host", "localhost"), ("X-Forwarded-Proto", "http"), ("Via", "1.1 proxy"),
        ("X-Real-IP", "127.0.0.1"), ("Origin", "https://evil.com"), ("Origin", "null"), ("Origin", ""),
        ("Origin", "http://localhost"), ("Origin", "http://[::1]evil.com"), ("Origin", "https://localhost:{port}"),
        ("Origin", "http://localhost:{port}.evil.com"), ("Origin", "http://localhost:{port}@evil.com"),
        ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", ""),
        ("Sec-Fetch-Site", "SAME-ORIGIN"), ("Host", "evil.com"),
    ],
)  # fmt: skip
def test_an_open_server_answers_no_proxy_and_no_page_of_another_origin(
    open_url: str, name: str, value: str
) -> None:
    port = urlsplit(open_url).port
    headers = [("Host", f"localhost:{port}"), (name, value.format(port=port))]
    assert raw(open_url, BANKS, headers) in (400, 403)
    assert raw(open_url, "/mcp", headers, "POST") in (400, 403)
    assert raw(open_url, f"{BANKS}/main", headers, "DELETE") in (400, 403)
    assert raw(open_url, "/health", headers) == 200 or name == "Host"


def test_a_caller_without_a_key_is_refused_before_its_body_is_read(engine: Perdure) -> None:
    create_key(engine)
    with running(engine, require_keys=True) as url:
        at = urlsplit(url)
        connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=10)
        connection.putrequest("POST", f"{BANKS}/main/memories")
        connection.putheader("Content-Length", "10000000")
        connection.endheaders()
        answer = connection.getresponse()  # none of the body was sent
        assert answer.status == 401
        assert answer.getheader("Connection") == "close"
        connection.close()
        assert get(f"{url}/no/such/path").status_code == 401
        for path in ("/health", "/health/live", "/health/ready", "/version", "/metrics", "/openapi.json"):
            assert get(f"{url}{path}").status_code == 200, path


def test_keys_that_cannot_be_read_let_nobody_in(engine: Perdure, monkeypatch: pytest.MonkeyPatch) -> None:
    from perdure.errors import StoreLocked
    from perdure.surfaces import access

    def locked(_: Perdure) -> Any:
        raise StoreLocked("/a/secret/path: locked")

    monkeypatch.setattr(access, "read_keys", locked)
    with running(engine) as url:
        answer = get(f"{url}{BANKS}")
    assert answer.status_code == 503
    assert "secret" not in answer.text


def test_what_is_made_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        notes = tmp_path / "notes"
        with open_quick(tmp_path, notes_folder=notes) as engine:
            engine.retain("main", "Ivan Stone collects stamps. He moved to Oslo on 3 May 2024.")
            create_key(engine)
            operation = engine.consolidate("main")
            engine.operations.get("main", operation.id, wait=60)
            files = [path for path in tmp_path.rglob("*") if path.is_file()]
            assert {"memory.db", "memory.db-wal", "memory.db-shm"} <= {path.name for path in files}
            assert any(path.suffix == ".md" for path in files), "no note was written"
            for path in files:
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
            for folder in (path for path in tmp_path.rglob("*") if path.is_dir()):
                assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    finally:
        os.umask(before)
