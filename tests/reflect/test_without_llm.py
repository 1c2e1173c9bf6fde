"""Without a language model nothing of thinking with one is imported."""

from __future__ import annotations

import subprocess
import sys

THINK = """
import sys
from perdure import Perdure
from tests.support.memory_store import MemoryStore
from datetime import UTC, datetime
with Perdure.open(store=MemoryStore(lambda: datetime.now(UTC)), embedder="none", reranker="none", tagger="rules") as memory:
    for text in ("I live in Oslo.", "I prefer tea.", "I work at Lumen."):
        memory.retain("b", [{"role": "user", "speaker": "Ann", "content": text}])
    memory.operations.get("b", memory.consolidate("b").id, wait=60)
    model, operation = memory.models.create("b", "Ann", "What is known of Ann?")
    memory.operations.get("b", operation.id, wait=60)
    print(memory.reflect("b", "Where does Ann live?").text)
own = ("perdure.llm.caller", "perdure.llm.prompt", "perdure.reflect.loop", "perdure.reflect.support",
       "perdure.reflect.observations.prose", "perdure.reflect.opinions.labelling", "perdure.reflect.mental_models.written")
print([name for name in own if name in sys.modules])
"""


def test_local_thinking_imports_nothing_of_language_models() -> None:
    done = subprocess.run(
        [sys.executable, "-c", THINK], capture_output=True, text=True, timeout=120, check=True
    )
    answer, imported = done.stdout.strip().splitlines()
    assert "Oslo" in answer
    assert imported == "[]"
