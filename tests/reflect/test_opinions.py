"""Opinions form from facts, move with evidence, and follow what becomes of the facts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from perdure import AsOf, AsyncPerdure, Fact, FactType, InvalidInput, ModelError, NotFound
from perdure.domain.opinion import EvidenceLabel
from perdure.domain.record import Record
from perdure.reflect.opinions.forming import assess_facts
from tests.reflect.thinking import BANK, TasteJudge, Thinking, day


@pytest.fixture
def bank() -> Thinking:
    return Thinking()


def test_a_stated_preference_is_an_opinion_at_once(bank: Thinking) -> None:
    bank.say(1, "I prefer morning meetings.")
    assert bank.opinions() == ["I prefer morning meetings. (c = 0.85)"]


def test_a_fact_counts_once_however_often_it_is_assessed(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    facts = list(bank.engine.facts.iterate(BANK))
    components = bank.engine._components.reflect
    assert assess_facts(components, BANK, facts * 2, day(4)).changed == ()
    assert [len(opinion.evidence) for opinion in bank.engine.opinions.list(BANK)] == [1]


def test_what_states_no_belief_forms_no_opinion(bank: Thinking) -> None:
    bank.say(1, "The meeting is at nine.")
    assert bank.opinions() == []


class BrokenJudge(TasteJudge):
    """Cannot read its model."""

    def labels(self, pairs: Sequence[tuple[str, Fact]]) -> list[EvidenceLabel | None]:
        raise ModelError("the weights are damaged")


@pytest.mark.parametrize(("judge", "reason"), [(None, "reader"), (BrokenJudge(), "weights are damaged")])
def test_where_nothing_can_judge_no_opinion_is_formed_and_the_report_says_why(
    judge: TasteJudge | None, reason: str
) -> None:
    bank = Thinking()
    opinions = bank.engine.opinions
    opinions._components = replace(opinions._components, evidence_judge=judge)
    bank.say(1, "I prefer tea.")
    bank.say(2, "I hate tea.")
    report = opinions.form(BANK)
    assert reason in report.unjudged
    assert (report.assessed, report.formed) == (0, ())
    assert all(len(one.evidence) == 1 for one in opinions.list(BANK))


def test_facts_that_were_in_the_bank_before_an_opinion_count_too(bank: Thinking) -> None:
    bank.say(1, "I hate tea.")
    bank.say(2, "I prefer tea.")
    assert [
        len(bank.engine.opinions.get(BANK, one.id).evidence) for one in bank.engine.opinions.list(BANK)
    ] == [2]


def test_contradictions_tone_it_down_until_the_opposite_is_surer(bank: Thinking) -> None:
    bank.say(1, "I prefer loud music.")
    bank.say(2, "I hate loud music.")
    assert bank.opinions() == ["I prefer loud music, with reservations (c = 0.42)"]
    bank.say(3, "I really hate loud music.")
    assert bank.opinions() == ["I hate loud music, with reservations (c = 0.46)"]
    assert bank.opinions(day(2)) == ["I prefer loud music, with reservations (c = 0.42)"]


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
    assert bank.opinions() == ["I prefer tea. (c = 0.85)"]
    assert bank.opinions(AsOf(known=day(6))) == ["I prefer tea, with reservations (c = 0.42)"]
    assert bank.opinions(AsOf(known=day(2))) == ["I prefer tea. (c = 0.85)"]
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


def test_opinions_of_a_subject_by_name_in_any_case(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    bank.say(1, "I prefer coffee.", "Bob")
    for subject in ("Ann", "ann"):
        assert [one.statement for one in bank.engine.opinions.list(BANK, subject)] == ["I prefer tea."]
    assert bank.engine.opinions.list(BANK, "Zoe") == []


def test_least_confidence_is_a_share(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    assert bank.engine.opinions.list(BANK, min_confidence=0.9) == []
    with pytest.raises(InvalidInput, match="min_confidence"):
        bank.engine.opinions.list(BANK, min_confidence=3)


def test_facts_of_other_tags_neither_form_nor_move_an_opinion(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.", tags=["private"])
    bank.say(2, "I dislike tea.")
    first, second = bank.engine.opinions.list(BANK)
    assert [len(one.evidence) for one in (first, second)] == [1, 1]
    assert bank.engine.facts.get(BANK, first.id).tags == {"private"}


def test_an_opinion_that_is_declared_wrong_is_held_no_longer(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    opinion_id = bank.only().id
    bank.engine.facts.invalidate(BANK, opinion_id)
    bank.say(2, "I love tea.")
    assert bank.opinions() == []
    with pytest.raises(NotFound, match="opinion"):
        bank.engine.opinions.get(BANK, opinion_id)


def test_recall_returns_opinions_with_their_confidence_and_wording_of_the_moment(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")
    bank.say(5, "I hate tea.")
    for as_of, text, confidence in (
        (None, "I prefer tea, with reservations", 0.425),
        (day(3), "I prefer tea.", 0.85),
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
    assert "I prefer tea. (opinion, confidence 0.85" in bank.engine.prompt(BANK, "tea", types=["opinion"])


def test_opinions_are_found_by_meaning_like_any_fact() -> None:
    bank = Thinking(embedder="hashing")
    bank.say(1, "I prefer green tea.")
    with bank.engine._store.reading(BANK) as reading:
        features = reading.features([bank.only().id])[bank.only().id]
    assert set(features.vectors) == {"fact", "context"}
    assert features.dedupe_key == "", "what somebody says never becomes a proof of an opinion"


def test_an_opinion_is_as_secret_as_its_most_secret_support(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.", classification=2)
    assert bank.engine.facts.get(BANK, bank.only().id).classification == 2


def test_a_record_that_is_broken_is_not_taken_for_an_opinion(bank: Thinking) -> None:
    bank.engine.records.save_own(Record(kind="opinion", id="x", bank=BANK, body={"subject": "Ann"}))
    assert bank.engine.opinions.list(BANK) == []


def test_the_asynchronous_engine_has_the_same_verbs(bank: Thinking) -> None:
    bank.say(1, "I prefer tea.")

    async def ask() -> list[str]:
        memory = AsyncPerdure(bank.engine)
        (one,) = await memory.opinions.list(BANK, "Ann")
        assert (await memory.opinions.form(BANK)).formed == ()
        return [str(one), str(await memory.opinions.get(BANK, one.id))]

    assert asyncio.run(ask()) == ["I prefer tea. (c = 0.85)"] * 2
