"""Which older fact a new one ends: by relations with one value, by proposals, by a judge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from perdure import Perdure
from perdure.domain.fact import Fact
from perdure.models.hashing import HashingEmbedder
from perdure.ports.extractor import ExtractedFact, Replacement, Triple, Turn
from perdure.ports.reader import PlacedStatement
from perdure.ports.store import FactsWhere
from perdure.retain.changes import Effect
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from tests.support.memory_store import MemoryStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)


class Stating:
    """An extractor of one fact per turn, with the relation and the proposals that a test gives."""

    name = "stating"

    def __init__(self) -> None:
        self.triple: Triple | None = None
        self.replaces: tuple[Replacement, ...] = ()

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        return [
            ExtractedFact(
                text=turn.text, turn=index, source_text=turn.text, triple=self.triple, replaces=self.replaces
            )
            for index, turn in enumerate(turns)
            if turn.fresh
        ]

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        return [self.extract(turns) for turns in documents]


class Judge:
    """Gives every pair the same effect and keeps what it was asked."""

    def __init__(self, effect: Effect) -> None:
        self.effect = effect
        self.pairs: list[tuple[str, str]] = []

    def judge_effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> list[Effect]:
        self.pairs += [(earlier.text, later.text) for earlier, later in pairs]
        return [self.effect] * len(pairs)


class Bank:
    """A bank into which single statements are retained."""

    def __init__(self, judge: Judge | None = None) -> None:
        self.extractor = Stating()
        self.store = MemoryStore()
        self.components = RetainComponents(
            store=self.store,
            extractor=self.extractor,
            clock=lambda: NOW,
            embedder=HashingEmbedder(),
            judge=judge,
        )

    def say(
        self, text: str, day: str, *, speaker: str = "Ann", triple: Triple | None = None,
        replaces: Sequence[Replacement] = (), trust: int = 2,
    ) -> str:  # fmt: skip
        self.extractor.triple, self.extractor.replaces = triple, tuple(replaces)
        items = read_items(text, {"speaker": speaker, "timestamp": day, "trust": trust})
        return retain(self.components, RetainRequest(bank="b", items=items)).fact_ids[0]

    def fact(self, fact_id: str) -> Fact:
        with self.store.reading("b") as reading:
            return reading.facts([fact_id])[0]

    def facts(self) -> list[Fact]:
        with self.store.reading("b") as reading:
            return list(reading.find_facts(FactsWhere()))


def lives(where: str, who: str = "Ann") -> Triple:
    return Triple(subject=who, relation="lives_in", object=where)


def test_a_new_value_ends_the_old_one_which_is_still_believed() -> None:
    bank = Bank()
    old = bank.say("I live in Berlin.", "2023-01-10", triple=lives("Berlin"))
    new = bank.say("I live in Lisbon.", "2024-02-20", triple=lives("Lisbon"))
    ended = bank.fact(old)
    assert ended.valid_to == datetime(2024, 2, 20, tzinfo=UTC)
    assert ended.retired_at is None
    assert ended.superseded_by == new


def test_what_was_said_earlier_is_ended_even_if_it_comes_later() -> None:
    bank = Bank()
    new = bank.say("I live in Lisbon.", "2024-02-20", triple=lives("Lisbon"))
    old = bank.say("I live in Berlin.", "2023-01-10", triple=lives("Berlin"))
    assert bank.fact(old).superseded_by == new
    assert bank.fact(new).is_open


def test_relations_with_several_values_end_nothing() -> None:
    bank = Bank()
    first = bank.say(
        "I like tea.", "2023-01-10", triple=Triple(subject="Ann", relation="likes", object="tea")
    )
    bank.say("I like coffee.", "2024-01-10", triple=Triple(subject="Ann", relation="likes", object="coffee"))
    assert bank.fact(first).is_open


def test_others_and_less_trusted_sources_do_not_end_what_somebody_said_of_themselves() -> None:
    bank = Bank()
    own = bank.say("I live in Berlin.", "2023-01-10", triple=lives("Berlin"))
    bank.say("Ann lives in Lisbon.", "2024-01-10", speaker="Bob", triple=lives("Lisbon"))
    bank.say("I live in Rome.", "2024-02-10", triple=lives("Rome"), trust=1)
    assert bank.fact(own).is_open


def test_a_proposed_change_ends_and_a_proposed_correction_takes_back() -> None:
    bank = Bank()
    first = bank.say("I have a grey cat.", "2024-05-01")
    change = bank.say("The cat moved out.", "2024-05-20", replaces=[Replacement(fact_id=first)])
    assert bank.fact(first).superseded_by == change
    assert bank.fact(first).retired_at is None
    second = bank.say("The desk cost 300.", "2024-05-20")
    bank.say("The desk cost 350.", "2024-05-21", replaces=[Replacement(fact_id=second, corrects=True)])
    assert bank.fact(second).retired_at is not None


def test_a_judge_sees_the_nearest_earlier_statements_and_must_be_nearly_certain() -> None:
    unsure = Judge(Effect(ends=0.6, corrects=0.1, same=0.1))
    bank = Bank(unsure)
    first = bank.say("We meet on Monday.", "2024-05-01")
    bank.say("We meet on Tuesday.", "2024-05-02")
    assert unsure.pairs == [("We meet on Monday.", "We meet on Tuesday.")]
    assert bank.fact(first).is_open
    sure = Bank(Judge(Effect(ends=0.99, corrects=0.0, same=0.0)))
    first = sure.say("We meet on Monday.", "2024-05-01")
    second = sure.say("We meet on Tuesday.", "2024-05-02")
    assert sure.fact(first).superseded_by == second


def test_a_batch_is_judged_within_itself() -> None:
    judge = Judge(Effect(ends=0.99, corrects=0.0, same=0.0))
    bank = Bank(judge)
    items = read_items(
        [
            {"content": "We meet on Tuesday.", "speaker": "Ann", "timestamp": "2024-05-02"},
            {"content": "We meet on Monday.", "speaker": "Ann", "timestamp": "2024-05-01"},
        ],
        {},
    )
    later, earlier = retain(bank.components, RetainRequest(bank="b", items=items)).fact_ids
    assert judge.pairs == [("We meet on Monday.", "We meet on Tuesday.")]
    assert bank.fact(earlier).superseded_by == later
    assert bank.fact(later).is_open


def test_the_reader_finds_a_correction_within_one_retain(tmp_path: Path) -> None:
    said = ("we're meeting on Monday at 6", "I bought new shoes", "sorry, I meant Tuesday at 6, not Monday")
    messages = [
        {"role": "user", "speaker": "Lea", "content": text, "timestamp": f"2026-01-0{day}T09:00:00Z"}
        for day, text in enumerate(said, start=1)
    ]
    with Perdure.open(tmp_path / "batch.db") as memory:
        result = memory.retain("b", messages)
        (ended,) = result.superseded
        assert memory.facts.get("b", ended.fact_id).text == said[0]
        assert memory.facts.get("b", ended.superseded_by or "").text == said[2]
