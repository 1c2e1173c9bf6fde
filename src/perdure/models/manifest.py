"""The manifest of known models: their parameters, files and sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from perdure.errors import InvalidInput, ModelMissing

KINDS = ("embedder", "reranker")
POOLINGS = ("mean", "cls")
USE_FAMILY = "use"
"""Universal Sentence Encoders, which run on numpy; all other families are ONNX graphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source of a model's files: an installed package; without a name Perdure's own folder of models."""

    package: str = ""
    version: str = ""
    folder: str = ""
    rename: Mapping[str, str] = field(default_factory=dict)

    def file(self, name: str) -> str:
        """Return the path of a model file within the package."""
        path = self.rename.get(name, name)
        return f"{self.folder}/{path}" if self.folder else path

    def __str__(self) -> str:
        return f"package {self.package}=={self.version}" if self.package else "Perdure's own files"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """The parameters needed to run a model as it was trained."""

    name: str
    kind: str
    family: str
    max_tokens: int
    dimensions: int = 0
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    batch: int = 1
    model_file: str = "model.onnx"
    tokenizer_file: str = "tokenizer.json"
    languages: Sequence[str] = ()
    """ISO 639 codes of its training data; empty if not stated."""
    licence: str = ""
    homepage: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InvalidInput(f"model {self.name}: kind", " or ".join(KINDS), self.kind)
        if self.pooling not in POOLINGS:
            raise InvalidInput(f"model {self.name}: pooling", " or ".join(POOLINGS), self.pooling)
        if self.kind == "embedder" and self.dimensions < 1:
            raise InvalidInput(f"model {self.name}: dimensions", "a positive integer", self.dimensions)
        if self.max_tokens < 16 or self.batch < 1:
            raise InvalidInput(f"model {self.name}", "max_tokens of at least 16 and batch of at least 1")

    @property
    def files(self) -> tuple[str, str]:
        return self.model_file, self.tokenizer_file


def read_manifest(path: Path) -> tuple[ModelSpec, ...]:
    try:
        return _parse(tomllib.loads(path.read_text(encoding="utf-8")), str(path))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput("model manifest", f"a readable TOML file at {path} ({error})") from error


@lru_cache(maxsize=1)
def known_models() -> tuple[ModelSpec, ...]:
    """Return the models of Perdure's own manifest."""
    text = resources.files("perdure.models").joinpath("manifest.toml").read_text(encoding="utf-8")
    return _parse(tomllib.loads(text), "manifest.toml")


def find_model(name: str, kind: str = "", extra: Sequence[ModelSpec] = ()) -> ModelSpec:
    """Return the manifest entry of a name, from the user's own entries first."""
    entries = [spec for spec in (*extra, *known_models()) if not kind or spec.kind == kind]
    for spec in entries:
        if spec.name.lower() == name.lower():
            return spec
    names = ", ".join(dict.fromkeys(spec.name for spec in entries)) or "none"
    raise ModelMissing(
        f"no {kind or 'model'} named {name!r} is known, only {names}; "
        f"choose one of these, or `http` for a model behind a server"
    )


def _parse(data: Mapping[str, Any], where: str) -> tuple[ModelSpec, ...]:
    specs = []
    for entry in data.get("model", []):
        fields = {key: value for key, value in entry.items() if key != "source"}
        try:
            sources = tuple(Source(**source) for source in entry.get("source", []))
            specs.append(ModelSpec(**fields, sources=sources))
        except TypeError as error:
            raise InvalidInput("model manifest", f"known fields only in {where} ({error})") from error
    return tuple(specs)
