"""A served memory through `perdure.connect` says what the engine itself says: verb by verb, error by error."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

import perdure
from perdure import (
    AsOf,
    AsyncPerdure,
    Disposition,
    Filter,
    Include,
    InvalidInput,
    Item,
    NotFound,
    Perdure,
    RecallResult,
    Record,
    TagAnd,
    TagLeaf,
    TagNot,
    TagOr,
    Window,
)
from perdure.domain.llm_call import LlmOperation
from perdure.domain.mental_model import RefreshPreview
from perdure.surfaces.keys import create_key
from perdure.verbs import VERBS
from tests.reflect.thinking import SureTasteJudge, judge_tastes
from tests.support.rest_server import open_quick, running

BANK = "team"
MAY = datetime(2026, 5, 4, tzinfo=UTC)
TAGS = TagAnd((TagLeaf(frozenset({"home"})), TagOr((TagNot(TagLeaf(frozenset({"work"}))),))))
Call = Callable[[Perdure, "Ids"], object]


@dataclass(frozen=True)
class Ids:
    """What stands in the memory that both sides are asked about."""

    fact: str
    document: str
    chunk: str
    entity: str
    operation: str
    directive: str
    model: str
    page: str
    opinion: str
    observation: str
    note: str
    webhook: str


def fill(memory: Perdure) -> Ids:
    """A memory with something of everything, by its public verbs."""
    said = [
        "I moved to Lisbon in May 2024.", "I love green tea.", "Ann is my sister.", "Ann lives in Oslo.", "Ann moved to Bergen.",
        "Ann plays the violin.", "Ann works at the library.",
    ]  # fmt: skip
    for day, text in enumerate(said, start=1):
        memory.retain(
            BANK, [{"role": "user", "content": text}], timestamp=f"2026-05-{day:02}", tags=["home"], document_id=f"day {day}"
        )  # fmt: skip
    memory.opinions.form(BANK)
    operation = memory.consolidate(BANK)
    assert memory.operations.get(BANK, operation.id, wait=60).finished
    model, refresh = memory.models.create(BANK, "Ann", "Who is Ann?")
    page, _ = memory.knowledge.create_page(BANK, "Tea", "What is said about tea?")
    memory.operations.get(BANK, refresh.id, wait=60)
    for one in memory.operations.list(BANK):
        assert memory.operations.get(BANK, one.id, wait=60).finished
    directive = memory.directives.create(BANK, "short", "Answer in one sentence.")
    webhook = memory.webhooks.create(BANK, "http://127.0.0.1:9/hook", secret="s3cret")
    fact = memory.facts.list(BANK).facts[0]
    document = memory.documents.list(BANK)[0].id
    return Ids(
        fact=fact.id,
        document=document,
        chunk=memory.documents.chunks(BANK, document_id=document)[0].id,
        entity=memory.entities.list(BANK, name="Ann")[0].id,
        operation=operation.id,
        directive=directive.id,
        model=model.id,
        page=page.id,
        opinion=memory.opinions.list(BANK)[0].id,
        observation=memory.observations.list(BANK)[0].id,
        note=memory.notes.list(BANK)[0],
        webhook=webhook.id,
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Perdure, str]]:
    """An engine with a clock that stands, so that both sides are asked at the same moment, and where it is served."""
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    folder: Path = tmp_path_factory.mktemp("connect")
    options: dict[str, Any] = {
        "clock": lambda: now,
        "webhook_allow_private": True,
        "notes_folder": folder / "notes",
    }
    with open_quick(folder, **options) as engine, running(engine) as url:
        judge_tastes(engine, SureTasteJudge())
        yield engine, url


@pytest.fixture(scope="module")
def both(served: tuple[Perdure, str]) -> Iterator[tuple[Perdure, Perdure, Ids]]:
    engine, url = served
    with perdure.connect(url) as client:
        yield engine, client, fill(client)


READS: dict[str, Call] = {
    "recall": lambda memory, ids: memory.recall(
        BANK, "Where does Ann live?", explain=True, track=False, where=Filter(tags=(TAGS,)), include=Include(chunks=True),
        as_of=AsOf(valid=MAY), types=["world", "experience"],
    ),
    "prompt": lambda memory, ids: memory.prompt(BANK, "Where does Ann live?", precision="search", track=False),
    "reflect": lambda memory, ids: memory.reflect(
        BANK, "Where does Ann live?", directives=["Cite dates."], disposition=Disposition(skepticism=5), track=False
    ),
    "models.search": lambda memory, ids: memory.models.search(BANK, "Ann"),
    "knowledge.search": lambda memory, ids: memory.knowledge.search(BANK, "tea"),
    "facts.preview": lambda memory, ids: texts(memory.facts.preview(BANK, Item(content="Bob: I like coffee.", speaker="Bob"))),
    "models.preview": lambda memory, ids: memory.models.preview(BANK, ids.model),
    "banks.find": lambda memory, ids: (memory.banks.find(BANK), memory.banks.find("none")),
    "banks.get": lambda memory, ids: memory.banks.get(BANK),
    "banks.list": lambda memory, ids: memory.banks.list(),
    "banks.stats": lambda memory, ids: memory.banks.stats(BANK),
    "facts.list": lambda memory, ids: memory.facts.list(
        BANK, where=Filter(include_closed=True, tags=(TAGS,)), order="oldest_recorded", limit=5,
        dated=Window(datetime(2020, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
    ),
    "facts.get": lambda memory, ids: memory.facts.get(BANK, ids.fact),
    "facts.get_many": lambda memory, ids: memory.facts.get_many(BANK, [ids.fact, "none"]),
    "facts.history": lambda memory, ids: memory.facts.history(BANK, "Ann"),
    "facts.proofs": lambda memory, ids: memory.facts.proofs(BANK, [fact.id for fact in memory.facts.iterate(BANK)]),
    "facts.links": lambda memory, ids: memory.facts.links(BANK, [fact.id for fact in memory.facts.iterate(BANK)]),
    "documents.get": lambda memory, ids: memory.documents.get(BANK, ids.document),
    "entities.get": lambda memory, ids: memory.entities.get(BANK, "ANN"),
    "documents.list": lambda memory, ids: memory.documents.list(BANK),
    "documents.chunks": lambda memory, ids: memory.documents.chunks(BANK, document_id=ids.document),
    "documents.history": lambda memory, ids: memory.documents.history(BANK, ids.document),
    "entities.list": lambda memory, ids: memory.entities.list(BANK),
    "banks.erased_at": lambda memory, ids: memory.banks.erased_at(BANK),
    "database.erasure_pending": lambda memory, ids: memory.database.erasure_pending(),
    "database.evictions": lambda memory, ids: memory.database.evictions(),
    "database.index_usage": lambda memory, ids: memory.database.index_usage().banks,
    "count_tokens": lambda memory, ids: memory.count_tokens("Ann plays the violin."),
    "llm.models": lambda memory, ids: memory.llm.models(LlmOperation.REFLECT),
    "operations.get": lambda memory, ids: memory.operations.get(BANK, ids.operation),
    "operations.list": lambda memory, ids: memory.operations.list(BANK),
    "directives.list": lambda memory, ids: memory.directives.list(BANK),
    "directives.get": lambda memory, ids: memory.directives.get(BANK, ids.directive),
    "directives.history": lambda memory, ids: memory.directives.history(BANK, ids.directive),
    "models.list": lambda memory, ids: memory.models.list(BANK),
    "models.get": lambda memory, ids: memory.models.get(BANK, ids.model),
    "models.stale": lambda memory, ids: memory.models.stale(BANK),
    "models.history": lambda memory, ids: memory.models.history(BANK, ids.model),
    "knowledge.tree": lambda memory, ids: memory.knowledge.tree(BANK),
    "knowledge.page_models": lambda memory, ids: memory.knowledge.page_models(BANK),
    "knowledge.get": lambda memory, ids: memory.knowledge.get(BANK, ids.page),
    "knowledge.markdown": lambda memory, ids: memory.knowledge.markdown(BANK, ids.page),
    "knowledge.export": lambda memory, ids: memory.knowledge.export(BANK),
    "opinions.list": lambda memory, ids: memory.opinions.list(BANK, as_of=MAY.replace(month=6)),
    "opinions.get": lambda memory, ids: memory.opinions.get(BANK, ids.opinion),
    "opinions.curve": lambda memory, ids: memory.opinions.curve(BANK, ids.opinion),
    "observations.status": lambda memory, ids: memory.observations.status(BANK),
    "observations.pending_fact_ids": lambda memory, ids: memory.observations.pending_fact_ids(BANK),
    "observations.list": lambda memory, ids: memory.observations.list(BANK),
    "observations.get": lambda memory, ids: memory.observations.get(BANK, ids.observation),
    "observations.versions": lambda memory, ids: memory.observations.versions(BANK, ids.observation),
    "observations.scopes": lambda memory, ids: memory.observations.scopes(BANK),
    "notes.list": lambda memory, ids: memory.notes.list(BANK),
    "notes.get": lambda memory, ids: memory.notes.get(BANK, ids.note),
    "documents.outdated": lambda memory, ids: memory.documents.outdated(BANK),
    "documents.preview_reprocess": lambda memory, ids: memory.documents.preview_reprocess(BANK),
    "questions.stale": lambda memory, ids: memory.questions.stale(BANK),
    "questions.list": lambda memory, ids: memory.questions.list(BANK, answered=True),
    "webhooks.list": lambda memory, ids: memory.webhooks.list(BANK),
    "webhooks.deliveries": lambda memory, ids: memory.webhooks.deliveries(BANK, ids.webhook),
    "activity.list": lambda memory, ids: memory.activity.list(BANK, kind="retain"),
    "audit.list": lambda memory, ids: memory.audit.list(BANK, since=MAY),
    "llm.calls": lambda memory, ids: memory.llm.calls(BANK),
    "llm.costs": lambda memory, ids: memory.llm.costs(since=date(2026, 1, 1)),
    "records.list": lambda memory, ids: memory.records.list("directive", bank=BANK),
    "banks.export": lambda memory, ids: list(memory.banks.export(BANK)),
}  # fmt: skip


def texts(facts: list[perdure.Fact]) -> list[str]:
    return [fact.text for fact in facts]


def comparable(answer: object) -> object:
    """A recall without its times and with its working objects as plain values; a reflection likewise."""
    if isinstance(answer, RecallResult):
        return asdict(replace(answer, timings=(), count_tokens=len))
    if isinstance(answer, RefreshPreview):
        return replace(answer, duration_ms=0, recall_ms=0)
    if isinstance(answer, perdure.Reflection):
        return (
            answer.text,
            answer.based_on,
            answer.sentences,
            answer.answer,
            answer.trace.directives,
            answer.evidence,
        )
    return answer


def test_every_verb_that_reads_is_asked_below() -> None:
    assert READS.keys() == {verb.name for verb in VERBS.values() if verb.is_read}


@pytest.mark.parametrize("verb", sorted(READS))
def test_both_sides_answer_alike(both: tuple[Perdure, Perdure, Ids], verb: str) -> None:
    engine, client, ids = both
    here, there = READS[verb](engine, ids), READS[verb](client, ids)
    assert type(there) is type(here)
    assert comparable(there) == comparable(here)


def test_what_one_side_writes_the_other_reads(both: tuple[Perdure, Perdure, Ids]) -> None:
    engine, client, _ = both
    result = client.retain(
        "other", [Item(content="Eve lives in Rome.", tags=frozenset({"x"})), ("user", "I am Eve.")]
    )
    assert len(result.fact_ids) == 2
    assert [fact.id for fact in engine.facts.iterate("other")] == list(result.fact_ids)
    changed = client.facts.update("other", result.fact_ids[0], text="Eve lives in Milan.", valid_from=MAY)
    assert engine.facts.get("other", changed.id) == changed
    wrong = client.facts.invalidate("other", changed.id, "she said so")
    assert engine.facts.get("other", changed.id).invalid_reason == wrong.invalid_reason == "she said so"
    assert client.facts.restore("other", changed.id).invalidated_at is None
    later = client.retain_later("other", "Eve sings.", operation_id="mine")
    assert client.operations.get("other", later.id, wait=30).finished
    assert "Eve sings." in texts(list(engine.facts.iterate("other")))
    client.records.save(Record(kind="app.item", id="1", bank="other", body={"value": [1, {"a": None}]}))
    assert engine.records.list("app.item", bank="other") == client.records.list("app.item", bank="other")
    client.records.delete("app.item", "1", bank="other")
    assert engine.records.list("app.item", bank="other") == []
    assert client.banks.configure(
        "other", mission="all of Eve", settings={"audit_log_enabled": True}
    ) == engine.banks.get("other")
    assert client.banks.clone("other", "copy") == 4
    assert client.banks.restore("third", client.banks.export("copy")) == 4
    forgotten = client.forget("other", everything=True)
    assert forgotten.facts == 4
    assert list(engine.facts.iterate("other")) == []


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda memory: memory.facts.get(BANK, "none"), NotFound),
        (lambda memory: memory.banks.get("none"), NotFound),
        (lambda memory: memory.recall(BANK, "Ann", limit=0), InvalidInput),
        (lambda memory: memory.recall(BANK, "Ann", budget="huge"), InvalidInput),
        (lambda memory: memory.recall("a/b", "Ann"), InvalidInput),
        (lambda memory: memory.recall(BANK, "Ann", recipe="none"), InvalidInput),
        (lambda memory: memory.retain(BANK, ""), InvalidInput),
        (lambda memory: memory.retain(BANK, [{"role": "user", "content": "x", "timestamp": "never"}]), InvalidInput),
        (lambda memory: memory.forget(BANK), InvalidInput),
        (lambda memory: memory.facts.list(BANK, limit=-1), InvalidInput),
        (lambda memory: memory.banks.clone(BANK, BANK), perdure.Conflict),
        (lambda memory: memory.documents.refine(BANK), InvalidInput),
        (lambda memory: memory.banks.restore("new", ["not JSON"]), InvalidInput),
    ],
)  # fmt: skip
def test_errors_are_the_same_in_class_words_and_fields(
    both: tuple[Perdure, Perdure, Ids], call: Callable[[Perdure], object], kind: type[perdure.PerdureError]
) -> None:
    engine, client, _ = both
    with pytest.raises(kind) as here:
        call(engine)
    with pytest.raises(kind) as there:
        call(client)
    assert type(there.value) is type(here.value)
    assert str(there.value) == str(here.value)
    assert vars(there.value) == vars(here.value)


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(perdure.Unreachable, match=r"http://127\.0\.0\.1:9"):
        perdure.connect("http://127.0.0.1:9")
    with pytest.raises(InvalidInput, match="url"):
        perdure.connect("memory.db")


def test_keys_are_checked_verb_by_verb(tmp_path: Path) -> None:
    with open_quick(tmp_path, require_keys=True) as engine:
        engine.retain("a", "Ann lives in Oslo.")
        engine.retain("b", "Bob lives in Rome.")
        _, read = create_key(engine, banks=["a"], scopes=["read"])
        _, write = create_key(engine, banks=["a"], scopes=["read", "write"])
        _, admin = create_key(engine, banks=["a"], scopes=["admin"])
        _, everything = create_key(engine, scopes=["admin"])
        with running(engine) as url:
            with pytest.raises(perdure.Unauthorised):
                perdure.connect(url)
            reader, writer, owner, root = (
                perdure.connect(url, key=key) for key in (read, write, admin, everything)
            )
            assert [bank.id for bank in reader.banks.list()] == ["a"]
            assert reader.recall("a", "Where does Ann live?")
            forbidden: list[Callable[[], object]] = [
                lambda: reader.recall("b", "Where does Bob live?"), lambda: reader.retain("a", "x"),
                lambda: reader.records.list("webhook", bank="a"), lambda: reader.banks.export("a").__next__(),
                lambda: writer.forget("a", everything=True), lambda: writer.banks.configure("a", settings={}),
                lambda: writer.webhooks.list("a"), lambda: writer.observations.delete("a"), lambda: writer.banks.restore("a", []),
                lambda: writer.records.save(Record(kind="job", id="1", bank="a")), lambda: owner.banks.clone("a", "c"),
                lambda: owner.database.verify(), lambda: owner.llm.costs(), lambda: owner.models.refresh_due(),
            ]  # fmt: skip
            for call in forbidden:
                with pytest.raises(perdure.Forbidden):
                    call()
            with pytest.raises(InvalidInput, match="records without one are the server's own"):
                root.records.list("api_key")
            writer.records.save(Record(kind="app.x", id="1", bank="a"))
            assert owner.records.list("job", bank="a") == []
            assert root.database.verify().sound
            assert writer.forget("a", fact_id=writer.facts.list("a").facts[0].id).facts == 1
            for client in (reader, writer, owner, root):
                client.close()


def test_a_lost_connection_is_tried_once_more_for_reads_alone() -> None:
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path.rpartition("/")[2])
        if sent.count(sent[-1]) == 1:
            raise httpx.ReadError("gone")
        return httpx.Response(200, content=b"[]")

    from perdure.remote.client import RemotePerdure
    from perdure.remote.transport import Greeting, Server, Transport

    transport = Transport(Server("http://memory.example"))
    transport._client = httpx.Client(transport=httpx.MockTransport(answer))
    client = RemotePerdure(transport, Greeting("0", "cl100k"))
    assert client.documents.list("b") == []
    with pytest.raises(perdure.Unreachable):
        client.retain("b", "once")
    assert sent == ["documents.list", "documents.list", "retain"]


def test_a_reflection_that_is_called_off_ends_on_both_sides(
    both: tuple[Perdure, Perdure, Ids], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, client, _ = both
    left = threading.Event()

    def slow(*_: object, cancelled: Callable[[], bool], **__: object) -> None:
        for _tick in range(200):
            if cancelled():
                left.set()
                raise perdure.Cancelled("left")
            time.sleep(0.05)

    monkeypatch.setattr(engine, "reflect", slow)
    began = time.monotonic()
    with pytest.raises(perdure.Cancelled):
        client.reflect(BANK, "Who is Ann?", cancelled=lambda: time.monotonic() - began > 0.3)
    assert left.wait(5)


def test_the_asynchronous_client_has_it_all_too(served: tuple[Perdure, str], both: object) -> None:
    engine, url = served

    async def run() -> None:
        async with await perdure.connect_async(url) as client:
            assert isinstance(client, AsyncPerdure)
            await client.retain("async", ["Ann lives in Oslo.", "Ann plays the violin."])
            result = await client.recall("async", "Where does Ann live?", track=False)
            assert (
                result.to_prompt() == engine.recall("async", "Where does Ann live?", track=False).to_prompt()
            )
            assert [fact async for fact in client.facts.iterate("async")] == list(
                engine.facts.iterate("async")
            )
            lines = [line async for line in client.banks.export("async")]
            assert await client.banks.restore("async 2", lines) == 2
            later = await client.retain_later("async", "Ann sings.")
            assert (await client.operations.get("async", later.id, wait=30)).finished
            with pytest.raises(NotFound):
                await client.facts.get("async", "none")
            with pytest.raises(perdure.Unavailable, match="backup"):
                await client.database.backup("/tmp/copy.db")
            first = await asyncio.gather(*(client.count_tokens("a b c") for _ in range(20)))
            assert set(first) == {engine.count_tokens("a b c")}

    asyncio.run(run())
