"""`connect` and `connect_async`: objects with the verbs of `Perdure` and `AsyncPerdure` whose memory is served elsewhere.

Each verb is forwarded by the signature of its twin; none is written out, so none can differ.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from perdure.aio import AsyncPerdure
from perdure.compose import present
from perdure.domain.bank import check_bank_id
from perdure.domain.operation import Operation
from perdure.domain.recall import RecallResult
from perdure.engine import Perdure
from perdure.errors import InvalidInput, Unavailable
from perdure.jobs.runner import JobRunner
from perdure.models.tokens import token_counter
from perdure.ports.clock import Clock
from perdure.reflect.reflection import Reflection
from perdure.remote.observed import observed_call, tell_result
from perdure.remote.transport import TIMEOUT, AsyncTransport, Greeting, Server, Transport
from perdure.remote.verbs import REFUSED, VERBS, Bank, Verb
from perdure.remote.wire import bound_arguments, decode_result, encode_arguments
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.telemetry.otel import OpenTelemetry

FIRST_LOOK, LONGEST_LOOK = 0.02, 0.5
"""Seconds between two looks at background work that is waited for: doubled from the first to the longest."""


def connect(
    url: str, *, key: str | None = None, timeout: float = TIMEOUT, telemetry: OpenTelemetry | None = None
) -> Perdure:
    """The memory that `perdure serve` serves at an address, with the verbs and results of an embedded one.

    `key` is one of `perdure keys create`; a server with `--open` needs none. Raises Unreachable when no server of Perdure
    answers there. Verbs that would touch the server's own files are refused: `Unavailable` names them. `telemetry` is told
    of calls, and the server's own spans join them.
    """
    transport = Transport(Server(url, key, timeout), telemetry)
    try:
        return RemotePerdure(transport, transport.greet())
    except BaseException:
        transport.close()
        raise


async def connect_async(
    url: str, *, key: str | None = None, timeout: float = TIMEOUT, telemetry: OpenTelemetry | None = None
) -> AsyncPerdure:
    """The same for asynchronous programs; cancelling a call stops its work on the server."""
    server = Server(url, key, timeout)
    transport = AsyncTransport(server, telemetry)
    try:
        return RemoteAsyncPerdure(transport, await transport.greet())
    except BaseException:
        await transport.close()
        raise


class RemotePerdure(Perdure):
    """`Perdure` over HTTP; safe to share between threads."""

    def __init__(self, transport: Transport, greeting: Greeting) -> None:
        self._transport = transport
        self._greeting = greeting

    def close(self) -> None:
        """Close the connections; the server goes on."""
        self._transport.close()

    @property
    def settings(self) -> Settings:
        """Refused: a server's settings stay on its machine."""
        raise refusal("settings")

    @property
    def jobs(self) -> JobRunner:
        """Refused: `operations` has the background work."""
        raise refusal("jobs")

    @property
    def clock(self) -> Clock:
        """The clock of this machine; the server has its own."""
        return present

    @property
    def token_encoding(self) -> str:
        """Name of the encoding by which the server counts tokens."""
        return self._greeting.tokens

    def operation(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """How far background work is; `wait` asks again up to so many seconds."""
        pauses = pauses_for(wait)
        while True:
            operation = cast(Operation, self._call("operation", {"bank": bank, "operation_id": operation_id}))
            pause = None if operation.finished else next(pauses, None)
            if pause is None:
                return operation
            time.sleep(pause)

    def export_bank(self, bank: str) -> Iterator[str]:
        """The bank as JSON lines."""
        self.bank(bank)
        return self._transport.lines(VERBS["export_bank"], bank)

    def import_bank(self, bank: str, lines: Iterable[str]) -> int:
        """An exported bank under a new id; returns how many facts came."""
        answer = self._transport.send_lines(VERBS["import_bank"], bank, lines)
        return cast(int, decode_result("import_bank", answer))

    def _call(self, name: str, arguments: Mapping[str, object]) -> object:
        call = Call.of(name, arguments)
        transport = self._transport
        with observed_call(transport.telemetry, transport.server.url, name, arguments) as observed:
            if call.cancelled is None:
                answer = transport.call(call.verb, call.bank, call.body)
            else:
                answer = transport.call_unless(call.cancelled, call.verb, call.bank, call.body)
            result = counting(decode_result(name, answer), self._count())
            tell_result(observed, result)
            return result

    def _count(self) -> Callable[[str], int]:
        return local_counter(self._greeting.tokens) or self.count_tokens


class RemoteAsyncPerdure(AsyncPerdure):
    """`AsyncPerdure` over HTTP."""

    def __init__(self, transport: AsyncTransport, greeting: Greeting) -> None:
        super().__init__(RemotePerdure(Transport(transport.server, transport.telemetry), greeting))
        self._transport = transport
        self._greeting = greeting

    async def close(self) -> None:
        """Close the connections; the server goes on."""
        await self._transport.close()
        await super().close()

    async def operation(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """How far background work is; `wait` asks again up to so many seconds."""
        pauses = pauses_for(wait)
        while True:
            operation = cast(
                Operation, await self._call("operation", {"bank": bank, "operation_id": operation_id})
            )
            pause = None if operation.finished else next(pauses, None)
            if pause is None:
                return operation
            await asyncio.sleep(pause)

    async def export_bank(self, bank: str) -> AsyncIterator[str]:
        """The bank as JSON lines."""
        async for line in self._transport.lines(VERBS["export_bank"], bank):
            yield line

    async def import_bank(self, bank: str, lines: Iterable[str]) -> int:
        """An exported bank under a new id; returns how many facts came."""
        answer = await self._transport.send_lines(VERBS["import_bank"], bank, lines)
        return cast(int, decode_result("import_bank", answer))

    async def _call(self, name: str, arguments: Mapping[str, object]) -> object:
        call = Call.of(name, arguments)
        transport = self._transport
        with observed_call(transport.telemetry, transport.server.url, name, arguments) as observed:
            if call.cancelled is None:
                answer = await transport.call(call.verb, call.bank, call.body)
            else:
                answer = await transport.call_unless(call.cancelled, call.verb, call.bank, call.body)
            count = local_counter(self._greeting.tokens) or self.engine.count_tokens
            result = counting(decode_result(name, answer), count)
            tell_result(observed, result)
            return result


@dataclass(frozen=True, slots=True)
class Call:
    """A verb with its arguments, ready to be sent."""

    verb: Verb
    bank: str | None
    body: bytes
    cancelled: Callable[[], bool] | None = None

    @classmethod
    def of(cls, name: str, arguments: Mapping[str, object]) -> Call:
        """The call of a verb by its arguments' names."""
        verb = VERBS[name]
        sent = dict(arguments)
        bank = cast("str | None", sent.pop("bank", None))
        if verb.bank is Bank.RECORD:
            bank = getattr(sent["record"], "bank", None)
        if not bank and name in ("records", "save_record", "delete_record"):
            raise InvalidInput("bank", "the id of a bank: records without one are the server's own", bank)
        if verb.bank not in (Bank.NONE, Bank.ALL) and (bank is not None or verb.bank is not Bank.MAYBE):
            bank = check_bank_id(cast(str, bank))
        cancelled = cast("Callable[[], bool] | None", sent.pop("cancelled", None))
        return cls(verb, bank, encode_arguments(sent), cancelled)


def refusal(name: str) -> Unavailable:
    """The error for what a served memory does not have."""
    return Unavailable(f"{name} is not available over HTTP: {REFUSED[name]}")


@functools.cache
def local_counter(encoding: str) -> Callable[[str], int] | None:
    """What counts tokens here as the server does; None where its encoding is one of its own."""
    try:
        return token_counter(encoding).count
    except InvalidInput:
        return None


def counting(result: object, count: Callable[[str], int]) -> object:
    """A recall or reflection that fits its prompt by the server's encoding."""
    if isinstance(result, RecallResult):
        return replace(result, count_tokens=count)
    if isinstance(result, Reflection):
        steps = tuple(
            step
            if step.recalled is None
            else replace(step, recalled=replace(step.recalled, count_tokens=count))
            for step in result.trace.steps
        )
        recalled = replace(result.recalled, count_tokens=count)
        return replace(result, recalled=recalled, trace=replace(result.trace, steps=steps))
    return result


def pauses_for(wait: float | None) -> Iterator[float]:
    """Pauses that together last for `wait` seconds, longer and longer ones."""
    left, pause = wait or 0.0, FIRST_LOOK
    while left > 0:
        yield min(pause, left)
        left, pause = left - pause, min(2 * pause, LONGEST_LOOK)


def _forward(name: str) -> Callable[..., object]:
    twin = getattr(Perdure, name)
    signature = inspect.signature(twin)

    @functools.wraps(twin)
    def forward(self: RemotePerdure, *args: Any, **options: Any) -> object:
        if name in REFUSED:
            raise refusal(name)
        return self._call(name, bound_arguments(name, signature.bind(self, *args, **options)))

    return forward


def _forward_async(name: str) -> Callable[..., object]:
    twin = getattr(AsyncPerdure, name)
    signature = inspect.signature(twin)

    @functools.wraps(twin)
    async def forward(self: RemoteAsyncPerdure, *args: Any, **options: Any) -> object:
        if name in REFUSED:
            raise refusal(name)
        return await self._call(name, bound_arguments(name, signature.bind(self, *args, **options)))

    return forward


for _name in (*VERBS, *REFUSED):
    if inspect.isfunction(getattr(Perdure, _name)):
        if _name not in vars(RemotePerdure):
            setattr(RemotePerdure, _name, _forward(_name))
        if _name not in vars(RemoteAsyncPerdure):
            setattr(RemoteAsyncPerdure, _name, _forward_async(_name))
