"""`connect` and `connect_async`: objects with the verbs of `Perdure` and `AsyncPerdure` whose memory is served elsewhere.

Each verb is forwarded by the signature of its twin; none is written out, so none can differ.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from perdure.aio import AsyncBanks, AsyncOperations, AsyncPerdure
from perdure.domain.bank import check_bank_id
from perdure.domain.operation import Operation
from perdure.domain.recall import RecallResult
from perdure.domain.verb import BankIn
from perdure.engine import Perdure
from perdure.errors import InvalidInput, Unavailable
from perdure.jobs.background import Operations
from perdure.jobs.runner import JobRunner
from perdure.manage.banks import Banks
from perdure.models.tokens import token_counter
from perdure.ports.clock import Clock, present
from perdure.reflect.reflection import Reflection
from perdure.remote.observed import observed_call, tell_result
from perdure.remote.transport import TIMEOUT, AsyncTransport, Greeting, Server, Transport
from perdure.remote.wire import bound_arguments, decode_result, encode_arguments
from perdure.settings import Settings
from perdure.verbs import REFUSALS, RESOURCES, VERBS, Verb

if TYPE_CHECKING:
    from perdure.telemetry.otel import OpenTelemetry

FIRST_LOOK, LONGEST_LOOK = 0.02, 0.5
"""Seconds between two looks at background work that is waited for: doubled from the first to the longest."""


def connect(
    url: str, *, key: str | None = None, timeout: float = TIMEOUT, telemetry: OpenTelemetry | None = None
) -> Perdure:
    """Return the memory that `perdure serve` serves at an address, with the verbs and results of an embedded one.

    `key` is one of `perdure keys create`; a server with `--open` needs none. Raise `Unreachable` if no server of Perdure answers there.
    Verbs that would use the server's own files raise `Unavailable`. `telemetry` receives calls, and the server's own spans join them.
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
    """Return the same for asynchronous programs; cancelling a call stops its work on the server."""
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
        for name, kind in REMOTE_RESOURCES.items():
            setattr(self, name, kind(self))

    def close(self) -> None:
        """Close the connections; the server goes on."""
        self._transport.close()

    @property
    def settings(self) -> Settings:
        """Raise `Unavailable`: a server's settings stay on its machine."""
        raise refusal("settings")

    @property
    def jobs(self) -> JobRunner:
        """Raise `Unavailable`: `operations` has the background work."""
        raise refusal("jobs")

    @property
    def clock(self) -> Clock:
        """Return the clock of this machine; the server has its own."""
        return present

    @property
    def token_encoding(self) -> str:
        """Return the name of the server's token encoding."""
        return self._greeting.tokens

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
        for name, kind in REMOTE_ASYNC_RESOURCES.items():
            setattr(self, name, kind(self, getattr(self.engine, name)))

    async def close(self) -> None:
        """Close the connections; the server goes on."""
        await self._transport.close()
        await super().close()

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


class _Forwarding:
    """A resource whose verbs its memory sends to the server."""

    def __init__(self, memory: RemotePerdure) -> None:
        self._memory, self._transport = memory, memory._transport
        self._call = memory._call


class _AsyncForwarding:
    """The same for asynchronous programs."""

    _resource: Any
    _run: Any

    def __init__(self, memory: RemoteAsyncPerdure, resource: object) -> None:
        self._memory, self._transport = memory, memory._transport
        self._call, self._run, self._resource = memory._call, memory._run, resource


