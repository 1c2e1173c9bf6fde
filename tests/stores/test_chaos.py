"""Writers that die, starve and race, by the bench that counts them: nothing acknowledged is lost, nothing is damaged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills")


def run_chaos(*options: str) -> str:
    words = [sys.executable, "-m", "bench.chaos", *options]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_a_minute_of_kills_and_want_loses_nothing() -> None:
    shown = run_chaos("--seconds", "60")
    for path in (
        "retain",
        "forget",
        "purge",
        "import",
        "re-embedding",
        "consolidation",
        "background",
    ):
        assert f"| {path} |" in shown
    for scene in ("three writers", "disk full", "read-only", "clock set back", "fork"):
        assert f"| {scene} |" in shown


@pytest.mark.long
def test_a_thousand_kills_lose_nothing() -> None:
    run_chaos("--seconds", "600", "--tries", "1000", "--seed", "2")
