"""Erasure of thoughts: no thought holds a word of a forgotten fact.

Called within the transaction of every forget, before the facts are deleted. Each kind of thought has a scrubber of its own:
what rests on erased facts only goes, what rests on others too is made anew from those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from perdure.domain.fact import Fact
from perdure.ports.store import Transaction
from perdure.reflect.mental_models.erasure import scrub_mental_models
from perdure.reflect.opinions.erasure import scrub_opinions

Scrubber = Callable[[Transaction, Mapping[str, Fact]], frozenset[str]]
"""Takes facts that are about to be deleted out of the thoughts of one kind; returns the facts whose vectors went."""

SCRUBBERS: tuple[Scrubber, ...] = (scrub_opinions, scrub_mental_models)


def scrub_thoughts(tx: Transaction, erased: Mapping[str, Fact]) -> frozenset[str]:
    """Take facts that are about to be deleted out of all thoughts; returns the facts that should be embedded anew.

    Facts that still name an erased one as their source afterwards are deleted with it, and come here next.
    """
    return frozenset(fact_id for scrubber in SCRUBBERS for fact_id in scrubber(tx, erased))
