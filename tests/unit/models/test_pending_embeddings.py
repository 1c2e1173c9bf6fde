"""Results of runs on other threads: in order, used by who asks, left out when cancelled."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import numpy as np
import pytest

from perdure.errors import ModelError
from perdure.models.onnx_embedder import BatchStates, PendingEmbeddings
from perdure.models.onnx_runtime import Encoded

NOTHING = np.zeros(0, np.int64)


def ran(number: float) -> BatchStates:
    return [(Encoded(NOTHING, NOTHING, NOTHING), np.full((1, 1), number, np.float32))]


def begun(count: int) -> tuple[PendingEmbeddings[float], list[Future[BatchStates]], list[int]]:
    futures: list[Future[BatchStates]] = [Future() for _ in range(count)]
    users: list[int] = []

    def use(_: Encoded, states: np.ndarray) -> float:
        users.append(threading.get_ident())
        return float(states[0, 0])

    running = [([count - 1 - place], future) for place, future in enumerate(futures)]
    return PendingEmbeddings(count, running, use), futures, users


def test_results_come_in_the_order_of_the_texts_and_are_made_by_who_asks() -> None:
    pending, futures, users = begun(3)
    for number, future in enumerate(futures):
        threading.Thread(target=future.set_result, args=(ran(number),)).start()
    assert pending.result() == [2.0, 1.0, 0.0]
    assert users == [threading.get_ident()] * 3


def test_settling_uses_what_is_there_and_does_not_wait() -> None:
    pending, futures, users = begun(3)
    pending.settle()
    assert not users
    futures[0].set_result(ran(7))
    pending.settle()
    assert len(users) == 1
    futures[1].set_result(ran(8))
    futures[2].set_result(ran(9))
    assert pending.result() == [9.0, 8.0, 7.0]
    assert len(users) == 3


def test_a_run_that_failed_fails_the_result() -> None:
    pending, futures, _ = begun(1)
    futures[0].set_exception(ModelError("out of order"))
    with pytest.raises(ModelError, match="out of order"):
        pending.result()


def test_what_was_not_begun_is_left_out_when_cancelled() -> None:
    pending, futures, users = begun(2)
    pending.cancel()
    assert all(future.cancelled() for future in futures)
    pending.settle()
    assert not users
