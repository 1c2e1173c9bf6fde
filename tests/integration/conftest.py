"""Suites of the engine that run twice: on an embedded memory, and on a served one that `perdure.connect` reaches over loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import perdure
from perdure import Perdure

ON_BOTH = {"test_listing", "test_reflect_engine", "test_thinking"}
"""Modules that open a memory by `Perdure.open` in each test and use its public verbs."""
ON_BOTH_LONG = {"test_asker", "test_curate", "test_transfer"}
"""The same, served only with `-m long`: each test starts a server."""
EMBEDDED_ONLY = {
    "test_a_mental_model_with_strong_evidence_ends_the_search": "looks into the engine",
    "test_opinions_over_rest": "serves it itself",
    "test_another_process_sees_at_once_what_became_of_the_evidence": "opens the file from another process",
    "test_a_document_without_its_facts_gets_them_where_it_was_brought_to": "breaks the engine's embedder",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    module = metafunc.module.__name__.rpartition(".")[2]
    if module in ON_BOTH | ON_BOTH_LONG and metafunc.function.__name__ not in EMBEDDED_ONLY:
        served = pytest.param("served", marks=pytest.mark.long if module in ON_BOTH_LONG else ())
        metafunc.parametrize("opened_as", ["embedded", served], indirect=True)


@pytest.fixture(autouse=True)
def opened_as(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """How `Perdure.open` opens in this test."""
    how: str = getattr(request, "param", "embedded")
    with ExitStack() as servers:
        if how == "served":
            monkeypatch.setattr(Perdure, "open", served_by(Perdure.open, servers))
        yield how


def served_by(opening: Callable[..., Perdure], servers: ExitStack) -> Callable[..., Perdure]:
    """An opening that serves what it opens on a free port, and gives the client; what the client closes is closed."""
    from tests.integration.rest_server import (
        running,  # here: sessions in other processes load this file without the root
    )

    def open_served(*args: Any, **options: Any) -> Perdure:
        engine = opening(*args, **{"require_keys": False, **options})
        serving = servers.enter_context(ExitStack())
        serving.callback(engine.close)
        client = perdure.connect(serving.enter_context(running(engine)))
        closing = client.close

        def close() -> None:
            closing()
            serving.close()

        client.close = close  # type: ignore[method-assign]
        return client

    return open_served
