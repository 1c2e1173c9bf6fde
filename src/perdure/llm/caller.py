"""The engine's calls of language models."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from perdure.domain.llm_call import ERROR, SUCCESS, LlmCall, LlmOperation
from perdure.errors import (
    DeadlineExceeded,
    LlmBusy,
    LlmCapReached,
    LlmCut,
    LlmError,
    LlmInvalid,
    LlmRefused,
    Unavailable,
)
from perdure.llm.answer import Expected, close_brackets, complete_items, is_truncated, read_json
from perdure.llm.failures import FailureMemory, request_digest
from perdure.llm.ledger import Entry, Estimate, Ledger
from perdure.llm.limits import Begun, CallRules, MinuteLimiter, back_off
from perdure.llm.prompt import load
from perdure.ports.llm import ChatMessage, Finish, Llm, LlmReply, LlmRequest, TokenUsage, Tool

log = logging.getLogger(__name__)

T = TypeVar("T")
Price = Callable[[str, TokenUsage], float | None]
"""US dollars of a model's tokens; None if they are not known."""
REPLY_TOKENS = 4096
LEAST_REPLY = 512
"""Tokens of the window that must be left for the reply, unless fewer were requested."""
MESSAGE_TOKENS = 4
"""Tokens of a message in addition to its text."""
GRACE = 10.0
"""Seconds beyond its time-out after which a call that is still open in the ledger is lost."""


