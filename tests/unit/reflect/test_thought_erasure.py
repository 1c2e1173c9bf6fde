"""What goes from opinions with forgotten facts."""

from __future__ import annotations

import json

from perdure import Filter, Perdure
from tests.unit.reflect.thinking import BANK, Thinking


def everything(engine: Perdure) -> str:
    """All that the bank keeps of opinions and facts, as text."""
    records = [
        record.body
        for kind in ("opinion", "opinion_evidence")
        for record in engine.records.list(kind, bank=BANK)
    ]
    facts = engine.facts.list(BANK, where=Filter(include_closed=True, include_expired=True), limit=1000).facts
    with engine._store.reading(BANK) as reading:
        features = reading.features([fact.id for fact in facts])
    return json.dumps(records) + str(facts) + str(features)


def test_an_opinion_that_rests_on_nothing_else_goes() -> None:
    bank = Thinking()
    (fact_id,) = bank.say(1, "I prefer quince jam.")
    forgotten = bank.engine.forget(BANK, fact_id=fact_id)
    assert forgotten.facts == 2
    assert bank.opinions() == []
    assert "quince" not in everything(bank.engine)
    assert bank.engine.records.list("opinion", bank=BANK) == []


def test_an_opinion_that_others_state_too_is_worded_in_their_words() -> None:
    bank = Thinking(embedder="hashing")
    (first,) = bank.say(1, "I prefer morning meetings.")
    bank.say(2, "I love meetings.")
    bank.say(3, "I enjoy long meetings.")
    assert bank.only().statement == "I prefer morning meetings."
    bank.engine.forget(BANK, fact_id=first)
    assert bank.opinions() == ["I love meetings. (c = 0.72)"]
    assert "prefer" not in everything(bank.engine)
    with bank.engine._store.reading(BANK) as reading:
        assert set(reading.features([bank.only().id])[bank.only().id].vectors) == {"fact", "context"}


def test_a_forgotten_contradiction_no_longer_counts() -> None:
    bank = Thinking()
    bank.say(1, "I prefer tea.")
    (against,) = bank.say(2, "I hate tea.")
    bank.engine.forget(BANK, fact_id=against)
    opinion = bank.only()
    assert (opinion.confidence, opinion.left_out) == (0.85, ())


def test_with_a_document_go_the_opinions_that_only_it_states() -> None:
    bank = Thinking()
    bank.say(1, "I prefer quince jam.", document_id="d")
    bank.say(2, "I prefer loud music.", document_id="e")
    bank.engine.forget(BANK, document_id="d")
    assert bank.opinions() == ["I prefer loud music. (c = 0.85)"]
    assert "quince" not in everything(bank.engine)


def test_the_opposite_is_no_rival_any_more_when_it_went() -> None:
    bank = Thinking()
    (first,) = bank.say(1, "I prefer tea.")
    bank.say(2, "I hate tea.")
    bank.say(3, "I really hate tea.")
    bank.engine.forget(BANK, fact_id=first)
    assert bank.opinions() == ["I hate tea. (c = 0.72)"]
    assert [record.body["rivals"] for record in bank.engine.records.list("opinion", bank=BANK)] == [[]]


def test_forgetting_an_opinion_itself_leaves_the_facts() -> None:
    bank = Thinking()
    (fact_id,) = bank.say(1, "I prefer tea.")
    bank.engine.forget(BANK, fact_id=bank.only().id)
    assert bank.opinions() == []
    assert bank.engine.facts.get(BANK, fact_id).text == "I prefer tea."
