"""Messages in the shapes of the SDKs' own documentation: what is said is taken, the rest is passed over by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.errors import InvalidInput
from perdure.retain.request import ContentReading, read_content

MARCH = datetime(2024, 3, 2, 9, 30, tzinfo=UTC)


def said(reading: ContentReading) -> list[tuple[str, str]]:
    return [(item.role, item.content) for item in reading.items]


def passed(reading: ContentReading) -> dict[str, str]:
    return {one.path: one.reason for one in reading.passed_over}


def test_openai_chat_completions_with_tools_images_and_empty_answers() -> None:
    reading = read_content(
        [
            {"role": "developer", "content": "Talk like a pirate."},
            {
                "role": "user",
                "name": "Ann",
                "content": [
                    {"type": "text", "text": "What's the weather in Oslo, where I live?"},
                    {
                        "type": "image_url",
                        "image_url": {"url": "https://example.org/a.jpg", "detail": "high"},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "refusal": None,
                "annotations": [],
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": "{}"},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "12 degrees"},
            {"role": "assistant", "content": "It is 12 degrees.", "audio": None},
            {"role": "user", "content": ""},
        ],
        {},
    )
    assert said(reading) == [
        ("developer", "Talk like a pirate."),
        ("user", "What's the weather in Oslo, where I live?"),
        ("tool", "12 degrees"),
        ("assistant", "It is 12 degrees."),
    ]
    assert [item.speaker for item in reading.items] == ["developer", "Ann", "tool", "assistant"]
    assert passed(reading) == {
        "content[1].content[1]": "an image",
        "content[2]": "a tool call (get_weather)",
        "content[5]": "no text",
    }
    assert len({item.document_id for item in reading.items}) == 1


def test_openai_responses_input_items() -> None:
    reading = read_content(
        [
            {"role": "user", "content": [{"type": "input_text", "text": "I live in Oslo."}, {"type": "input_file", "file_id": "f"}]},
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "The user lives somewhere."}]},
            {"type": "function_call", "call_id": "c", "name": "get_weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "12 degrees"},
            {
                "id": "msg", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "It is 12 degrees.", "annotations": []}],
            },
        ],
        {},
    )  # fmt: skip
    assert said(reading) == [
        ("user", "I live in Oslo."),
        ("tool", "12 degrees"),
        ("assistant", "It is 12 degrees."),
    ]
    assert passed(reading) == {
        "content[0].content[1]": "a file",
        "content[1]": "reasoning",
        "content[2]": "a tool call (get_weather)",
    }


def test_anthropic_blocks_and_a_tools_result_in_the_users_message() -> None:
    reading = read_content(
        [
            {"role": "user", "content": "Where do I live? It is cold here."},
            {
                "id": "msg", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "tool_use",
                "usage": {"input_tokens": 1, "output_tokens": 1},
                "content": [
                    {"type": "thinking", "thinking": "They live in Oslo.", "signature": "s"},
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "t", "name": "get_address", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "12 Main Street"}]},
                    {"type": "text", "text": "I also have a dog."},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "x"}},
                ],
            },
        ],
        {},
    )  # fmt: skip
    assert said(reading) == [
        ("user", "Where do I live? It is cold here."),
        ("assistant", "Let me look."),
        ("tool", "12 Main Street"),
        ("user", "I also have a dog."),
    ]
    assert passed(reading) == {
        "content[1].content[0]": "reasoning",
        "content[1].content[2]": "a tool call (get_address)",
        "content[2].content[2]": "an image",
    }


@dataclass
class LangChainLike:
    """A message with the attributes of LangChain's classes."""

    type: str
    content: Any
    name: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    additional_kwargs: dict[str, Any] = field(default_factory=dict)
    response_metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


class PydanticLike:
    """A message that gives its fields by `model_dump`."""

    def __init__(self, **own: Any) -> None:
        self._own = own

    def model_dump(self) -> dict[str, Any]:
        return self._own


LANGCHAIN = [
    {"type": "human", "content": "I live in Oslo."},
    {"type": "ai", "content": "", "tool_calls": [{"name": "get_weather", "args": {}, "id": "c", "type": "tool_call"}]},
    {"type": "tool", "content": "12 degrees", "name": "get_weather"},
    {"type": "AIMessageChunk", "content": [{"type": "text", "text": "It is 12 degrees."}]},
]  # fmt: skip


