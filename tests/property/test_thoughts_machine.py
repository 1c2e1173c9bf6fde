"""Random histories of what is said, ended, corrected and forgotten: no thought of any kind has a word of a forgotten fact.

Every statement bears made-up words of its own, so that "a word of it" can be told. Thoughts are observations, opinions, notes,
mental models with their history, questions, and what reflect says under a directive.
"""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from perdure import AsOf, Fact, FactType, Filter, InvalidInput, OperationStatus, Perdure
from perdure.ports.store import NewFact
from perdure.retain.commit import FactChanges, commit
from perdure.retain.features import features_of_edited
from tests.property.opinion_fold import believed
from tests.support.memory_store import MemoryStore

BANK = "b"
START = datetime(2026, 11, 16, 9, tzinfo=UTC)
STATEMENTS = (
    "I live in {}.",
    "I live in {} now.",
    "I work at {}.",
    "I prefer {} meetings.",
    "I love {}.",
    "I hate {} in the morning.",
    "I sometimes like {} tea.",
    "My dog is called {}.",
    "I no longer work at {}.",
    "I bought a {} yesterday, because I like {} maps.",
    "The {} boiler broke, so I called a {} plumber.",
)
AGAIN = ("I love {}.", "I enjoy {} a lot.", "I hate {}.", "I don't like {} any more.")
"""What is said of a word that was used before."""
KINDS = (
    "opinion", "opinion_evidence", "observation", "observation_subject", "observation_scopes", "consolidation",
    "consolidation_subject", "consolidation_batch", "consolidation_pending", "consolidation_failed", "note",
    "note_pending", "question", "mental_model", "mental_model_history", "mental_model_vector", "directive",
    "directive_history", "knowledge_node",
)  # fmt: skip
THOUGHTS = (FactType.OBSERVATION, FactType.OPINION)
EVERYTHING = Filter(include_closed=True, include_expired=True)


def markers(text: str) -> set[str]:
    """The made-up words in a text."""
    return set(re.findall(r"zq\d+x", text.casefold()))


class Bank:
    """A memory on one store, with a folder of notes and what was ever said in each of its facts."""

    def __init__(self, engine: Perdure, notes: Path) -> None:
        self.engine, self.notes = engine, notes
        self.said: dict[str, set[str]] = {}
        engine.directives.create(BANK, name="quote", content="Always quote.")
        _, first = engine.models.create(
            BANK, "Ann", "What does Ann like, and where does Ann live?",
            model_id="ann", trigger={"refresh_after_consolidation": True},
        )  # fmt: skip
        engine.operations.get(BANK, first.id, wait=60)
        engine.knowledge.create_page(BANK, name="Ann at work", source_query="Where does Ann work?")

    def facts(self) -> list[Fact]:
        """What was said, in the order in which it was recorded; thoughts left out."""
        stored = [
            fact for fact in self.engine.facts.iterate(BANK, where=EVERYTHING) if fact.type not in THOUGHTS
        ]
        for fact in stored:
            self.said.setdefault(fact.id, set()).update(markers(fact.text))
        return sorted(stored, key=lambda fact: (fact.recorded_at or START, fact.text))

    def think(self) -> None:
        operation = self.engine.operations.get(BANK, self.engine.consolidate(BANK).id, wait=60)
        assert operation.status is OperationStatus.COMPLETED, operation.error
        for model in self.engine.models.list(BANK):
            refresh = self.engine.models.refresh(BANK, model.id)
            # A refresh that finds nothing to say fails and leaves the document; it has to come to its end.
            assert self.engine.operations.get(BANK, refresh.id, wait=60).finished

    def forget(self, fact_id: str) -> set[str]:
        """Forget a fact; the words that no other fact has ever had."""
        self.facts()
        self.engine.forget(BANK, fact_id=fact_id)
        kept = {fact.id for fact in self.facts()}
        gone = [fact for fact in self.said if fact not in kept]
        words = {word for fact in gone for word in self.said.pop(fact)}
        return words - {word for left in self.said.values() for word in left}

    def thoughts(self) -> str:
        """Every word of every thought: as it is stored, as it lies in the folder, as it is shown and said."""
        engine = self.engine
        synthesised = [fact for fact in engine.facts.iterate(BANK, where=EVERYTHING) if fact.type in THOUGHTS]
        with engine._store.reading(BANK) as reading:
            features = reading.features([fact.id for fact in synthesised])
        stored = [record.body for kind in KINDS for record in engine.records.list(kind, bank=BANK)]
        files = [path.read_text() for path in self.notes.rglob("*.md")]
        shown = [
            engine.observations.list(BANK, stale=True),
            engine.opinions.list(BANK),
            [str(engine.notes.get(BANK, name)) for name in engine.notes.list(BANK)],
            engine.models.list(BANK),
            [engine.models.history(BANK, model.id) for model in engine.models.list(BANK)],
            engine.questions.list(BANK, answered=True),
            engine.knowledge.export(BANK),
            [
                engine.reflect(BANK, query, track=False).text
                for query in ("Where does Ann live?", "What does Ann like?")
            ],
        ]
        return str([synthesised, features, stored, files, shown]).casefold()


