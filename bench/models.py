"""Speed, memory and quality of every model at hand: `python -m bench.models data.json`.

Quality is that of the bare models: each embedder ranks a bank's texts, each reranker reorders the default embedder's best
ones, next to BM25. What the recall pipeline makes of them is another benchmark.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.models_data import Bank, Bm25, Quality, Scores, best_first, judge, read_banks
from perdure.errors import ModelMissing
from perdure.models.manifest import ModelSpec, known_models
from perdure.models.onnx_embedder import DEFAULT_EMBEDDER, OnnxEmbedder
from perdure.models.reader import OnnxReader, ReaderReranker
from perdure.models.weights import Places, find_weights
from perdure.ports.reranker import Reranker

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "models.md"
OTHERS = (
    ("reranker", "reader"),
    ("tagger", "spacy"),
    ("tagger", "rules"),
    ("tokens", "cl100k"),
    ("tokens", "o200k"),
    ("tokens", "approximate"),
)


def main() -> None:
    """Measure, print, and with --write put the tables into the page."""
    options = _options()
    store = Path(options.store) if options.store else None
    specs = list(_installed(store))
    tables = {}
    if options.only != "quality":
        tables["speed"] = _speed_table(specs, store)
    if options.only != "speed":
        banks = read_banks(options.data, options.questions)
        tables["quality"] = _quality_table(banks, specs, store, options.pool, options.data.name)
    print("\n\n".join(tables.values()))
    if options.write:
        _write(tables)


def _write(tables: Mapping[str, str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, text in tables.items():
        before, rest = page.split(f"<!-- {name} -->\n")
        _, after = rest.split(f"<!-- /{name} -->")
        page = f"{before}<!-- {name} -->\n{text}\n<!-- /{name} -->{after}"
    PAGE.write_text(page, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.models", description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="labelled data; needed unless --only speed")
    parser.add_argument(
        "--questions", type=int, default=300, help="questions in all, evenly spread; 0 for all"
    )
    parser.add_argument("--pool", type=int, default=20, help="texts that a reranker reorders")
    parser.add_argument("--store", help="folder with further models, one folder each")
    parser.add_argument("--only", choices=("speed", "quality"))
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    options = parser.parse_args()
    if options.data is None and options.only != "speed":
        parser.error("labelled data is needed for the quality table")
    return options


def _installed(store: Path | None) -> Iterator[ModelSpec]:
    for spec in known_models():
        try:
            find_weights(spec, Places(store=store))
        except ModelMissing:
            print(f"left out: {spec.name} is not installed", file=sys.stderr)
        else:
            yield spec


def _speed_table(specs: Sequence[ModelSpec], store: Path | None) -> str:
    rows = [
        "| model | load s | memory MB | one: ms | one: CPU ms | a second | CPU ms each | of bare onnxruntime |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for kind, name in [*((spec.kind, spec.name) for spec in specs), *OTHERS]:
        found = _probe(kind, name, store)
        bare = f"{found['of_bare']:.0%}" if "of_bare" in found else ""
        rows.append(
            f"| {name} | {found['load_s']:.2f} | {found['memory_mb']:.0f} | {found['query_ms']:.1f} | {found['query_cpu_ms']:.1f} | {found['per_s']:.0f} | "
            f"{found['cpu_ms']:.2f} | {bare} |"
        )
    warm = _probe("all", "all", None)
    note = (
        f"All default models warm in one process: {warm['resident_mb']:.0f} MB resident. `one`: a query embedded, 20 pairs "
        f"reranked, a text tagged, 300 texts counted. {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} while measuring."
    )
    return "\n".join(rows) + "\n\n" + note


def _probe(kind: str, name: str, store: Path | None) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.models_probe", kind, name, *([str(store)] if store else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _quality_table(
    banks: Sequence[Bank], specs: Sequence[ModelSpec], store: Path | None, pool: int, data: str
) -> str:
    count = sum(len(bank.questions) for bank in banks)
    rows = [
        f"{data}: {count} questions over {sum(len(bank.texts) for bank in banks)} texts in {len(banks)} banks.",
        "",
        "| ranking | hit@1 | recall@5 | recall@10 | MRR |",
        "| --- | --- | --- | --- | --- |",
    ]
    keyword = [Bm25(bank.texts) for bank in banks]
    rows.append(
        _row(
            "BM25",
            judge(banks, [_ranked(index.scores, bank) for index, bank in zip(keyword, banks, strict=True)]),
        )
    )
    pools: list[list[list[int]]] = []
    for spec in (spec for spec in specs if spec.kind == "embedder"):
        embedder = OnnxEmbedder(spec, Places(store=store))
        rankings = [[best_first(scores) for scores in bank] for bank in _embedded(embedder, banks)]
        rows.append(_row(spec.name, judge(banks, rankings)))
        pools = pools or (rankings if spec.name == DEFAULT_EMBEDDER else [])
    reranker = ReaderReranker(OnnxReader())
    rows.append(
        _row(
            f"{DEFAULT_EMBEDDER} top {pool}, the reader",
            judge(banks, _reranked(reranker, banks, pools, pool)),
        )
    )
    return "\n".join(rows)


def _ranked(scores: Callable[[str], Scores], bank: Bank) -> list[list[int]]:
    return [best_first(scores(question.text)) for question in bank.questions]


def _reranked(
    reranker: Reranker, banks: Sequence[Bank], pools: list[list[list[int]]], pool: int
) -> list[list[list[int]]]:
    made: list[list[list[int]]] = []
    for bank, rankings in zip(banks, pools, strict=True):
        made.append([])
        for question, ranking in zip(bank.questions, rankings, strict=True):
            head = ranking[:pool]
            logits = reranker.score(question.text, [bank.texts[row] for row in head])
            made[-1].append([*_reordered(head, logits), *ranking[pool:]])
    return made


def _embedded(embedder: OnnxEmbedder, banks: Sequence[Bank]) -> list[list[Scores]]:
    """Cosines of every text for every question, by bank."""
    cosines = []
    for bank in banks:
        vectors = embedder.embed_passages(bank.texts)
        queries = [embedder.embed_query(question.text) for question in bank.questions]
        cosines.append([np.asarray(vectors @ query, np.float32) for query in queries])
    return cosines


def _reordered(rows: Sequence[int], scores: Scores) -> list[int]:
    return [rows[int(place)] for place in np.argsort(-scores, kind="stable")]


def _row(name: str, quality: Quality) -> str:
    figures = quality.hit_at_1, quality.recall_at_5, quality.recall_at_10, quality.mrr
    return f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


if __name__ == "__main__":
    main()
