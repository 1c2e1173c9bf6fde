"""The extractor `llm`: a language model words the facts of each chunk in one call, the code checks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.extract.llm.checking import DocumentFacts
from perdure.extract.llm.reader import ChunkReader, chunk_turns
from perdure.llm.caller import REPLY_TOKENS, Caller, LlmOperation
from perdure.llm.prompt import Prompt, load
from perdure.ports.extractor import BankContext, ExtractedFact, Extractor, Turn

CHUNK_CHARACTERS = 3000
"""Characters of turns per call (Hindsight's retain chunk size)."""
LEAST_CHARACTERS = 500
PROMPT_TOKENS = 1_200
"""Assumed tokens of prompt, schema and offered facts, where a model's window is small."""
CHARACTERS_PER_TOKEN = 3


class LlmExtractor:
    """Facts worded by a language model; what it fails on, the local extractor reads.

    A turn for which the model gives no fact keeps the local extractor's, which passes over small talk alone.
    """

    def __init__(self, caller: Caller, local: Extractor, prompt: Prompt | None = None) -> None:
        self._caller, self._local = caller, local
        self._prompt = prompt or load("extract")

    @property
    def name(self) -> str:
        """Name of the extractor."""
        return "llm"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """`extract_many` for one document."""
        return self.extract_many([turns])[0]

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """The facts of each document, for a bank of which nothing is known."""
        facts: list[list[ExtractedFact]] = [[] for _ in documents]
        context = BankContext(bank="", offered=lambda _: (), fell_back=lambda _: None)
        for step in self.extract_in_bank(documents, context):
            for number, fact in step:
                facts[number].append(fact)
        return facts

    def extract_in_bank(
        self, documents: Sequence[Sequence[Turn]], context: BankContext
    ) -> Iterator[Sequence[tuple[int, ExtractedFact]]]:
        """The facts, chunk by chunk."""
        drawn = [DocumentFacts(facts) for facts in self._local.extract_many(documents)]
        reader = ChunkReader(self._caller, LlmOperation.RETAIN, self._prompt, context, documents, drawn)
        room = characters_per_call(self._caller, LlmOperation.RETAIN, CHUNK_CHARACTERS)
        for chunk in chunk_turns(documents, room):
            yield from reader.read(chunk)


def characters_per_call(caller: Caller, operation: LlmOperation, most: int) -> int:
    """As many characters of turns as the least window of the chain leaves room for."""
    window = caller.window(operation)
    room = (window - min(REPLY_TOKENS, window // 2) - PROMPT_TOKENS) * CHARACTERS_PER_TOKEN
    return min(most, max(LEAST_CHARACTERS, room))
