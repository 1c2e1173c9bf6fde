"""Schedules: every server refreshes the mental models whose moment has come, for as long as it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from perdure.engine import Perdure
from perdure.errors import PerdureError
from perdure.surfaces.workers import Workers

SCHEDULE_SECONDS = 30.0
"""Between two looks at the schedules of mental models, whose unit is the minute."""
log = logging.getLogger("perdure.schedules")


@asynccontextmanager
async def attending_schedules(engine: Perdure, workers: Workers) -> AsyncIterator[None]:
    """Look at the schedules in the background, until the block is left."""
    stopping = asyncio.Event()
    task = asyncio.create_task(_attend(engine, workers, stopping))
    try:
        yield
    finally:
        # Python 3.11's wait_for loses a cancellation that comes in the moment of a result; the event is not lost.
        stopping.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _attend(engine: Perdure, workers: Workers, stopping: asyncio.Event) -> None:
    while not stopping.is_set():
        await asyncio.sleep(SCHEDULE_SECONDS)
        try:
            await workers.run(engine.models.refresh_due)
        except PerdureError as error:
            log.warning("schedules of mental models are looked at again later: %s", error)
        except Exception:
            log.exception("schedules of mental models are looked at again later")
