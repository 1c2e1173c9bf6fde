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
from perdure.llm.caller import LlmOperation
from perdure.remote.verbs import VERBS, Bank
from perdure.surfaces.keys import create_key
from tests.integration.rest_server import open_quick, running

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
    memory.form_opinions(BANK)
    operation = memory.consolidate(BANK)
    assert memory.operation(BANK, operation.id, wait=60).finished
    model, refresh = memory.create_mental_model(BANK, "Ann", "Who is Ann?")
    page, _ = memory.create_knowledge_page(BANK, "Tea", "What is said about tea?")
    memory.operation(BANK, refresh.id, wait=60)
    for one in memory.operations(BANK):
        assert memory.operation(BANK, one.id, wait=60).finished
    directive = memory.create_directive(BANK, "short", "Answer in one sentence.")
    webhook = memory.create_webhook(BANK, "http://127.0.0.1:9/hook", secret="s3cret")
    fact = memory.history(BANK, "Ann")[0]
    document = memory.documents(BANK)[0].id
    return Ids(
        fact=fact.id,
        document=document,
        chunk=memory.chunks(BANK, document_id=document)[0].id,
        entity=memory.entities(BANK, name="Ann")[0].id,
        operation=operation.id,
        directive=directive.id,
        model=model.id,
        page=page.id,
        opinion=memory.opinions(BANK)[0].id,
        observation=memory.observations(BANK)[0].id,
        note=memory.notes(BANK)[0],
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
    "search_mental_models": lambda memory, ids: memory.search_mental_models(BANK, "Ann"),
    "search_knowledge": lambda memory, ids: memory.search_knowledge(BANK, "tea"),
    "preview_facts": lambda memory, ids: texts(memory.preview_facts(BANK, Item(content="Bob: I like coffee.", speaker="Bob"))),
    "preview_mental_model": lambda memory, ids: memory.preview_mental_model(BANK, ids.model),
    "bank": lambda memory, ids: memory.bank(BANK),
    "banks": lambda memory, ids: memory.banks(),
    "stats": lambda memory, ids: memory.stats(BANK),
    "facts": lambda memory, ids: memory.facts(
        BANK, where=Filter(include_closed=True, tags=(TAGS,)), order="oldest_recorded", limit=5,
        dated=Window(datetime(2020, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)),
    ),
    "fact": lambda memory, ids: memory.fact(BANK, ids.fact),
    "facts_by_id": lambda memory, ids: memory.facts_by_id(BANK, [ids.fact, "none"]),
    "history": lambda memory, ids: memory.history(BANK, "Ann"),
    "proofs": lambda memory, ids: memory.proofs(BANK, [fact.id for fact in memory.iter_facts(BANK)]),
    "links": lambda memory, ids: memory.links(BANK, [fact.id for fact in memory.iter_facts(BANK)]),
    "documents": lambda memory, ids: memory.documents(BANK),
    "chunks": lambda memory, ids: memory.chunks(BANK, document_id=ids.document),
    "document_history": lambda memory, ids: memory.document_history(BANK, ids.document),
    "entities": lambda memory, ids: memory.entities(BANK),
    "erased_at": lambda memory, ids: memory.erased_at(BANK),
    "erasure_pending": lambda memory, ids: memory.erasure_pending(),
    "index_evictions": lambda memory, ids: memory.index_evictions(),
    "index_usage": lambda memory, ids: memory.index_usage().banks,
    "count_tokens": lambda memory, ids: memory.count_tokens("Ann plays the violin."),
    "llm_models": lambda memory, ids: memory.llm_models(LlmOperation.REFLECT),
    "operation": lambda memory, ids: memory.operation(BANK, ids.operation),
    "operations": lambda memory, ids: memory.operations(BANK),
    "directives": lambda memory, ids: memory.directives(BANK),
    "directive": lambda memory, ids: memory.directive(BANK, ids.directive),
    "directive_history": lambda memory, ids: memory.directive_history(BANK, ids.directive),
    "mental_models": lambda memory, ids: memory.mental_models(BANK),
    "mental_model": lambda memory, ids: memory.mental_model(BANK, ids.model),
    "stale_mental_models": lambda memory, ids: memory.stale_mental_models(BANK),
    "mental_model_history": lambda memory, ids: memory.mental_model_history(BANK, ids.model),
    "knowledge_tree": lambda memory, ids: memory.knowledge_tree(BANK),
    "knowledge_page_models": lambda memory, ids: memory.knowledge_page_models(BANK),
    "knowledge_page": lambda memory, ids: memory.knowledge_page(BANK, ids.page),
    "knowledge_page_markdown": lambda memory, ids: memory.knowledge_page_markdown(BANK, ids.page),
    "export_knowledge": lambda memory, ids: memory.export_knowledge(BANK),
    "opinions": lambda memory, ids: memory.opinions(BANK, as_of=MAY.replace(month=6)),
    "opinion": lambda memory, ids: memory.opinion(BANK, ids.opinion),
    "opinion_curve": lambda memory, ids: memory.opinion_curve(BANK, ids.opinion),
    "consolidation": lambda memory, ids: memory.consolidation(BANK),
    "pending_fact_ids": lambda memory, ids: memory.pending_fact_ids(BANK),
    "observations": lambda memory, ids: memory.observations(BANK),
    "observation": lambda memory, ids: memory.observation(BANK, ids.observation),
    "observation_versions": lambda memory, ids: memory.observation_versions(BANK, ids.observation),
    "observation_scopes": lambda memory, ids: memory.observation_scopes(BANK),
    "notes": lambda memory, ids: memory.notes(BANK),
    "note": lambda memory, ids: memory.note(BANK, ids.note),
    "questions": lambda memory, ids: memory.questions(BANK, answered=True),
    "webhooks": lambda memory, ids: memory.webhooks(BANK),
    "webhook_deliveries": lambda memory, ids: memory.webhook_deliveries(BANK, ids.webhook),
    "audit_log": lambda memory, ids: memory.audit_log(BANK, since=MAY),
    "llm_calls": lambda memory, ids: memory.llm_calls(BANK),
    "costs": lambda memory, ids: memory.costs(since=date(2026, 1, 1)),
    "records": lambda memory, ids: memory.records("directive", bank=BANK),
    "export_bank": lambda memory, ids: list(memory.export_bank(BANK)),
}  # fmt: skip


