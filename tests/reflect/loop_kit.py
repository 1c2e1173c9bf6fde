"""A small memory and a scripted model that answers by tool calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any

from perdure import LlmReply, LlmRequest, Perdure, TokenUsage
from perdure.ports.llm import Finish, ToolCall
from tests.support.memory_store import MemoryStore
from tests.support.scripted_llm import ScriptedLlm, Step

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
_ids = count(1)


def call(tool: str, **arguments: object) -> LlmReply:
    """A reply that asks for one tool."""
    return calls((tool, arguments))


def calls(*wishes: tuple[str, Mapping[str, object]]) -> LlmReply:
    """A reply that asks for several tools."""
    asked = tuple(ToolCall(id=f"c{next(_ids)}", name=name, arguments=values) for name, values in wishes)
    return LlmReply(text="", usage=TokenUsage(100, 10), finish=Finish.TOOLS, calls=asked, model="scripted")


def done(*sentences: tuple[str, list[str]], **more: object) -> LlmReply:
    """A reply that ends with these sentences and their sources."""
    return call("done", sentences=[{"text": text, "sources": ids} for text, ids in sentences], **more)


class Loop:
    """A bank in which Ann and Bob said a few things, and a model with a script."""

    def __init__(
        self, script: Iterable[Step] | Callable[[LlmRequest], Step], window: int = 32_000, **settings: Any
    ) -> None:
        self.llm = ScriptedLlm(script, window=window)
        chosen = {
            "embedder": "hashing",
            "reranker": "none",
            "tagger": "rules",
            "tokens": "approximate",
            **settings,
        }
        self.engine = Perdure.open(store=MemoryStore(lambda: NOW), clock=lambda: NOW, llm=self.llm, **chosen)

    def say(self, text: str, speaker: str = "Ann", **fields: Any) -> tuple[str, ...]:
        """Retain what somebody says; returns the ids of the facts."""
        message = {"role": "user", "speaker": speaker, "content": text}
        return self.engine.retain("b", [message], timestamp=NOW, **fields).fact_ids

    @property
    def first_prompt(self) -> str:
        """Everything that the model read before its first answer."""
        return "\n".join(message.text for message in self.llm.requests[0].messages)

    def told(self, request: int) -> str:
        """The last thing that the model was told before a request."""
        return self.llm.requests[request].messages[-1].text

    def handle(self, words: str) -> str:
        """The id under which the model read a line with these words."""
        line = next(line for line in self.first_prompt.splitlines() if words in line and line.startswith("["))
        return line[1 : line.index("]")]
