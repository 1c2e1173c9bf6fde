"""Language models of many providers through pydantic-ai.

OpenAI, Anthropic, Google, Ollama and others are opened by name, any server that speaks OpenAI's protocol (llama.cpp, vLLM, LM
Studio) by its URL. One request is one request: the clients' own retries are switched off. Requests of all threads run on one
event loop per model, so that its connections are shared.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from enum import StrEnum
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from perdure.errors import InvalidInput, LlmBusy, LlmCut, LlmError, LlmRefused
from perdure.models.providers import read_retry_after
from perdure.ports.llm import ChatMessage, Finish, JsonSchema, LlmReply, LlmRequest, TokenUsage, ToolCall
from perdure.ports.tokens import Tokens
from perdure.text.surrogates import without_surrogates

log = logging.getLogger(__name__)
T = TypeVar("T")

BY_URL = "http"
"""The provider in the name of a model that is reached by its URL."""
WINDOWS = {"ollama": 4_096, BY_URL: 8_192}
"""Windows if the setting `llm_window` is not set and the model is not known: the defaults of these servers."""
OTHER_WINDOW = 32_768
GRACE = 5.0
"""Seconds beyond the time-out to wait for an answer."""
ROUNDS = 10
EXCERPT = 300
SCHEMA_REQUEST = "Answer with one JSON value that satisfies this JSON Schema, and with nothing else:\n"
_PERMANENT = frozenset({400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 422})
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|AIza)[-_][\w-]{12,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+")


class Refusable(StrEnum):
    """Parts of a request that a provider may refuse, and that are then not sent to that model again."""

    TOOL_CHOICE = "tool_choice"
    JSON_SCHEMA = "json_schema"
    REASONING = "reasoning"
    MAX_TOKENS = "max_tokens"
    """The older name of the reply's limit; the newer one is sent instead."""


_NAMED = {
    Refusable.TOOL_CHOICE: re.compile(r"tool[_ ]choice", re.IGNORECASE),
    Refusable.JSON_SCHEMA: re.compile(
        r"response[_ ]?format|json[_ ]schema|structured[_ ]output|response[_ ]?schema|output_config",
        re.IGNORECASE,
    ),
    Refusable.REASONING: re.compile(r"reasoning|thinking", re.IGNORECASE),
    Refusable.MAX_TOKENS: re.compile(r"max_completion_tokens", re.IGNORECASE),
}