class ThoughtsMachine(RuleBasedStateMachine):
    """The facts that are left are the model, on every store."""

    @initialize()
    def start(self) -> None:
        self.time = START
        self.count = 0
        self.forgotten: set[str] = set()
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.folder.name)
        clock = lambda: self.time  # noqa: E731
        stores = {"memory": MemoryStore(clock=clock), "sqlite": None}
        self.banks = []
        for name, store in stores.items():
            engine = Perdure.open(
                root / "memory.db" if store is None else None, store=store, clock=clock, embedder="none",
                reranker="none", tagger="rules", notes_folder=root / name,
            )  # fmt: skip
            self.banks.append(Bank(engine, root / name))

    def pass_time(self, minutes: int = 1) -> None:
        self.time += timedelta(minutes=minutes)

    def new_word(self) -> str:
        self.count += 1
        return f"Zq{self.count}x"

    def one_of_the_facts(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, len(self.banks[0].facts()) - 1))

    @rule(
        statement=st.sampled_from(STATEMENTS),
        speaker=st.sampled_from(("Ann", "Ann", "Bob")),
        hours=st.integers(0, 60),
    )
    def say(self, statement: str, speaker: str, hours: int) -> None:
        self.pass_time(60 * hours)
        text = re.sub(r"\{\}", lambda _: self.new_word(), statement)
        for bank in self.banks:
            bank.engine.retain(BANK, text, speaker=speaker, timestamp=self.time)

    @precondition(lambda self: self.count)
    @rule(data=st.data(), statement=st.sampled_from(AGAIN))
    def say_again(self, data: st.DataObject, statement: str) -> None:
        """Something of a word that is still there: so that a thought rests on several facts."""
        words = sorted({word for bank in self.banks for fact in bank.facts() for word in markers(fact.text)})
        if words:
            self.pass_time()
            text = statement.format(data.draw(st.sampled_from(words)).capitalize())
            for bank in self.banks:
                bank.engine.retain(BANK, text, speaker="Ann", timestamp=self.time)

    @rule()
    def two_say_different_things(self) -> None:
        """A conflict that nothing decides becomes a question."""
        self.pass_time()
        stated = [
            Fact(
                id=f"{speaker}-{self.count}", bank=BANK, text=f"Kim lives in {word}.", subject="Kim", relation="lives_in",
                object=word, speaker=speaker, mentioned_at=self.time, recorded_at=self.time,
            )
            for speaker in ("Tom", "Eva")
            for word in [self.new_word()]
        ]  # fmt: skip
        for bank in self.banks:
            new = [NewFact(fact, features_of_edited(fact, None)) for fact in stated]
            commit(bank.engine._store, FactChanges(bank=BANK, now=self.time, facts=new))

    @precondition(lambda self: self.banks[0].facts())
    @rule(data=st.data())
    def correct(self, data: st.DataObject) -> None:
        self.pass_time()
        place, word = self.one_of_the_facts(data), self.new_word()
        for bank in self.banks:
            fact = bank.facts()[place]
            bank.engine.facts.update(BANK, fact.id, text=re.sub(r"Zq\d+x", word, fact.text, count=1))

    @precondition(lambda self: self.banks[0].facts())
    @rule(data=st.data())
    def declare_wrong_or_restore(self, data: st.DataObject) -> None:
        self.pass_time()
        place, wrong = self.one_of_the_facts(data), data.draw(st.booleans())
        for bank in self.banks:
            fact = bank.facts()[place]
            try:
                (bank.engine.facts.invalidate if wrong else bank.engine.facts.restore)(BANK, fact.id)
            except InvalidInput:
                assert fact.superseded_by is not None

    @rule()
    def think(self) -> None:
        self.pass_time()
        for bank in self.banks:
            bank.think()

    @precondition(lambda self: self.banks[0].facts())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        self.pass_time()
        place = self.one_of_the_facts(data)
        gone = [bank.forget(bank.facts()[place].id) for bank in self.banks]
        assert gone[0] == gone[1]
        self.forgotten |= gone[0]

    @precondition(lambda self: self.banks[0].facts())
    @rule(data=st.data())
    def think_and_forget(self, data: st.DataObject) -> None:
        """Forget what was just thought about."""
        self.think()
        self.forget(data)

    @invariant()
    def no_thought_has_a_word_of_a_forgotten_fact(self) -> None:
        for bank in self.banks:
            assert not markers(bank.thoughts()) & self.forgotten

    @invariant()
    def opinions_are_the_fold_of_what_counts_at_every_moment(self) -> None:
        early, before = START + timedelta(hours=30), self.time - timedelta(minutes=2)
        for bank in self.banks:
            facts = {fact.id: fact for fact in bank.facts()}
            for as_of in (AsOf(), AsOf(valid=early), AsOf(known=before), AsOf(valid=early, known=before)):
                told = {one.id: one.confidence for one in bank.engine.opinions.list(BANK, as_of=as_of)}
                assert told == pytest.approx(believed(bank.engine, BANK, facts, as_of, self.time))

    @invariant()
    def stores_agree(self) -> None:
        first, second = ([fact.text for fact in bank.facts()] for bank in self.banks)
        assert first == second

    def teardown(self) -> None:
        for bank in getattr(self, "banks", ()):
            bank.engine.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestThoughts = ThoughtsMachine.TestCase
TestThoughts.settings = settings(
    max_examples=8, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
