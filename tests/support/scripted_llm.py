"""A language model in the process that answers by a script: for tests in which the protocol does not matter."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable

from perdure.errors import LlmBusy
from perdure.ports.llm import LlmReply, LlmRequest, TokenUsage

AT_LAST = 1e6
"""Seconds to come back in, so that nobody waits for a script that is over."""
Step = LlmReply | Exception | str | dict[str, object] | list[object]
"""A reply, an error to raise, a text, or a value that is sent as JSON."""


class ScriptedLlm:
    """Answers each request by the next step, or by a function of the request; keeps the requests."""

    def __init__(
        self,
        script: Iterable[Step] | Callable[[LlmRequest], Step],
        *,
        name: str = "scripted:model",
        window: int = 32_000,
    ) -> None:
        self._name, self._window = name, window
        self._script = script if callable(script) else _in_order(script)
        self._lock = threading.Lock()
        self.requests: list[LlmRequest] = []

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._name

    @property
    def window(self) -> int:
        """Tokens of a request and its reply."""
        return self._window

    def complete(self, request: LlmRequest) -> LlmReply:
        """The next step; LlmBusy when the script is over."""
        with self._lock:
            self.requests.append(request)
            step = self._script(request)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, LlmReply):
            return step
        text = step if isinstance(step, str) else json.dumps(step)
        return LlmReply(text=text, usage=TokenUsage(_tokens(request), len(text) // 4 + 1), model=self._name)


def _in_order(steps: Iterable[Step]) -> Callable[[LlmRequest], Step]:
    remaining = iter(steps)
    return lambda _: next(remaining, LlmBusy("the script is over", retry_after=AT_LAST))


def _tokens(request: LlmRequest) -> int:
    return sum(len(message.text) // 4 + 1 for message in request.messages)
