"""Calls that nobody should make, with two keys of two banks: no 5xx, nothing of the other's bank, memory flat.

    python -m bench.fuzz [--calls 1000000] [--clients 8] [--seed 1]

Serves a memory with keys, reads its OpenAPI, and calls every path with values that its schema allows, values that it does not, and
hostile texts in paths, queries, headers and bodies; with either key, with none and with a wrong one. Each bank holds a word of its own:
an answer to anybody else with that word in it is a leak. Both banks are made anew every so often, so that what the calls write does
not pass for a leak of memory.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psutil

from bench.server import QUICK, free_port, sentence
from perdure import Perdure
from perdure.remote.wire import PATH
from perdure.surfaces.keys import create_key
from perdure.verbs import VERBS

CANARIES = {"ann": "violetotter7431", "bob": "amberheron9026"}
"""Bank -> the word that is in it alone."""
RENEW_EVERY = 20_000
SLOW_SECONDS = 30.0
DEPTH = 4
VALID_SHARE = 0.6
HOSTILE = (
    "", " ", "\x00", ".", "..", "../../etc/passwd", "%2e%2e%2f", "..%00", "' OR 1=1 --", '"; DROP TABLE fact; --', "{{7*7}}", "${x}", "a" * 5_000,
    "9" * 400, "-1", "1e999", "NaN", "null", "true", "\u202eabc", "\u200b", "\U000e0041", "😀" * 40, "ａｎｎ", "bob", "ann", "*", "_all", "<script>",
    "2026-02-30", "2026-11-18T10:00:00Z", "0001-01-01", "http://127.0.0.1:1/", "file:///etc/passwd", "\ud7ff", "%", "%zz", "a/b", "a\\b", "[::1]",
)  # fmt: skip
"""Texts that broke some server somewhere."""
OWN_VERB: Mapping[str, Any] = {
    "parameters": [{"in": "path", "name": "bank_id", "schema": {"type": "string"}}],
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {
                        **{
                            key: {"type": "string"}
                            for key in "query content document_id fact_id name text target".split()
                        },
                        **{key: {"type": "integer"} for key in ("limit", "offset", "max_tokens")},
                        **{
                            key: {"type": "array", "items": {"type": "string"}}
                            for key in ("fact_ids", "ids", "tags")
                        },
                    },
                }
            }
        }
    },
}
"""Verbs of `perdure.connect`, which the document leaves out: some of their arguments, and others."""


class Values:
    """Values for the places of an OpenAPI document, some as it asks for and some not."""

    def __init__(self, document: Mapping[str, Any], rng: random.Random) -> None:
        self._schemas, self._rng = document.get("components", {}).get("schemas", {}), rng

    def text(self) -> str:
        """A harmless text or a hostile one."""
        return self._rng.choice(HOSTILE) if self._rng.random() > VALID_SHARE else sentence(self._rng)

    def of(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """A value for a schema, or anything else in its place."""
        if self._rng.random() < (1 - VALID_SHARE) / 4:
            return self.anything(depth)
        if "$ref" in schema:
            return self.of(self._schemas.get(schema["$ref"].rsplit("/", 1)[-1], {}), depth + 1)
        for choice in ("anyOf", "oneOf", "allOf"):
            if schema.get(choice):
                return self.of(self._rng.choice(schema[choice]), depth + 1)
        if schema.get("enum"):
            return self._rng.choice(schema["enum"])
        return self._by_type(schema, depth)

    def _by_type(self, schema: Mapping[str, Any], depth: int) -> Any:
        rng, kind = self._rng, schema.get("type")
        if kind == "object":
            properties = schema.get("properties", {})
            needed = set(schema.get("required", ()))
            return {
                name: self.of(one, depth + 1)
                for name, one in properties.items()
                if rng.random() < (0.95 if name in needed else 0.3) and depth < DEPTH
            }
        if kind == "array":
            items = schema.get("items", {})
            return [self.of(items, depth + 1) for _ in range(rng.randint(0, 3))] if depth < DEPTH else []
        if kind == "integer":
            return rng.choice((0, 1, 2, 10, 100, -1, 2**31, 2**63, 10**30, rng.randint(0, 5_000)))
        if kind == "number":
            return rng.choice((0, 0.5, 1, -1, 1e308, rng.random()))
        return rng.random() < 0.5 if kind == "boolean" else self.text()

    def anything(self, depth: int = 0) -> Any:
        """A value of no schema."""
        rng = self._rng
        if depth < DEPTH and rng.random() < 0.3:
            return rng.choice(([self.anything(depth + 1)], {self.text()[:50]: self.anything(depth + 1)}))
        return rng.choice((None, True, 0, -1, 2**70, 0.1, self.text(), [], {}))


@dataclass(frozen=True, slots=True)
class Call:
    """A request, and who makes it: a bank whose key is sent, or an empty string."""

    who: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None


class Calls:
    """Requests over all operations of a document."""

    def __init__(self, document: Mapping[str, Any], keys: Mapping[str, str], rng: random.Random) -> None:
        self._rng, self._keys, self._values = rng, keys, Values(document, rng)
        self._operations = [
            (method, path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ]
        self._operations += [("post", f"{PATH}/banks/{{bank_id}}/{name}", OWN_VERB) for name in VERBS]

    def next(self) -> Call:
        """One request."""
        rng = self._rng
        method, path, operation = rng.choice(self._operations)
        who = rng.choice(("ann", "ann", "bob", "bob", ""))
        headers = {"Authorization": f"Bearer {self._keys[who]}"} if who else self._no_key()
        query = []
        for parameter in operation.get("parameters", ()):
            value = self._values.of(parameter.get("schema", {}))
            text = value if isinstance(value, str) else json.dumps(value)
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", self._in_path(who, parameter["name"], text))
            elif parameter["in"] == "query" and rng.random() < 0.5:
                query.append(f"{parameter['name']}={_quoted(text)}")
            elif parameter["in"] == "header" and rng.random() < 0.2:
                headers.setdefault(parameter["name"], _header(text))
        if query:
            path = f"{path}?{'&'.join(query)}"
        body = self._body(operation)
        if body is not None:
            headers["Content-Type"] = rng.choice(
                ("application/json",) * 8 + ("text/plain", "application/xml")
            )
        return Call(who, method.upper(), path, headers, body)

    def _no_key(self) -> dict[str, str]:
        wrong = (
            "Bearer ",
            "Bearer pdr_0_0",
            "Basic YTpi",
            f"Bearer {self._keys['ann'][:-1]}x",
            _header(self._values.text()),
        )
        return {} if self._rng.random() < 0.5 else {"Authorization": self._rng.choice(wrong)}

    def _in_path(self, who: str, name: str, text: str) -> str:
        if name == "bank_id" and self._rng.random() < 0.9:
            return self._rng.choice((who, *CANARIES)) if who else self._rng.choice(tuple(CANARIES))
        return _quoted(text[:300]) or "x"

    def _body(self, operation: Mapping[str, Any]) -> bytes | None:
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            return self._values.text().encode("utf-8", "replace") if content else None
        value = self._values.of(content["application/json"].get("schema", {}))
        data = json.dumps(value).encode()
        return data[: self._rng.randint(0, len(data))] if self._rng.random() < 0.02 else data


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "replace"), safe="")


def _header(text: str) -> str:
    return "".join(one for one in text if " " <= one <= "~")[:200]


@dataclass
class Outcome:
    """What became of the calls."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    """Of the server, after each renewal of the banks."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, call: Call, status: int, answer: bytes, seconds: float) -> None:
        """Note an answer and what is wrong with it."""
        wrong = []
        if status >= 500 and status not in (501, 503):
            wrong.append(f"status {status}")
        wrong += [
            f"leak of {bank}"
            for bank, word in CANARIES.items()
            if bank != call.who and word.encode() in answer
        ]
        if seconds > SLOW_SECONDS:
            wrong.append(f"{seconds:.0f} s")
        with self.lock:
            self.statuses[status] += 1
            if wrong and len(self.failures) < 100:
                shown = f"{call.method} {call.path[:200]} {(call.body or b'')[:200]!r}"
                self.failures.append(f"{', '.join(wrong)}: {call.who or 'nobody'} {shown}")


