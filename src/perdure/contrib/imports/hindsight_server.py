"""A bank of a running Hindsight server: its transfer archive, made and fetched over REST."""

from __future__ import annotations

import re
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

import httpx

from perdure.contrib.imports.hindsight import NAME, HindsightArchive
from perdure.contrib.imports.values import as_object, as_text
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.errors import InvalidInput, NotFound, ProviderError, Unauthorised, Unavailable

PATIENCE = 1_800.0
"""Seconds that a server may take to make the archive."""
POLL = 0.5
TIMEOUT = 60.0
OWN_MEMBER = "bank.jsonl"
"""What an archive of Perdure's server holds."""
_BANK = re.compile(r"^(?P<root>.*?)(?:/v1/(?P<tenant>[^/]+))?/banks/(?P<bank>[^/]+)/?$")


class HindsightServer:
    """`http://host:8888/banks/NAME` or the full path of the bank's API; the archive is fetched when it is first read."""

    name = NAME

    def __init__(self, url: str, key: str = "", *, transport: httpx.BaseTransport | None = None) -> None:
        parts = urlsplit(url)
        match = _BANK.match(parts.path)
        if not parts.netloc or not match:
            raise InvalidInput("path", "http://HOST:PORT/banks/NAME, which names the bank", url)
        self._root = f"{parts.scheme}://{parts.netloc}{match['root']}"
        self._bank = unquote(match["bank"])
        self._path = f"{self._root}/v1/{match['tenant'] or 'default'}/banks/{quote(self._bank, safe='')}"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, timeout=TIMEOUT, transport=transport)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._archive: HindsightArchive | None = None

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        if self._archive is None:
            self._folder = tempfile.TemporaryDirectory(prefix="perdure-import-")
            fetched = self._fetch(Path(self._folder.name) / f"{NAME}.zip")
            self._refuse_own(fetched)
            self._archive = HindsightArchive(fetched)
        yield from self._archive.read()

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._client.close()

    def _fetch(self, target: Path) -> Path:
        """Have the archive made, wait for it, and write it to a file."""
        try:
            started = self._client.post(
                f"{self._path}/transfer/export", params={"include_bank_config": "true"}
            )
            if started.status_code in (404, 405) and not self._is_unknown_bank(started):
                started = self._client.post(f"{self._path}/document-transfer/export")
            operation = as_text(as_object(self._checked(started).json()).get("operation_id"))
            result = self._wait(operation)
            url = urljoin(self._root + "/", as_text(result.get("download_url")))
            # A key goes to the server that it is for and to no other (archives may lie in an object store).
            headers = None if urlsplit(url).netloc == urlsplit(self._root).netloc else {"Authorization": ""}
            with self._client.stream("GET", url, headers=headers) as response, target.open("wb") as file:
                if response.is_error:
                    response.read()
                self._checked(response)
                for block in response.iter_bytes():
                    file.write(block)
        except httpx.HTTPError as error:
            raise ProviderError(f"{self._root} does not answer as Hindsight does: {error}") from error
        except ValueError as error:
            if isinstance(error, InvalidInput):
                raise
            raise ProviderError(f"{self._root} does not answer as Hindsight does: {error}") from error
        return target

    def _refuse_own(self, archive: Path) -> None:
        """Raise for a served memory of Perdure: it answers as Hindsight does, but its archives hold a bank in Perdure's own format."""
        if not zipfile.is_zipfile(archive):
            raise ProviderError(f"{self._root} does not answer as Hindsight does: its archive is no ZIP file")
        with zipfile.ZipFile(archive) as opened:
            if OWN_MEMBER in opened.namelist():
                raise Unavailable(
                    f"{self._root} is served by Perdure, whose banks come exactly as they are: write one there with "
                    "`perdure export FILE`, or with perdure.connect(URL).export_bank(BANK), and `perdure import FILE` here"
                )

    def _wait(self, operation: str) -> dict[str, object]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status = as_object(self._checked(self._client.get(f"{self._path}/operations/{operation}")).json())
            if status.get("status") == "completed":
                return dict(as_object(status.get("result_metadata")))
            if status.get("status") in ("failed", "cancelled", "not_found"):
                raise ProviderError(
                    f"{self._root} could not export bank {self._bank!r}: {status.get('error_message')}"
                )
            time.sleep(POLL)
        raise ProviderError(
            f"{self._root} has not exported bank {self._bank!r} within {PATIENCE:.0f} seconds"
        )

    def _is_unknown_bank(self, response: httpx.Response) -> bool:
        return (
            response.status_code == 404 and f"{self._bank}" in response.text and "not found" in response.text
        )

    def _checked(self, response: httpx.Response) -> httpx.Response:
        if response.status_code in (401, 403):
            raise Unauthorised(f"{self._root} wants a key, or another one (--key)")
        if response.status_code == 404:
            if "disabled" in response.text:
                raise Unavailable(
                    f"{self._root} does not export; set HINDSIGHT_API_ENABLE_DOCUMENT_EXPORT_API=true there"
                )
            raise NotFound("bank", f"{self._bank} at {self._root}")
        response.raise_for_status()
        return response
