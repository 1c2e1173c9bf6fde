"""API keys: who may do what, and that nothing ever leaks from one bank to another's key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.keys import Scope, create_key, revoke_key
from perdure.surfaces.rest.app import create_app
from tests.support.rest_leak import BANKS, check_untouched, make_side, random_calls
from tests.support.rest_server import open_quick


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        yield engine


@pytest.fixture
def client(engine: Perdure) -> Iterator[TestClient]:
    with TestClient(create_app(engine), base_url="http://localhost") as client:
        yield client


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def let_keys_be_read_again(client: TestClient) -> None:
    client.app.state.service.keys._read_at = float("-inf")  # type: ignore[attr-defined]


def test_keys_are_checked_when_made(engine: Perdure) -> None:
    with pytest.raises(InvalidInput):
        create_key(engine, banks=[])
    with pytest.raises(InvalidInput):
        create_key(engine, scopes=["owner"])
    with pytest.raises(NotFound):
        revoke_key(engine, "nothing")


def test_scopes(engine: Perdure, client: TestClient) -> None:
    texts = {scope: create_key(engine, banks=["a"], scopes=[scope])[1] for scope in Scope}
    let_keys_be_read_again(client)
    item = {"items": [{"content": "Ann Lee bakes bread."}]}
    calls: list[tuple[str, str, Any, set[Scope]]] = [
        ("POST", f"{BANKS}/a/memories", item, {Scope.WRITE}),
        ("PUT", f"{BANKS}/a", {"mission": "x"}, {Scope.WRITE}),
        ("GET", f"{BANKS}/a/memories/list", None, {Scope.READ}),
        ("POST", f"{BANKS}/a/memories/recall", {"query": "bread"}, {Scope.READ}),
        ("POST", f"{BANKS}/a/reflect", {"query": "bread"}, {Scope.READ}),
        ("PATCH", f"{BANKS}/a/config", {"updates": {}}, set()),
        ("DELETE", f"{BANKS}/a/memories", None, set()),
        ("DELETE", f"{BANKS}/a", None, set()),
    ]
    for method, path, body, allowed in calls:
        for scope, text in texts.items():
            status = client.request(method, path, json=body, headers=bearer(text)).status_code
            assert status == (200 if scope in allowed | {Scope.ADMIN} else 403), (method, path, scope)
        assert client.request(method, path, json=body).status_code == 401
        assert client.request(method, path, json=body, headers=bearer("pdr_x_y")).status_code == 401
        assert client.request(
            method, path.replace("/a", "/b", 1), json=body, headers=bearer(texts[Scope.ADMIN])
        ).status_code in (403, 404)


def test_health_needs_no_key(engine: Perdure, client: TestClient) -> None:
    create_key(engine)
    let_keys_be_read_again(client)
    assert client.get("/health").status_code == 200
    assert client.get("/version").status_code == 200
    unauthorised = client.get(BANKS)
    assert unauthorised.headers["WWW-Authenticate"] == "Bearer"
    assert unauthorised.json()["error"]["code"] == "unauthorised"


def check_no_leak(engine: Perdure, count: int, seed: int) -> None:
    app = create_app(engine)
    with TestClient(app, base_url="http://localhost") as client:
        one = make_side(engine, client, "ottoline", "Quillfeather", "Larkspur")
        two = make_side(engine, client, "peregrine", "Brambleworth", "Foxglove")
        answered = asyncio.run(random_calls(app, (one, two), count, seed))
    assert answered > count // 4, "most calls were refused: the test proves nothing"
    check_untouched(engine, one)
    check_untouched(engine, two)


def test_two_banks_two_keys_no_leak(engine: Perdure) -> None:
    check_no_leak(engine, 200, seed=7)


@pytest.mark.long
def test_two_banks_two_keys_no_leak_in_100_000_calls(engine: Perdure) -> None:
    check_no_leak(engine, 100_000, seed=11)
