"""Erasure of thoughts: no thought holds a word of a forgotten fact.

Called within the transaction of every forget: `scrub_thoughts` before the facts are deleted, since what rests on others too is
made anew from those, and `scrub_records` after it, for what is kept beside. Each kind of thought has a scrubber of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from perdure.domain.fact import Fact
from perdure.domain.llm_call import LLM_CALL, LlmCall
from perdure.ports.store import Transaction
from perdure.reflect.mental_models.erasure import scrub_mental_models
from perdure.reflect.notes.write import scrub_notes
from perdure.reflect.observations.erasure import scrub_observations
from perdure.reflect.opinions.erasure import scrub_opinions
from perdure.reflect.questions import scrub_questions


def scrub_calls(tx: Transaction, erased: Mapping[str, Fact]) -> None:
    """Take all texts out of a bank's single calls when one of its facts is erased: any of them may quote it."""
    if not erased:
        return
    scrubbed = []
    for record in tx.records(LLM_CALL):
        call = LlmCall.from_record(record)
        bare = replace(call, request=None, response=None, error=call.error and call.error.partition(":")[0])
        if bare != call:
            scrubbed.append(bare.to_record())
    tx.put_records(scrubbed)


RECORD_SCRUBBERS: tuple[Callable[[Transaction, Mapping[str, Fact]], object], ...] = (
    scrub_observations,
    scrub_questions,
    scrub_notes,
    scrub_mental_models,
    scrub_calls,
)


def scrub_thoughts(tx: Transaction, erased: Mapping[str, Fact]) -> frozenset[str]:
    """Take facts that are about to be deleted out of what rests on others too; returns the facts to embed anew.

    Facts that still name an erased one as their source afterwards are deleted with it, and come here next.
    """
    return scrub_opinions(tx, erased)


def scrub_records(tx: Transaction, erased: Mapping[str, Fact]) -> None:
    """Take deleted facts, and those that were synthesised from them, out of the records of all thoughts."""
    for scrubber in RECORD_SCRUBBERS:
        scrubber(tx, erased)
