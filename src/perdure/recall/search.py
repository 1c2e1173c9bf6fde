"""Search: the recipe's channels, each under a deadline.

Channels of an index in memory compute, and threads that compute hinder each other more than they help. So one thread takes one
channel after the other; while they are not done, another one joins in from time to time, so that a slow channel does not keep the rest.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from concurrent.futures import TimeoutError as FutureTimeout

from perdure.domain.recall import Hit
from perdure.domain.trace import Trace
from perdure.errors import InvalidInput
from perdure.recall.budget import HOPS
from perdure.recall.channels import CHANNELS, ChannelContext
from perdure.recall.channels.shared import SharedSemanticSearch
from perdure.recall.parts import RecallComponents
from perdure.recall.question import ParsedQuestion
from perdure.recall.recipe import ChannelSpec
from perdure.recall.request import RecallRequest

PATIENCE = 0.03
"""Seconds until another thread takes channels that wait."""


def search(
    parts: RecallComponents, request: RecallRequest, understood: ParsedQuestion, trace: Trace
) -> dict[str, Sequence[Hit]]:
    """Each channel's hits, best first, in the recipe's order; a channel that fails is named and left out."""
    hits: dict[str, Sequence[Hit]] = {}
    contexts = _contexts(parts, request, understood)
    for group in _groups(request.recipe.channels):
        open_specs = [spec for spec in group if not _filled(spec, hits, request)]
        hits.update(_run(parts, request, [(spec.name, contexts[spec.name]) for spec in open_specs], trace))
    return {spec.name: hits[spec.name] for spec in request.recipe.channels if spec.name in hits}


def _groups(specs: Sequence[ChannelSpec]) -> list[list[ChannelSpec]]:
    """Channels that wait for no other first, then those that may be skipped."""
    first = [spec for spec in specs if spec.unless_filled is None]
    second = [spec for spec in specs if spec.unless_filled is not None]
    return [first, second] if second else [first]


def _filled(spec: ChannelSpec, hits: Mapping[str, Sequence[Hit]], request: RecallRequest) -> bool:
    limit = request.limit or request.recipe.limit
    return (
        spec.unless_filled is not None
        and limit is not None
        and len(hits.get(spec.unless_filled, ())) >= limit
    )


def _run(
    parts: RecallComponents,
    request: RecallRequest,
    channels: Sequence[tuple[str, ChannelContext]],
    trace: Trace,
) -> dict[str, Sequence[Hit]]:
    timeout = request.channel_timeout or parts.channel_timeout
    deadline = time.monotonic() + timeout
    running: dict[str, Future[Sequence[Hit]]] = {name: Future() for name, _ in channels}
    waiting = deque(channels)

    def work() -> None:
        while True:
            try:
                name, context = waiting.popleft()
            except IndexError:
                return
            _settle(running[name], name, context, trace)

    while waiting and time.monotonic() < deadline:
        parts.executor.submit(work)
        wait(running.values(), timeout=min(PATIENCE, timeout))
    return _collect(running, deadline, timeout, trace)


def _settle(future: Future[Sequence[Hit]], name: str, context: ChannelContext, trace: Trace) -> None:
    """Put what the channel finds, or how it fails, into the future."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        with trace.stage(f"search.{name}"):
            future.set_result(CHANNELS[name](context))
    except BaseException as error:  # noqa: BLE001 - raised again where the future is read
        future.set_exception(error)


def _collect(
    running: Mapping[str, Future[Sequence[Hit]]], deadline: float, timeout: float, trace: Trace
) -> dict[str, Sequence[Hit]]:
    hits: dict[str, Sequence[Hit]] = {}
    for name, future in running.items():
        try:
            hits[name] = future.result(timeout=max(deadline - time.monotonic(), 0.0))
        except FutureTimeout:
            future.cancel()
            trace.failed(name, f"took longer than {timeout:g} s")
        except InvalidInput:
            raise
        except Exception as error:  # noqa: BLE001 - a dead channel of any cause costs its own hits only
            trace.failed(name, f"{type(error).__name__}: {error}")
    return hits


def _contexts(
    parts: RecallComponents, request: RecallRequest, understood: ParsedQuestion
) -> dict[str, ChannelContext]:
    """What each channel of the recipe works with; the filter and the nearest facts are the same for all."""
    specs = request.recipe.channels
    for spec in specs:
        if spec.name not in CHANNELS:
            raise InvalidInput("recipe.channels", "names among " + ", ".join(sorted(CHANNELS)), spec.name)
    budget = parts.budgets.size(request.budget, request.max_tokens)
    wanted = request.wanted(parts.clock())
    deepest = max((spec.depth(budget) for spec in specs if spec.name == "semantic"), default=0)
    nearest = SharedSemanticSearch(parts.store, request.bank, understood.vector, wanted, deepest)
    return {
        spec.name: ChannelContext(
            store=parts.store,
            bank=request.bank,
            query=understood.query,
            vector=understood.vector,
            nearest=nearest,
            wanted=wanted,
            limit=spec.depth(budget),
            hops=HOPS[request.budget],
            floors=request.min_scores,
            notes=parts.notes,
            similarity_floor=parts.similarity_floor,
        )
        for spec in specs
    }
