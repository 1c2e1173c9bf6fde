"""A consolidation that is killed goes on where it was: nothing is doubled, nothing is left undone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("consolidation_worker.py")


def kills(folder: Path, stride: int, most: int) -> int:
    done = subprocess.run(
        [sys.executable, str(WORKER), "kills", str(folder), str(stride), str(most)],
        capture_output=True, text=True, timeout=550,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[1])


def test_a_consolidation_killed_twice_ends_as_if_it_never_was(tmp_path: Path) -> None:
    assert kills(tmp_path, 9, 2) == 2


@pytest.mark.long
def test_a_consolidation_killed_at_fifty_points_ends_as_if_it_never_was(tmp_path: Path) -> None:
    assert kills(tmp_path, 1, 50) == 50
