"""Connections that are never what they should be: half-sent, dripping, idle, too many; over real sockets."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from perdure import Perdure
from perdure.surfaces.keys import create_key
from perdure.surfaces.mcp.http import mount
from tests.support.rest_server import open_quick, running

get = partial(httpx.get, timeout=30)
post = partial(httpx.post, timeout=30)
RETAIN = "/v1/default/banks/main/memories"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        yield engine


def dial(url: str) -> socket.socket:
    at = urlsplit(url)
    return socket.create_connection((at.hostname or "", at.port or 0), timeout=30)


def head(url: str, more: str = "", end: str = "\r\n") -> bytes:
    host = urlsplit(url).netloc
    return f"POST {RETAIN} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{more}{end}".encode()


def seconds_until_closed(line: socket.socket, drip: bytes = b"") -> tuple[float, bytes]:
    """How long a server keeps a connection on which nothing, or a piece every 0.1 s, is sent; and its last words."""
    began, words = time.monotonic(), b""
    line.settimeout(0.1)
    while time.monotonic() - began < 30:
        try:
            if drip:
                line.sendall(drip)
            if not (read := line.recv(4096)):
                break
            words += read
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - began, words


@pytest.mark.parametrize(
    ("sent", "drip"),
    [
        (b"", b""),
        (b"G", b""),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b""),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X-More: 1\r\n"),
    ],
    ids=["nothing", "one letter", "half a header", "headers without end"],
)
def test_headers_that_do_not_end_in_time_are_cut(engine: Perdure, sent: bytes, drip: bytes) -> None:
    with running(engine, receive_timeout=1.0) as url, dial(url) as line:
        line.sendall(sent)
        seconds, words = seconds_until_closed(line, drip)
        assert 0.8 < seconds < 10
        assert b"408" in words or drip, words


@pytest.mark.parametrize("drip", [b"", b"x"], ids=["nothing more", "a byte at a time"])
def test_a_body_that_does_not_arrive_in_time_is_cut(engine: Perdure, drip: bytes) -> None:
    with running(engine, receive_timeout=1.0) as url, dial(url) as line:
        line.sendall(head(url, "Content-Length: 5000000\r\n") + b'{"items": [')
        seconds, words = seconds_until_closed(line, drip)
        assert 0.8 < seconds < 10
        assert b"408" in words or drip


def post_whole(url: str, path: str, body: bytes | Iterator[bytes]) -> tuple[int, dict[str, Any]]:
    """Send a body to its end, and read the answer only then."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    with contextlib.closing(connection):
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


@pytest.mark.parametrize("path", [RETAIN, "/v1/perdure/banks/main/retain", "/mcp"])
@pytest.mark.parametrize("is_announced", [True, False], ids=["announced", "chunked"])
def test_a_body_over_the_limit_gets_a_readable_413(engine: Perdure, path: str, is_announced: bool) -> None:
    pieces = [b"x" * 1_000_000] * 30
    with running(engine, extend=mount) as url:
        status, answer = post_whole(url, path, b"".join(pieces) if is_announced else iter(pieces))
    assert (status, answer["error"]["code"]) == (413, "too_large")


def test_a_large_body_without_a_key_gets_a_readable_401(engine: Perdure) -> None:
    create_key(engine)
    with running(engine, require_keys=True) as url:
        status, answer = post_whole(url, RETAIN, b"x" * 30_000_000)
    assert (status, answer["error"]["code"]) == (401, "unauthorised")


def test_a_chunked_body_that_never_ends_is_cut(engine: Perdure) -> None:
    with running(engine, receive_timeout=1.0) as url, dial(url) as line:
        line.sendall(head(url, "Transfer-Encoding: chunked\r\n"))
        seconds, _ = seconds_until_closed(line, b"1\r\n \r\n")
        assert 0.8 < seconds < 10


def test_hundreds_of_half_sent_requests_leave_health_and_callers_alone(engine: Perdure) -> None:
    with (
        running(engine, max_connections=100, receive_timeout=60.0) as url,
        contextlib.ExitStack() as stack,
    ):
        for number in range(300):
            line = stack.enter_context(dial(url))
            line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n" if number % 2 else b"POST ")
        for path in ("/health", "/health/ready", "/v1/default/banks"):
            assert get(f"{url}{path}").status_code == 200
        body = {"items": [{"content": "Ivan Stone collects stamps."}]}
        assert post(f"{url}{RETAIN}", json=body, timeout=30).status_code == 200
        told = get(f"{url}/metrics").text
        evicted = re.search(r"^perdure_connections_evicted_total (\S+)$", told, re.MULTILINE)
        assert evicted is not None
        assert float(evicted[1]) >= 200


def test_health_answers_when_every_connection_is_at_work(engine: Perdure) -> None:
    """Bodies that are under way take up all places: others are told to come back, health still answers."""
    with running(engine, max_connections=20, receive_timeout=60.0) as url:
        with contextlib.ExitStack() as stack:
            for _ in range(20):
                line = stack.enter_context(dial(url))
                line.sendall(head(url, "Content-Length: 5000\r\n") + b"{")
            time.sleep(3)
            full = get(f"{url}/v1/default/banks")
            assert full.status_code == 503
            assert full.headers["Retry-After"]
            for _ in range(30):
                assert get(f"{url}/health").status_code == 200
        time.sleep(0.5)
        assert get(f"{url}/v1/default/banks").status_code == 200


def test_without_a_key_half_sent_bodies_hold_nothing(engine: Perdure) -> None:
    create_key(engine)
    with running(engine, require_keys=True, receive_timeout=60.0) as url, dial(url) as line:
        line.sendall(head(url, "Content-Length: 5000000\r\n") + b"{")
        seconds, words = seconds_until_closed(line)
        assert words.startswith(b"HTTP/1.1 401")
        assert seconds < 5