@pytest.mark.parametrize(
    "form",
    [
        dict,
        lambda message: LangChainLike(**message),
        lambda message: PydanticLike(**message, additional_kwargs={}, response_metadata={}),
        lambda message: {"type": message["type"], "data": message},
        lambda message: {
            "lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "Message"], "kwargs": message,
        },
    ],
    ids=["dict", "attributes", "model_dump", "messages_to_dict", "dumpd"],
)  # fmt: skip
def test_langchain_messages_as_objects_and_dumps(form: Any) -> None:
    reading = read_content([form(message) for message in LANGCHAIN], {})
    assert said(reading) == [
        ("user", "I live in Oslo."),
        ("tool", "12 degrees"),
        ("assistant", "It is 12 degrees."),
    ]
    assert [item.speaker for item in reading.items] == ["user", "get_weather", "assistant"]
    assert passed(reading) == {"content[1]": "a tool call (get_weather)"}


def test_mcp_messages_with_content_objects() -> None:
    resource = {"uri": "file:///lease.txt", "mimeType": "text/plain", "text": "The lease ends in June."}
    reading = read_content(
        {
            "description": "A prompt",
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "I live in Oslo.", "annotations": None}},
                {"role": "user", "content": {"type": "resource", "resource": resource}},
                {"role": "assistant", "content": {"type": "image", "data": "x", "mimeType": "image/png"}},
                {"role": "user", "content": {"type": "audio", "data": "x", "mimeType": "audio/wav"}},
            ],
        },
        {},
    )
    assert said(reading) == [("user", "I live in Oslo."), ("", "The lease ends in June.")]
    assert reading.items[1].speaker == ""
    assert reading.items[1].context == "file:///lease.txt"
    assert passed(reading) == {
        "content.messages[2].content": "an image",
        "content.messages[3].content": "audio",
    }


@pytest.mark.parametrize("camel", [True, False])
def test_gemini_contents_with_parts(camel: bool) -> None:
    call, response, data = (
        ("functionCall", "functionResponse", "inlineData")
        if camel
        else ("function_call", "function_response", "inline_data")
    )
    reading = read_content(
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [{"text": "I live in Oslo."}, {data: {"mimeType": "image/png", "data": "x"}}],
                },
                {
                    "role": "model",
                    "parts": [{"text": "Hm.", "thought": True}, {call: {"name": "weather", "args": {}}}],
                },
                {
                    "role": "user",
                    "parts": [{response: {"name": "weather", "response": {"result": "12 degrees"}}}],
                },
                {"role": "model", "parts": [{"text": "It is 12 degrees."}]},
            ]
        },
        {},
    )
    assert said(reading) == [
        ("user", "I live in Oslo."),
        ("tool", "12 degrees"),
        ("assistant", "It is 12 degrees."),
    ]
    assert list(passed(reading).values()) == ["an image", "reasoning", "a tool call (weather)"]


@pytest.mark.parametrize(
    "when",
    [
        {"timestamp": "2024-03-02T09:30:00Z"},
        {"created_at": MARCH.timestamp()},
        {"createdAt": "2024-03-02T09:30:00+00:00"},
        {"ts": f"{MARCH.timestamp():.6f}"},
        {"date": MARCH},
        {"response_metadata": {"created_at": "2024-03-02T09:30:00Z"}},
    ],
)
def test_the_usual_keys_of_time_are_read(when: dict[str, Any]) -> None:
    assert read_content([{"role": "user", "content": "Hello.", **when}], {}).items[0].timestamp == MARCH


def test_a_date_that_cannot_be_read_is_named_and_the_message_is_taken() -> None:
    reading = read_content([{"role": "user", "content": "I live in Oslo.", "date": "some day"}], {})
    assert reading.items[0].timestamp is None
    assert "some day" in passed(reading)["content[0].date"]


def test_a_misspelt_field_of_a_message_is_named_and_one_of_an_item_refused() -> None:
    reading = read_content([{"role": "user", "content": "Hello.", "timestmap": "2024-03-02"}], {})
    assert passed(reading) == {"content[0].timestmap": "not a field; timestamp?"}
    with pytest.raises(InvalidInput, match=r"content\[0\]\.timestmap"):
        read_content([{"content": "Hello.", "timestmap": "2024-03-02"}], {})


@pytest.mark.parametrize(
    "content",
    [
        [{"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]}],
        {"role": "user", "content": "  "},
        [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
        {"messages": []},
    ],
)
def test_messages_of_which_nothing_can_be_taken_are_an_error_that_names_the_field(content: Any) -> None:
    with pytest.raises(InvalidInput, match="content"):
        read_content(content, {})


def test_a_speaker_given_for_all_messages_names_the_user_alone() -> None:
    messages = [{"role": "user", "content": "I live in Oslo."}, {"role": "assistant", "content": "Noted."}]
    reading = read_content(messages, {"speaker": "Ann"})
    assert [item.speaker for item in reading.items] == ["Ann", "assistant"]
