"""Reading turns with a language model, chunk by chunk: halved where an answer was cut, local where asking failed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from perdure.domain.llm_call import LlmOperation
from perdure.errors import LlmCapReached, LlmCut, LlmError, LlmRefused
from perdure.extract.llm.answer import WordedFact, expected_facts
from perdure.extract.llm.checking import (
    DocumentFacts,
    NumberedFact,
    checked_facts,
    local_facts,
    turns_by_document,
)
from perdure.extract.llm.prompting import CONTEXT_TURNS, Place, ShownChunk, write_messages
from perdure.extract.local.questions import is_filler
from perdure.llm.caller import Caller, Purpose
from perdure.llm.prompt import Prompt
from perdure.ports.extractor import BankContext, LocalFallback, Turn

log = logging.getLogger(__name__)

HOPELESS = frozenset({401, 402, 403, 404})
"""Refusals that every further request would meet."""

AT_ONCE = 4
"""Chunks that are asked about at the same time."""

Documents = Sequence[Sequence[Turn]]
Chunk = list[Place]
"""The turns of one call."""


def chunk_turns(documents: Documents, limit: int) -> Iterator[Chunk]:
    """The turns that give facts, in groups of at most `limit` characters, cut between turns; small talk alone is no group."""
    chunk: Chunk = []
    characters = 0
    for number, turns in enumerate(documents):
        for index, turn in enumerate(turns):
            if not turn.fresh or turn.is_instruction or not turn.text.strip():
                continue
            if chunk and characters + len(turn.text) > limit:
                if not _is_small_talk(documents, chunk):
                    yield chunk
                chunk, characters = [], 0
            chunk.append((number, index))
            characters += len(turn.text)
    if chunk and not _is_small_talk(documents, chunk):
        yield chunk


def _is_small_talk(documents: Documents, chunk: Chunk) -> bool:
    return all(is_filler(documents[number][index].text) for number, index in chunk)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredPart:
    """Turns of a chunk and what the model said of them, or why it could not."""

    chunk: ShownChunk
    facts: Sequence[WordedFact] = ()
    error: LlmError | None = None


class ChunkReader:
    """Asks about chunks of the same documents, several at once; what the local extractor drew from them is at hand."""

    def __init__(
        self,
        caller: Caller,
        operation: LlmOperation,
        prompt: Prompt,
        context: BankContext,
        documents: Documents,
        drawn: Sequence[DocumentFacts],
        reply_tokens: int,
    ) -> None:
        self._caller, self._operation, self._prompt, self._context = caller, operation, prompt, context
        self._documents, self._drawn, self._reply_tokens = documents, drawn, reply_tokens
        self._expected = expected_facts()
        self._hopeless: LlmError | None = None

    def read_all(self, chunks: Iterable[Chunk]) -> Iterator[list[NumberedFact]]:
        """The facts of the chunks in order, with their documents' numbers; the first chunk is asked about alone."""
        waiting = iter(chunks)
        for first in waiting:
            yield self._checked(self._ask_in_parts(first))
            break
        with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="perdure-llm") as threads:
            for parts in threads.map(self._ask_in_parts, waiting):
                yield self._checked(parts)

    def _checked(self, parts: Sequence[AnsweredPart]) -> list[NumberedFact]:
        facts: list[NumberedFact] = []
        for part in parts:
            if part.error is not None:
                facts += self._fall_back([place for place, _ in part.chunk.turns], part.error)
            else:
                facts += checked_facts(self._drawn, part.chunk, part.facts, self._prompt.version)
        return facts

    def _ask_in_parts(self, places: Chunk) -> list[AnsweredPart]:
        """The answer about a chunk; where it was cut, about its parts."""
        chunk = self._shown(places)
        try:
            facts, cut = self._ask(chunk)
        except LlmError as error:
            if isinstance(error, LlmCut) and len(places) > 1:
                return self._halves(places)
            return [AnsweredPart(chunk=chunk, error=error)]
        if not cut:
            return [AnsweredPart(chunk=chunk, facts=facts)]
        done = _complete_turns(chunk, facts)
        if done:
            covered = replace(chunk, turns=chunk.turns[:done])
            return [AnsweredPart(chunk=covered, facts=facts), *self._ask_in_parts(places[done:])]
        if len(places) > 1:
            return self._halves(places)
        return [AnsweredPart(chunk=chunk, error=LlmCut("the answer about one turn was cut"))]

    def _halves(self, places: Chunk) -> list[AnsweredPart]:
        middle = len(places) // 2
        return [*self._ask_in_parts(places[:middle]), *self._ask_in_parts(places[middle:])]

    def _shown(self, places: Chunk) -> ShownChunk:
        number, first = places[0]
        turns = [(place, self._documents[place[0]][place[1]]) for place in places]
        before = self._documents[number][max(first - CONTEXT_TURNS, 0) : first]
        return ShownChunk(
            turns=turns,
            before=[turn for turn in before if turn.text.strip() and not turn.is_instruction],
            offered=() if self._hopeless else self._context.offered([turn for _, turn in turns]),
        )

    def _ask(self, chunk: ShownChunk) -> tuple[Sequence[WordedFact], bool]:
        """The model's facts, and whether its answer was cut; nothing is asked once every request would be refused."""
        if self._hopeless is not None:
            raise self._hopeless
        purpose = Purpose(bank=self._context.bank, operation=self._operation, prompt=self._prompt.version)
        messages = write_messages(self._prompt, chunk, self._context)
        try:
            reply = self._caller.structured(purpose, messages, self._expected, max_tokens=self._reply_tokens)
        except LlmError as error:
            if isinstance(error, LlmCapReached) or (
                isinstance(error, LlmRefused) and error.status in HOPELESS
            ):
                self._hopeless = error
            raise
        return reply.value.facts, reply.cut

    def _fall_back(self, places: Chunk, error: LlmError) -> list[NumberedFact]:
        log.warning("bank %r: %d turns read without the model: %s", self._context.bank, len(places), error)
        for number, turns in turns_by_document(places).items():
            self._context.fell_back(
                LocalFallback(document=number, turns=tuple(turns), code=error.code, reason=str(error))
            )
        return local_facts(self._drawn, places)


def _complete_turns(chunk: ShownChunk, facts: Sequence[WordedFact]) -> int:
    """How many turns an answer that was cut covers for sure: those before its last fact's, if it keeps their order."""
    numbers = [fact.turn for fact in facts]
    if not numbers or numbers != sorted(numbers):
        return 0
    return min(max(numbers[-1] - 1, 0), len(chunk.turns) - 1)
