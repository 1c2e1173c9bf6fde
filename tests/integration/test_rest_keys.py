"""API keys: who may do what, and that nothing ever leaks from one bank to another's key."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.errors import InvalidInput, NotFound, Unauthorised
from perdure.surfaces.keys import KIND, Scope, create_key, list_keys, match_key, revoke_key
from perdure.surfaces.rest.app import create_app
from perdure.surfaces.rest.auth import FRESH_SECONDS, is_loopback
from perdure.surfaces.rest.serve import make_server
from tests.integration.rest_server import open_quick

BANKS = "/v1/default/banks"
CALLERS = 16


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
    kept = str(engine.records(KIND)[0].body)
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
    assert client.get(BANKS, headers={"Host": "127.0.0.1:8888"}).status_code == 200
    assert client.get(BANKS, headers={"Host": "[::1]:8888"}).status_code == 200


def test_a_public_address_needs_a_key(engine: Perdure) -> None:
    public = engine.settings.model_copy(update={"host": "0.0.0.0"})
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


@dataclass
class Side:
    """A bank, its key, and what must never be seen by the other side."""

    bank: str
    key: str
    secret: str
    fact_ids: list[str]
    chunk_ids: list[str]
    entity_ids: list[str]
    operation: str
    download: str


def make_side(engine: Perdure, client: TestClient, bank: str, secret: str) -> Side:
    _, text = create_key(engine, banks=[bank], scopes=["admin"])
    let_keys_be_read_again(client)
    headers = bearer(text)
    items = [
        {"content": f"Agent {secret} met Boris Hill at the {secret} harbour.", "document_id": f"doc-{secret}", "tags": [f"tag-{secret}"]},
        {"content": f"The {secret} archive is closed on Monday.", "document_id": f"more-{secret}"},
    ]  # fmt: skip
    made = client.post(f"{BANKS}/{bank}/memories", json={"items": items}, headers=headers).json()
    submitted = client.post(f"{BANKS}/{bank}/document-transfer/export", headers=headers).json()[
        "operation_id"
    ]
    chunks = client.get(f"{BANKS}/{bank}/documents/doc-{secret}/chunks", headers=headers).json()["items"]
    entities = client.get(f"{BANKS}/{bank}/entities", headers=headers).json()["items"]
    return Side(
        bank=bank,
        key=text,
        secret=secret,
        fact_ids=made["fact_ids"],
        chunk_ids=[chunk["chunk_id"] for chunk in chunks],
        entity_ids=[entity["id"] for entity in entities] or ["none"],
        operation=submitted,
        download=f"/v1/default/files/download/banks/{bank}/exports/{submitted}/transfer.zip",
    )


def random_call(rng: random.Random, own: Side, other: Side) -> tuple[str, str, Any, dict[str, Any]]:
    """A call with the own key; ids, names and paths are of either side."""
    either = rng.choice((own, other))
    bank = rng.choice((own.bank, own.bank, other.bank))
    query = rng.choice((other.secret, own.secret, "Who met Boris Hill?", "archive", f"tag-{other.secret}"))
    recall = {
        "query": query,
        "budget": rng.choice(("low", "mid", "high")),
        "recipe": rng.choice((None, "default", "memoria", "abmind", "fast")),
        "entity_hints": rng.choice(([], [f"Agent {other.secret}"])),
        "document_ids": rng.choice((None, [f"doc-{other.secret}"])),
        "include": rng.choice(({}, {"chunks": {}, "entities": {}, "source_facts": {}})),
        "trace": rng.random() < 0.3,
    }
    fact, entity = rng.choice(either.fact_ids), rng.choice(either.entity_ids)
    calls: list[Callable[[], tuple[str, str, Any, dict[str, Any]]]] = [
        lambda: ("POST", f"{BANKS}/{bank}/memories/recall", recall, {}),
        lambda: ("POST", f"{BANKS}/{bank}/reflect", {"query": query, "include": {"facts": {}}}, {}),
        lambda: ("GET", f"{BANKS}/{bank}/memories/list", None, {"q": rng.choice(("", query))}),
        lambda: ("GET", f"{BANKS}/{bank}/memories/{fact}", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/memories/{fact}/history", None, {}),
        lambda: ("PATCH", f"{BANKS}/{bank}/memories/{fact}", {"context": own.secret}, {}),
        lambda: ("GET", f"{BANKS}/{bank}/entities", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/entities/{entity}", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/entities/graph", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/documents", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/documents/doc-{either.secret}", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/documents/doc-{either.secret}/chunks", None, {}),
        lambda: (
            "PATCH",
            f"{BANKS}/{bank}/documents/doc-{either.secret}",
            {"tags": [f"tag-{own.secret}"]},
            {},
        ),
        lambda: ("GET", f"/v1/default/chunks/{rng.choice(either.chunk_ids)}", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/tags", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/stats", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/graph", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/operations", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/operations/{either.operation}", None, {"include_payload": True}),
        lambda: ("GET", BANKS, None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/profile", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/config", None, {}),
        lambda: ("GET", f"{BANKS}/{bank}/export", None, {}),
        lambda: ("GET", either.download, None, {}),
        lambda: ("GET", f"{BANKS}/{own.bank}/../{other.bank}/memories/list", None, {}),
        lambda: ("GET", f"{BANKS}/{own.bank}%2F..%2F{other.bank}/memories/list", None, {}),
        lambda: ("GET", "/metrics", None, {}),
    ]
    return rng.choice(calls)()


def check_answer(own: Side, other: Side, method: str, path: str, body: Any, response: httpx.Response) -> bool:
    """Whether the call was answered; fails when the answer holds anything of the other side."""
    assert response.status_code < 500, (method, path, response.text)
    assert not any(fact in response.text for fact in other.fact_ids if fact not in path), (method, path)
    if response.status_code != 200:
        return False
    asked = str((body or {}).get("query", "\0"))
    told = response.text.replace(asked, "").replace(
        f"doc-{other.secret}", "" if other.secret in path else "\0"
    )
    assert other.secret not in told, (method, path, body, response.text)
    return True


async def random_calls(app: FastAPI, sides: tuple[Side, Side], count: int, seed: int) -> int:
    """Many callers at once; returns how many calls were answered."""
    rng = random.Random(seed)
    left = count
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def caller() -> int:
            nonlocal left
            answered = 0
            while left > 0:
                left -= 1
                own, other = rng.choice((sides, sides[::-1]))
                method, path, body, params = random_call(rng, own, other)
                response = await client.request(
                    method, path, json=body, params=params, headers=bearer(own.key)
                )
                answered += check_answer(own, other, method, path, body, response)
            return answered

        return sum(await asyncio.gather(*(caller() for _ in range(CALLERS))))


def check_no_leak(engine: Perdure, count: int, seed: int) -> None:
    app = create_app(engine)
    with TestClient(app, base_url="http://localhost") as client:
        one = make_side(engine, client, "one", "Quillfeather")
        two = make_side(engine, client, "two", "Brambleworth")
        answered = asyncio.run(random_calls(app, (one, two), count, seed))
        assert answered > count // 4, "most calls were refused: the test proves nothing"


def test_two_banks_two_keys_no_leak(engine: Perdure) -> None:
    check_no_leak(engine, 600, seed=7)


@pytest.mark.long
def test_two_banks_two_keys_no_leak_in_100_000_calls(engine: Perdure) -> None:
    check_no_leak(engine, 100_000, seed=11)
