"""HTTP exchanges with a served memory: address, key, answers and failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import httpx
from pydantic_core import from_json

from perdure import __version__
from perdure.errors import Cancelled, DeadlineExceeded, InvalidInput, PerdureError, Unreachable
from perdure.remote.wire import END_OF_STREAM, FORMAT, PATH, decode_error
from perdure.verbs import Verb

if TYPE_CHECKING:
    from perdure.telemetry.otel import OpenTelemetry

CONNECT_SECONDS = 5.0
TIMEOUT = 150.0
"""Seconds for an answer: more than a server takes before it gives up itself (`request_timeout`)."""
LOOK_SECONDS = 0.05
"""Between two looks whether a call was called off."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """A server's description of itself."""

    version: str
    tokens: str
    """Name of the encoding by which it counts tokens."""


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a served memory, and its key."""

    url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidInput("url", "an address such as http://localhost:8888", self.url)
        if not self.timeout > 0:
            raise InvalidInput("timeout", "a number of seconds above 0", self.timeout)

    @property
    def headers(self) -> dict[str, str]:
        headers = {"User-Agent": f"perdure/{__version__}", "Content-Type": "application/json"}
        return headers if self.key is None else {**headers, "Authorization": f"Bearer {self.key}"}

    @property
    def limits(self) -> httpx.Timeout:
        return httpx.Timeout(self.timeout, connect=min(CONNECT_SECONDS, self.timeout))

    def path(self, verb: str, bank: str | None) -> str:
        """Return the path of a verb."""
        base = self.url.rstrip("/") + PATH
        return f"{base}/{verb}" if bank is None else f"{base}/banks/{quote(bank, safe='')}/{verb}"

    def fail(self, error: httpx.HTTPError) -> PerdureError:
        """Return the error for a failure of the exchange."""
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return DeadlineExceeded(f"{self.url}: no answer within {self.timeout:g} seconds")
        return Unreachable(f"{self.url}: {error or type(error).__name__}; is `perdure serve` running there?")

    def read(self, status: int, body: bytes) -> bytes:
        """Return the body of an answer; raise the error that it contains."""
        if 200 <= status < 300:
            return body
        raise self._told(status, body)

    def _told(self, status: int, body: bytes) -> PerdureError:
        try:
            told = from_json(body)["error"]
            code, message = str(told["code"]), str(told["message"])
        except (ValueError, KeyError, TypeError):
            if status == 404:
                return Unreachable(f"{self.url}: there is a server, but not one of Perdure")
            return PerdureError(f"{self.url}: answer {status} without a reason")
        if code == "not_found" and "fields" not in told:
            return Unreachable(
                f"{self.url}: this server has no {PATH}; it is of another version, or another program"
            )
        return decode_error(code, message, told.get("fields") or {})

    def greeted(self, body: bytes) -> Greeting:
        """Return the server's description of itself; raise if it speaks another format."""
        try:
            told = from_json(body)
            spoken, greeting = told["format"], Greeting(str(told["version"]), str(told["tokens"]))
        except (ValueError, KeyError, TypeError) as error:
            raise Unreachable(f"{self.url}: there is a server, but not one of Perdure") from error
        if spoken != FORMAT:
            raise Unreachable(
                f"{self.url}: Perdure {greeting.version} speaks format {spoken}, this one {FORMAT}; use the same version"
            )
        return greeting


class Transport:
    """Blocking exchanges; safe to share between threads."""

    def __init__(self, server: Server, telemetry: OpenTelemetry | None = None) -> None:
        self.server, self.telemetry = server, telemetry
        self._client = httpx.Client(headers=server.headers, timeout=server.limits)

    def greet(self) -> Greeting:
        """Ask the server who it is."""
        answer = self._repeated(lambda: self._client.get(self.server.url.rstrip("/") + PATH), again=True)
        return self.server.greeted(self.server.read(answer.status_code, answer.content))

    def call(self, verb: Verb, bank: str | None, body: bytes) -> bytes:
        """Return the answer of a verb; a read whose connection was lost is repeated once."""
        path = self.server.path(verb.name, bank)
        headers = span_headers(self.telemetry)
        answer = self._repeated(
            lambda: self._client.post(path, content=body, headers=headers), again=verb.is_read
        )
        return self.server.read(answer.status_code, answer.content)

    def call_unless(self, cancelled: Callable[[], bool], verb: Verb, bank: str | None, body: bytes) -> bytes:
        """Return the answer of a verb, unless it is cancelled meanwhile; the server then stops its work."""

        async def exchange() -> bytes:
            transport = AsyncTransport(self.server, self.telemetry)
            try:
                return await transport.call_unless(cancelled, verb, bank, body)
            finally:
                await transport.close()

        with ThreadPoolExecutor(1, thread_name_prefix="perdure-remote") as own_thread:
            return own_thread.submit(copy_context().run, asyncio.run, exchange()).result()

    def lines(self, verb: Verb, bank: str) -> Iterator[str]:
        """Yield the lines of a stream; raise if it is incomplete."""
        count = 0
        try:
            with self._client.stream("POST", self.server.path(verb.name, bank), content=b"{}") as answer:
                if answer.status_code >= 300:
                    self.server.read(answer.status_code, answer.read())
                for line in answer.iter_lines():
                    if is_end(line, count):
                        return
                    count += 1
                    yield line
        except httpx.HTTPError as error:
            raise self.server.fail(error) from error
        raise Unreachable(f"{self.server.url}: the stream was cut after {count} lines")

    def send_lines(self, verb: Verb, bank: str, lines: Iterable[str]) -> bytes:
        """Return the answer to a body of lines, which are sent as they come."""
        path = self.server.path(verb.name, bank)
        pieces = (f"{line}\n".encode() for line in lines)
        answer = self._repeated(lambda: self._client.post(path, content=pieces), again=False)
        return self.server.read(answer.status_code, answer.content)

    def close(self) -> None:
        self._client.close()

    def _repeated(self, exchange: Callable[[], httpx.Response], *, again: bool) -> httpx.Response:
        try:
            return exchange()
        except httpx.TimeoutException as error:
            raise self.server.fail(error) from error
        except httpx.TransportError as error:
            if not again:
                raise self.server.fail(error) from error
        try:
            return exchange()
        except httpx.HTTPError as error:
            raise self.server.fail(error) from error


