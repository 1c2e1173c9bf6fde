"""Search: the recipe's channels, one after the other, each under a deadline.

Channels compute, so threads side by side cost more than they gain. Each runs on a thread all the same: one that is slow
is not waited for longer than PATIENCE before the next begins.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout

from perdure.domain.recall import Hit, Trace
from perdure.errors import TRY_AGAIN, InvalidInput, public_message
from perdure.recall.channels import CHANNELS, ChannelContext, SharedSemanticSearch
from perdure.recall.components import RecallRun
from perdure.recall.question import ParsedQuestion
from perdure.recall.recipe import ChannelSpec

log = logging.getLogger(__name__)

PATIENCE = 0.03
"""Seconds until the next channel begins beside one that is not done."""


def search(run: RecallRun, question: ParsedQuestion) -> dict[str, list[Hit]]:
    """Each channel's hits, best first, in the recipe's order; a channel that fails is named and left out."""
    specs = run.request.recipe.channels
    contexts = _contexts(run, question)
    hits = _run_channels(run, {s.name: contexts[s.name] for s in specs if s.unless_filled is None})
    unfilled = [s for s in specs if s.unless_filled is not None and not _is_filled(run, hits, s)]
    hits |= _run_channels(run, {spec.name: contexts[spec.name] for spec in unfilled})
    return {spec.name: hits[spec.name] for spec in specs if spec.name in hits}


def _is_filled(run: RecallRun, hits: Mapping[str, Sequence[Hit]], spec: ChannelSpec) -> bool:
    """Whether the channel that the spec waits for brought as much as may be returned."""
    return run.limit is not None and len(hits.get(spec.unless_filled or "", ())) >= run.limit


def _run_channels(run: RecallRun, contexts: Mapping[str, ChannelContext]) -> dict[str, list[Hit]]:
    timeout = run.request.channel_timeout or run.components.channel_timeout
    deadline = time.monotonic() + timeout
    running: dict[str, Future[list[Hit]]] = {}
    for name, context in contexts.items():
        running[name] = run.components.executor.submit(_timed, name, context, run.trace)
        wait([running[name]], timeout=min(PATIENCE, timeout))
    hits: dict[str, list[Hit]] = {}
    for name, future in running.items():
        try:
            hits[name] = future.result(timeout=max(deadline - time.monotonic(), 0.0))
        except FutureTimeout:
            future.cancel()
            run.reading.check_reached()
            run.trace.failed(name, f"took longer than {timeout:g} s")
        except (InvalidInput, *TRY_AGAIN):
            raise  # Without its store a recall would be an answer that leaves out what is stored.
        except Exception as error:
            log.warning("%s failed", name, exc_info=error)
            run.trace.failed(name, public_message(error))
    return hits


def _timed(name: str, context: ChannelContext, trace: Trace) -> list[Hit]:
    with trace.stage(f"search.{name}"):
        return CHANNELS[name](context)


def _contexts(run: RecallRun, question: ParsedQuestion) -> dict[str, ChannelContext]:
    """What each channel of the recipe works with; all share one search of the nearest facts."""
    specs = run.request.recipe.channels
    for spec in specs:
        if spec.name not in CHANNELS:
            raise InvalidInput("recipe.channels", "names among " + ", ".join(sorted(CHANNELS)), spec.name)
    deepest = max((spec.depth(run.budget) for spec in specs if spec.name == "semantic"), default=0)
    nearest = SharedSemanticSearch(run.reading, question.vector, run.where, deepest)
    return {spec.name: ChannelContext(run, question, nearest, spec.depth(run.budget)) for spec in specs}
