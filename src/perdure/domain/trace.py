"""Timing of a pipeline's stages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from perdure.domain.recall import Degraded, StageTime
from perdure.domain.work import check_work


class Trace:
    """Durations of stages and failures of parts during one call; thread-safe."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._times: list[StageTime] = []
        self._degraded: list[Degraded] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the enclosed block under `name`; raise before it if the caller no longer waits."""
        check_work()
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - started)

    def add(self, name: str, seconds: float) -> None:
        """Note a duration measured elsewhere."""
        self._times.append(StageTime(stage=name, milliseconds=seconds * 1000.0))

    def failed(self, part: str, reason: str) -> None:
        """Note a part that could not contribute."""
        self._degraded.append(Degraded(part=part, reason=reason))

    @property
    def timings(self) -> tuple[StageTime, ...]:
        """Return the stages so far, with the total last."""
        total = (time.perf_counter() - self._started) * 1000.0
        return (*self._times, StageTime(stage="total", milliseconds=total))

    @property
    def degraded(self) -> tuple[Degraded, ...]:
        """Return the parts that failed, sorted."""
        return tuple(sorted(self._degraded, key=lambda item: (item.part, item.reason)))