class AsyncTransport:
    """Asynchronous exchanges; cancelling one closes its connection, and the server stops its work."""

    def __init__(self, server: Server, telemetry: OpenTelemetry | None = None) -> None:
        self.server, self.telemetry = server, telemetry
        self._client = httpx.AsyncClient(headers=server.headers, timeout=server.limits)

    async def greet(self) -> Greeting:
        """Ask the server who it is."""
        try:
            answer = await self._client.get(self.server.url.rstrip("/") + PATH)
        except httpx.HTTPError as error:
            raise self.server.fail(error) from error
        return self.server.greeted(self.server.read(answer.status_code, answer.content))

    async def call(self, verb: Verb, bank: str | None, body: bytes) -> bytes:
        """Return the answer of a verb; a read whose connection was lost is repeated once."""
        path = self.server.path(verb.name, bank)
        for tries_left in (1, 0):
            try:
                answer = await self._client.post(path, content=body, headers=span_headers(self.telemetry))
                return self.server.read(answer.status_code, answer.content)
            except httpx.TransportError as error:
                if not verb.is_read or not tries_left or isinstance(error, httpx.TimeoutException):
                    raise self.server.fail(error) from error
        raise AssertionError("the second try returns or raises")

    async def call_unless(
        self, cancelled: Callable[[], bool], verb: Verb, bank: str | None, body: bytes
    ) -> bytes:
        """Return the answer of a verb, unless it is cancelled meanwhile."""
        exchange = asyncio.create_task(self.call(verb, bank, body))
        try:
            while not (await asyncio.wait({exchange}, timeout=LOOK_SECONDS))[0]:
                if cancelled():
                    raise Cancelled(f"{verb.name} was called off")
            return exchange.result()
        finally:
            exchange.cancel()
            await asyncio.gather(exchange, return_exceptions=True)

    async def lines(self, verb: Verb, bank: str) -> AsyncIterator[str]:
        """Yield the lines of a stream; raise if it is incomplete."""
        count = 0
        try:
            async with self._client.stream(
                "POST", self.server.path(verb.name, bank), content=b"{}"
            ) as answer:
                if answer.status_code >= 300:
                    self.server.read(answer.status_code, await answer.aread())
                async for line in answer.aiter_lines():
                    if is_end(line, count):
                        return
                    count += 1
                    yield line
        except httpx.HTTPError as error:
            raise self.server.fail(error) from error
        raise Unreachable(f"{self.server.url}: the stream was cut after {count} lines")

    async def send_lines(self, verb: Verb, bank: str, lines: Iterable[str]) -> bytes:
        """Return the answer to a body of lines, which are sent as they come."""

        async def pieces() -> AsyncIterator[bytes]:
            for line in lines:
                yield f"{line}\n".encode()

        try:
            answer = await self._client.post(self.server.path(verb.name, bank), content=pieces())
        except httpx.HTTPError as error:
            raise self.server.fail(error) from error
        return self.server.read(answer.status_code, answer.content)

    async def close(self) -> None:
        await self._client.aclose()


def span_headers(telemetry: OpenTelemetry | None) -> dict[str, str]:
    """Return the headers by which a server joins its spans to the current one."""
    return {} if telemetry is None else telemetry.headers()


def is_end(line: str, count: int) -> bool:
    """Return whether a line ends a stream of `count` lines."""
    if not line.startswith(f'{{"{END_OF_STREAM}"'):
        return False
    return bool(from_json(line) == {END_OF_STREAM: count})
