"""Two banks with two keys, and random calls that try to see or change the other side's memory."""

from __future__ import annotations

import asyncio
import io
import json
import random
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlencode

from fastapi import FastAPI
from starlette.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.keys import create_key

BANKS = "/v1/default/banks"
CALLERS = 16
RARE = 0.05
"""Share of the calls whose records pile up (exports, imports, background work) that reach the own bank."""


@dataclass(frozen=True)
class Side:
    """A bank, its key, names that the other side knows, and a mark that only its own contents hold."""

    bank: str
    key: str
    secret: str
    mark: str
    fact_ids: list[str]
    chunk_ids: list[str]
    entity_ids: list[str]
    operation: str
    download: str
    archive: bytes

    def words(self) -> list[str]:
        """What no answer to the other side may hold, unless the question held it."""
        return [self.secret, self.bank, self.operation, *self.fact_ids, *self.chunk_ids, *self.entity_ids]


@dataclass(frozen=True)
class Call:
    """A request."""

    method: str
    path: str
    body: Any = None
    params: dict[str, Any] | None = None
    upload: bytes | None = None
    idempotency_key: str | None = None

    @property
    def told(self) -> str:
        """Every text that the request holds."""
        return unquote(self.path) + json.dumps([self.body, self.params], ensure_ascii=False)


@dataclass(frozen=True)
class Answer:
    """A response; archives are unpacked."""

    status: int
    content: bytes

    @property
    def text(self) -> str:
        """All that can be read in it."""
        if not self.content.startswith(b"PK"):
            return self.content.decode()
        with zipfile.ZipFile(io.BytesIO(self.content)) as archive:
            return "".join(archive.read(name).decode() for name in archive.namelist())


def make_side(engine: Perdure, client: TestClient, bank: str, secret: str, mark: str) -> Side:
    """A bank with two documents, an archive and a key that may do everything with it."""
    _, key = create_key(engine, banks=[bank], scopes=["admin"])
    client.app.state.service.keys._read_at = float("-inf")  # type: ignore[attr-defined]
    client.headers["Authorization"] = f"Bearer {key}"
    home = f"{BANKS}/{bank}"
    items = [
        {"content": f"Agent {secret} of {mark} met Boris Hill at the {secret} harbour.", "document_id": f"doc-{secret}",
         "tags": [f"tag-{secret}", f"tag-{mark}"], "context": mark, "metadata": {"owner": mark}},
        {"content": f"The {secret} archive of {mark} is closed on Monday.", "document_id": f"more-{secret}", "title": mark},
    ]  # fmt: skip
    made = client.post(f"{home}/memories", json={"items": items}).json()
    operation = client.post(f"{home}/document-transfer/export").json()["operation_id"]
    while client.get(f"{home}/operations/{operation}").json()["status"] != "completed":
        time.sleep(0.01)
    download = f"/v1/default/files/download/banks/{bank}/exports/{operation}/transfer.zip"
    chunks = client.get(f"{home}/documents/doc-{secret}/chunks").json()["items"]
    return Side(
        bank=bank,
        key=key,
        secret=secret,
        mark=mark,
        fact_ids=made["fact_ids"],
        chunk_ids=[chunk["chunk_id"] for chunk in chunks],
        entity_ids=[entity["id"] for entity in client.get(f"{home}/entities").json()["items"]],
        operation=operation,
        download=download,
        archive=client.get(download).content,
    )


