"""JSON over HTTP to a model provider: time-outs, retries with back-off, and errors that name the cause and never the key."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from perdure.errors import InvalidInput, ProviderError

if TYPE_CHECKING:
    import httpx

_LOG = logging.getLogger(__name__)
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
_EXCERPT = 200


class HttpClient:
    """Posts JSON to one provider; its key appears in no message, log or repr."""

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        timeout: float = 30.0,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise InvalidInput("provider url", "http(s)://host/path without user, password or query")
        self.url = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._retries = retries
        self._sleep = sleep
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def __repr__(self) -> str:
        return f"HttpClient({self.url!r}, key={'set' if self._key else 'none'})"

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The provider's JSON answer; transient failures are tried again, the rest is a ProviderError."""
        import httpx

        target = self.url + path
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                response = self._open().post(target, json=dict(body))
            except httpx.TransportError as error:
                failure = f"{target}: {_describe(error, self._timeout)}"
                wait = _FIRST_WAIT * 2**attempt
            else:
                if response.is_success:
                    return self._parse(target, response)
                failure = f"{target} answered {response.status_code}: {self._excerpt(response)}"
                if response.status_code not in _TRANSIENT:
                    raise ProviderError(failure + _hint(response.status_code))
                wait = _asked_wait(response.headers.get("retry-after")) or _FIRST_WAIT * 2**attempt
            if last:
                raise ProviderError(f"{failure} (tried {attempt + 1} times)")
            _LOG.warning("%s; trying again in %.1f s", failure, min(wait, _LONGEST_WAIT))
            self._sleep(min(wait, _LONGEST_WAIT))
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Let the connections go."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _open(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = httpx.Client(timeout=self._timeout, headers=headers)
            return self._client

    def _parse(self, target: str, response: httpx.Response) -> Any:
        try:
            return response.json()
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ProviderError(
                f"{target} answered with something that is not JSON: {self._excerpt(response)}"
            ) from error

    def _excerpt(self, response: httpx.Response) -> str:
        text = " ".join(response.text.split())
        shown = text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"
        return shown.replace(self._key, "[key]") if self._key else shown


def _describe(error: Exception, timeout: float) -> str:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {timeout:g} s"
    if isinstance(error, httpx.ConnectError):
        return f"no connection ({error}); is the provider running?"
    return f"{type(error).__name__} {error}"


def _hint(status: int) -> str:
    if status in (401, 403):
        return " (check the key)"
    return " (check the URL and the model's name)" if status == 404 else ""


def _asked_wait(header: str | None) -> float | None:
    """Seconds that Retry-After asks for, given as a number or as a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (when.astimezone(UTC) - datetime.now(UTC)).total_seconds())