def rough_tokens(text: str) -> int:
    """Count a token per four characters, as the default counter."""
    return -(-len(text) // 4)


class Closeable(Protocol):
    def close(self) -> None:
        """Release connections."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """The use of a call, with its bank."""

    bank: str
    operation: LlmOperation
    prompt: str = ""
    """Name and hash of the prompt, as `Prompt.version` gives them: "extract@3f9c2a1b"."""
    deadline: float | None = None
    """On the clock of `time.monotonic`; a call that would begin after it raises `DeadlineExceeded`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredReply(Generic[T]):
    """A parsed structured answer."""

    value: T
    usage: TokenUsage
    """Of all requests that it took, failed ones included."""
    model: str
    cut: bool = False
    """Whether the answer was cut and only its complete items are here; the rest must be asked for again, in smaller parts."""


class Caller:
    """Calls the model that is set for an operation.

    Tokens are counted before and after each call, which is logged even if it fails. Limits per minute are waited for, caps per day
    raise `LlmCapReached`. Transient failures are retried with back-off and jitter, then by the next model of the chain. A request
    that was refused or gave an invalid answer is never repeated; an invalid answer is repaired once by a short request.

    Without a ledger nothing is logged and no cap applies. Never call it within a transaction of the store, which would block all
    writers.
    """

    def __init__(
        self,
        models: Mapping[LlmOperation, Sequence[Llm]],
        *,
        rules: CallRules = CallRules(),
        count_tokens: Callable[[str], int] = rough_tokens,
        ledger: Ledger | None = None,
        price: Price | None = None,
        sleep: Callable[[float], object] | None = None,
        closes: Sequence[Closeable] = (),
    ) -> None:
        self._models, self._rules, self._count = models, rules, count_tokens
        self._ledger, self._price, self._closes = ledger, price, closes
        self._closing = threading.Event()
        self._sleep = sleep or self._closing.wait
        self._failures = FailureMemory()
        self._without_tools: set[str] = set()
        self._limiter = MinuteLimiter(rules.calls_a_minute, rules.tokens_a_minute)

    def serves(self, operation: LlmOperation) -> bool:
        """Return whether a model is set for the operation."""
        return bool(self._models.get(operation))

    def window(self, operation: LlmOperation) -> int:
        """Return the smallest window of the chain: tokens of a request and its reply together."""
        return min(model.window for model in self._models[operation])

    def models(self, operation: LlmOperation) -> list[str]:
        """Return the names of the operation's models: the first choice, then the fallbacks."""
        return [model.name for model in self._models.get(operation, ())]

    def calls_tools(self, operation: LlmOperation) -> bool:
        """Return whether to offer tools: not to a model that once answered in plain words instead, as small ones do."""
        return self._models[operation][0].name not in self._without_tools

    def note_without_tools(self, model: str) -> None:
        """Remember in this process that a model had to call a tool and called none."""
        self._without_tools.add(model)

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, as counted before calls."""
        return self._count(text)

    def close(self) -> None:
        """End waits, write the rest of the ledger, and close what was passed in `closes`."""
        self._closing.set()
        if self._ledger is not None:
            self._ledger.flush()
        for one in self._closes:
            one.close()

    def structured(
        self,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        expected: Expected[T],
        *,
        max_tokens: int = REPLY_TOKENS,
    ) -> StructuredReply[T]:
        """Return a structured answer; raise `LlmCut` if it was cut and nothing complete is left, `LlmInvalid` if repair failed."""
        run = _Run()
        request = LlmRequest(messages=tuple(messages), max_tokens=max_tokens, schema=expected.schema)
        sent = self._send(purpose, self._chain(purpose), request, run)
        try:
            return self._read(purpose, sent, expected, run)
        except (LlmError, DeadlineExceeded) as error:
            # Also where there was no time or no money to repair it, the answer was of no use.
            self._failures.add(sent.digest, error)
            raise

    def chat(
        self,
        purpose: Purpose,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[Tool] = (),
        must_call_tool: bool = False,
        schema: Mapping[str, object] | None = None,
        max_tokens: int = REPLY_TOKENS,
    ) -> LlmReply:
        """Return one reply, which may call tools; the usage is of all requests that it took."""
        run = _Run()
        request = LlmRequest(
            messages=tuple(messages), max_tokens=max_tokens, schema=schema, tools=tuple(tools),
            must_call_tool=must_call_tool,
        )  # fmt: skip
        sent = self._send(purpose, self._chain(purpose), request, run)
        return replace(sent.reply, usage=run.usage)

    # Reading structured answers

    def _read(self, purpose: Purpose, sent: _Sent, expected: Expected[T], run: _Run) -> StructuredReply[T]:
        reply = sent.reply
        if reply.finish is Finish.FILTERED:
            raise LlmRefused(f"{reply.model}: the provider withheld the answer")
        if reply.finish is Finish.LENGTH:
            return _cut_reply(reply, expected, run)
        try:
            value = expected.read(read_json(close_brackets(reply.text) or reply.text))
        except ValueError as error:
            # Some servers do not say that they cut an answer.
            if is_truncated(reply.text) and expected.items and complete_items(reply.text, expected.items):
                return _cut_reply(reply, expected, run)
            value = self._repair(purpose, sent, expected, error, run)
        return StructuredReply(value=value, usage=run.usage, model=reply.model)

    def _repair(
        self, purpose: Purpose, sent: _Sent, expected: Expected[T], error: ValueError, run: _Run
    ) -> T:
        """Ask the model that answered to repair its answer: once, without the messages that led to it."""
        reply = sent.reply
        if not reply.text.strip():
            raise LlmInvalid(f"{reply.model}: the answer is empty") from error
        prompt = load("repair")
        text = prompt.fill(error=str(error), schema=json.dumps(expected.schema), answer=reply.text)
        request = LlmRequest(
            messages=(ChatMessage(role="user", text=text),),
            max_tokens=sent.max_tokens,
            schema=expected.schema,
        )
        mending = replace(purpose, prompt=prompt.version)
        try:
            mended = self._send(mending, [sent.model], request, run)
        except LlmCapReached:
            raise
        except LlmError as second:
            raise LlmInvalid(f"{reply.model}: {error}; not mended: {second}") from second
        try:
            if mended.reply.finish is Finish.LENGTH:
                raise ValueError("the mended answer was cut")
            return expected.read(read_json(mended.reply.text))
        except ValueError as second:
            failure = LlmInvalid(f"{reply.model}: {error}; mended: {second}")
            self._failures.add(mended.digest, failure)
            raise failure from second

    # Sending

    def _chain(self, purpose: Purpose) -> Sequence[Llm]:
        chain = self._models.get(purpose.operation)
        if not chain:
            raise Unavailable(f"no language model is set for {purpose.operation}")
        return chain

    def _send(self, purpose: Purpose, chain: Sequence[Llm], request: LlmRequest, run: _Run) -> _Sent:
        """Return the reply of the first model of the chain that gives one; else raise the last model's error."""
        failure: LlmError | None = None
        for model in chain:
            try:
                return self._ask(purpose, model, request, run, alone=model is chain[-1])
            except (LlmRefused, LlmBusy, LlmCut, LlmInvalid) as error:
                if model is not chain[-1]:
                    log.warning("%s; asking %s", error, chain[chain.index(model) + 1].name)
                failure = error
        assert failure is not None
        raise failure

    def _ask(self, purpose: Purpose, model: Llm, request: LlmRequest, run: _Run, *, alone: bool) -> _Sent:
        """Return the reply of one model, with retries while its failures are transient and time is left."""
        counted = self._counted(request)
        room = model.window - counted
        if room < min(request.max_tokens, LEAST_REPLY):
            raise LlmCut(f"{model.name}: {counted} tokens leave no room for a reply in {model.window}")
        request = replace(request, max_tokens=min(request.max_tokens, room))
        digest = request_digest(model.name, request)
        if (remembered := self._failures.find(digest)) is not None:
            raise remembered
        for attempt in range(self._rules.attempts):
            try:
                reply = self._call(purpose, model, request, counted, run)
                return _Sent(model, reply, digest, request.max_tokens)
            except (LlmRefused, LlmCut) as error:
                self._failures.add(digest, error)
                raise
            except LlmBusy as error:
                if attempt + 1 == self._rules.attempts:
                    raise
                wait = max(back_off(self._rules, attempt), error.retry_after or 0.0)
                if run.waited + wait > self._rules.patience:
                    raise
                if self._late(purpose, wait):
                    # Another model may answer in time; without one, the deadline is why there is no answer.
                    if not alone:
                        raise
                    raise DeadlineExceeded(f"{error}; the next try would begin after the deadline") from error
                log.info("%s; trying again in %.1f s", error, wait)
                run.waited += wait
                self._pause(wait)
        raise AssertionError("unreachable")

    def _call(self, purpose: Purpose, model: Llm, request: LlmRequest, counted: int, run: _Run) -> LlmReply:
        """Send one request to one model, and enter it in the ledger however it ends."""
        place = self._wait_for_room(purpose, model, counted + request.max_tokens)
        timeout = self._rules.timeout
        if purpose.deadline is not None:
            timeout = min(timeout, purpose.deadline - time.monotonic())
            if timeout <= 0:
                raise DeadlineExceeded(f"{model.name}: the deadline passed before the call began")
        request = replace(request, timeout=timeout)
        entry = None
        if self._ledger is not None:
            most = TokenUsage(counted, request.max_tokens)
            estimate = Estimate(
                input_tokens=most.input, output_tokens=most.output, price=self._priced(model.name, most)
            )
            entry = self._ledger.begin(purpose.bank, purpose.operation, model.name, estimate, timeout + GRACE)
        started = time.perf_counter()
        usage = TokenUsage(counted, 0)
        outcome: LlmReply | BaseException
        try:
            reply = model.complete(request)
            usage = reply.usage if reply.usage.total else self._usage(counted, reply)
            outcome = replace(reply, usage=usage, model=reply.model or model.name)
            return outcome
        except BaseException as error:
            outcome = error
            raise
        finally:
            run.usage += usage
            self._limiter.end(place, usage.total)
            if self._ledger is not None and entry is not None:
                seconds = time.perf_counter() - started
                call = self._logged(entry, purpose, request, usage, seconds, outcome)
                self._ledger.end(entry, call)

    def _wait_for_room(self, purpose: Purpose, model: Llm, tokens: int) -> Begun | None:
        """Wait until the limits per minute admit the call."""
        while True:
            wait, place = self._limiter.begin(model.name, tokens)
            if wait <= 0:
                return place
            if self._late(purpose, wait):
                raise DeadlineExceeded(f"{model.name}: the limit a minute admits no call before the deadline")
            self._pause(wait)

    def _pause(self, seconds: float) -> None:
        self._sleep(seconds)
        if self._closing.is_set():
            raise LlmBusy("the memory is being closed")

    def _late(self, purpose: Purpose, wait: float) -> bool:
        return purpose.deadline is not None and time.monotonic() + wait >= purpose.deadline

    # Counting

    def _counted(self, request: LlmRequest) -> int:
        """Count the tokens of a request before it is sent."""
        texts = [message.text for message in request.messages]
        texts += [json.dumps(dict(call.arguments)) for message in request.messages for call in message.calls]
        texts += [f"{tool.name} {tool.description} {json.dumps(tool.parameters)}" for tool in request.tools]
        if request.schema is not None:
            texts.append(json.dumps(request.schema))
        return sum(self._count(text) for text in texts) + MESSAGE_TOKENS * len(request.messages)

    def _usage(self, counted: int, reply: LlmReply) -> TokenUsage:
        calls = "".join(f"{call.name}{json.dumps(dict(call.arguments))}" for call in reply.calls)
        return TokenUsage(counted, self._count(reply.text + calls))

    def _priced(self, model: str, usage: TokenUsage) -> float | None:
        return None if self._price is None else self._price(model, usage)

    def _logged(
        self,
        entry: Entry,
        purpose: Purpose,
        request: LlmRequest,
        usage: TokenUsage,
        seconds: float,
        outcome: LlmReply | BaseException,
    ) -> LlmCall:
        error = outcome if isinstance(outcome, BaseException) else None
        answered = not isinstance(error, LlmRefused) and getattr(error, "status", None) is None
        texts = self._ledger is not None and self._ledger.log_texts
        return LlmCall(
            id=entry.id,
            at=entry.at,
            bank=entry.bank,
            operation=entry.operation,
            model=entry.model,
            status=SUCCESS if error is None else ERROR,
            input_tokens=usage.input,
            output_tokens=usage.output,
            seconds=seconds,
            error=None if error is None else f"{getattr(error, 'code', type(error).__name__)}: {error}",
            prompt=purpose.prompt,
            # A provider that answers with an error charges nothing; one that was not heard to the end may have.
            price=self._priced(entry.model, usage if answered else TokenUsage()),
            request=json.dumps([asdict(message) for message in request.messages], default=dict)
            if texts
            else None,
            response=outcome.text if texts and isinstance(outcome, LlmReply) else None,
        )


@dataclass(slots=True)
class _Run:
    """Accumulated usage of a call of the engine, over all its requests."""

    usage: TokenUsage = field(default_factory=TokenUsage)
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class _Sent:
    """A reply, with what is needed to remember that it was useless."""

    model: Llm
    reply: LlmReply
    digest: bytes
    max_tokens: int


def _cut_reply(reply: LlmReply, expected: Expected[T], run: _Run) -> StructuredReply[T]:
    """Return the complete items of a cut answer; raise `LlmCut` if there are none, or they are no answer by themselves."""
    complete = complete_items(reply.text, expected.items) if expected.items else None
    if complete is None:
        raise LlmCut(f"{reply.model}: the answer was cut after {reply.usage.output} tokens")
    try:
        value = expected.read(complete)
    except ValueError as error:
        raise LlmCut(f"{reply.model}: the answer was cut, and what is left is no answer: {error}") from error
    return StructuredReply(value=value, usage=run.usage, model=reply.model, cut=True)
