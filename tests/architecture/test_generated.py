"""Generated files are what their generator writes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.generate import ROOT, outdated


def test_every_generated_file_is_current() -> None:
    stale = [str(path.relative_to(ROOT)) for path, _ in outdated()]
    assert not stale, "run python -m tools.generate"
