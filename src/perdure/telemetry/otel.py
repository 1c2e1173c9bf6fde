"""OpenTelemetry: spans and metrics of memory operations, through the API alone.

Without an SDK and an exporter that the program itself sets up, nothing is stored and nothing leaves the process.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from perdure.errors import PerdureError, Unavailable
from perdure.ports.llm import Llm, LlmReply, LlmRequest, TokenUsage
from perdure.ports.telemetry import MemoryOperation, Observed, RecordText, Telemetry
from perdure.telemetry import conventions as names

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, SpanKind, TracerProvider

log = logging.getLogger(__name__)
Attribute = str | int | float | bool


class OpenTelemetry:
    """Tells OpenTelemetry of every operation; texts only with `content`, each through `redact` first.

    The providers are the global ones unless others are passed.
    """

    def __init__(
        self,
        *,
        content: bool = False,
        redact: Callable[[str], str] | None = None,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError as error:
            raise Unavailable("telemetry: pip install 'perdure[otel]'") from error
        self._content, self._redact = content, redact
        self._tracer = trace.get_tracer(names.SCOPE, version("perdure"), tracer_provider, names.SCHEMA_URL)
        meter = metrics.get_meter(names.SCOPE, version("perdure"), meter_provider, names.SCHEMA_URL)
        self._kinds = trace.SpanKind
        self._error = trace.Status(trace.StatusCode.ERROR)
        self._duration = meter.create_histogram(
            names.OPERATION_DURATION,
            "s",
            "Time of an operation",
            explicit_bucket_boundaries_advisory=names.DURATION_BUCKETS,
        )
        self._tokens = meter.create_histogram(
            names.TOKEN_USAGE,
            "{token}",
            "Tokens of a call of a language model",
            explicit_bucket_boundaries_advisory=names.TOKEN_BUCKETS,
        )

    def memory(
        self, operation: MemoryOperation, bank: str, *, record_id: str | None = None, query: str | None = None
    ) -> AbstractContextManager[Observed]:
        """Open a span of an operation in this process."""
        return self._memory(self._kinds.INTERNAL, operation, bank, record_id, query, {})

    def remote_memory(
        self,
        operation: MemoryOperation,
        bank: str,
        server: tuple[str, int | None],
        *,
        record_id: str | None = None,
        query: str | None = None,
    ) -> AbstractContextManager[Observed]:
        """Open a span of an operation that a server carries out."""
        address, port = server
        where: dict[str, Attribute] = {names.SERVER_ADDRESS: address}
        if port is not None:
            where[names.SERVER_PORT] = port
        return self._memory(self._kinds.CLIENT, operation, bank, record_id, query, where)

    def model(self, model: str) -> AbstractContextManager[Observed]:
        """Open a span of a call of a language model named `PROVIDER:MODEL`, or a plain name."""
        provider, colon, bare = model.partition(":")
        shared: dict[str, Attribute] = {names.OPERATION_NAME: names.CHAT, names.REQUEST_MODEL: bare or model}
        if colon and bare:
            shared[names.PROVIDER_NAME] = names.PROVIDERS.get(provider, provider)
        return self._observe(f"{names.CHAT} {bare or model}", self._kinds.CLIENT, shared, {})

    def headers(self) -> dict[str, str]:
        """Return headers of a request to a server, so that its spans join this one."""
        from opentelemetry.propagate import inject

        carrier: dict[str, str] = {}
        inject(carrier)
        return carrier

    @contextmanager
    def joining(self, headers: Mapping[str, str]) -> Iterator[None]:
        """Join the spans of the block to the one in the headers of a request."""
        from opentelemetry import context
        from opentelemetry.propagate import extract

        token = context.attach(extract(headers))
        try:
            yield
        finally:
            context.detach(token)

    def text(self, value: str) -> str | None:
        """Return a text as it may be reported, or None. If the hook fails, the text is kept back."""
        if not self._content:
            return None
        if self._redact is None:
            return value
        try:
            return self._redact(value)
        except Exception:
            log.warning("the redaction hook failed; the text is left out", exc_info=True)
            return None

    def _memory(
        self,
        kind: SpanKind,
        operation: MemoryOperation,
        bank: str,
        record_id: str | None,
        query: str | None,
        where: Mapping[str, Attribute],
    ) -> AbstractContextManager[Observed]:
        name = names.OPERATIONS[operation]
        own: dict[str, Attribute] = {names.STORE_ID: bank}
        if record_id is not None:
            own[names.RECORD_ID] = record_id
        told = None if query is None else self.text(query)
        if told is not None:
            own[names.QUERY_TEXT] = told
        return self._observe(
            name, kind, {names.OPERATION_NAME: name, names.PROVIDER_NAME: names.PERDURE, **where}, own
        )

    @contextmanager
    def _observe(
        self, name: str, kind: SpanKind, shared: Mapping[str, Attribute], own: Mapping[str, Attribute]
    ) -> Iterator[Observed]:
        """Observe an operation; `shared` attributes are on the metrics too, `own` ones name banks and records and are on the span alone."""
        began = time.perf_counter()
        failed: dict[str, Attribute] = {}
        with self._tracer.start_as_current_span(
            name,
            kind=kind,
            attributes={**shared, **own},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield _Observed(self, span, shared)
            except BaseException as error:
                failed[names.ERROR_TYPE] = error_type(error)
                span.set_attributes(failed)
                span.set_status(self._error)
                raise
            finally:
                self._duration.record(time.perf_counter() - began, {**shared, **failed})


class _Observed:
    """A span that is told more."""

    def __init__(self, telemetry: OpenTelemetry, span: Span, shared: Mapping[str, Attribute]) -> None:
        self._telemetry, self._span, self._shared = telemetry, span, shared

    def records(self, count: int, texts: Iterable[RecordText] = ()) -> None:
        """Report the number of records, and their texts if content is enabled."""
        self._span.set_attribute(names.RECORD_COUNT, count)
        if not self._span.is_recording() or self._telemetry.text("") is None:
            return
        told = [
            {"id": one.id, "content": content, **({} if one.score is None else {"score": one.score})}
            for one in texts
            if (content := self._telemetry.text(one.content)) is not None
        ]
        if told:
            self._span.set_attribute(names.RECORDS, json.dumps(told, ensure_ascii=False))

    def usage(self, model: str, usage: TokenUsage) -> None:
        self._span.set_attributes(
            {names.RESPONSE_MODEL: model, names.INPUT_TOKENS: usage.input, names.OUTPUT_TOKENS: usage.output}
        )
        for kind, count in (("input", usage.input), ("output", usage.output)):
            self._telemetry._tokens.record(count, {**self._shared, names.TOKEN_TYPE: kind})


class ObservedLlm:
    """A language model whose calls are told of."""

    def __init__(self, model: Llm, telemetry: Telemetry) -> None:
        self._model, self._telemetry = model, telemetry

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def window(self) -> int:
        return self._model.window

    def complete(self, request: LlmRequest) -> LlmReply:
        """Send one request in a span."""
        with self._telemetry.model(self._model.name) as seen:
            reply = self._model.complete(request)
            seen.usage(reply.model or self._model.name, reply.usage)
            return reply


def error_type(error: BaseException) -> str:
    """Return the stable code of our own errors, the class of others."""
    return error.code if isinstance(error, PerdureError) else type(error).__name__