class PydanticAiLlm:
    """The Llm port over a model of pydantic-ai. The key appears in no error, log or repr."""

    def __init__(
        self,
        model: str,
        *,
        tokens: Tokens,
        url: str = "",
        key: str = "",
        window: int = 0,
        reasoning: str = "",
    ) -> None:
        self._tokens, self._reasoning = tokens, reasoning
        self._provider_name, self._model_name = split_name(model, url)
        self._secrets = [key] if key else []
        self._model = self._open(url, key)
        stated_window = self._model.profile.get("context_window")
        self._window = window or stated_window or WINDOWS.get(self._provider_name, OTHER_WINDOW)
        self._loop = _LoopThread(f"perdure-llm-{self._model_name}", self._model)
        self._refused: set[Refusable] = set()
        """Only grows; used without a lock, since each access is atomic."""

    def __repr__(self) -> str:
        return f"PydanticAiLlm({self.name!r})"

    @property
    def name(self) -> str:
        return f"{self._provider_name}:{self._model_name}"

    @property
    def window(self) -> int:
        return self._window

    @property
    def refused(self) -> frozenset[Refusable]:
        return frozenset(self._refused)

    def complete(self, request: LlmRequest) -> LlmReply:
        """Return the model's reply; repeat the request without what the provider refuses when it names that for the first time."""
        while True:
            dropped = frozenset(self._refused)
            outcome = self._attempt(request, dropped)
            if isinstance(outcome, LlmReply):
                return outcome
            named = self._named(outcome, request, dropped)
            if not named:
                raise outcome
            log.warning("%s refuses %s, which is not sent any more", self.name, ", ".join(sorted(named)))
            self._refused |= named

    def close(self) -> None:
        self._loop.close()

    # Sending

    def _attempt(self, request: LlmRequest, dropped: frozenset[Refusable]) -> LlmReply | LlmError:
        """Send one request. Errors are returned, so that none is raised in the context of the provider's, which may quote a key."""
        native = request.schema is not None and self._takes_schema(dropped)
        schema = None if native else request.schema
        call = model_request(
            self._model_for(dropped),
            _to_messages(request.messages, schema),
            model_settings=self._settings(request, dropped),
            model_request_parameters=_parameters(request, native=native),
            instrument=False,
        )
        try:
            return self._reply(request, self._loop.run(call, request.timeout + GRACE))
        except exceptions.UserError as error:
            return LlmRefused(self._shown(error))
        except exceptions.AgentRunError as error:
            return self._read_error(error, request)
        except TimeoutError:
            return LlmBusy(f"{self.name}: no answer within {request.timeout:g} s")
        except CancelledError:
            return LlmBusy(f"{self.name}: closed while it was asked")

    def _settings(self, request: LlmRequest, dropped: frozenset[Refusable]) -> ModelSettings:
        settings = ModelSettings(
            max_tokens=request.max_tokens,
            timeout=request.timeout,
            request_timeout=request.timeout,
            max_retries=0,
        )
        if self._reasoning and Refusable.REASONING not in dropped:
            settings["thinking"] = False if self._reasoning == "off" else self._reasoning  # type: ignore[typeddict-item]
        if request.tools and request.must_call_tool and Refusable.TOOL_CHOICE not in dropped:
            settings["tool_choice"] = "required"
        return settings

    def _takes_schema(self, dropped: frozenset[Refusable]) -> bool:
        supported = self._model.profile.get("supports_json_schema_output", False)
        return supported and Refusable.JSON_SCHEMA not in dropped

    def _named(
        self, error: LlmError, request: LlmRequest, dropped: frozenset[Refusable]
    ) -> frozenset[Refusable]:
        """Return the sent parts that an error newly names as refused."""
        if not isinstance(error, LlmRefused) or error.status not in (None, 400, 404, 422):
            return frozenset()
        sent = {
            Refusable.TOOL_CHOICE: bool(request.tools) and request.must_call_tool,
            Refusable.JSON_SCHEMA: request.schema is not None and self._takes_schema(dropped),
            Refusable.REASONING: bool(self._reasoning),
            Refusable.MAX_TOKENS: self._provider_name == BY_URL,
        }
        return (
            frozenset(part for part, was_sent in sent.items() if was_sent and _NAMED[part].search(str(error)))
            - dropped
        )

    # Reading

    def _reply(self, request: LlmRequest, response: ModelResponse) -> LlmReply | LlmError:
        if response.finish_reason == "error":
            return LlmBusy(f"{self.name}: the provider ended the answer with an error")
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        calls = tuple(_to_call(part) for part in response.parts if isinstance(part, ToolCallPart))
        usage = TokenUsage(response.usage.input_tokens, response.usage.output_tokens)
        return LlmReply(
            text=text,
            usage=usage if usage.total else self._count(request, text, calls),
            finish=_FINISH.get(response.finish_reason or "", Finish.TOOLS if calls else Finish.STOP),
            calls=calls,
            model=self.name,
        )

    def _count(self, request: LlmRequest, text: str, calls: Iterable[ToolCall]) -> TokenUsage:
        """Count tokens if the provider does not report them."""
        sent = [message.text for message in request.messages]
        sent += [json.dumps(tool.parameters) for tool in request.tools]
        if request.schema is not None:
            sent.append(json.dumps(request.schema))
        answered = text + "".join(json.dumps(dict(call.arguments)) for call in calls)
        return TokenUsage(sum(map(self._tokens.count, sent)), self._tokens.count(answered))

    def _read_error(self, error: exceptions.AgentRunError, request: LlmRequest) -> LlmError:
        shown = self._shown(error)
        status = getattr(error, "status_code", None)
        if isinstance(error, exceptions.ModelContextWindowExceededError):
            return LlmCut(shown)
        if isinstance(error, exceptions.ModelQuotaExceededError) or status in _PERMANENT:
            return LlmRefused(shown, status=status)
        if isinstance(error, exceptions.ModelRequestTimeout | exceptions.ModelTimeoutError):
            return LlmBusy(f"{self.name}: no answer within {request.timeout:g} s")
        headers: Mapping[str, str] = getattr(error, "headers", None) or {}
        wait = read_retry_after(headers.get("retry-after"))
        if wait is None:
            wait = getattr(error, "retry_after", None)
        return LlmBusy(shown, status=status, retry_after=wait)

    def _shown(self, error: Exception) -> str:
        """Return an error on one line, without keys."""
        body = getattr(error, "body", None)
        detail = body.get("message") if isinstance(body, dict) else body
        status = getattr(error, "status_code", None)
        text = f"{status}: {detail or error}" if status is not None else str(error)
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        text = " ".join(_KEY_LIKE.sub("[key]", text).split())
        return f"{self.name}: {text if len(text) <= EXCERPT else text[:EXCERPT] + '…'}"

    # Opening

    def _open(self, url: str, key: str) -> Model:
        try:
            if self._provider_name == BY_URL:
                return self._by_url(url, key, older_limit=True)
            name = "openai-chat" if self._provider_name == "openai" else self._provider_name
            model = infer_model(f"{name}:{self._model_name}", lambda name: _provider(name, url, key))
        except (exceptions.UserError, ImportError, ValueError) as error:
            reason = str(error)
        else:
            own = getattr(getattr(model, "client", None), "api_key", None)
            if isinstance(own, str) and len(own) > 8:
                self._secrets.append(own)
            return model
        for secret in self._secrets:
            reason = reason.replace(secret, "[key]")
        raise InvalidInput("llm", f"a model that can be opened ({reason})", self.name)

    def _by_url(self, url: str, key: str, *, older_limit: bool) -> Model:
        """Return a model behind a URL; every such server knows the older name of the limit, most of OpenAI's own only the newer."""
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.profiles.openai import OpenAIModelProfile
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
            raise InvalidInput("llm_url", "http(s)://host/path without user, password or query")
        provider = OpenAICompatibleProvider(BY_URL, base_url=url, api_key=key or None)

        def with_limit(newer: bool) -> Model:
            profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=newer)
            return OpenAIChatModel(self._model_name, provider=provider, profile=profile)

        self._newer_limit = with_limit(True)
        return with_limit(not older_limit)

    def _model_for(self, dropped: frozenset[Refusable]) -> Model:
        return self._newer_limit if Refusable.MAX_TOKENS in dropped else self._model


