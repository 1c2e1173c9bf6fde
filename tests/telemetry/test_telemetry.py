"""Spans and metrics by the GenAI conventions: names, nesting, no text unless asked for, and nothing at all when off."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import perdure
from perdure import Perdure
from perdure.settings import Settings
from perdure.surfaces.mcp.server import create_server
from perdure.surfaces.workers import Workers
from tests.support.rest_server import QUICK, running
from tests.surfaces.mcp.mcp_client import MODES, connect

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from perdure.telemetry import conventions as names

SECRET = "the blue heron"


@dataclass
class Watched:
    """What OpenTelemetry was told."""

    spans: InMemorySpanExporter
    metrics: InMemoryMetricReader
    tracers: TracerProvider
    meters: MeterProvider

    def telemetry(self, **options: Any) -> perdure.OpenTelemetry:
        return perdure.OpenTelemetry(tracer_provider=self.tracers, meter_provider=self.meters, **options)

    def take(self) -> list[ReadableSpan]:
        spans = list(self.spans.get_finished_spans())
        self.spans.clear()
        return spans


@pytest.fixture
def watched() -> Iterator[Watched]:
    spans, metrics = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider(metric_readers=[metrics])
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    yield Watched(spans, metrics, tracers, meters)
    tracers.shutdown()
    meters.shutdown()


def open_watched(folder: Path, telemetry: perdure.OpenTelemetry, **options: Any) -> Perdure:
    return Perdure.open(folder / "memory.db", telemetry=telemetry, **{**QUICK, **options})


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_each_operation_has_its_name_bank_and_count(tmp_path: Path, watched: Watched) -> None:
    with open_watched(tmp_path, watched.telemetry()) as memory:
        memory.banks.configure("b")
        [fact_id] = memory.retain("b", f"Ann saw {SECRET}.").fact_ids
        memory.recall("b", f"Who saw {SECRET}?")
        memory.prompt("b", f"Who saw {SECRET}?")
        memory.facts.update("b", fact_id, topic="birds")
        memory.forget("b", fact_id=fact_id)
        memory.forget("b", everything=True)
    spans = watched.take()
    expected = [
        ("create_memory_store", None, None), ("upsert_memory", 1, None), ("search_memory", 1, None), ("search_memory", 1, None),
        ("update_memory", None, fact_id), ("delete_memory", 1, fact_id), ("delete_memory_store", 0, None),
    ]  # fmt: skip
    told = [attributes(span) for span in spans]
    assert [
        (one[names.OPERATION_NAME], one.get(names.RECORD_COUNT), one.get(names.RECORD_ID)) for one in told
    ] == expected
    assert [span.name for span in spans] == [name for name, _, _ in expected]
    assert {one[names.STORE_ID] for one in told} == {"b"}
    assert {one[names.PROVIDER_NAME] for one in told} == {"perdure"}
    assert {span.kind for span in spans} == {SpanKind.INTERNAL}
    assert {span.instrumentation_scope.schema_url for span in spans} == {names.SCHEMA_URL}  # type: ignore[union-attr]
    assert SECRET not in "".join(span.to_json() for span in spans)


def test_texts_are_told_only_where_asked_for_and_through_the_hook(tmp_path: Path, watched: Watched) -> None:
    def redact(text: str) -> str:
        if "Bob" in text:
            raise ValueError("never mind")
        return text.replace(SECRET, "[bird]")

    with open_watched(tmp_path, watched.telemetry(content=True, redact=redact)) as memory:
        memory.retain("b", [f"Ann saw {SECRET}.", "Bob saw it."])
        watched.take()
        memory.recall("b", f"Who saw {SECRET}?")
    [span] = watched.take()
    told = attributes(span)
    assert told[names.QUERY_TEXT] == "Who saw [bird]?"
    [record] = json.loads(told[names.RECORDS])
    assert record["content"] == "Ann saw [bird]."
    assert record.keys() == {"id", "content", "score"}
    assert told[names.RECORD_COUNT] == 2


def points(watched: Watched, name: str) -> list[Any]:
    data = watched.metrics.get_metrics_data()
    assert data is not None
    metrics = [
        one for resource in data.resource_metrics for scope in resource.scope_metrics for one in scope.metrics
    ]
    return [point for metric in metrics if metric.name == name for point in metric.data.data_points]


def test_calls_of_a_language_model_are_told_with_their_tokens(tmp_path: Path, watched: Watched) -> None:
    class Model:
        name, window = "test:model", 8_000

        def complete(self, request: perdure.LlmRequest) -> perdure.LlmReply:
            return perdure.LlmReply(text="ok", usage=perdure.TokenUsage(7, 3), model="model-2")

    with open_watched(tmp_path, watched.telemetry(), llm=Model()) as memory:
        memory.llm.health("b")
    span = watched.take()[0]
    told = attributes(span)
    assert (span.name, span.kind) == ("chat model", SpanKind.CLIENT)
    assert (told[names.PROVIDER_NAME], told[names.REQUEST_MODEL]) == ("test", "model")
    assert told[names.RESPONSE_MODEL] == "model-2"
    assert (told[names.INPUT_TOKENS], told[names.OUTPUT_TOKENS]) == (7, 3)
    usage = {point.attributes[names.TOKEN_TYPE]: point.min for point in points(watched, names.TOKEN_USAGE)}
    assert usage == {"input": 7, "output": 3}


def test_a_clients_span_is_the_parent_of_the_servers(tmp_path: Path, watched: Watched) -> None:
    with (
        open_watched(tmp_path, watched.telemetry()) as engine,
        running(engine, telemetry=True) as url,
        perdure.connect(url, telemetry=watched.telemetry()) as memory,
    ):
        memory.retain("b", "Ann lives in Oslo.")
        memory.recall("b", "Where does Ann live?")
    spans = watched.take()
    for name in ("upsert_memory", "search_memory"):
        inner, outer = [span for span in spans if span.name == name]
        assert (inner.kind, outer.kind) == (SpanKind.INTERNAL, SpanKind.CLIENT)
        assert inner.parent is not None
        assert inner.parent.span_id == outer.context.span_id  # type: ignore[union-attr]
        assert attributes(outer)[names.SERVER_ADDRESS] == "127.0.0.1"
        assert attributes(outer)[names.SERVER_PORT] == int(url.rpartition(":")[2])
        assert attributes(outer)[names.RECORD_COUNT] == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_call_over_mcp_joins_the_trace_that_its_meta_names(
    tmp_path: Path, watched: Watched, mode: str
) -> None:
    """As over stdio, which has no headers."""
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

    async def talk(memory: Perdure) -> None:
        server = create_server(memory, Workers(memory.settings))
        async with connect(server, mode) as session:
            await session.call_tool("recall", {"query": "Where?"}, {"traceparent": f"00-{trace}-{parent}-01"})
            await session.call_tool("recall", {"query": "Where?"}, {"traceparent": "nonsense"})
            await session.call_tool("recall", {"query": "Where?"})

    settings = Settings(database=str(tmp_path / "memory.db"), telemetry=True, **QUICK)
    with Perdure.open(settings=settings, telemetry=watched.telemetry()) as memory:
        memory.retain("default", "Ann lives in Oslo.")
        watched.take()
        asyncio.run(talk(memory))
    joined, *alone = watched.take()
    assert joined.parent is not None
    assert (f"{joined.parent.trace_id:032x}", f"{joined.parent.span_id:016x}") == (trace, parent)
    assert [span.parent for span in alone] == [None, None]


def test_off_nothing_of_it_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from perdure import Perdure\n"
        f"with Perdure.open({str(tmp_path / 'm.db')!r}, embedder='hashing', reranker='none', tagger='rules') as m:\n"
        "    m.retain('b', 'Ann lives in Oslo.'); m.recall('b', 'Where?'); m.reflect('b', 'Where?'); m.forget('b', everything=True)\n"
        "print(sorted(name for name in sys.modules if 'opentelemetry' in name or name.startswith('perdure.telemetry')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