def random_call(rng: random.Random, own: Side, other: Side) -> Call:
    """A call with the own key over all paths that read or write; ids, names and paths are of either side."""
    either = rng.choice((own, other))
    bank = rng.choice((own.bank, own.bank, other.bank))
    rare = own.bank if rng.random() < RARE else other.bank
    home, document = f"{BANKS}/{bank}", f"doc-{either.secret}"
    query = rng.choice((other.secret, own.secret, "Who met Boris Hill?", "archive", f"tag-{other.secret}"))
    recall = {
        "query": query,
        "budget": rng.choice(("low", "mid", "high")),
        "recipe": rng.choice((None, "default", "tempr", "memoria", "abmind", "fast")),
        "entity_hints": rng.choice(([], [f"Agent {other.secret}"])),
        "document_ids": rng.choice((None, [f"doc-{other.secret}"])),
        "tags": rng.choice((None, [f"tag-{other.secret}"])),
        "include": rng.choice(({}, {"chunks": {}, "entities": {}, "source_facts": {}})),
        "trace": rng.random() < 0.3,
        "context_string": rng.random() < 0.3,
    }
    passing = {
        "content": f"{own.mark} lent Agent {own.secret} {rng.randrange(10)} boats.",
        "document_id": "passing",
    }
    same = {"items": [{"content": "The ferry leaves at nine.", "document_id": "same"}]}
    fact, entity = rng.choice(either.fact_ids), rng.choice(either.entity_ids)
    calls: list[Callable[[], Call]] = [
        *[lambda: Call("POST", f"{home}/memories/recall", recall)] * 3,
        lambda: Call("POST", f"{home}/reflect", {"query": query, "include": {"facts": {}, "tool_calls": {}}}),
        lambda: Call("POST", f"{home}/memories", {"items": [passing]}),
        lambda: Call("POST", f"{BANKS}/{rare}/memories", {"items": [passing], "async": True}),
        lambda: Call("POST", f"{home}/memories", same, idempotency_key="the same"),
        lambda: Call("GET", f"{home}/memories/list", params={"q": rng.choice(("", query))}),
        lambda: Call("GET", f"{home}/memories/list", params={"entity_id": entity, "tags": f"tag-{other.secret}"}),
        lambda: Call("GET", f"{home}/memories/list", params={"state": "invalidated"}),
        lambda: Call("GET", f"{home}/memories/list", params={"document_id": document}),
        lambda: Call("GET", f"{home}/memories/{fact}"),
        lambda: Call("GET", f"{home}/memories/{fact}/history"),
        lambda: Call("PATCH", f"{home}/memories/{fact}", {"context": own.mark}),
        lambda: Call("PATCH", f"{home}/memories/{rng.choice(other.fact_ids)}", {"state": "invalidated", "reason": own.mark}),
        lambda: Call("GET", f"{home}/entities"),
        lambda: Call("GET", f"{home}/entities/{entity}"),
        lambda: Call("GET", f"{home}/entities/graph"),
        lambda: Call("GET", f"{home}/documents", params={"q": rng.choice(("", other.secret))}),
        lambda: Call("GET", f"{home}/documents/{document}"),
        lambda: Call("GET", f"{home}/documents/{document}/chunks"),
        lambda: Call("PATCH", f"{home}/documents/{document}", {"tags": [f"tag-{own.secret}", f"tag-{own.mark}"]}),
        lambda: Call("DELETE", f"{home}/documents/passing"),
        lambda: Call("DELETE", f"{home}/documents/doc-{other.secret}"),
        lambda: Call("GET", f"/v1/default/chunks/{rng.choice(either.chunk_ids)}"),
        lambda: Call("GET", f"{home}/tags"),
        lambda: Call("GET", f"{home}/stats"),
        lambda: Call("GET", f"{home}/stats/memories-timeseries"),
        lambda: Call("GET", f"{home}/graph", params={"q": rng.choice(("", query))}),
        lambda: Call("GET", f"{home}/operations"),
        lambda: Call("GET", f"{home}/operations/{either.operation}", params={"include_payload": True}),
        lambda: Call("DELETE", f"{home}/operations/{other.operation}"),
        lambda: Call("DELETE", f"{home}/operations/{other.operation}/delete"),
        lambda: Call("GET", BANKS, params={"q": rng.choice(("", other.bank))}),
        lambda: Call("PUT", home, {"mission": own.mark}),
        lambda: Call("GET", f"{home}/profile"),
        lambda: Call("GET", f"{home}/config"),
        lambda: Call("GET", f"{home}/export"),
        lambda: Call("POST", f"{home}/import", {"version": "1", "bank": {"reflect_mission": own.mark}}),
        lambda: Call("GET", either.download),
        lambda: Call("POST", f"{BANKS}/{rare}/document-transfer/export", params={"document_id": document}),
        lambda: Call("POST", f"{BANKS}/{rare}/document-transfer", upload=own.archive),
        lambda: Call("DELETE", f"{BANKS}/{other.bank}/memories"),
        lambda: Call("DELETE", f"{BANKS}/{other.bank}"),
        lambda: Call("GET", f"{BANKS}/{own.bank}/../{other.bank}/memories/list"),
        lambda: Call("GET", f"{BANKS}/{own.bank}%2F..%2F{other.bank}/memories/list"),
        lambda: Call("GET", "/metrics"),
    ]  # fmt: skip
    return rng.choice(calls)()


def check_answer(own: Side, other: Side, call: Call, answer: Answer) -> bool:
    """Whether the call was answered; fails when the answer holds anything of the other side."""
    text = answer.text
    assert answer.status < 500, (call, text)
    assert other.mark not in text, (call, text)
    for word in other.words():
        assert word not in text or word in call.told, (call, word, text)
    return answer.status < 300


async def send(app: FastAPI, call: Call, key: str) -> Answer:
    """The whole app answers, from its outermost middleware to the store; only the socket is left out."""
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {key}".encode())]
    body = b"" if call.body is None else json.dumps(call.body).encode()
    if call.body is not None:
        headers.append((b"content-type", b"application/json"))
    if call.upload is not None:
        headers.append((b"content-type", b"multipart/form-data; boundary=edge"))
        head = b'--edge\r\ncontent-disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'
        body = head + call.upload + b"\r\n--edge--\r\n"
    if call.idempotency_key is not None:
        headers.append((b"idempotency-key", call.idempotency_key.encode()))
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": call.method, "scheme": "http",
        "path": unquote(call.path), "raw_path": call.path.encode(), "root_path": "", "headers": headers,
        "query_string": urlencode(call.params or {}).encode(), "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    status, parts = 0, []

    async def receive() -> Any:
        if waiting:
            return waiting.pop()
        return await asyncio.get_running_loop().create_future()

    async def take(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        parts.append(message.get("body", b""))

    await app(scope, receive, take)
    return Answer(status, b"".join(parts))


async def random_calls(app: FastAPI, sides: tuple[Side, Side], count: int, seed: int) -> int:
    """Many callers at once; returns how many calls were answered."""
    rng = random.Random(seed)
    left = count

    async def caller() -> int:
        nonlocal left
        answered = 0
        while left > 0:
            left -= 1
            own, other = rng.choice((sides, sides[::-1]))
            call = random_call(rng, own, other)
            answered += check_answer(own, other, call, await send(app, call, own.key))
        return answered

    return sum(await asyncio.gather(*(caller() for _ in range(CALLERS))))


def check_untouched(engine: Perdure, side: Side) -> None:
    """Nobody but the side itself changed or erased what it holds."""
    for fact_id in side.fact_ids:
        fact = engine.facts.get(side.bank, fact_id)
        assert fact.retired_at is None
        assert side.mark in fact.text
    names = {document.id for document in engine.documents.list(side.bank)}
    assert {f"doc-{side.secret}", f"more-{side.secret}"} <= names
