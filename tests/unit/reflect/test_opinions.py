"""Opinions form from facts, move with evidence, and follow what becomes of the facts."""

from __future__ import annotations

import pytest

from perdure import AsOf, FactType, InvalidInput, NotFound
from perdure.domain.opinion import EvidenceLabel
from perdure.reflect.opinions.forming import assess_facts
from tests.support.ending import end_fact
from tests.unit.reflect.thinking import BANK, Thinking, day


@pytest.fixture
def bank() -> Thinking:
    return Thinking()


def test_a_stated_preference_is_an_opinion_at_once(bank: Thinking) -> None:
    bank.say(1, "I prefer morning meetings.")
    assert bank.opinions() == ["Ann prefers morning meetings (c = 0.85)"]


def test_a_liking_has_to_be_repeated(bank: Thinking) -> None:
    bank.say(1, "I like hiking.")
    assert bank.opinions() == []
    bank.say(2, "I really enjoy hiking in the Alps.")
    assert bank.opinions() == ["Ann likes hiking (c = 0.60)"]


def test_a_love_of_a_kind_of_things_is_an_opinion_at_once_and_of_one_thing_when_repeated(
    bank: Thinking,
) -> None:
    bank.say(1, "I love hiking.")
    bank.say(2, "I love the way the cake turned out.")
    assert bank.opinions() == ["Ann likes hiking (c = 0.65)"]
    bank.say(3, "I love the way the cake turned out, and the icing.")
    assert "Ann likes the way the cake turned out (c = 0.64)" in bank.opinions()


def test_a_list_of_likings_forms_an_opinion_for_each(bank: Thinking) -> None:
    bank.say(1, "I love chess, jazz and reading.")
    assert bank.opinions() == [f"Ann likes {topic} (c = 0.65)" for topic in ("chess", "jazz", "reading")]


def test_the_same_fact_counts_once_however_often_it_is_said_or_assessed(bank: Thinking) -> None:
    bank.say(1, "I like hiking.")
    bank.say(2, "I like hiking.")
    assert bank.opinions() == []
    bank.say(3, "I prefer tea.")
    facts = list(bank.engine.facts.iterate(BANK))
    components = bank.engine._components.reflect
    assert assess_facts(components, BANK, facts * 2, day(4)).changed == ()
    assert [len(opinion.evidence) for opinion in bank.engine.opinions.list(BANK)] == [1]


def test_the_agents_belief_moves_with_what_others_say_of_the_same(bank: Thinking) -> None:
    bank.say(1, "I think that Python is easier to learn than Rust.", "assistant")
    bank.say(2, "Python is easier to learn than Rust.", "Bob")
    assert bank.opinions() == ["Python is easier to learn than Rust (c = 0.72)"]
    bank.say(3, "Python is not easier to learn than Rust.", "Bea")
    assert bank.opinions() == ["Python is easier to learn than Rust, with reservations (c = 0.36)"]


def test_what_was_said_before_the_belief_counts_too(bank: Thinking) -> None:
    bank.say(1, "Honestly, Python is easier to learn than Rust.", "Bob")
    bank.say(2, "I think that Python is easier to learn than Rust.", "assistant")
    assert bank.opinions() == ["Python is easier to learn than Rust (c = 0.72)"]


def test_beliefs_of_people_are_facts_about_them(bank: Thinking) -> None:
    (fact_id,) = bank.say(1, "I think that Python is easier to learn than Rust.", "Bob")
    assert bank.engine.facts.get(BANK, fact_id).type is FactType.WORLD
    assert bank.opinions() == []


def test_contradictions_tone_it_down_until_the_opposite_is_surer(bank: Thinking) -> None:
    bank.say(1, "I prefer loud music.")
    bank.say(2, "I hate loud music.")
    assert bank.opinions() == ["Ann prefers loud music, with reservations (c = 0.42)"]
    bank.say(3, "I can't stand loud music, it hurts.")
    assert bank.opinions() == ["Ann dislikes loud music, with reservations (c = 0.46)"]
    assert bank.opinions(day(2)) == ["Ann prefers loud music, with reservations (c = 0.42)"]


def test_a_superseded_preference_leaves_the_fold_and_is_there_as_of_then(bank: Thinking) -> None:
    (old,) = bank.say(1, "I prefer morning meetings.")
    (new,) = bank.say(30, "I prefer afternoon meetings now.")
    end_fact(bank.engine, BANK, old, new, day(30))
    assert bank.opinions() == ["Ann prefers afternoon meetings (c = 0.85)"]
    assert bank.opinions(day(10)) == ["Ann prefers morning meetings (c = 0.85)"]


