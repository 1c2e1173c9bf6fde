"""What a person does on the page, and what memory then holds."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from bench.page_browser import Watched, address
from bench.page_demo import BANK
from perdure import Fact, NotFound, Perdure

PATIENCE = 30_000


@pytest.fixture(autouse=True)
def quiet(watched: Watched) -> Any:
    """No action may leave an error on the console or a request to another host."""
    watched.page.set_default_timeout(PATIENCE)
    yield
    assert watched.problems == []
    assert watched.elsewhere() == []


def fact_with(engine: Perdure, bank: str, words: str) -> Fact:
    return next(
        fact
        for fact in engine.facts.list(bank, text=words, limit=20).facts
        if fact.type.value != "observation"
    )


def press(watched: Watched, name: str | re.Pattern[str], inside: str = "#content") -> None:
    watched.page.locator(inside).get_by_role("button", name=name).first.click()


def told(watched: Watched, text: str | re.Pattern[str]) -> None:
    watched.page.get_by_role("status").filter(has_text=text).first.wait_for()


def test_asking_shows_the_facts_the_prompt_the_reasons_and_the_code(watched: Watched, site: Any) -> None:
    watched.open(address(BANK, "ask"))
    page = watched.page
    page.get_by_label("Question").fill("Where does Ines live?")
    press(watched, "Ask")
    page.locator(".ranking .fact").first.wait_for()
    assert "q=Where+does+Ines+live" in page.url
    assert page.locator(".floor").count() == 1
    places = [int(text) for text in page.locator(".ranking .fact .place").all_inner_texts()]
    assert places == list(range(1, len(places) + 1))
    page.locator(".ranking .fact .said").first.click()
    quote = page.locator(".drawer .quote").first
    assert quote.locator("mark").inner_text() in quote.inner_text()
    page.get_by_role("link", name="Prompt").click()
    page.get_by_label("The prompt").wait_for()
    page.get_by_role("link", name="Why").click()
    page.locator("table.matrix tbody tr").first.wait_for()
    assert page.get_by_role("img", name=re.compile("in all")).is_visible()
    page.get_by_role("link", name="Code").click()
    page.get_by_text("perdure context 'Where does Ines live?'").wait_for()


def test_a_sentence_of_a_reflection_lights_up_its_facts(watched: Watched, site: Any) -> None:
    watched.open(address(BANK, "ask"))
    page = watched.page
    page.get_by_label("Question").fill("When does the course in Coimbra begin?")
    press(watched, "Ask")
    page.get_by_role("region", name="Answer").wait_for()
    assert page.locator(".fact.lit").count() == 0
    page.locator(".sentence").filter(has=page.locator(".cite:not(:empty)")).first.hover()
    assert page.locator(".fact.lit").count() > 0


def test_the_time_machine_goes_along_and_changes_what_is_recalled(watched: Watched, site: Any) -> None:
    page = watched.page
    watched.open(f"{address(BANK, 'ask')}?q=Where+does+Ines+live&true_at=2026-05-25T00:00:00Z")
    then = page.locator(".fact .said").all_inner_texts()
    assert any("Porto" in text for text in then)
    assert not any("Matosinhos" in text for text in then)
    assert page.get_by_label("True on").input_value() == "2026-05-25"
    assert all(
        "true_at=2026-05-25" in str(one.get_attribute("href")) for one in page.locator(".entries a").all()
    )
    page.get_by_role("button", name="Back to now").click()
    page.locator(".fact .said").filter(has_text="Matosinhos").first.wait_for()
    assert "true_at" not in page.url


def test_a_fact_is_corrected_and_its_old_words_are_kept(watched: Watched, site: Any, bank: str) -> None:
    fact = fact_with(site.engine, bank, "Coimbra")
    watched.open(address(bank, "fact", fact.id))
    press(watched, "Correct")
    dialog = watched.page.get_by_role("dialog")
    dialog.get_by_label("What is right").fill("The course in Coimbra begins on 19 October 2026.")
    dialog.get_by_role("button", name="Correct").click()
    told(watched, "Corrected")
    watched.page.get_by_role("heading", level=1).filter(has_text="19 October").wait_for()
    assert "19 October" in fact_with(site.engine, bank, "Coimbra").text


def test_a_fact_is_declared_wrong_and_restored(watched: Watched, site: Any, bank: str) -> None:
    fact = fact_with(site.engine, bank, "Coimbra")
    watched.open(address(bank, "fact", fact.id))
    press(watched, "Declare wrong")
    dialog = watched.page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("it was called off")
    dialog.get_by_role("button", name="Declare wrong").click()
    watched.page.get_by_text("Declared wrong: it was called off").wait_for()
    assert site.engine.facts.get(bank, fact.id).invalid_reason == "it was called off"
    watched.page.get_by_role("button", name="Undo").click()
    watched.page.locator("#content").get_by_role("button", name="Declare wrong", exact=True).wait_for()
    assert site.engine.facts.get(bank, fact.id).invalidated_at is None


def test_what_would_go_is_shown_before_it_is_forgotten(watched: Watched, site: Any, bank: str) -> None:
    fact = fact_with(site.engine, bank, "Coimbra")
    watched.open(address(bank, "fact", fact.id))
    press(watched, re.compile("Forget"))
    dialog = watched.page.get_by_role("dialog")
    dialog.locator(".going").get_by_text(fact.text).wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    assert site.engine.facts.get(bank, fact.id).id == fact.id
    press(watched, re.compile("Forget"))
    dialog.get_by_role("button", name="Forget for good").click()
    told(watched, "Forgotten")
    watched.page.wait_for_url(re.compile("/facts"))
    with pytest.raises(NotFound):
        site.engine.facts.get(bank, fact.id)


def test_facts_are_found_by_their_words(watched: Watched, site: Any) -> None:
    watched.open(address(BANK, "facts"))
    before = watched.page.locator(".fact").count()
    watched.page.get_by_label("Words in the fact").fill("Coimbra")
    watched.page.locator(".fact").nth(before - 1).wait_for(state="detached")
    watched.settle()
    assert all("Coimbra" in text for text in watched.page.locator(".fact .said").all_inner_texts())


def test_two_people_are_made_one_and_two_again(watched: Watched, site: Any, bank: str) -> None:
    engine: Perdure = site.engine
    (ines,) = (one for one in engine.entities.list(bank, name="Ines") if one.name == "Ines")
    (tom,) = (one for one in engine.entities.list(bank, name="Tom") if one.name == "Tom")
    watched.open(address(bank, "entity", ines.id))
    page = watched.page
    press(watched, re.compile("Merge"))
    page.get_by_label(re.compile("Who is the same")).fill("Tom")
    press(watched, re.compile("^Tom "))
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    told(watched, "Tom is now Ines")
    assert not [one for one in engine.entities.list(bank) if one.id == tom.id]
    watched.settle()
    press(watched, re.compile("Split"))
    page.get_by_label("Name of the other one").fill("Tomas")
    page.locator(".choices input").first.check()
    page.locator("#content").get_by_role("button", name="Split", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Split").click()
    page.get_by_role("heading", level=1, name="Tomas").wait_for()
    assert [one.name for one in engine.entities.list(bank, name="Tomas")] == ["Tomas"]


def test_an_opinion_has_its_curve_and_the_evidence_under_each_point(watched: Watched, site: Any) -> None:
    opinion = max(site.engine.opinions.list(BANK), key=lambda one: len(one.evidence))
    watched.open(address(BANK, "opinions"))
    watched.page.get_by_role("link", name=opinion.statement, exact=True).click()
    watched.page.locator("svg.curve").wait_for()
    points = site.engine.opinions.get(BANK, opinion.id).curve()
    assert len(points) > 1
    assert watched.page.locator("svg.curve circle").count() == len(points)
    assert watched.page.locator(".evidence > li").count() >= len(points)


def test_a_contradiction_is_decided_by_one_key(watched: Watched, site: Any, bank: str) -> None:
    site.engine.operations.get(bank, site.engine.consolidate(bank).id, wait=60)
    (question,) = site.engine.questions.list(bank)
    watched.open(address(bank, "review"))
    key = next(place for place, one in enumerate(question.options, start=1) if one.value == "Faro")
    watched.page.keyboard.press(str(key))
    told(watched, "Decided: Faro")
    assert site.engine.questions.list(bank) == []
    (answered,) = site.engine.questions.list(bank, answered=True)
    assert answered.id == question.id
    assert "Faro" in site.engine.facts.get(bank, answered.answer).text


def test_a_directive_is_made_switched_off_and_deleted(watched: Watched, site: Any, bank: str) -> None:
    watched.open(address(bank, "directives"))
    press(watched, "New directive")
    dialog = watched.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Dates")
    dialog.get_by_label("Rule").fill("Always give the date.")
    dialog.get_by_role("button", name="Make it").click()
    press(watched, "Switch off: Dates")
    watched.page.get_by_role("button", name="Switch on: Dates").wait_for()
    (rule,) = (one for one in site.engine.directives.list(bank, active_only=False) if one.name == "Dates")
    assert rule.content == "Always give the date."
    assert not rule.is_active
    press(watched, "Delete: Dates")
    dialog.get_by_role("button", name="Delete it").click()
    watched.page.get_by_role("button", name="Delete: Dates").wait_for(state="detached")
    assert "Dates" not in [one.name for one in site.engine.directives.list(bank, active_only=False)]


def test_a_mental_model_is_made_and_written(watched: Watched, site: Any, bank: str) -> None:
    watched.open(address(bank, "models"))
    press(watched, "New mental model")
    dialog = watched.page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Sport")
    dialog.get_by_label("Question").fill("What sport does Tom do?")
    dialog.get_by_role("button", name="Make it").click()
    watched.page.get_by_role("heading", level=1, name="Sport").wait_for()
    press(watched, "Refresh in full")
    watched.page.locator(".prose li").first.wait_for()
    watched.page.locator(".prose .sentence, .prose li").first.hover()
    (model,) = (one for one in site.engine.models.list(bank) if one.name == "Sport")
    assert model.source_query == "What sport does Tom do?"


def test_the_mission_and_the_disposition_are_saved(watched: Watched, site: Any, bank: str) -> None:
    watched.open(address(bank, "settings"))
    watched.page.get_by_label("Mission").fill("Know the sea.")
    watched.page.get_by_label("Skepticism").fill("5")
    watched.page.get_by_role("button", name=re.compile("^Save")).first.click()
    told(watched, "Saved")
    stored = site.engine.banks.get(bank)
    assert (stored.mission, stored.disposition.skepticism) == ("Know the sea.", 5)


def test_a_bank_is_exported_and_imported_under_another_name(
    watched: Watched, site: Any, bank: str, tmp_path: Path
) -> None:
    watched.open(address(bank, "transfer"))
    with watched.page.expect_download() as saving:
        press(watched, "Export")
    file = tmp_path / "bank.jsonl"
    saving.value.save_as(file)
    watched.page.get_by_label("File").set_input_files(file)
    watched.page.locator("#import-bank").fill(f"{bank}-again")
    press(watched, "Import")
    watched.page.get_by_role("link", name=f"Open {bank}-again").wait_for()
    assert site.engine.banks.stats(f"{bank}-again").facts == site.engine.banks.stats(bank).facts


def test_an_operation_is_cancelled_and_tried_again(watched: Watched, site: Any, bank: str) -> None:
    engine: Perdure = site.engine
    long = " ".join(
        f"Tom bought tent number {number} in Braga on {1 + number % 28} May 2026." for number in range(40_000)
    )
    operation = engine.retain_later(bank, long, document_id="tents")
    watched.open(address(bank, "operations"))
    row = watched.page.locator(f"[data-id='{operation.id}']")
    row.get_by_role("button", name=re.compile("^Cancel")).click()
    row.get_by_text("cancelled").wait_for()
    assert engine.operations.get(bank, operation.id).status == "cancelled"
    row.get_by_role("button", name=re.compile("^Try again")).click()
    row.get_by_text(re.compile("waiting|running|done")).wait_for()
    assert engine.operations.get(bank, operation.id).status != "cancelled"
    press(watched, re.compile("^Cancel"), f"[data-id='{operation.id}']")
    row.get_by_text("cancelled").wait_for()


def test_the_time_machine_changes_an_entity_and_an_opinion_too(watched: Watched, site: Any) -> None:
    engine: Perdure = site.engine
    (ines,) = (one for one in engine.entities.list(BANK, name="Ines") if one.name == "Ines")
    opinion = max(engine.opinions.list(BANK), key=lambda one: len(one.evidence))
    early = "true_at=2026-06-15T00:00:00Z"
    watched.open(address(BANK, "entity", ines.id))
    now = watched.page.locator(".fact .said").all_inner_texts()
    watched.open(f"{address(BANK, 'entity', ines.id)}?{early}")
    then = watched.page.locator(".fact .said").all_inner_texts()
    told = "I moved to Matosinhos"
    assert sum(told in text for text in then) < sum(told in text for text in now)
    watched.open(f"{address(BANK, 'opinions', opinion.id)}?{early}")
    points = engine.opinions.get(BANK, opinion.id).curve()
    assert 0 < watched.page.locator("svg.curve circle").count() < len(points)


def test_what_an_agent_was_told_is_seen_live_and_replayed(watched: Watched, site: Any, bank: str) -> None:
    page = watched.page
    watched.open(address(bank, "activity"))
    site.engine.prompt(bank, "When does the course in Coimbra begin?")
    entry = page.locator(".entry").filter(has_text="course in Coimbra")
    entry.wait_for()
    assert "1 statement" in entry.inner_text() or "statements" in entry.inner_text()
    entry.locator("summary").click()
    entry.locator(".fact").filter(has_text="Coimbra").first.wait_for()
    entry.get_by_role("link", name="Replay in Ask").click()
    page.get_by_label("The prompt").filter(has_text="12 October 2026").wait_for()


def test_a_fact_is_corrected_where_it_was_recalled_and_the_correction_undone(
    watched: Watched, site: Any, bank: str
) -> None:
    page = watched.page
    watched.open(f"{address(bank, 'ask')}?q=When+does+the+course+in+Coimbra+begin")
    row = page.locator(".ranking .fact").filter(has_text="12 October 2026").first
    row.hover()
    row.get_by_role("button", name=re.compile("^Correct")).click()
    page.get_by_label("What is right").fill("The course begins on 19 October 2026.")
    page.get_by_role("dialog").get_by_role("button", name="Correct").click()
    told(watched, "Corrected")
    assert "19 October" in fact_with(site.engine, bank, "course begins").text
    page.get_by_role("button", name="Undo").click()
    told(watched, "Undone")
    assert "12 October" in fact_with(site.engine, bank, "Coimbra").text


def test_an_empty_bank_is_made_and_filled_by_a_pasted_chat(watched: Watched, site: Any) -> None:
    page = watched.page
    watched.open(address(BANK, "home"))
    press(watched, "New bank")
    page.get_by_label("Id").fill("pasted")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    press(watched, "Paste a chat")
    page.get_by_role("textbox", name="Chat").fill("Ann: I moved to Lisbon in May.\nBen: I bought a red bike.")
    page.get_by_role("dialog").get_by_role("button", name="Remember").click()
    page.get_by_text("2 statements from 1 conversation").wait_for(timeout=4 * PATIENCE)
    assert {fact.speaker for fact in site.engine.facts.list("pasted").facts} == {"Ann", "Ben"}


@pytest.mark.parametrize("hours", [1, -8])
def test_dates_are_shown_in_the_offset_they_were_stored_with(watched: Watched, site: Any, hours: int) -> None:
    bank = f"offset{hours}"
    said = datetime(2025, 11, 1, 23, 30, tzinfo=timezone(timedelta(hours=hours)))
    for text in (
        "I visit Anna on 25 December 2025.",
        "I bought a red bike in August 2025.",
        "In 2027 I move to Rome.",
    ):
        site.engine.retain(bank, text, speaker="Ben", timestamp=said)
    watched.open(address(bank, "facts"))
    lines = dict(
        zip(
            watched.page.locator(".fact .said").all_inner_texts(),
            watched.page.locator(".fact .origin").all_inner_texts(),
            strict=True,
        )
    )
    year = "" if datetime.now().year == 2025 else " 2025"
    assert lines["I visit Anna on 25 December 2025."].startswith(f"1 Nov{year} · about 25 Dec{year} · Ben")
    assert "about Aug 2025" in lines["I bought a red bike in August 2025."]
    assert "about 2027" in lines["In 2027 I move to Rome."]
    exact = watched.page.locator(".fact time").first.get_attribute("title")
    assert exact == f"Sat, 1 Nov 2025, 23:30 {hours:+03d}:00"


def test_the_rest_reference_is_drawn_without_another_server(watched: Watched, site: Any) -> None:
    watched.page.goto(f"{site.url}/docs")
    recall = (
        watched.page.locator("details")
        .filter(has=watched.page.get_by_text("/banks/{bank_id}/recall", exact=False))
        .first
    )
    recall.locator("summary").click()
    recall.get_by_text("Tokens of fact text to return").wait_for()
