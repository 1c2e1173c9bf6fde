"""The adapter on pydantic-ai, against a server that speaks OpenAI's protocol: what it sends, what it reads, which errors it makes."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from perdure.errors import InvalidInput, LlmBusy, LlmCut, LlmRefused
from perdure.models.llm_prices import list_price
from perdure.models.pydantic_ai_llm import PydanticAiLlm, Refusable, split_name
from perdure.models.tokens import ApproximateTokens
from perdure.ports.llm import ChatMessage, Finish, LlmRequest, TokenUsage, Tool
from tests.support.llm_server import Answer, Failure, Hang, LlmServer, Script

KEY = "sk-very-secret-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array", "items": {"type": "string"}}}}
RECALL = Tool(name="recall", description="Search memory.", parameters={"type": "object", "properties": {}})
Opening = Callable[..., tuple[PydanticAiLlm, LlmServer]]


@pytest.fixture
def opened() -> Iterator[Opening]:
    closing: list[Any] = []

    def start(script: Script, model: str = "small-model", **options: Any) -> tuple[PydanticAiLlm, LlmServer]:
        server = LlmServer(script)
        llm = PydanticAiLlm(model, tokens=ApproximateTokens(), url=server.url, key=KEY, **options)
        closing.extend((llm, server))
        return llm, server

    yield start
    for one in closing:
        one.close()


def request(text: str = "Hello?", **options: Any) -> LlmRequest:
    options.setdefault("timeout", 10.0)
    return LlmRequest(messages=[ChatMessage(role="user", text=text)], max_tokens=200, **options)


# What is sent and read


def test_a_reply_is_read_with_its_tokens(opened: Opening) -> None:
    llm, server = opened([Answer(text="Hello.", usage=(12, 3))])
    reply = llm.complete(request())
    assert (reply.text, reply.usage, reply.finish) == ("Hello.", TokenUsage(12, 3), Finish.STOP)
    assert (reply.model, llm.name, llm.window) == ("http:small-model", "http:small-model", 8_192)
    [sent] = server.requests
    assert (sent.body["model"], sent.body["max_tokens"]) == ("small-model", 200)
    assert not sent.body.get("stream")
    assert sent.headers["authorization"] == f"Bearer {KEY}"


def test_calls_of_tools_are_read_and_invalid_arguments_shown(opened: Opening) -> None:
    llm, server = opened([Answer(calls=[("recall", {"query": "x"}), ("recall", "{broken"), ("done", "")])])
    reply = llm.complete(request(tools=[RECALL], must_call_tool=True))
    assert server.requests[0].body["tool_choice"] == "required"
    assert [call.arguments for call in reply.calls] == [{"query": "x"}, {}, {}]
    assert [call.invalid for call in reply.calls] == ["", "{broken", ""]
    assert reply.finish is Finish.TOOLS


def test_a_schema_is_sent_as_the_protocol_has_it(opened: Opening) -> None:
    llm, server = opened([Answer(value={"facts": ["a"]})])
    assert json.loads(llm.complete(request(schema=SCHEMA)).text) == {"facts": ["a"]}
    sent = server.requests[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"]["properties"]["facts"]["type"] == "array"


def test_any_thread_may_call_several_at_once(opened: Opening) -> None:
    llm, server = opened(lambda asked: Answer(text=asked.texts[0]))
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda number: llm.complete(request(str(number))).text, range(24)))
    assert replies == [str(number) for number in range(24)]
    assert len(server.requests) == 24


# Errors


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
def test_what_would_fail_again_is_refused_and_sent_once(opened: Opening, status: int) -> None:
    llm, server = opened([Failure(status, "no such luck"), Answer(text="never")])
    with pytest.raises(LlmRefused, match="no such luck") as caught:
        llm.complete(request())
    assert caught.value.status == status
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_may_pass_is_busy_and_sent_once(opened: Opening, status: int) -> None:
    llm, server = opened([Failure(status), Answer(text="never")])
    with pytest.raises(LlmBusy) as caught:
        llm.complete(request())
    assert (caught.value.status, caught.value.retry_after) == (status, None)
    assert len(server.requests) == 1


def test_the_time_to_wait_is_read(opened: Opening) -> None:
    llm, _ = opened([Failure(429, retry_after="7"), Failure(503, retry_after="2.5")])
    waits = []
    for _ in range(2):
        with pytest.raises(LlmBusy) as caught:
            llm.complete(request())
        waits.append(caught.value.retry_after)
    assert waits == [7.0, 2.5]


def test_a_request_too_long_for_the_window_is_cut(opened: Opening) -> None:
    message = "This model's maximum context length is 4096 tokens."
    llm, _ = opened([Failure(400, message, code="context_length_exceeded")])
    with pytest.raises(LlmCut):
        llm.complete(request())


def test_a_server_that_hangs_is_left(opened: Opening) -> None:
    llm, _ = opened([Hang(), Answer(text="Here.")])
    with pytest.raises(LlmBusy, match=r"within 0\.2 s"):
        llm.complete(request(timeout=0.2))
    assert llm.complete(request()).text == "Here."


# What a provider refuses


@pytest.mark.parametrize(
    ("part", "field", "message", "options"),
    [
        (
            Refusable.TOOL_CHOICE,
            "tool_choice",
            "tool_choice 'required' is not supported",
            {"tools": [RECALL], "must_call_tool": True},
        ),
        (
            Refusable.JSON_SCHEMA,
            "response_format",
            "'response_format' of type 'json_schema' is not supported",
            {"schema": SCHEMA},
        ),
        (Refusable.REASONING, "reasoning_effort", "Unsupported parameter: 'reasoning_effort'", {}),
    ],
)
def test_a_parameter_that_is_refused_by_name_is_dropped_for_that_model(
    opened: Opening, part: Refusable, field: str, message: str, options: dict[str, Any]
) -> None:
    llm, server = opened(
        [Failure(400, message), Answer(text="ok"), Answer(text="ok")], "o3-mini", reasoning="low"
    )
    if part is not Refusable.REASONING:
        llm, server = opened([Failure(400, message), Answer(text="ok"), Answer(text="ok")])
    for _ in range(2):
        assert llm.complete(request(**options)).text == "ok"
    with_it = [
        field in one.body and one.body[field] not in ("auto", {"type": "text"}) for one in server.requests
    ]
    assert with_it == [True, False, False]
    assert llm.refused == {part}


# Keys and names


def test_keys_are_in_no_error_log_or_repr(opened: Opening, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    llm, _ = opened(
        [
            Failure(401, f"Incorrect API key provided: {KEY}"),
            Failure(400, f"response_format? {KEY}"),
            Failure(500),
        ]
    )
    errors = []
    for _ in range(2):
        with pytest.raises((LlmRefused, LlmBusy)) as caught:
            llm.complete(request(schema=SCHEMA))
        errors.append(caught.value)
    for error in errors:
        chain = [error, error.__cause__, error.__context__]
        assert KEY not in "".join(repr(one) for one in chain)
    assert "[key]" in str(errors[0])
    assert KEY not in caplog.text + repr(llm) + str(vars(llm).get("_model"))


def test_names_say_which_provider_is_meant() -> None:
    assert split_name("openai:gpt-5-mini", "") == ("openai", "gpt-5-mini")
    assert split_name("anthropic:claude-haiku-5-5", "http://x/v1") == ("anthropic", "claude-haiku-5-5")
    assert split_name("ollama:qwen3:4b", "") == ("ollama", "qwen3:4b")
    assert split_name("openai:gpt-5-mini", "http://x/v1") == ("http", "gpt-5-mini")
    assert split_name("qwen2.5:7b", "http://x/v1") == ("http", "qwen2.5:7b")
    for wrong in ("gpt-5-mini", "nobody:model", "openai:"):
        with pytest.raises(InvalidInput, match="llm"):
            split_name(wrong, "")


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-haiku-5-5", "ANTHROPIC_API_KEY"),
        ("google:gemini-3.8-flash", "GOOGLE_API_KEY"),
        ("ollama:qwen3", None),
    ],
)
def test_each_provider_opens_with_its_key_from_the_environment_or_the_setting(
    name: str, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(one, raising=False)
    if variable is not None:
        with pytest.raises(InvalidInput, match="llm"):
            PydanticAiLlm(name, tokens=ApproximateTokens())
    by_setting = PydanticAiLlm(name, tokens=ApproximateTokens(), key=KEY)
    if variable is not None:
        monkeypatch.setenv(variable, KEY)
    by_environment = PydanticAiLlm(name, tokens=ApproximateTokens())
    for llm in (by_setting, by_environment):
        assert (llm.name, KEY in repr(llm)) == (name, False)
        assert llm.window >= 4_096
        llm.close()


def test_prices_are_of_the_list_where_the_model_is_on_it() -> None:
    million = TokenUsage(1_000_000, 1_000_000)
    assert (list_price("openai:gpt-5-mini", million) or 0) > 0
    assert (list_price("anthropic:claude-haiku-5-5", million) or 0) > 0
    assert (list_price("google:gemini-3.8-flash", million) or 0) > 0
    assert list_price("http:gpt-5-mini", million) is None
    assert list_price("ollama:qwen3", million) is None