def split_name(model: str, url: str) -> tuple[str, str]:
    """Return provider and model of a name such as "openai:gpt-5-mini".

    With a URL, a name without a provider, or with OpenAI's, is one of the server there.
    """
    provider, _, name = model.partition(":")
    try:
        has_provider = bool(name) and infer_provider_class(provider) is not None
    except (ValueError, ImportError):
        has_provider = False
    if url and (not has_provider or provider in ("openai", "openai-chat")):
        return BY_URL, name if has_provider else model
    if not has_provider:
        raise InvalidInput("llm", "`provider:model`, or a model's name beside `llm_url`", model)
    return provider, name


def _provider(name: str, url: str, key: str) -> Provider[Any]:
    """Return a provider with the configured key and URL; it reads missing ones from its own environment variables."""
    options: dict[str, str] = {"api_key": key} if key else {}
    if name == "ollama":
        options["base_url"] = url or "http://localhost:11434/v1"
    return infer_provider_class(name)(**options) if options else infer_provider(name)


_FINISH = {"length": Finish.LENGTH, "content_filter": Finish.FILTERED, "tool_call": Finish.TOOLS}


def _parameters(request: LlmRequest, *, native: bool) -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
        )
        for tool in request.tools
    ]
    if not native or request.schema is None:
        return ModelRequestParameters(function_tools=tools)
    schema = OutputObjectDefinition(json_schema=dict(request.schema), name="answer")
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=schema)


def _to_messages(messages: Sequence[ChatMessage], schema: JsonSchema | None) -> list[ModelMessage]:
    """Convert messages to pydantic-ai's; a schema that cannot be sent as such is added to the last of them in words."""
    sendable: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    for message in messages:
        if message.role == "assistant":
            if asked:
                sendable.append(ModelRequest(parts=asked))
                asked = []
            sendable.append(ModelResponse(parts=_answered(message)))
        else:
            asked.append(_asked(message))
    if schema is not None:
        asked.append(UserPromptPart(SCHEMA_REQUEST + json.dumps(schema)))
    if asked:
        sendable.append(ModelRequest(parts=asked))
    return sendable


def _asked(message: ChatMessage) -> ModelRequestPart:
    text = without_surrogates(message.text)
    if message.role == "system":
        return SystemPromptPart(text)
    if message.role == "tool":
        return ToolReturnPart(tool_name=message.tool, content=text, tool_call_id=message.call_id)
    return UserPromptPart(text)


def _answered(message: ChatMessage) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = [TextPart(without_surrogates(message.text))] if message.text else []
    for call in message.calls:
        arguments: str | dict[str, Any] = call.invalid or dict(call.arguments)
        parts.append(ToolCallPart(tool_name=call.name, args=arguments, tool_call_id=call.id))
    return parts


def _to_call(part: ToolCallPart) -> ToolCall:
    value: object = part.args
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except ValueError:
            value = None
    if value is None and part.args is None:
        value = {}
    if isinstance(value, Mapping):
        return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=dict(value))
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments={}, invalid=str(part.args))


class _LoopThread:
    """An event loop on its own thread, started by the first request, for the model's connections."""

    def __init__(self, name: str, model: Model) -> None:
        self._name, self._model = name, model
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(self, work: Coroutine[Any, Any, T], timeout: float) -> T:
        """Return the result of a coroutine; cancel it and raise TimeoutError if it takes too long."""
        with self._lock:
            if self._closed:
                work.close()
                raise exceptions.UserError("the model is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
                asyncio.run_coroutine_threadsafe(self._model.__aenter__(), self._loop).result(GRACE)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout)
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Close the model's connections and end the thread."""
        with self._lock:
            loop, thread, self._closed = self._loop, self._thread, True
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._shut(), loop).result(GRACE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(GRACE)
        loop.close()

    async def _shut(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._model.__aexit__(None, None, None)
        # Transports close themselves in the rounds of the loop that follow.
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