def test_what_is_declared_wrong_leaves_and_what_is_restored_counts_again(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    (against,) = bank.say(2, "I hate tea.")
    assert bank.only().confidence == pytest.approx(0.425)
    bank.engine.facts.invalidate(BANK, against)
    assert bank.only().confidence == 0.85
    assert [row.fact_id for row in bank.only().left_out] == [against]
    bank.engine.facts.restore(BANK, against)
    assert bank.only().confidence == pytest.approx(0.425)


def test_both_axes_of_time_can_be_asked(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    (against,) = bank.say(5, "I hate tea.")
    bank.now = day(9)
    bank.engine.facts.invalidate(BANK, against)
    assert bank.opinions() == ["Ann prefers tea (c = 0.85)"]
    assert bank.opinions(AsOf(known=day(6))) == ["Ann prefers tea, with reservations (c = 0.42)"]
    assert bank.opinions(AsOf(known=day(2))) == ["Ann prefers tea (c = 0.85)"]
    assert bank.opinions(AsOf(valid=day(0))) == []


def test_an_older_statement_that_is_learned_later_takes_its_place_in_time(bank: Thinking) -> None:
    bank.say(10, "I prefer tea.")
    bank.engine.retain(BANK, [{"role": "user", "speaker": "Ann", "content": "I hate tea."}], timestamp=day(3))
    bank.engine.opinions.form(BANK)
    assert [row.label for row in bank.only().evidence] == [
        EvidenceLabel.CONTRADICTING,
        EvidenceLabel.SUPPORTING,
    ]
    assert [at for at, _ in bank.only().curve()] == [day(10)]


def test_an_opinion_has_its_evidence_and_curve(bank: Thinking) -> None:
    ids = [
        bank.say(n, text)[0]
        for n, text in enumerate(["I prefer tea.", "I sometimes like tea.", "I love tea!"])
    ]
    opinion = bank.engine.opinions.get(BANK, bank.only().id)
    assert [row.fact_id for row in opinion.evidence] == ids
    assert [round(c, 3) for _, c in opinion.curve()] == [0.85, 0.765, 0.812]
    assert (opinion.c0, opinion.subject, opinion.formed_at) == (0.85, "Ann", day(0))


def test_a_banks_rates_act_at_once(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    bank.say(2, "I hate tea.")
    bank.engine.banks.configure(BANK, settings={"opinion_gamma": 0.9})
    assert bank.only().confidence == pytest.approx(0.765)
    with pytest.raises(InvalidInput, match="opinion_gamma"):
        bank.engine.banks.configure(BANK, settings={"opinion_gamma": 9})


def test_facts_of_other_tags_neither_form_nor_move_an_opinion(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.", tags=["private"])
    bank.say(2, "I dislike tea.")
    opinion = bank.only()
    assert (opinion.confidence, len(opinion.evidence)) == (0.85, 1)
    assert bank.engine.facts.get(BANK, opinion.id).tags == {"private"}


def test_an_opinion_that_is_declared_wrong_is_held_no_longer(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    opinion_id = bank.only().id
    bank.engine.facts.invalidate(BANK, opinion_id)
    bank.say(2, "I love tea.")
    assert bank.opinions() == []
    with pytest.raises(NotFound, match="opinion"):
        bank.engine.opinions.get(BANK, opinion_id)


def test_merged_entities_share_their_opinions(bank: Thinking) -> None:
    bank.say(1, "I love tea.", "Ann")
    bank.say(2, "I enjoy tea.", "Annika")
    (ann,), (annika,) = (
        bank.engine.entities.list(BANK, name="Ann"),
        bank.engine.entities.list(BANK, name="Annika"),
    )
    if ann.id != annika.id:
        bank.engine.entities.merge(BANK, ann.id, annika.id)
    bank.say(3, "I adore tea!", "Ann")
    assert [one.entity_id for one in bank.engine.opinions.list(BANK)] == [ann.id]


def test_recall_returns_opinions_with_their_confidence_and_wording_of_the_moment(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    bank.say(5, "I hate tea.")
    for as_of, text, confidence in (
        (None, "Ann prefers tea, with reservations", 0.425),
        (day(3), "Ann prefers tea", 0.85),
    ):
        (one,) = bank.engine.recall(BANK, "What does Ann think of tea?", types=["opinion"], as_of=as_of)
        assert (one.text, one.fact.type, one.fact.confidence) == (
            text,
            FactType.OPINION,
            pytest.approx(confidence),
        )
    assert not bank.engine.recall(BANK, "tea", types=["opinion"], as_of=day(0)).recollections


def test_a_prompt_tells_how_sure_an_opinion_is(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    assert "Ann prefers tea (opinion, confidence 0.85" in bank.engine.prompt(BANK, "tea", types=["opinion"])


def test_an_opinion_is_as_secret_as_its_most_secret_support(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.", classification=2)
    assert bank.engine.facts.get(BANK, bank.only().id).classification == 2
