"""API keys: who may do what, and that nothing ever leaks from one bank to another's key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.errors import InvalidInput, NotFound, Unauthorised
from perdure.surfaces.access import FRESH_SECONDS, is_loopback
from perdure.surfaces.keys import KIND, Scope, create_key, list_keys, match_key, revoke_key
from perdure.surfaces.rest.app import create_app, make_server
from tests.integration.rest_leak import BANKS, check_untouched, make_side, random_calls
from tests.integration.rest_server import open_quick


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


def test_a_key_is_kept_as_a_hash(engine: Perdure) -> None:
    key, text = create_key(engine, banks=["a"], scopes=["read"], name="reader")
    kept = str(engine.records.list(KIND)[0].body)
    assert text not in kept
    assert text.rpartition("_")[2] not in kept
    assert match_key(list_keys(engine), text) == list_keys(engine)[0]
    assert match_key(list_keys(engine), text[:-1]) is None
    assert match_key(list_keys(engine), "") is None
    assert (key.name, key.banks, key.scopes) == ("reader", ("a",), {Scope.READ})


def test_keys_are_checked_when_made(engine: Perdure) -> None:
    with pytest.raises(InvalidInput):
        create_key(engine, banks=[])
    with pytest.raises(InvalidInput):
        create_key(engine, scopes=["owner"])
    with pytest.raises(NotFound):
        revoke_key(engine, "nothing")


def test_an_open_server_answers_only_as_localhost(client: TestClient) -> None:
    assert client.get(BANKS).status_code == 200
    assert client.get(BANKS, headers={"Host": "evil.example"}).status_code == 403
    assert client.get(BANKS, headers={"Host": "127.0.0.1:80"}).status_code == 200
    assert client.get(BANKS, headers={"Host": "[::1]"}).status_code == 200
    assert client.get(BANKS, headers={"Host": "127.0.0.1:8888"}).status_code == 403


def test_a_public_address_needs_a_key(engine: Perdure) -> None:
    public = engine.settings.model_copy(update={"host": "0.0.0.0", "require_keys": True})
    with pytest.raises(Unauthorised):
        make_server(engine, public)
    key, _ = create_key(engine)
    make_server(engine, public)
    app = create_app(engine, public)
    revoke_key(engine, key.id)
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get(BANKS).status_code == 401


def test_loopback_names() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "localhost", "::1", "[::1]")))
    assert not any(
        map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", ""))
    )


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


def test_a_revoked_key_stops_working(engine: Perdure, client: TestClient) -> None:
    create_key(engine)
    key, text = create_key(engine)
    let_keys_be_read_again(client)
    assert client.get(BANKS, headers=bearer(text)).status_code == 200
    revoke_key(engine, key.id)
    let_keys_be_read_again(client)
    assert client.get(BANKS, headers=bearer(text)).status_code == 401
    assert FRESH_SECONDS <= 1.0


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
    check_no_leak(engine, 600, seed=7)


@pytest.mark.long
def test_two_banks_two_keys_no_leak_in_100_000_calls(engine: Perdure) -> None:
    check_no_leak(engine, 100_000, seed=11)
