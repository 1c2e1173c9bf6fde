"""Limits: bounded worker threads, a gate for recalls, time limits and the size of requests."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perdure.errors import Busy, DeadlineExceeded
from perdure.surfaces.rest.errors import plain_error

T = TypeVar("T")

RECALL_WORKERS = 8
OTHER_WORKERS = 16


class Workers:
    """Threads on which the engine runs; recalls have their own, so that writing never starves them."""

    def __init__(self, most_recalls: int, timeout: float) -> None:
        self._recalls = ThreadPoolExecutor(
            max_workers=min(RECALL_WORKERS, most_recalls), thread_name_prefix="perdure-recall"
        )
        self._others = ThreadPoolExecutor(max_workers=OTHER_WORKERS, thread_name_prefix="perdure-rest")
        self._most, self._timeout = most_recalls, timeout
        self.recalls_running = 0
        self.recalls_refused = 0

    async def recall(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Run a recall; refuses at once when too many are under way."""
        if self.recalls_running >= self._most:
            self.recalls_refused += 1
            raise Busy(f"{self._most} recalls are under way; try again in a second")
        self.recalls_running += 1
        return await self._within_time(self._recalls, self._leave, work, *args, **options)

    async def run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Run anything else."""
        return await self._within_time(self._others, lambda _: None, work, *args, **options)

    def close(self) -> None:
        """Let what runs finish; drop what has not begun."""
        self._recalls.shutdown(wait=True, cancel_futures=True)
        self._others.shutdown(wait=True, cancel_futures=True)

    def _leave(self, _: object) -> None:
        self.recalls_running -= 1

    async def _within_time(
        self,
        pool: ThreadPoolExecutor,
        finished: Callable[[object], None],
        work: Callable[..., T],
        *args: Any,
        **options: Any,
    ) -> T:
        """A thread cannot be stopped: past the time limit the caller leaves, and its place stays taken."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(pool, functools.partial(work, *args, **options))
        future.add_done_callback(finished)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self._timeout)
        except TimeoutError as error:
            if future.done() and not future.cancelled() and future.exception() is error:
                raise
            future.add_done_callback(_forget_outcome)
            raise DeadlineExceeded(f"not done within {self._timeout:g} seconds") from None


def _forget_outcome(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


class BodyLimit:
    """Refuses requests whose body is larger than allowed, announced or not."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most
        self._message = f"a request may have at most {most} bytes"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the body while it arrives."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not announced.isdigit() or int(announced) > self._most:
            await self._refuse(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise HTTPException(413, self._message)
            return message

        await self._app(scope, counted, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = plain_error(413, "too_large", self._message)
        response.headers["connection"] = "close"
        await response(scope, receive, send)
