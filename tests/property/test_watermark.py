"""The watermark of a mental model never passes what was seen, whatever clocks, other writers and erasure do."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from perdure.domain.fact import Fact
from perdure.domain.mental_model import MentalModel
from perdure.ports.store import Features, NewFact
from perdure.reflect.mental_models.scope import MARKS, read_scope
from tests.support.memory_store import MemoryStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = MentalModel(id="m", bank="b", name="n", source_query="q", tags=frozenset({"in"}))

steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("commit"), st.integers(0, 500), st.booleans()
        ),  # a clock of its own; in scope or not
        st.tuples(st.just("refresh"), st.just(0), st.just(False)),
        st.tuples(st.just("forget"), st.integers(0, 10), st.just(False)),
        st.tuples(st.just("tag"), st.integers(0, 10), st.booleans()),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(steps, st.integers(0, 60))
@example(
    [
        ("commit", 0, False),
        ("commit", 0, True),
        ("refresh", 0, False),
        ("tag", 0, True),
        ("refresh", 0, False),
    ],
    0,
)
@example(
    [("refresh", 0, False), *[("forget", 59, False)] * 40, ("commit", 500, True), ("refresh", 0, False)], 60
)
def test_a_fact_that_was_not_seen_is_new(history: list[tuple[str, int, bool]], at_first: int) -> None:
    """Where facts both came into and left what was seen without being recorded anew, the one may hide the other."""
    store = MemoryStore(lambda: NOW)
    model, seen, moved_in, left = MODEL, set[str](), False, False
    for number, (what, value, flag) in enumerate([("commit", 0, True)] * at_first + history):
        if what == "commit":
            tags = frozenset({"in"} if flag else {"out"})
            recorded = NOW - timedelta(minutes=value)
            fact = Fact(id=f"f{number:03}", bank="b", text="t", recorded_at=recorded, tags=tags)
            with store.transaction("b") as tx:
                tx.insert_facts([NewFact(fact, Features())])
            continue
        with store.reading("b") as reading:
            facts = reading.facts([f"f{n:03}" for n in range(number)])
            state = read_scope(reading, model, NOW)
        in_scope = {fact.id for fact in facts if "in" in fact.tags}
        unseen = in_scope - seen
        if not (moved_in and left):
            assert state.new_ids is None or state.new_ids == unseen
            assert state.has_new or not unseen
        if what == "refresh":
            model, seen, moved_in, left = replace(model, seen=state.seen), in_scope, False, False
            assert len(model.seen.newest) == min(MARKS, len(in_scope))
        elif facts:
            target = facts[value % len(facts)]
            stays = what == "tag" and flag
            left = left or (target.id in seen and not stays)
            moved_in = moved_in or (stays and target.id not in in_scope)
            with store.transaction("b") as tx:
                if what == "forget":
                    tx.delete_facts([target.id])
                else:
                    tx.update_facts([replace(target, tags=frozenset({"in"} if flag else {"out"}))])
