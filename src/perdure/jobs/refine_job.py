"""Refinement in the background: a language model rewords stored turns, a batch per transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from perdure.domain.fact import Chunk
from perdure.domain.llm_call import LlmOperation
from perdure.errors import InvalidInput, LlmError
from perdure.extract.llm import LlmExtractor
from perdure.jobs.kind import JobPlan, Step
from perdure.jobs.records import PlannedStep
from perdure.llm.prompt import load
from perdure.ports.extractor import Extractor
from perdure.retain.components import RetainComponents
from perdure.retain.identity import digest
from perdure.retain.rewrite import (
    find_unrefined,
    plan_rewriting,
    read_stored,
    write_rewriting,
)

REFINE = "refine"
STEP_CHARACTERS = 18_000
"""Characters of turns per step and call: about 4,500 tokens, whose answer fits in `REPLY_TOKENS`."""
REPLY_TOKENS = 8_192


class RefineJob:
    """Rewrites what rules extracted from chunks that no model has worded yet."""

    name = REFINE

    def __init__(
        self, components: RetainComponents, local: Extractor, after: Callable[[str], object] = lambda _: None
    ) -> None:
        self._components, self._local, self._after = components, local, after

    def plan(self, bank: str) -> JobPlan:
        """Plan steps over the chunks to reword; raise `InvalidInput` if no model is set."""
        if self._components.llm is None:
            raise InvalidInput("llm", "a language model, which refine asks")
        with self._components.store.reading(bank) as reading:
            unrefined = find_unrefined(reading)
        if unrefined.records:
            with self._components.store.transaction(bank) as tx:
                tx.put_records(unrefined.records)
        chunks = unrefined.chunks
        steps = [
            PlannedStep({"chunks": [chunk.id for chunk in batch]}, sum(map(_turns, batch)))
            for batch in batch_chunks(chunks, STEP_CHARACTERS)
        ] or [PlannedStep({"chunks": []}, 0)]
        return JobPlan(
            kind=self.name,
            steps=steps,
            total=sum(step.count for step in steps),
            digest=digest(self.name, *(chunk.id for chunk in chunks)),
        )

    def run_step(self, step: Step) -> Mapping[str, object]:
        """Reword a batch; turns on which the model fails are retried by the next refinement.

        If it fails on all of them, the operation fails, and a retry continues here.
        """
        body: Mapping[str, Any] = step.body
        components, caller = self._components, self._components.llm
        if caller is None:
            raise InvalidInput("llm", "a language model, which refine asks")
        prompt = load(REFINE)
        with components.store.reading(step.bank) as reading:
            documents = read_stored(reading, body["chunks"])
        if not documents:
            return {"turns": 0}
        extractor = LlmExtractor(
            caller, self._local, prompt, operation=LlmOperation.REFINE, characters=STEP_CHARACTERS,
            reply_tokens=REPLY_TOKENS,
        )  # fmt: skip
        rewriting = plan_rewriting(components, step.bank, documents, extractor, components.clock())
        failed = sum(one.turns for one in rewriting.fell_back)
        if rewriting.turns and failed >= rewriting.turns:
            raise LlmError(f"no turn could be worded: {rewriting.fell_back[-1].reason}")
        told: dict[str, object] = {
            "turns": rewriting.turns - failed,
            "failed_turns": failed,
            "retired": len(rewriting.replaced),
        }
        with components.store.transaction(step.bank) as tx:
            told["facts"] = write_rewriting(tx, rewriting, prompt.version)
            step.commit(tx, told)
        self._after(step.bank)
        return told


def batch_chunks(chunks: Sequence[Chunk], limit: int) -> Iterator[list[Chunk]]:
    """Yield chunks in order, in batches of at most `limit` characters."""
    batch: list[Chunk] = []
    characters = 0
    for chunk in chunks:
        if batch and characters + len(chunk.text) > limit:
            yield batch
            batch, characters = [], 0
        batch.append(chunk)
        characters += len(chunk.text)
    if batch:
        yield batch


def _turns(chunk: Chunk) -> int:
    return len(chunk.spans) or 1
