"""Search: the recipe's channels, each on a thread of its own and under a deadline.

Threads make the search no faster (one after the other takes as long); they keep a channel that hangs from keeping the others.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout

from perdure.domain.recall import Hit
from perdure.domain.trace import Trace
from perdure.errors import InvalidInput
from perdure.recall.channels import CHANNELS, ChannelContext, SharedSemanticSearch
from perdure.recall.components import RecallRun
from perdure.recall.question import ParsedQuestion
from perdure.recall.recipe import ChannelSpec


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
    running = {
        name: run.components.executor.submit(_timed, name, context, run.trace)
        for name, context in contexts.items()
    }
    deadline = time.monotonic() + timeout
    hits: dict[str, list[Hit]] = {}
    for name, future in running.items():
        try:
            hits[name] = future.result(timeout=max(deadline - time.monotonic(), 0.0))
        except FutureTimeout:
            future.cancel()
            run.trace.failed(name, f"took longer than {timeout:g} s")
        except InvalidInput:
            raise
        except Exception as error:  # noqa: BLE001 - a dead channel of any cause costs its own hits only
            run.trace.failed(name, f"{type(error).__name__}: {error}")
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
