"""Requests that failed permanently, so that none is repeated."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from hashlib import blake2b

from perdure.errors import LlmCut, LlmError, LlmInvalid, LlmRefused, PerdureError
from perdure.ports.llm import LlmRequest

KEPT = 1024
LIFETIME = 3600.0
"""Seconds; a key may have been repaired by then, or an account topped up."""


def request_digest(model: str, request: LlmRequest) -> bytes:
    """Return a digest of a request to a model, without its time-out."""
    body = {
        "model": model,
        "messages": [asdict(message) for message in request.messages],
        "schema": request.schema,
        "tools": [asdict(tool) for tool in request.tools],
        "limits": [request.max_tokens, request.must_call_tool],
    }
    return blake2b(json.dumps(body, sort_keys=True, default=dict).encode(), digest_size=16).digest()


class FailureMemory:
    """Digest of a request -> its error, for a while; the oldest leave first."""

    def __init__(
        self,
        kept: int = KEPT,
        lifetime: float = LIFETIME,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept, self._lifetime, self._monotonic = kept, lifetime, monotonic
        self._lock = threading.Lock()
        self._errors: OrderedDict[bytes, tuple[float, PerdureError]] = OrderedDict()

    def add(self, digest: bytes, error: PerdureError) -> None:
        with self._lock:
            self._errors[digest] = (self._monotonic() + self._lifetime, error)
            self._errors.move_to_end(digest)
            while len(self._errors) > self._kept:
                self._errors.popitem(last=False)

    def find(self, digest: bytes) -> LlmError | None:
        """Return the error of the same request, to be raised instead of sending it."""
        with self._lock:
            until, error = self._errors.get(digest, (0.0, None))
            if error is None:
                return None
            if until <= self._monotonic():
                del self._errors[digest]
                return None
            return _again(error)


def _again(error: PerdureError) -> LlmError:
    """Return a new error of the same kind, since a raised one carries the trace of another call."""
    reason = f"{error} (the same request was sent before)"
    if isinstance(error, LlmRefused):
        return LlmRefused(reason, status=error.status)
    return LlmCut(reason) if isinstance(error, LlmCut) else LlmInvalid(reason)