class Served:
    """A server with keys, and its banks."""

    def __init__(self, folder: Path) -> None:
        database, port = folder / "fuzz.db", free_port()
        with Perdure.open(database, embedder="hashing", reranker="none", tagger="rules") as memory:
            self.keys = {bank: create_key(memory, banks=[bank])[1] for bank in CANARIES}
            _, self._lead = create_key(memory, scopes=["admin"])
        own = {"database": str(database), "log_level": "error", **QUICK}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "perdure.surfaces.cli.main", "serve", "--port", str(port)],
            env={**os.environ, **{f"PERDURE_{name.upper()}": value for name, value in own.items()}},
            stderr=subprocess.DEVNULL,
        )
        self.port = port
        self._http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {self._lead}"},
            timeout=120,
        )
        self.document = self._wait()

    def _wait(self) -> Mapping[str, Any]:
        for _ in range(600):
            try:
                document: Mapping[str, Any] = self._http.get("/openapi.json").raise_for_status().json()
                return document
            except httpx.HTTPError:
                time.sleep(0.2)
        raise SystemExit("the server did not start")

    def renew(self) -> float:
        """Make both banks anew; returns the server's memory in MB."""
        for bank, word in CANARIES.items():
            self._http.delete(f"/v1/default/banks/{bank}")
            body = {
                "items": [{"content": f"{bank.title()} keeps {word} in the garden.", "document_id": word}]
            }
            for _ in range(60):
                answer = self._http.post(f"/v1/default/banks/{bank}/memories", json=body)
                if answer.is_success:
                    break
                time.sleep(float(answer.headers.get("Retry-After", 1)))
            answer.raise_for_status()
        return float(psutil.Process(self._process.pid).memory_info().rss) / 2**20

    def close(self) -> None:
        self._http.close()
        self._process.terminate()
        self._process.wait()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None


