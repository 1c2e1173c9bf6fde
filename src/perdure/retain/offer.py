"""What retain tells an extractor of the bank: its mission and instructions, and current facts that new ones may replace."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest

from perdure.domain.fact import INSTRUCTION, Fact, FactType
from perdure.domain.filter import Filter
from perdure.domain.recall import Hit
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import BankContext, LocalFallback, OfferedFact, Turn
from perdure.ports.probe import KeywordProbe, Probe, SemanticProbe
from perdure.ports.store import Reading
from perdure.text.terms import index_terms

OFFERED, OFFERED_PER_TURN = 8, 3
"""Facts that are offered per chunk, and per turn where it has few: each costs about 25 tokens."""
PER_TURN = 4
"""Facts that are looked for per turn and channel."""
STATED = frozenset({FactType.WORLD, FactType.EXPERIENCE})
MISSION, INSTRUCTIONS = "retain_mission", "retain_custom_instructions"
"""Settings of a bank, under Hindsight's names; without a mission of its own, retain has the bank's."""


def bank_context(
    reading: Reading,
    bank: str,
    now: datetime,
    embedder: Embedder | None,
    fell_back: Callable[[LocalFallback], None],
    *,
    without: Collection[str] = (),
) -> BankContext:
    """Return the context of a retain; facts are searched when an extractor asks for them, none of `without`."""
    stored = reading.bank()
    settings: Mapping[str, object] = stored.settings if stored is not None else {}
    return BankContext(
        bank=bank,
        mission=_text(settings.get(MISSION)) or (stored.mission if stored is not None else ""),
        instructions=_text(settings.get(INSTRUCTIONS)),
        offered=lambda turns: offered_facts(reading, turns, now, embedder, without),
        fell_back=fell_back,
    )


def offered_facts(
    reading: Reading,
    turns: Sequence[Turn],
    now: datetime,
    embedder: Embedder | None,
    without: Collection[str] = (),
) -> list[OfferedFact]:
    """Return current facts nearest to what the turns say, in meaning and in words, the best of each turn first."""
    where = Filter(types=STATED).at(now)
    texts = [turn.text for turn in turns]
    probes: list[Probe] = [KeywordProbe(dict.fromkeys(index_terms(text), 1.0)) for text in texts]
    if embedder is not None:
        probes += [SemanticProbe(vector) for vector in embedder.embed_passages(texts)]
    depth = PER_TURN if not without else 3 * PER_TURN
    ranked = [reading.search(probe, where, depth) for probe in probes]
    best = [hit for rank in zip_longest(*ranked) for hit in _best_first(rank)]
    ids = list(dict.fromkeys(hit.fact_id for hit in best if hit.fact_id not in without))
    facts = [fact for fact in reading.facts(ids) if _may_be_replaced(fact)]
    return [
        OfferedFact(id=fact.id, text=fact.text, speaker=fact.speaker, said_at=fact.mentioned_at)
        for fact in facts[: min(OFFERED, OFFERED_PER_TURN * len(turns))]
    ]


def _best_first(rank: Sequence[Hit | None]) -> list[Hit]:
    return sorted((hit for hit in rank if hit is not None), key=lambda hit: -hit.score)


def _may_be_replaced(fact: Fact) -> bool:
    return fact.is_open and fact.valid_to is None and INSTRUCTION not in fact.flags


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
