"""Mental models: what a refresh reads, writes, keeps and takes back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure import (
    Conflict,
    InvalidInput,
    MentalModel,
    NotFound,
    OperationStatus,
    Perdure,
    RefreshFailed,
    RefreshMode,
)
from perdure.domain.mental_model import RefreshOutcome
from perdure.reflect.mental_models import refresh as refreshing
from tests.support.ending import end_fact

QUICK: dict[str, Any] = {
    "embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate", "extractor": "verbatim",
}  # fmt: skip
WORD = "Zanzibarquux"
DELTA = {"mode": "delta"}
PATIENCE = 20.0


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 2, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", clock=clock, **QUICK) as opened:
        yield opened


def say(memory: Perdure, *texts: str, tags: tuple[str, ...] = ()) -> tuple[str, ...]:
    return memory.retain("b", [{"content": text} for text in texts], tags=tags).fact_ids


def make(memory: Perdure, query: str = "What does Ann Lee do?", **options: Any) -> MentalModel:
    model, operation = memory.models.create("b", "Ann", query, **options)
    memory.operations.get("b", operation.id, wait=PATIENCE)
    return memory.models.get("b", model.id)


def refreshed(memory: Perdure, model: MentalModel, mode: str | None = None) -> MentalModel:
    operation = memory.models.refresh("b", model.id, mode=mode)
    ended = memory.operations.get("b", operation.id, wait=PATIENCE)
    assert ended.status is OperationStatus.COMPLETED, ended.error
    return memory.models.get("b", model.id)


def test_every_sentence_rests_on_a_fact_of_the_scope(memory: Perdure) -> None:
    inside = say(memory, "Ann Lee paints houses.", "Ann Lee owns a boat.", tags=("team",))
    say(memory, "Ann Lee dislikes meetings.", tags=("private",))
    say(memory, "Ann Lee has no tags.")
    model = make(memory, tags=["team"])
    assert set(model.cited_fact_ids) == set(inside)
    assert model.content.count("\n- ") + model.content.startswith("- ") == 2


def test_a_document_keeps_within_its_tokens(memory: Perdure) -> None:
    say(memory, *(f"Ann Lee bought item number {n} at the market in town on a sunny day." for n in range(60)))
    model = make(memory, max_tokens=256)
    assert 128 < memory.count_tokens(model.content) <= 256


def test_a_document_is_at_most_ten_statements_as_they_were_said(memory: Perdure) -> None:
    texts = [f"Ann Lee bought a {thing}." for thing in "abcdefghijklmno"]
    say(memory, *texts)
    lines = make(memory).content.splitlines()
    assert len(lines) == 10
    assert {line.removeprefix("- ") for line in lines} <= set(texts)


def test_a_page_on_a_topic_holds_nothing_else(tmp_path: Path) -> None:
    said = (
        "I'm allergic to penicillin, found out the hard way", "my rent goes up to 940 in march, ugh",
        "started physio for the knee on tuesday", "Miso (the cat) knocked over the plant again",
        "slept like 4 hours, the migraine was bad", "landlord still hasn't fixed the heater",
    )  # fmt: skip
    with Perdure.open(tmp_path / "read.db") as memory:
        for text in said:
            memory.retain("b", [{"role": "user", "speaker": "Lea", "content": text}])
        page, operation = memory.knowledge.create_page("b", "Health", "What is known of Lea's health?")
        memory.operations.get("b", operation.id, wait=PATIENCE)
        model = make(memory, "What about Lea's health?")
        content = memory.knowledge.markdown("b", page.id)
    for document in (content, model.content):
        assert "penicillin" in document
        assert not any(word in document for word in ("rent", "Miso", "landlord"))


def test_a_delta_refreshes_only_what_has_something_new(memory: Perdure) -> None:
    say(memory, "Ann Lee paints houses.", "Bo Kay sings.")
    before = make(memory, "What do people do?", trigger=DELTA)
    preview = memory.models.preview("b", before.id)
    assert (preview.outcome, preview.would_persist) == (RefreshOutcome.NO_NEW_FACTS, False)
    (climbs,) = say(memory, "Ann Lee climbs.")
    preview = memory.models.preview("b", before.id)
    assert preview.operations is not None
    assert preview.operations.applied == ({"op": "add_sentence", "fact_ids": [climbs]},)
    assert "- Ann Lee climbs." in refreshed(memory, before).content.splitlines()


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_what_was_taken_back_is_unsaid(memory: Perdure, mode: str) -> None:
    wrong, _ = say(memory, "Ann Lee paints houses.", "Ann Lee owns a boat.")
    model = make(memory)
    assert memory.models.stale("b") == frozenset()
    memory.facts.invalidate("b", wrong, "a mistake")
    assert memory.models.stale("b") == {model.id}
    preview = memory.models.preview("b", model.id, mode=mode)
    assert preview.retraction is not None
    assert (preview.retraction.fact_ids, preview.retraction.fact_texts) == (
        (wrong,),
        ("Ann Lee paints houses.",),
    )
    assert "-- Ann Lee paints houses." in preview.diff
    assert refreshed(memory, model, mode).content == "- Ann Lee owns a boat."
    assert memory.models.stale("b") == frozenset()


def test_what_ended_makes_room_for_what_ended_it(tmp_path: Path, clock: Clock) -> None:
    options = {**QUICK, "extractor": "local"}
    with Perdure.open(tmp_path / "local.db", clock=clock, **options) as memory:
        turns = ["I live in Porto.", "I like tea."]
        (old, _) = memory.retain("b", [{"content": text, "speaker": "Ann"} for text in turns]).fact_ids
        model = make(memory, "Where does Ann live?", trigger=DELTA)
        assert "Porto" in model.content
        clock.moment += timedelta(days=30)
        (new,) = memory.retain("b", "I moved to Lisbon, I live in Lisbon now.", speaker="Ann").fact_ids
        end_fact(memory, "b", old, new, clock.moment)
        assert memory.models.stale("b") == {model.id}
        after = refreshed(memory, model)
        assert ("Porto" in after.content, "Lisbon" in after.content) == (False, True)


def test_a_new_question_makes_a_delta_full(memory: Perdure) -> None:
    say(memory, "Ann Lee paints houses.")
    model = make(memory, trigger=DELTA)
    memory.models.update("b", model.id, source_query="What does Ann Lee own?")
    preview = memory.models.preview("b", model.id)
    assert (preview.requested_mode, preview.effective_mode) == (RefreshMode.DELTA, RefreshMode.FULL)
    assert preview.mode_fallback_reason == "source_query_changed"


def test_an_empty_answer_never_overwrites(memory: Perdure) -> None:
    say(memory, "Ann Lee paints houses.", tags=("a",))
    model = make(memory, tags=["a"])
    memory.models.update("b", model.id, tags=["other"])
    operation = memory.models.refresh("b", model.id)
    ended = memory.operations.get("b", operation.id, wait=PATIENCE)
    assert ended.status is OperationStatus.FAILED
    after = memory.models.get("b", model.id)
    assert (after.content, after.seen, after.last_memory_seen_at) == (
        model.content, model.seen, model.last_memory_seen_at,
    )  # fmt: skip
    assert after.refresh_skipped == RefreshOutcome.EMPTY
    assert after.last_refresh_failed_at is not None


def test_the_watermark_is_a_facts_time_and_never_goes_back(memory: Perdure, clock: Clock) -> None:
    (fact_id,) = say(memory, "Ann Lee paints houses.")
    recorded = memory.facts.get("b", fact_id).recorded_at
    model = make(memory)
    assert model.last_memory_seen_at == recorded
    assert model.last_refreshed_at is not None
    clock.moment -= timedelta(days=1)
    say(memory, "Ann Lee owns a boat.")
    assert memory.models.stale("b") == {model.id}, "a clock that was set back hides nothing"
    assert refreshed(memory, model).last_memory_seen_at == recorded


def test_structured_output_is_made_of_facts_or_fails(memory: Perdure) -> None:
    say(memory, "Ann Lee paints houses.", "Ann Lee owns a boat.")
    schema = {
        "properties": {"work": {"type": "string"}, "things": {"type": "array", "items": {"type": "string"}}}
    }
    model = make(memory, trigger={"response_schema": schema})
    assert model.structured_output is not None
    assert set(model.structured_output) == {"work", "things"}
    number = {"properties": {"age": {"type": "integer"}}, "required": ["age"]}
    memory.models.update("b", model.id, trigger={"response_schema": number})
    with pytest.raises(RefreshFailed):
        refreshing.refresh_mental_model(memory._components.reflect, "b", model.id)
    assert memory.models.get("b", model.id).content == model.content


def test_a_schedule_refreshes_what_is_stale_and_lets_its_moment_pass_otherwise(
    memory: Perdure, clock: Clock
) -> None:
    say(memory, "Ann Lee paints houses.")
    model = make(memory, trigger={"refresh_cron": "0 3 * * *"})
    assert memory.models.refresh_due() == []
    clock.moment = datetime(2026, 3, 3, 3, 0, 5, tzinfo=UTC)
    assert memory.models.refresh_due() == [], "nothing is new"
    say(memory, "Ann Lee owns a boat.")
    assert memory.models.refresh_due() == [], "its moment has passed"
    clock.moment = datetime(2026, 3, 4, 3, 0, 5, tzinfo=UTC)
    (operation,) = memory.models.refresh_due()
    memory.operations.get("b", operation.id, wait=PATIENCE)
    assert "boat" in memory.models.get("b", model.id).content
    assert memory.models.refresh_due() == []


def test_search_finds_by_words_and_by_content(memory: Perdure) -> None:
    say(memory, "Ann Lee paints houses.", tags=("a",))
    say(memory, "Bo Kay bakes bread.", tags=("b",))
    ann, bo = make(memory, "Work of Ann", tags=["a"]), make(memory, "Work of Bo", tags=["b"])
    assert memory.models.search("b", "Who bakes bread?")[0].model.id == bo.id
    assert memory.models.search("b", "painting of houses")[0].model.id == ann.id
    assert [one.model.id for one in memory.models.search("b", "work", tags=["b"])] == [bo.id]
    with pytest.raises(InvalidInput):
        memory.models.search("b", " ")


def traces(folder: Path, word: str = WORD) -> int:
    return b"".join(path.read_bytes() for path in folder.iterdir()).lower().count(word.lower().encode())


def test_what_is_forgotten_is_nowhere_in_models_history_pages_and_searches(
    memory: Perdure, tmp_path: Path
) -> None:
    secret, _ = say(memory, f"Ann Lee was born in {WORD}.", "Ann Lee owns a boat.")
    schema = {"properties": {"birth": {"type": "string"}}}
    model = make(memory, trigger={"mode": "delta", "keep_trace": True, "response_schema": schema})
    page, operation = memory.knowledge.create_page(
        "b", "Ann", "Where was Ann Lee born?", trigger={"fact_types": ["world"]}
    )
    memory.operations.get("b", operation.id, wait=PATIENCE)
    say(memory, "Ann Lee climbs.")
    refreshed(memory, model)
    assert WORD in memory.models.get("b", model.id).content
    assert WORD in memory.models.history("b", model.id)[0].content
    assert traces(tmp_path)
    memory.forget("b", fact_id=secret)
    assert traces(tmp_path) == 0
    after = memory.models.get("b", model.id)
    assert "Ann Lee owns a boat." in after.content
    assert WORD not in memory.knowledge.markdown("b", page.id)
    assert all(WORD not in file.content for file in memory.knowledge.export("b"))
    assert model.id in memory.models.stale("b")
    assert refreshed(memory, model).retracted is False


def test_a_document_whose_facts_went_leaves_no_sentence(memory: Perdure, tmp_path: Path) -> None:
    memory.retain("b", f"Ann Lee was born in {WORD}.", document_id="d")
    model = make(memory)
    memory.forget("b", document_id="d")
    assert memory.models.get("b", model.id).content == ""
    assert traces(tmp_path) == 0


def test_a_fact_that_is_forgotten_during_a_refresh_leaves_no_sentence(
    memory: Perdure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, _ = say(memory, f"Ann Lee was born in {WORD}.", "Ann Lee owns a boat.")
    model = make(memory, "What is there?", tags=[])
    memory.models.clear("b", model.id)
    preview_refresh = refreshing.preview_refresh

    def forgetful(*arguments: Any) -> Any:
        preview = preview_refresh(*arguments)
        memory.forget("b", fact_id=secret)
        return preview

    monkeypatch.setattr(refreshing, "preview_refresh", forgetful)
    refreshing.refresh_mental_model(memory._components.reflect, "b", model.id)
    assert memory.models.get("b", model.id).content == "- Ann Lee owns a boat."
    assert traces(tmp_path) == 0


def test_forgetting_the_bank_takes_its_models(memory: Perdure) -> None:
    say(memory, "Ann Lee paints houses.")
    make(memory)
    memory.directives.create("b", "Tone", "Be kind.")
    memory.forget("b", everything=True)
    assert (memory.models.list("b"), memory.directives.list("b")) == ([], [])


def test_ids_are_taken_once_and_unknown_ones_are_named(memory: Perdure) -> None:
    memory.models.create("b", "n", "q", model_id="one")
    with pytest.raises(Conflict):
        memory.models.create("b", "n", "q", model_id="one")
    for act in (memory.models.get, memory.models.refresh, memory.models.delete):
        with pytest.raises(NotFound):
            act("b", "nothing")
    with pytest.raises(InvalidInput, match="mode"):
        memory.models.refresh("b", "one", mode="half")
    with pytest.raises(InvalidInput, match="content"):
        memory.models.update("b", "one", content="mine")  # type: ignore[call-arg]
