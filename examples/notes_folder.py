"""A folder of Markdown notes as memory: each file is a document, and a changed file replaces what it said.

python examples/notes_folder.py notes/ "Who waters the plants?"
"""

from __future__ import annotations

import sys
from pathlib import Path

from perdure import Perdure

BANK = "notes"


def main(folder: Path, question: str) -> None:
    with Perdure.open(folder / "memory.db") as memory:
        for path in sorted(folder.glob("*.md")):
            retained = memory.retain(
                BANK,
                path.read_text(encoding="utf-8"),
                document_id=path.name,
                title=path.stem.replace("-", " "),
            )
            print(f"{path.name}: {retained}")
        for recollection in memory.recall(BANK, question, limit=3):
            print(f"[{recollection.citation}] {recollection.text} ({recollection.fact.document_id})")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