class _RemoteOperations(_Forwarding, Operations):
    def get(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """Return the state of an operation; `wait` asks again for up to this many seconds until it has ended."""
        pauses = pauses_for(wait)
        while True:
            arguments = {"bank": bank, "operation_id": operation_id}
            operation = cast(Operation, self._call("operations.get", arguments))
            pause = None if operation.finished else next(pauses, None)
            if pause is None:
                return operation
            time.sleep(pause)


class _RemoteAsyncOperations(_AsyncForwarding, AsyncOperations):
    async def get(self, bank: str, operation_id: str, *, wait: float | None = None) -> Operation:
        """Return the state of an operation; `wait` asks again for up to this many seconds until it has ended."""
        pauses = pauses_for(wait)
        while True:
            arguments = {"bank": bank, "operation_id": operation_id}
            operation = cast(Operation, await self._call("operations.get", arguments))
            pause = None if operation.finished else next(pauses, None)
            if pause is None:
                return operation
            await asyncio.sleep(pause)


class _RemoteBanks(_Forwarding, Banks):
    def export(self, bank: str) -> Iterator[str]:
        """Yield the bank as JSON lines."""
        self.get(bank)
        return self._transport.lines(VERBS["banks.export"], bank)

    def restore(self, bank: str, lines: Iterable[str]) -> int:
        """Create a bank from the lines of an export."""
        answer = self._transport.send_lines(VERBS["banks.restore"], bank, lines)
        return cast(int, decode_result("banks.restore", answer))


class _RemoteAsyncBanks(_AsyncForwarding, AsyncBanks):
    async def export(self, bank: str) -> AsyncIterator[str]:
        """Yield the bank as JSON lines."""
        async for line in self._transport.lines(VERBS["banks.export"], bank):
            yield line

    async def restore(self, bank: str, lines: Iterable[str]) -> int:
        """Create a bank from the lines of an export."""
        answer = await self._transport.send_lines(VERBS["banks.restore"], bank, lines)
        return cast(int, decode_result("banks.restore", answer))


@dataclass(frozen=True, slots=True)
class Call:
    """A verb with its arguments, ready to be sent."""

    verb: Verb
    bank: str | None
    body: bytes
    cancelled: Callable[[], bool] | None = None

    @classmethod
    def of(cls, name: str, arguments: Mapping[str, object]) -> Call:
        """Return the call of a verb with its arguments by name."""
        verb = VERBS[name]
        sent = dict(arguments)
        bank = cast("str | None", sent.pop("bank", None))
        if verb.bank is BankIn.RECORD:
            bank = getattr(sent["record"], "bank", None)
        if not bank and name.startswith("records."):
            raise InvalidInput("bank", "the id of a bank: records without one are the server's own", bank)
        if verb.bank not in (BankIn.NOWHERE, BankIn.ALL) and (
            bank is not None or verb.bank is not BankIn.OPTIONAL
        ):
            bank = check_bank_id(cast(str, bank))
        cancelled = cast("Callable[[], bool] | None", sent.pop("cancelled", None))
        return cls(verb, bank, encode_arguments(sent), cancelled)


def refusal(name: str) -> Unavailable:
    """Return the error for what a served memory does not have."""
    return Unavailable(f"{name} is not available over HTTP: {REFUSALS[name]}")


@functools.cache
def local_counter(encoding: str) -> Callable[[str], int] | None:
    """Return a local counter of the server's token encoding, or None if only the server has it."""
    try:
        return token_counter(encoding).count
    except InvalidInput:
        return None


def counting(result: object, count: Callable[[str], int]) -> object:
    """Return a recall or reflection whose prompt is fitted by the server's encoding."""
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
    """Yield increasing pauses of `wait` seconds in total."""
    left, pause = wait or 0.0, FIRST_LOOK
    while left > 0:
        yield min(pause, left)
        left, pause = left - pause, min(2 * pause, LONGEST_LOOK)


def _forward(name: str, twin: Callable[..., object]) -> Callable[..., object]:
    """Return the method that sends a verb, with the signature of its twin."""
    signature = inspect.signature(twin)

    @functools.wraps(twin)
    def forward(self: RemotePerdure, *args: Any, **options: Any) -> object:
        if name in REFUSALS:
            raise refusal(name)
        return self._call(name, bound_arguments(name, signature.bind(self, *args, **options)))

    return forward


def _forward_async(name: str, twin: Callable[..., object]) -> Callable[..., object]:
    signature = inspect.signature(twin)

    @functools.wraps(twin)
    async def refuse(self: RemoteAsyncPerdure, *args: Any, **options: Any) -> AsyncIterator[object]:
        raise refusal(name)
        yield

    @functools.wraps(twin)
    async def forward(self: RemoteAsyncPerdure, *args: Any, **options: Any) -> object:
        if name in REFUSALS:
            raise refusal(name)
        return await self._call(name, bound_arguments(name, signature.bind(self, *args, **options)))

    return refuse if inspect.isasyncgenfunction(twin) else forward


def _complete(kind: type, prefix: str, forward: Callable[[str, Callable[..., object]], object]) -> type:
    """Give a class the forwarding methods that it does not define itself."""
    for name in (*VERBS, *REFUSALS):
        resource, _, method = name.rpartition(".")
        twin = getattr(kind, method, None)
        if resource == prefix and inspect.isfunction(twin) and method not in vars(kind):
            setattr(kind, method, forward(name, twin))
    return kind


def _remote(kind: type, forwarding: type, written: Sequence[type]) -> type:
    """Return the class of a remote resource: one that is written out, or one made here."""
    for remote in written:
        if issubclass(remote, kind):
            return remote
    return type(f"Remote{kind.__name__}", (forwarding, kind), {"__doc__": kind.__doc__})


_complete(RemotePerdure, "", _forward)
_complete(RemoteAsyncPerdure, "", _forward_async)
REMOTE_RESOURCES: Mapping[str, type] = {
    name: _complete(_remote(kind, _Forwarding, (_RemoteOperations, _RemoteBanks)), name, _forward)
    for name, kind in RESOURCES.items()
}
REMOTE_ASYNC_RESOURCES: Mapping[str, type] = {
    name: _complete(
        _remote(kind, _AsyncForwarding, (_RemoteAsyncOperations, _RemoteAsyncBanks)), name, _forward_async
    )
    for name, kind in get_type_hints(AsyncPerdure).items()
    if name in RESOURCES
}