def texts(facts: list[perdure.Fact]) -> list[str]:
    return [fact.text for fact in facts]


def comparable(answer: object) -> object:
    """A recall without its times and with its working objects as plain values; a reflection likewise."""
    if isinstance(answer, RecallResult):
        return asdict(replace(answer, timings=(), count_tokens=len))
    if isinstance(answer, perdure.RefreshPreview):
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


def test_there_is_something_of_everything(both: tuple[Perdure, Perdure, Ids]) -> None:
    engine, _, ids = both
    empty = {
        "erased_at",
        "erasure_pending",
        "index_evictions",
        "llm_models",
        "llm_calls",
        "costs",
        "audit_log",
    }
    empty |= {
        "webhook_deliveries",
        "stale_mental_models",
        "pending_fact_ids",
        "mental_model_history",
        "directive_history",
        "proofs",
        "questions",
    }
    assert {verb for verb, call in READS.items() if not call(engine, ids)} <= empty


def test_a_prompt_is_cut_here_by_the_servers_encoding(both: tuple[Perdure, Perdure, Ids]) -> None:
    engine, client, _ = both
    here = engine.recall(BANK, "Ann", track=False)
    there = client.recall(BANK, "Ann", track=False)
    for budget in (60, 90, 150, 4000):
        assert there.to_prompt(budget) == here.to_prompt(budget)
    assert len(there.to_prompt(60)) < len(there.to_prompt(4000))


def test_facts_come_page_by_page(both: tuple[Perdure, Perdure, Ids]) -> None:
    engine, client, _ = both
    assert list(client.iter_facts(BANK)) == list(engine.iter_facts(BANK))


