from __future__ import annotations

import os
import threading
import time

import pytest

from perdure.models.run_limiter import ModelRunLimiter


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
