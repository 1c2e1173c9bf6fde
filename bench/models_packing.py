"""Fit the packing of a model's token vectors: `python -m bench.models_packing [model ...]`.

The text is English that every Python brings along: the paragraphs of the standard library's docstrings.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from perdure.models.maxsim import AXES
from perdure.models.onnx_embedder import DEFAULT_EMBEDDER, OnnxEmbedder

FOLDER = Path(__file__).parent.parent / "src" / "perdure" / "models" / "packings"
PARAGRAPHS = 1500
MODULES = [
    "argparse",
    "logging",
    "json",
    "email",
    "http.client",
    "urllib.request",
    "datetime",
    "decimal",
    "threading",
    "subprocess",
    "socket",
    "random",
    "statistics",
    "unittest",
    "asyncio.events",
    "collections",
    "functools",
    "itertools",
    "pathlib",
    "shutil",
    "tarfile",
    "zipfile",
    "csv",
    "configparser",
    "difflib",
    "textwrap",
    "inspect",
    "ast",
    "tokenize",
    "traceback",
    "contextlib",
    "tempfile",
    "string",
    "re",
    "struct",
    "calendar",
    "heapq",
    "bisect",
]


def paragraphs() -> list[str]:
    """Distinct paragraphs of prose, in a fixed random order."""
    found = {text for module in MODULES for doc in _docs(module) for text in _split(doc)}
    texts = sorted(found)
    random.Random(0).shuffle(texts)
    return texts[:PARAGRAPHS]


def fit(model: str) -> Path:
    """Write the mean state and the principal axes of the model's token states."""
    embedder = OnnxEmbedder(model)
    states = np.concatenate(embedder.token_states(paragraphs()))
    states /= np.linalg.norm(states, axis=1, keepdims=True)
    mean = states.mean(axis=0)
    variance, axes = np.linalg.eigh(np.cov((states - mean).T))
    order = np.argsort(variance)[::-1][:AXES]
    path = FOLDER / f"{embedder.spec.name}.npz"
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(path, mean=mean.astype(np.float16), axes=axes[:, order].astype(np.float16))
    print(
        f"{path}: {len(states)} tokens, {variance[order].sum() / variance.sum():.0%} of the variance in {AXES} axes"
    )
    return path


def _docs(module: str) -> Iterator[str]:
    loaded = importlib.import_module(module)
    things = [loaded, *(thing for _, thing in inspect.getmembers(loaded))]
    for thing in things:
        methods = (
            [method for _, method in inspect.getmembers(thing, inspect.isfunction)]
            if inspect.isclass(thing)
            else []
        )
        for documented in (thing, *methods):
            doc = getattr(documented, "__doc__", None)
            if isinstance(doc, str):
                yield doc


def _split(doc: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", doc):
        text = " ".join(paragraph.split())
        if 60 < len(text) < 400:
            yield text


def main() -> None:
    """Fit the models that are named."""
    parser = argparse.ArgumentParser(prog="python -m bench.models_packing", description=__doc__)
    parser.add_argument("models", nargs="*", metavar="model", help=f"embedder (default: {DEFAULT_EMBEDDER})")
    for name in parser.parse_args().models or [DEFAULT_EMBEDDER]:
        fit(name)


if __name__ == "__main__":
    main()
