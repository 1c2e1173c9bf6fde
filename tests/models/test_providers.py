from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import pytest

from perdure.errors import InvalidInput, ProviderError
from perdure.models.providers import HttpClient, OllamaEmbedder, OpenAIEmbedder
from tests.models.provider_server import DIMENSIONS, Provider, Reply, running

KEY = "sk-very-secret"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running() as server:
        yield server


def openai(provider: Provider, waits: list[float] | None = None, **options: object) -> OpenAIEmbedder:
    waits = [] if waits is None else waits
    return OpenAIEmbedder(f"{provider.url}/v1", "m", key=KEY, sleep=waits.append, **options)  # type: ignore[arg-type]


def test_openai_embeds_in_order_and_normalises(provider: Provider) -> None:
    embedder = openai(provider, batch=2)
    texts = ["tea in Porto", "a violin", "rain"]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (3, DIMENSIONS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    for text, row in zip(texts, vectors, strict=True):
        assert np.allclose(embedder.embed_query(text), row, atol=1e-6)
    path, headers, body = provider.requests[0]
    assert path == "/v1/embeddings"
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body == {"model": "m", "input": texts[:2], "encoding_format": "float"}
    assert len(provider.requests) == 2 + len(texts)
    embedder.close()


def test_ollama_speaks_its_own_protocol(provider: Provider) -> None:
    embedder = OllamaEmbedder(provider.url, "nomic", query_prefix="q: ", passage_prefix="p: ")
    embedder.embed_query("tea")
    embedder.embed_passages(["rain", ""])
    assert [body["input"] for _, _, body in provider.requests] == [["q: tea"], ["p: rain", "p: "]]
    assert {path for path, _, _ in provider.requests} == {"/api/embed"}


def test_429_waits_as_long_as_the_provider_asks(provider: Provider) -> None:
    provider.replies = [Reply(429, b'{"error": "slow down"}', {"retry-after": "7"}), Reply(500), Reply(503)]
    waits: list[float] = []
    assert openai(provider, waits).embed_query("x").shape == (DIMENSIONS,)
    assert waits == [7.0, 1.0, 2.0]


def test_gives_up_after_the_retries_and_says_what_came_back(provider: Provider) -> None:
    provider.replies = [Reply(500, b"boom")] * 3
    waits: list[float] = []
    with pytest.raises(ProviderError, match=r"answered 500: boom \(tried 3 times\)"):
        openai(provider, waits, retries=2).embed_query("x")
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "check the key"), (404, "check the URL"), (400, "answered 400")]
)
def test_the_callers_mistakes_are_not_tried_again(provider: Provider, status: int, hint: str) -> None:
    provider.replies = [Reply(status, b"no")]
    waits: list[float] = []
    with pytest.raises(ProviderError, match=hint):
        openai(provider, waits).embed_query("x")
    assert waits == []


def test_a_slow_provider_is_a_timeout(provider: Provider) -> None:
    provider.replies = [Reply(delay=1.0)]
    with pytest.raises(ProviderError, match=r"no answer within 0\.1 s"):
        openai(provider, timeout=0.1, retries=0).embed_query("x")


def test_no_provider_at_all() -> None:
    with running() as gone:
        url = gone.url
    with pytest.raises(ProviderError, match=r"no connection .* is the provider running\?"):
        OllamaEmbedder(url, "m", retries=0).embed_query("x")


@pytest.mark.parametrize(
    "body",
    [
        b"<html>not json</html>",
        b"[]",
        b"{}",
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": ["a"]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN]}]}',
    ],
)
def test_malformed_embeddings_are_refused(provider: Provider, body: bytes) -> None:
    provider.replies = [Reply(body=body)]
    with pytest.raises(ProviderError):
        openai(provider).embed_query("x")


def test_the_key_is_in_no_message_log_or_repr(provider: Provider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    provider.replies = [Reply(500, f"bad key {KEY}".encode()), Reply(401, f"bad key {KEY}".encode())]
    embedder = openai(provider)
    with pytest.raises(ProviderError) as caught:
        embedder.embed_query("x")
    shown = f"{caught.value} {embedder!r} {caplog.text}"
    assert "[key]" in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    "url", ["", "localhost:80", "ftp://host/", "http://user:pass@host/", "http://host/?key=1"]
)
def test_urls_that_are_wrong_or_carry_secrets_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="provider url") as caught:
        HttpClient(url)
    assert "pass" not in str(caught.value).replace("password", "")