def work(served: Served, calls: Calls, count: int, outcome: Outcome) -> None:
    """Make calls over one connection, which is opened again when the server closes it."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=120)
    for _ in range(count):
        call = calls.next()
        began = time.perf_counter()
        try:
            connection.request(call.method, call.path, call.body, dict(call.headers))
            answer = connection.getresponse()
            data = answer.read()
        except (http.client.HTTPException, OSError, UnicodeError) as error:
            connection.close()
            if not served.is_running:
                outcome.failures.append(f"the server ended: {call}")
                return
            with outcome.lock:
                outcome.statuses[-1] += 1
                if not isinstance(error, (http.client.RemoteDisconnected, ConnectionError)):
                    outcome.failures.append(
                        f"{type(error).__name__} {error}: {call.method} {call.path[:200]}"
                    )
            continue
        outcome.add(call, answer.status, data, time.perf_counter() - began)


def run(served: Served, count: int, clients: int, seed: int) -> Outcome:
    """So many calls by so many clients at once."""
    outcome, left, round_number = Outcome(), count, 0
    while left > 0 and served.is_running:
        outcome.memory_mb.append(served.renew())
        each = max(1, min(RENEW_EVERY, left) // clients)
        threads = [
            threading.Thread(
                target=work,
                args=(served, Calls(served.document, served.keys, random.Random(f"{seed}-{round_number}-{one}")), each, outcome),
            )
            for one in range(clients)
        ]  # fmt: skip
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left -= each * clients
        round_number += 1
        print(
            f"{count - left} calls, {outcome.memory_mb[-1]:.0f} MB, {len(outcome.failures)} failures",
            file=sys.stderr,
            flush=True,
        )
    outcome.memory_mb.append(served.renew())
    return outcome


def show(outcome: Outcome, seconds: float) -> None:
    """The figures."""
    total = sum(outcome.statuses.values())
    print(f"{total} calls in {seconds:.0f} s")
    print("status    calls")
    for status, calls in sorted(outcome.statuses.items()):
        print(f"{'closed' if status < 0 else status:>6}{calls:>9}")
    print(f"memory, MB, banks made anew every {RENEW_EVERY} calls: {_ends(outcome.memory_mb)}")
    print(f"failures: {len(outcome.failures)}")
    for failure in outcome.failures[:20]:
        print(f"  {failure}")


def _ends(memory: Sequence[float]) -> str:
    places = sorted({0, 1, len(memory) // 4, len(memory) // 2, 3 * len(memory) // 4, len(memory) - 1})
    return ", ".join(f"{memory[place]:.0f}" for place in places if place < len(memory))


def main() -> None:
    """Run and print; exit code 1 where anything failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        served = Served(Path(folder))
        try:
            outcome = run(served, options.calls, options.clients, options.seed)
        finally:
            served.close()
    show(outcome, time.perf_counter() - began)
    sys.exit(1 if outcome.failures else 0)


if __name__ == "__main__":
    main()