def test_what_one_side_writes_the_other_reads(both: tuple[Perdure, Perdure, Ids]) -> None:
    engine, client, _ = both
    result = client.retain(
        "other", [Item(content="Eve lives in Rome.", tags=frozenset({"x"})), ("user", "I am Eve.")]
    )
    assert len(result.fact_ids) == 2
    assert [fact.id for fact in engine.iter_facts("other")] == list(result.fact_ids)
    changed = client.update_fact("other", result.fact_ids[0], text="Eve lives in Milan.", valid_from=MAY)
    assert engine.fact("other", changed.id) == changed
    wrong = client.invalidate_fact("other", changed.id, "she said so")
    assert engine.fact("other", changed.id).invalid_reason == wrong.invalid_reason == "she said so"
    assert client.restore_fact("other", changed.id).invalidated_at is None
    later = client.retain_later("other", "Eve sings.", operation_id="mine")
    assert client.operation("other", later.id, wait=30).finished
    assert "Eve sings." in texts(list(engine.iter_facts("other")))
    client.save_record(Record(kind="app.item", id="1", bank="other", body={"value": [1, {"a": None}]}))
    assert engine.records("app.item", bank="other") == client.records("app.item", bank="other")
    client.delete_record("app.item", "1", bank="other")
    assert engine.records("app.item", bank="other") == []
    assert client.configure_bank(
        "other", mission="all of Eve", settings={"audit_log_enabled": True}
    ) == engine.bank("other")
    assert client.clone_bank("other", "copy") == 4
    assert client.import_bank("third", client.export_bank("copy")) == 4
    forgotten = client.forget("other", everything=True)
    assert forgotten.facts == 4
    assert list(engine.iter_facts("other")) == []


def test_calls_that_change_a_bank_stand_in_its_audit_log(both: tuple[Perdure, Perdure, Ids]) -> None:
    engine, client, _ = both
    client.configure_bank("watched", settings={"audit_log_enabled": True})
    client.retain("watched", "A secret word.")
    client.recall("watched", "What word?")
    client.facts("watched")
    actions = [entry.action for entry in engine.audit_log("watched")]
    assert sorted(actions) == ["configure_bank", "recall", "retain"]
    assert "secret" not in repr(engine.audit_log("watched"))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda memory: memory.fact(BANK, "none"), NotFound),
        (lambda memory: memory.bank("none"), NotFound),
        (lambda memory: memory.recall(BANK, "Ann", limit=0), InvalidInput),
        (lambda memory: memory.recall(BANK, "Ann", budget="huge"), InvalidInput),
        (lambda memory: memory.recall("a/b", "Ann"), InvalidInput),
        (lambda memory: memory.recall(BANK, "Ann", recipe="none"), InvalidInput),
        (lambda memory: memory.retain(BANK, ""), InvalidInput),
        (lambda memory: memory.retain(BANK, [{"role": "user", "content": "x", "timestamp": "never"}]), InvalidInput),
        (lambda memory: memory.forget(BANK), InvalidInput),
        (lambda memory: memory.facts(BANK, limit=-1), InvalidInput),
        (lambda memory: memory.clone_bank(BANK, BANK), perdure.Conflict),
        (lambda memory: memory.refine(BANK), InvalidInput),
        (lambda memory: memory.import_bank("new", ["not JSON"]), InvalidInput),
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


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda memory: memory.backup("/tmp/copy.db"), "backup"),
        (lambda memory: memory.trimmed_recipe(), "trimmed_recipe"),
        (lambda memory: memory.settings, "settings"),
        (lambda memory: memory.jobs, "jobs"),
    ],
)
def test_what_is_refused_is_named(
    both: tuple[Perdure, Perdure, Ids], call: Callable[[Perdure], object], named: str
) -> None:
    with pytest.raises(perdure.Unavailable, match=f"{named} is not available over HTTP"):
        call(both[1])


def test_the_server_refuses_them_too(served: tuple[Perdure, str]) -> None:
    answer = httpx.post(f"{served[1]}/v1/perdure/backup", json={"file": "/tmp/copy.db"})
    assert answer.status_code == 501
    assert "backup" in answer.json()["error"]["message"]


