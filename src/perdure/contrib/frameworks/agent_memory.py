"""The part that every adapter shares: memory beside an agent's loop, which it never breaks, blocks or fills twice.

Recalled text goes into the request alone; a failure or a late answer costs the memory of that turn and one line in the log;
turns are retained once, in the background, as documents of their conversation. The bank comes from the program, never from a
model.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from functools import wraps
from hashlib import blake2b
from typing import TypeVar

from perdure import AsyncPerdure, Forgotten, Perdure
from perdure.contrib.frameworks.turns import last_user_prompt, said_turns
from perdure.domain.bank import check_bank_id
from perdure.domain.inert import inert
from perdure.domain.item import UpdateMode
from perdure.domain.operation import Operation
from perdure.domain.recall import Precision
from perdure.errors import Busy, DeadlineExceeded, InvalidInput, public_message

log = logging.getLogger(__name__)

T = TypeVar("T")

DEADLINE = 1.0
"""Seconds that a turn waits for memory."""
TOOL_DEADLINE = 30.0
"""Seconds that a tool waits which the model itself called."""
MAX_TOKENS = 1024
"""Tokens of recalled text per request."""
MAX_PENDING = 16
"""Calls under way at once; a memory that hangs gets no more of them."""
REMEMBERED_TURNS = 256
"""Turns whose recalled text is kept, for the further requests of the same turn."""
ANONYMOUS = frozenset({"", "default", "anon", "anonymous", "none", "null", "undefined"})
"""Ids that stand for nobody: whoever shares one would share a memory."""
NOTHING = "Memory holds nothing on this."

BankSource = str | Callable[[], str]
"""A bank, or how to find it at the time of a call."""


def bank_of(app: str, user: str) -> str:
    """Return the bank of a user of an application, `app.user`; InvalidInput for ids that stand for nobody."""
    for field, value in (("app", app), ("user", user)):
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput(field, "an id that is not empty", value)
    if user.strip().casefold() in ANONYMOUS:
        raise InvalidInput("user", "the id of one user, since all who share it share a memory", user)
    return check_bank_id(f"{app.strip()}.{user.strip()}")


def resolve_bank(bank: BankSource) -> str:
    """Return the bank's id, found now and checked."""
    return check_bank_id(bank if isinstance(bank, str) else bank())


