"""One model measured in a process of its own: `python -m bench.models_probe KIND NAME [STORE]` prints JSON."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.models_data import paragraphs

QUESTION = "When did the volunteers open the dome for the children?"
ROUNDS = 3


def resident_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def best(work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Best wall and processor seconds of some rounds."""
    walls, cpus = [], []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def medians(name: str, work: Callable[[], object], rounds: int = 15) -> dict[str, float]:
    """Median wall and processor milliseconds of a call."""
    times = [best(work, 1) for _ in range(rounds)]
    wall, cpu = (statistics.median(found) * 1000.0 for found in zip(*times, strict=True))
    return {f"{name}_ms": wall, f"{name}_cpu_ms": cpu}


def probe(kind: str, name: str, store: Path | None) -> dict[str, float]:
    """The figures of one model."""
    texts = paragraphs()[:64]
    before, started = resident_mb(), time.perf_counter()
    measure = {
        "embedder": _embedder,
        "reranker": _reranker,
        "tagger": _tagger,
        "tokens": _tokens,
        "all": _all,
    }[kind]
    model, first = _open(kind, name, store)
    first()
    figures = {"load_s": time.perf_counter() - started}
    figures |= measure(model, texts)
    return figures | {"memory_mb": resident_mb() - before, "resident_mb": resident_mb()}


def _open(kind: str, name: str, store: Path | None) -> tuple[Any, Callable[[], object]]:
    from perdure.models.onnx_embedder import OnnxEmbedder
    from perdure.models.reader import OnnxReader, ReaderReranker
    from perdure.models.run_limiter import ModelRunLimiter
    from perdure.models.spacy_tagger import choose_tagger
    from perdure.models.tokens import token_counter
    from perdure.models.weights import Places

    places, limiter = Places(store=store), ModelRunLimiter()
    match kind:
        case "embedder":
            embedder = OnnxEmbedder(name, places, limiter=limiter)
            return embedder, lambda: embedder.embed_query("first")
        case "reranker":
            reranker = ReaderReranker(OnnxReader(limiter=limiter))
            return reranker, lambda: reranker.score("first", ["second"])
        case "tagger":
            tagger = choose_tagger(name)
            return tagger, lambda: tagger.tag(["Ann lives in Porto."])
        case "tokens":
            tokens = token_counter(name)
            return tokens, lambda: tokens.count("first")
        case _:
            every = OnnxEmbedder(), ReaderReranker(OnnxReader()), choose_tagger(), token_counter()
            return every, lambda: None


def _embedder(embedder: Any, texts: list[str]) -> dict[str, float]:
    from perdure.models.onnx_embedder import OnnxEmbedder
    from perdure.models.run_limiter import ModelRunLimiter
    from perdure.models.weights import Places

    wall, cpu = best(lambda: embedder.embed_passages(texts))
    alone = OnnxEmbedder(
        embedder.spec, Places(folder=embedder.weights.model_path.parent), limiter=ModelRunLimiter(1)
    )
    alone.__dict__["weights"] = embedder.weights
    ours = best(lambda: alone.embed_passages(texts))[1]
    return {
        **medians("query", lambda: embedder.embed_query(QUESTION)),
        "per_s": len(texts) / wall,
        "cpu_ms": cpu / len(texts) * 1000.0,
        "of_bare": bare_cpu(embedder, texts) / ours,
    }


def bare_cpu(embedder: Any, texts: list[str]) -> float:
    """Processor seconds of tokenizer, onnxruntime and mean alone, one text at a time as every known model runs."""
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(embedder.weights.model_path), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_buffer(embedder.weights.read_tokenizer())
    tokenizer.no_padding()
    tokenizer.enable_truncation(embedder.spec.max_tokens)
    names = [node.name for node in session.get_inputs()]

    def run() -> None:
        for text in texts:
            ids = np.array([tokenizer.encode(embedder.spec.passage_prefix + text).ids], np.int64)
            feeds = {
                "input_ids": ids,
                "attention_mask": np.ones_like(ids),
                "token_type_ids": np.zeros_like(ids),
            }
            session.run(None, {name: feeds[name] for name in names})[0][0].mean(axis=0)

    return best(run)[1]


def _reranker(reranker: Any, texts: list[str]) -> dict[str, float]:
    wall, cpu = best(lambda: reranker.score(QUESTION, texts))
    return {
        **medians("query", lambda: reranker.score(QUESTION, texts[:20]), 5),
        "per_s": len(texts) / wall,
        "cpu_ms": cpu / len(texts) * 1000.0,
    }


def _tagger(tagger: Any, texts: list[str]) -> dict[str, float]:
    wall, cpu = best(lambda: tagger.tag(texts))
    return {
        **medians("query", lambda: tagger.tag([QUESTION])),
        "per_s": len(texts) / wall,
        "cpu_ms": cpu / len(texts) * 1000.0,
    }


def _tokens(tokens: Any, texts: list[str]) -> dict[str, float]:
    many = texts * 5
    wall, cpu = best(lambda: list(map(tokens.count, many)))
    return {
        **medians("query", lambda: list(map(tokens.count, many[:300]))),
        "per_s": len(many) / wall,
        "cpu_ms": cpu / len(many) * 1000.0,
    }


def _all(models: Any, texts: list[str]) -> dict[str, float]:
    embedder, reranker, tagger, tokens = models
    embedder.embed_passages(texts)
    reranker.score(QUESTION, texts)
    tagger.tag(texts)
    list(map(tokens.count, texts))
    return {}


if __name__ == "__main__":
    given = sys.argv[1:]
    print(json.dumps(probe(given[0], given[1], Path(given[2]) if len(given) > 2 else None)))