HOSTILE: list[bytes] = [
    b"", b"{", b"[]", b"null", b'{"nothing": 1}', b"[" * 100_000, b'{"query": 5, "limit": "x", "content": 7, "ids": 3}', b"\xff\xfe",
    b'{"where": {"tags": 7}, "query": "x"}', b'{"where": [], "query": "x"}', b'{"content": {"$item": {"content": 5}}}',
    b'{"where": {"during": {"start": 1}}, "query": "x"}',
    b'{"record": {"kind": "a.b", "id": "1", "bank": "elsewhere"}}', b'{"content": [[[[1]]]]}', b'{"fact_id": "\\ud800"}',
]  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_no_body_breaks_the_server(served: tuple[Perdure, str], body: bytes) -> None:
    with httpx.Client(base_url=served[1]) as client:
        for verb in (*VERBS, "backup", "__init__", "_store", "close"):
            of_bank = verb in VERBS and VERBS[verb].bank not in (Bank.NONE, Bank.ALL)
            path = f"/v1/perdure/banks/hostile/{verb}" if of_bank else f"/v1/perdure/{verb}"
            answer = client.post(path, content=body)
            assert answer.status_code != 500, (path, body[:80], answer.text)
            if answer.status_code >= 300:
                assert answer.json()["error"]["code"]


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
            assert [bank.id for bank in reader.banks()] == ["a"]
            assert reader.recall("a", "Where does Ann live?")
            forbidden: list[Callable[[], object]] = [
                lambda: reader.recall("b", "Where does Bob live?"), lambda: reader.retain("a", "x"),
                lambda: reader.records("webhook", bank="a"), lambda: reader.export_bank("a").__next__(),
                lambda: writer.forget("a", everything=True), lambda: writer.configure_bank("a", settings={}),
                lambda: writer.webhooks("a"), lambda: writer.delete_observations("a"), lambda: writer.import_bank("a", []),
                lambda: writer.save_record(Record(kind="job", id="1", bank="a")), lambda: owner.clone_bank("a", "c"),
                lambda: owner.verify(), lambda: owner.costs(), lambda: owner.refresh_due_mental_models(),
            ]  # fmt: skip
            for call in forbidden:
                with pytest.raises(perdure.Forbidden):
                    call()
            with pytest.raises(InvalidInput, match="records without one are the server's own"):
                root.records("api_key")
            writer.save_record(Record(kind="app.x", id="1", bank="a"))
            assert owner.records("job", bank="a") == []
            assert root.verify().sound
            assert writer.forget("a", fact_id=writer.facts("a").facts[0].id).facts == 1
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
    assert client.documents("b") == []
    with pytest.raises(perdure.Unreachable):
        client.retain("b", "once")
    assert sent == ["documents", "documents", "retain"]


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
            assert [fact async for fact in client.iter_facts("async")] == list(engine.iter_facts("async"))
            lines = [line async for line in client.export_bank("async")]
            assert await client.import_bank("async 2", lines) == 2
            later = await client.retain_later("async", "Ann sings.")
            assert (await client.operation("async", later.id, wait=30)).finished
            with pytest.raises(NotFound):
                await client.fact("async", "none")
            with pytest.raises(perdure.Unavailable, match="backup"):
                await client.backup("/tmp/copy.db")
            first = await asyncio.gather(*(client.count_tokens("a b c") for _ in range(20)))
            assert set(first) == {engine.count_tokens("a b c")}

    asyncio.run(run())


def test_cancelling_an_awaited_call_stops_the_work(
    served: tuple[Perdure, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, url = served
    stopped = threading.Event()

    def slow(*_: object, **__: object) -> None:
        from perdure.domain.work import check_work

        try:
            for _tick in range(200):
                check_work()
                time.sleep(0.05)
        except perdure.Cancelled:
            stopped.set()
            raise

    monkeypatch.setattr(engine, "facts", slow)

    async def run() -> None:
        async with await perdure.connect_async(url) as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.facts(BANK), 0.3)

    asyncio.run(run())
    assert stopped.wait(5)
