"""The extractor `llm`: a language model words the facts of each chunk in one call, the code checks them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.domain.llm_call import LlmOperation
from perdure.extract.llm.checking import DocumentFacts
from perdure.extract.llm.reader import ChunkReader, chunk_turns
from perdure.llm.caller import REPLY_TOKENS, Caller
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

    def __init__(
        self,
        caller: Caller,
        local: Extractor,
        prompt: Prompt | None = None,
        *,
        operation: LlmOperation = LlmOperation.RETAIN,
        characters: int = CHUNK_CHARACTERS,
        reply_tokens: int = REPLY_TOKENS,
    ) -> None:
        self._caller, self._local = caller, local
        self._prompt = prompt or load("extract")
        self._operation, self._characters, self._reply_tokens = operation, characters, reply_tokens

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
        window = self._caller.window(self._operation)
        reply_tokens = min(self._reply_tokens, window // 2)
        reader = ChunkReader(
            self._caller, self._operation, self._prompt, context, documents, drawn, reply_tokens
        )
        # As many characters of turns as the least window of the chain leaves room for.
        room = max(LEAST_CHARACTERS, (window - reply_tokens - PROMPT_TOKENS) * CHARACTERS_PER_TOKEN)
        yield from reader.read_all(chunk_turns(documents, min(self._characters, room)))
