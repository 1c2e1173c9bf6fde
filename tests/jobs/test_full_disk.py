"""Background work on a disk that is really full: a small file system in memory, mounted for one process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("full_disk_worker.py")
MOUNTED = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


def run_mounted(folder: Path, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command in a namespace in which the folder is a file system of 8 MB."""
    mounting = 'mount -t tmpfs -o size=8m none "$0" && ' + command
    return subprocess.run(
        [*MOUNTED, mounting, str(folder), *arguments], capture_output=True, text=True, timeout=300
    )


def may_mount(folder: Path) -> bool:
    try:
        return run_mounted(folder, "true").returncode == 0
    except FileNotFoundError:
        return False


def test_a_consolidation_that_finds_a_full_disk_is_done_once_there_is_room(tmp_path: Path) -> None:
    if not may_mount(tmp_path):
        pytest.skip("this machine lets no user mount a file system")
    done = run_mounted(tmp_path, 'exec "$1" "$2" "$0"', sys.executable, str(WORKER))
    assert done.returncode == 0, done.stderr
