"""Random histories of what is said, ended, corrected, withdrawn and forgotten: opinions follow from what is left."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from perdure import AsOf, Entity, Fact, FactType, Filter, InvalidInput, Perdure
from perdure.domain.fact import BELIEF
from perdure.domain.opinion import EvidenceLabel
from perdure.ports.store import NewFact
from perdure.recall.beliefs import EVIDENCE, OPINION
from perdure.retain.commit import Closure, FactChanges, commit
from perdure.retain.entities import keyed
from perdure.retain.features import features_of_edited
from tests.postgres import new_database
from tests.property.opinion_fold import believed, rows_of
from tests.support.memory_store import MemoryStore

BANK = "b"
START = datetime(2024, 1, 1, tzinfo=UTC)
VERBS = ("prefers", "likes", "loves", "hates", "does not like", "sometimes likes", "no longer prefers")
TOPICS = ("morning meetings", "afternoon meetings", "hiking", "hiking in the Alps")
OWN_WORDS = {
    "unsure",
    "whether",
    "with",
    "reservations",
    "likes",
    "dislikes",
    "prefers",
    "prefer",
    "like",
    "does",
    "not",
}
"""Words of an opinion that need not be in any fact."""


class TopicJudge:
    """Judges by the topics and verbs that the machine says."""

    def beliefs(self, facts: Sequence[Fact]) -> list[float]:
        """Return nothing: the facts are flagged already."""
        return [0.0] * len(facts)

    def labels(self, pairs: Sequence[tuple[str, Fact]]) -> list[EvidenceLabel | None]:
        return [self._label(belief, fact.text) for belief, fact in pairs]

    def _label(self, belief: str, text: str) -> EvidenceLabel | None:
        own, other = _topic(belief), _topic(text)
        if own != other:
            return None
        if "sometimes" in text:
            return EvidenceLabel.WEAK
        same = _is_against(belief) is _is_against(text)
        return EvidenceLabel.SUPPORTING if same else EvidenceLabel.CONTRADICTING


def _topic(text: str) -> str:
    return max((topic for topic in TOPICS if topic in text), key=len, default="")


def _is_against(text: str) -> bool:
    return any(word in text for word in ("hates", "not like", "no longer"))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


class OpinionMachine(RuleBasedStateMachine):
    """The log and the facts that are left are the model: every confidence must be their fold, at every moment."""

    @initialize()
    def start(self) -> None:
        self.time = START
        self.count = 0
        self.forgotten: set[str] = set()
        """Words that only forgotten facts had."""
        self.place = ExitStack()
        clock = lambda: self.time  # noqa: E731
        plain: dict[str, Any] = {
            "embedder": "none",
            "reranker": "none",
            "extractor": "verbatim",
            "clock": clock,
        }
        self.engines = [
            Perdure.open(store=MemoryStore(clock=clock), **plain),
            Perdure.open(self.new_place(), **plain),
        ]
        for engine in self.engines:
            engine.banks.configure(BANK)
            engine.opinions._components = replace(engine.opinions._components, evidence_judge=TopicJudge())

    def new_place(self) -> str:
        """Where a new database is, until the machine ends."""
        return str(Path(self.place.enter_context(tempfile.TemporaryDirectory())) / "memory.db")

    def facts(self) -> list[Fact]:
        """What was said, as it is stored."""
        everything = Filter(include_closed=True, include_expired=True)
        stored = list(self.engines[0].facts.iterate(BANK, where=everything))
        return [fact for fact in stored if fact.type is FactType.WORLD]

    @rule(
        data=st.data(),
        verb=st.sampled_from(VERBS),
        topic=st.sampled_from(TOPICS),
        days=st.integers(0, 20),
        closes=st.booleans(),
        corrects=st.booleans(),
        tells_place=st.booleans(),
    )
    def say(
        self,
        data: st.DataObject,
        verb: str,
        topic: str,
        days: int,
        closes: bool,
        corrects: bool,
        tells_place: bool,
    ) -> None:
        """A new fact with a word of its own, in its topic or beside it, that may end or correct another one."""
        self.time += timedelta(minutes=1)
        self.count += 1
        secret = f"zq{self.count}x"
        text = f"Ann {verb} {topic}" + (f" near {secret}." if tells_place else f", because of {secret}.")
        fact = Fact(
            id=f"f{self.count}", bank=BANK, text=text, speaker="Ann", entities=("Ann",), entity_ids=("ann",),
            mentioned_at=START + timedelta(days=days), recorded_at=self.time, flags=(BELIEF,), confidence=0.5 if "like" in verb else 0.85,
        )  # fmt: skip
        old = data.draw(st.sampled_from(self.facts())).id if closes and self.facts() else None
        closure = Closure(
            fact_id=old or "", retired_at=self.time if corrects else None,
            valid_to=None if corrects else START + timedelta(days=days), superseded_by=fact.id,
        )  # fmt: skip
        changes = FactChanges(
            bank=BANK, now=self.time, facts=[NewFact(fact, features_of_edited(fact, None, None))],
            entities=[keyed(Entity(id="ann", bank=BANK, name="Ann", mentions=self.count))],
            closures=[closure] if old else [],
        )  # fmt: skip
        for engine in self.engines:
            commit(engine._store, changes)

    @rule()
    def think(self) -> None:
        self.time += timedelta(minutes=1)
        for engine in self.engines:
            engine.opinions.form(BANK)
            again = engine.opinions.form(BANK)
            assert (again.formed, again.changed) == ((), ())

    @precondition(lambda self: self.facts())
    @rule(data=st.data())
    def declare_wrong(self, data: st.DataObject) -> None:
        self.time += timedelta(minutes=1)
        fact = data.draw(st.sampled_from(self.facts()))
        for engine in self.engines:
            engine.facts.invalidate(BANK, fact.id)

    @precondition(lambda self: self.facts())
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        self.time += timedelta(minutes=1)
        fact = data.draw(st.sampled_from(self.facts()))
        for engine in self.engines:
            try:
                engine.facts.restore(BANK, fact.id)
            except InvalidInput:
                assert fact.superseded_by is not None

    @precondition(lambda self: self.facts())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        self.time += timedelta(minutes=1)
        fact = data.draw(st.sampled_from(self.facts()))
        for engine in self.engines:
            engine.forget(BANK, fact_id=fact.id)
        self.forgotten |= {word for word in words(fact.text) if word.startswith("zq")}

    @invariant()
    def confidences_are_the_fold_of_what_counts_at_every_moment(self) -> None:
        early, late = START + timedelta(days=5, hours=1), START + timedelta(days=12, hours=1)
        before = self.time - timedelta(minutes=2)
        facts = {fact.id: fact for fact in self.facts()}
        for engine in self.engines:
            for as_of in (
                AsOf(),
                AsOf(valid=early),
                AsOf(valid=late),
                AsOf(known=before),
                AsOf(valid=late, known=before),
            ):
                told = {opinion.id: opinion for opinion in engine.opinions.list(BANK, as_of=as_of)}
                expected = believed(engine, BANK, facts, as_of, self.time)
                assert {one: opinion.confidence for one, opinion in told.items()} == pytest.approx(expected)
                for opinion in told.values():
                    assert opinion.curve()[-1][1] == opinion.confidence

    @invariant()
    def no_opinion_has_a_word_of_a_forgotten_fact(self) -> None:
        surviving = {fact.id: fact for fact in self.facts()}
        for engine in self.engines:
            kept = [*engine.records.list(OPINION, bank=BANK), *engine.records.list(EVIDENCE, bank=BANK)]
            stored = str([record.body for record in kept])
            everything = Filter(include_closed=True, include_expired=True)
            opinions = engine.facts.list(BANK, types=["opinion"], where=everything, limit=1000).facts
            with engine._store.reading(BANK) as reading:
                features = reading.features([fact.id for fact in opinions])
            told = stored + str([fact.text for fact in opinions]) + str(features)
            assert not [word for word in self.forgotten if word in told]
            for fact in opinions:
                supports = {word for one in fact.source_fact_ids for word in words(surviving[one].text)}
                assert words(fact.text) <= supports | OWN_WORDS
            assert {fact.id for fact in opinions} <= {
                record.id for record in engine.records.list(OPINION, bank=BANK)
            }
            for record in engine.records.list(EVIDENCE, bank=BANK):
                assert {row["fact"] for row in rows_of(record)} <= surviving.keys()

    @invariant()
    def stores_agree(self) -> None:
        first, second = (sorted(map(str, engine.opinions.list(BANK))) for engine in self.engines)
        assert first == second

    def teardown(self) -> None:
        for engine in getattr(self, "engines", ()):
            engine.close()
        if hasattr(self, "place"):
            self.place.close()


TestOpinions = OpinionMachine.TestCase
TestOpinions.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)


class PostgresOpinionMachine(OpinionMachine):
    """The same on PostgreSQL."""

    def new_place(self) -> str:
        return self.place.enter_context(new_database())


TestPostgresOpinions = PostgresOpinionMachine.TestCase
TestPostgresOpinions.settings = settings(TestOpinions.settings, max_examples=3)
