"""`perdure mcp` over stdio with a reflect that goes on until it is called off: argv names the database and a file to tell in."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from perdure import Perdure
from perdure.errors import Cancelled
from perdure.surfaces.mcp.server import run_stdio


def main(database: str, told: Path) -> None:
    options: dict[str, Any] = {
        "embedder": "hashing",
        "reranker": "none",
        "tagger": "rules",
        "tokens": "approximate",
    }
    with Perdure.open(database, **options) as engine:

        def reflect(*_: Any, cancelled: Any, **__: Any) -> Any:
            told.write_text("begun")
            while not cancelled():
                time.sleep(0.02)
            told.write_text("cancelled")
            raise Cancelled("the client left")

        engine.reflect = reflect  # type: ignore[method-assign]
        run_stdio(engine, "b")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
