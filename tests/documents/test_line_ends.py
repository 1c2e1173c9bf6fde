"""Files as other systems write them: line ends of Windows, and a locale that is not UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
from pathlib import Path
from perdure import Perdure

with Perdure.open("m.db", embedder="none", reranker="none", tagger="rules", tokens="approximate") as memory:
    for name in ("unix", "windows"):
        memory.retain(name, Path(f"{name}.txt").read_bytes().decode("utf-8"))
    unix, windows = ([fact.text.replace("\\r\\n", "\\n") for fact in memory.facts.list(name).facts] for name in ("unix", "windows"))
assert unix == windows and any("Zo\\u00eb" in text for text in unix), (unix, windows)
"""


def test_facts_differ_in_nothing_but_the_line_ends_of_their_text(tmp_path: Path) -> None:
    text = "Zoë lives in Malmö.\n\nShe has played the cello since 2019.\n"
    (tmp_path / "unix.txt").write_bytes(text.encode())
    (tmp_path / "windows.txt").write_bytes(text.replace("\n", "\r\n").encode())
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
