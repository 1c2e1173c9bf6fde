from __future__ import annotations

import os
import threading
import time

import pytest

from perdure.models.run_limiter import ModelRunLimiter, available_cores, shared_run_limiter


def test_never_more_runs_at_once_than_cores_whoever_asks() -> None:
    cores = ModelRunLimiter(2)
    lock = threading.Lock()
    running = most = 0

    def work(item: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1
        return item * item

    results: list[list[int]] = []
    threads = [threading.Thread(target=lambda: results.append(cores.map(work, range(20)))) for _ in range(4)]
    threads += [threading.Thread(target=lambda: results.append([cores.run(work, 3)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2
    assert sorted(results, key=len)[-1] == [item * item for item in range(20)]


def test_errors_reach_the_caller_and_free_the_core() -> None:
    cores = ModelRunLimiter(1)

    def fail(_: int) -> int:
        raise ValueError("no")

    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            cores.map(fail, [1, 2])
    assert cores.run(abs, -1) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    cores = ModelRunLimiter(2)
    assert cores.map(abs, [-1, -2, -3]) == [1, 2, 3]
    child = os.fork()
    if child == 0:
        os._exit(0 if cores.map(abs, [-4, -5]) == [4, 5] else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_the_shared_budget_is_one_and_the_size_of_the_machine() -> None:
    assert shared_run_limiter() is shared_run_limiter()
    assert shared_run_limiter().limit == available_cores() >= 1
    assert shared_run_limiter(3) is shared_run_limiter(3)
    assert shared_run_limiter(3).limit == 3


def test_submitted_work_counts_in_the_budget() -> None:
    cores = ModelRunLimiter(1)
    inside, go_on = threading.Event(), threading.Event()

    def wait(_: int) -> str:
        inside.set()
        assert go_on.wait(10)
        return "first"

    first = cores.submit(wait, 0)
    assert inside.wait(10)
    second = cores.submit(abs, -2)
    assert not second.done()
    go_on.set()
    assert (first.result(10), second.result(10)) == ("first", 2)