class AgentMemory:
    """Memory for agents' loops, blocking and asynchronous; safe to share between threads, users and conversations."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
        tool_deadline: float = TOOL_DEADLINE,
    ) -> None:
        if not deadline > 0:
            raise InvalidInput("deadline", "seconds above 0", deadline)
        self.memory: Perdure = memory.engine if isinstance(memory, AsyncPerdure) else memory
        self.max_tokens = max_tokens
        self.deadline = deadline
        self.tool_deadline = tool_deadline
        self._room = threading.BoundedSemaphore(MAX_PENDING)
        self._recalled: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    # Before the model is asked

    def context(
        self,
        bank: BankSource,
        messages: Sequence[object] | str,
        *,
        turn: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> str:
        """Recalled text for the user's last prompt, fenced off as data; "" means: put nothing into the request.

        Requests of one turn (after a tool's result) get the same text where `turn` tells the turn, such as by a run's id.
        """
        return self.in_time(self._recalling(bank, messages, turn, tags), "", "recall")

    async def acontext(
        self,
        bank: BankSource,
        messages: Sequence[object] | str,
        *,
        turn: str | None = None,
        tags: Sequence[str] | None = None,
    ) -> str:
        """As `context`, without blocking the event loop."""
        return await self.in_time_async(self._recalling(bank, messages, turn, tags), "", "recall")

    def _recalling(
        self,
        bank: BankSource,
        messages: Sequence[object] | str,
        turn: str | None,
        tags: Sequence[str] | None,
    ) -> Callable[[], str]:
        def recall() -> str:
            prompt = last_user_prompt([messages] if isinstance(messages, str) else messages)
            if prompt is None:
                return ""
            where = resolve_bank(bank)
            key = None if turn is None else (where, turn, prompt.text)
            with self._lock:
                if key is not None and key in self._recalled:
                    return self._recalled[key]
            result = self.memory.recall(
                where, prompt.text, max_tokens=self.max_tokens, tags=tags, precision=Precision.INJECT
            )
            text = result.to_prompt()
            if key is not None:
                self._remember_turn(key, text)
            return text

        return recall

    def _remember_turn(self, key: tuple[str, str, str], text: str) -> None:
        with self._lock:
            self._recalled[key] = text
            while len(self._recalled) > REMEMBERED_TURNS:
                self._recalled.popitem(last=False)

    # After the turn

    def retain_turns(
        self,
        bank: BankSource,
        messages: Sequence[object],
        *,
        document_id: str,
        turn: str | None = None,
        tags: Sequence[str] | None = None,
        replace: bool = False,
    ) -> Operation | None:
        """Retain turns of a conversation in the background; None where there is nothing to retain, or memory failed.

        Of the messages only what user and assistant said counts. `turn` names what is added (the id of a run or of its
        first message): the same turn with the same words is added once, however often it is handed over. With `replace`
        the messages are the whole conversation; turns that did not change stay as they are.
        """
        work = self._retaining(bank, messages, document_id, turn, tags, replace)
        return self.in_time(work, None, "retain")

    async def aretain_turns(
        self,
        bank: BankSource,
        messages: Sequence[object],
        *,
        document_id: str,
        turn: str | None = None,
        tags: Sequence[str] | None = None,
        replace: bool = False,
    ) -> Operation | None:
        """Do as `retain_turns`, without blocking the event loop."""
        work = self._retaining(bank, messages, document_id, turn, tags, replace)
        return await self.in_time_async(work, None, "retain")

    def _retaining(
        self,
        bank: BankSource,
        messages: Sequence[object],
        document_id: str,
        turn: str | None,
        tags: Sequence[str] | None,
        replace: bool,
    ) -> Callable[[], Operation | None]:
        def retain() -> Operation | None:
            turns = said_turns(messages)
            if not turns:
                return None
            once = None if turn is None else _turn_id(document_id, turn, [said.text for said in turns])
            return self.memory.retain_later(
                resolve_bank(bank),
                [said.as_message() for said in turns],
                update_mode=UpdateMode.REPLACE if replace else UpdateMode.APPEND,
                operation_id=once,
                document_id=document_id,
                tags=tags,
            )

        return retain

    # Erasure: asked for by the program, so its errors are the program's

    def forget_conversation(self, bank: BankSource, document_id: str) -> Forgotten:
        """Erase everything that was retained of a conversation."""
        return self.memory.forget(resolve_bank(bank), document_id=document_id)

    def forget_user(self, bank: BankSource) -> Forgotten:
        """Erase the whole bank."""
        return self.memory.forget(resolve_bank(bank), everything=True)

    # Tools

    def tools(self, bank: BankSource, *, tags: Sequence[str] | None = None) -> MemoryTools:
        """Return the tools that a model may call on this bank."""
        return MemoryTools(self, bank, tags=tags)

    # Deadlines

    def in_time(self, work: Callable[[], T], otherwise: T, what: str) -> T:
        """Return the result of the work, or `otherwise` with one line in the log if it failed or the deadline passed."""
        try:
            return self.run(work, self.deadline)
        except Exception as error:  # noqa: BLE001 - memory may break in any way, the agent's turn may not
            _tell_failure(what, error)
            return otherwise

    async def in_time_async(self, work: Callable[[], T], otherwise: T, what: str) -> T:
        """As `in_time`, without blocking the event loop."""
        try:
            return await self.run_async(work, self.deadline)
        except Exception as error:  # noqa: BLE001 - memory may break in any way, the agent's turn may not
            _tell_failure(what, error)
            return otherwise

    def run(self, work: Callable[[], T], deadline: float) -> T:
        """Run it on a thread of its own; DeadlineExceeded when that takes too long, Busy when too many are under way."""
        future = self._start(work)
        try:
            return future.result(deadline)
        except TimeoutError as error:
            if future.done():
                raise
            raise DeadlineExceeded(f"no answer within {deadline:g} s") from error

    async def run_async(self, work: Callable[[], T], deadline: float) -> T:
        """As `run`, without blocking the event loop."""
        waiting = asyncio.wrap_future(self._start(work))
        await asyncio.wait([waiting], timeout=deadline)
        if not waiting.done():
            waiting.cancel()
            raise DeadlineExceeded(f"no answer within {deadline:g} s")
        return waiting.result()

    def _start(self, work: Callable[[], T]) -> Future[T]:
        """Begin the work on a daemon thread, which a process that ends does not wait for."""
        if not self._room.acquire(blocking=False):
            raise Busy(f"{MAX_PENDING} calls are under way")
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        context = copy_context()

        def run() -> None:
            try:
                value = context.run(work)
            except BaseException as error:  # noqa: BLE001 - the edge of the thread: raised where it is waited for
                self._room.release()
                future.set_exception(error)
            else:
                self._room.release()
                future.set_result(value)

        threading.Thread(target=run, name="perdure-agent", daemon=True).start()
        return future


class MemoryTools:
    """What a model may do with a bank, as plain functions: their names, parameters and docstrings describe the tools.

    They answer in text, also when memory fails: a model can go on with that.
    """

    def __init__(self, agent: AgentMemory, bank: BankSource, *, tags: Sequence[str] | None = None) -> None:
        self._agent = agent
        self._bank = bank
        self._tags = tags

    def functions(self) -> list[Callable[[str], str]]:
        """Return the tools as functions that block."""
        return [self.retain, self.recall, self.reflect, self.forget]

    def async_functions(self) -> list[Callable[[str], Awaitable[str]]]:
        """Return the same tools as coroutines, under the same names."""

        def off_the_loop(
            function: Callable[[str], str], coroutine: Callable[[str], Awaitable[str]]
        ) -> Callable[[str], Awaitable[str]]:
            @wraps(function)
            async def call(*text: str, **named: str) -> str:
                return await coroutine(*text, **named)

            return call

        coroutines = (self.aretain, self.arecall, self.areflect, self.aforget)
        return [off_the_loop(*pair) for pair in zip(self.functions(), coroutines, strict=True)]

    def retain(self, content: str) -> str:
        """Remember something for later conversations: a fact, preference, decision or plan, in full sentences with names.

        Args:
            content: What to remember.
        """
        return self._answer(lambda: self._retain(content))

    def recall(self, query: str) -> str:
        """Search long-term memory. Returns facts with dates, ids and how strong the evidence is.

        Args:
            query: What you want to know, as a full question with names and dates.
        """
        return self._answer(lambda: self._recall(query))

    def reflect(self, question: str) -> str:
        """Answer a question from long-term memory, with the facts that the answer rests on.

        Args:
            question: The question, with names and dates.
        """
        return self._answer(lambda: self._reflect(question))

    def forget(self, fact_id: str) -> str:
        """Erase one fact from long-term memory for good, when the user asks for that.

        Args:
            fact_id: The id of the fact, as recall returns it.
        """
        return self._answer(lambda: self._forget(fact_id))

    async def aretain(self, content: str) -> str:
        """As `retain`."""
        return await self._answer_async(lambda: self._retain(content))

    async def arecall(self, query: str) -> str:
        """As `recall`."""
        return await self._answer_async(lambda: self._recall(query))

    async def areflect(self, question: str) -> str:
        """As `reflect`."""
        return await self._answer_async(lambda: self._reflect(question))

    async def aforget(self, fact_id: str) -> str:
        """As `forget`."""
        return await self._answer_async(lambda: self._forget(fact_id))

    def _retain(self, content: str) -> str:
        done = self._agent.memory.retain(resolve_bank(self._bank), content, tags=self._tags)
        there_before = len(done.merged) + done.unchanged
        count = len(done.fact_ids)
        return f"Remembered {count} new fact{'' if count == 1 else 's'}" + (
            f", {there_before} known before." if there_before else "."
        )

    def _recall(self, query: str) -> str:
        budget = self._agent.max_tokens
        result = self._agent.memory.recall(
            resolve_bank(self._bank), query, max_tokens=budget, tags=self._tags
        )
        return result.fit_prompt(budget, with_ids=True).text or NOTHING

    def _reflect(self, question: str) -> str:
        budget = self._agent.max_tokens
        reflection = self._agent.memory.reflect(
            resolve_bank(self._bank), question, max_tokens=budget, tags=self._tags
        )
        return reflection.fit_prompt(budget).text or NOTHING

    def _forget(self, fact_id: str) -> str:
        forgotten = self._agent.memory.forget(resolve_bank(self._bank), fact_id=fact_id)
        return "Forgotten." if forgotten.existed else f"There is no fact with the id {inert(fact_id)}."

    def _answer(self, work: Callable[[], str]) -> str:
        try:
            return self._agent.run(work, self._agent.tool_deadline)
        except Exception as error:  # noqa: BLE001 - a model that called a tool is told, and goes on
            return _told_failure(error)

    async def _answer_async(self, work: Callable[[], str]) -> str:
        try:
            return await self._agent.run_async(work, self._agent.tool_deadline)
        except Exception as error:  # noqa: BLE001 - a model that called a tool is told, and goes on
            return _told_failure(error)


def _tell_failure(what: str, error: Exception) -> None:
    log.warning("memory is left out of this turn, %s failed: %s", what, public_message(error))


def _told_failure(error: Exception) -> str:
    log.warning("a memory tool failed: %s", public_message(error))
    return f"Memory is not available: {public_message(error)}"


def _turn_id(document_id: str, turn: str, texts: Sequence[str]) -> str:
    """Return the id of the operation that adds a turn: the same for the same words of the same turn."""
    digest = blake2b(digest_size=16)
    for part in (document_id, turn, *texts):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"turn-{digest.hexdigest()}"
