"""The recall pipeline on the reference store: filters, failures, explanations, abstention."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perdure.domain.filter import Filter, read_tags
from perdure.domain.recall import Evidence, Hit, RecallResult
from perdure.domain.time import AsOf, Window
from perdure.errors import InvalidInput, StoreUnreachable
from perdure.extract.local import LocalExtractor
from perdure.models.hashing import HashingEmbedder
from perdure.models.rule_tagger import RuleTagger
from perdure.models.tokens import token_counter
from perdure.ports.embedder import Vector
from perdure.ports.probe import KeywordProbe, Probe, TemporalProbe
from perdure.recall.components import RecallComponents
from perdure.recall.option_groups import Hints
from perdure.recall.options import RecallRequest
from perdure.recall.pipeline import recall
from perdure.recall.recipe import ChannelSpec, Recipe
from perdure.recall.recipes import DEFAULT, RECIPES, find_recipe
from perdure.recall.track import RecallTracker
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.request import RetainRequest, read_items
from perdure.stores.notes_folder import NotesFolder
from tests.support.memory_store import MemoryReading, MemoryStore

NOW = datetime(2024, 6, 1, tzinfo=UTC)

TURNS = [
    ("Alice", "I joined Google in March 2022 as an engineer.", "2022-03-10", ["work"]),
    ("Alice", "My manager is Dana and she runs the search team.", "2023-05-01", ["work"]),
    ("Bob", "I adopted a grey cat called Miso last spring.", "2023-11-02", ["home"]),
    ("Bob", "The bakery on Elm Street sells the best rye bread.", "2023-11-05", []),
    ("Alice", "I ran the Lisbon marathon in October 2021.", "2021-10-20", ["sport"]),
]


RERANKED = replace(DEFAULT, cross_pool=12, read=0)


class WordReranker:
    """Counts shared words; stands for a cross-encoder."""

    name = "words"

    def __init__(self) -> None:
        self.read: list[str] = []

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        self.read = list(passages)
        wanted = set(query.lower().strip("?").split())
        return np.array(
            [2.0 * len(wanted & set(p.lower().split())) - 4.0 for p in passages], dtype=np.float32
        )


class FaultyStore(MemoryStore):
    """Fails or hangs for chosen probes."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: type | None = None
        self.hanging: type | None = None
        self.release = threading.Event()

    @contextmanager
    def reading(self, bank: str) -> Iterator[MemoryReading]:
        with super().reading(bank) as reading:
            search = reading.search

            def faulty_search(probe: Probe, where: Filter, limit: int) -> list[Hit]:
                if self.broken is not None and isinstance(probe, self.broken):
                    raise RuntimeError("index on fire")
                if self.hanging is not None and isinstance(probe, self.hanging):
                    self.release.wait(10)
                return search(probe, where, limit)

            reading.search = faulty_search  # type: ignore[method-assign]
            yield reading


@pytest.fixture
def components() -> Iterator[RecallComponents]:
    store = FaultyStore()
    embedder = HashingEmbedder()
    retaining = RetainComponents(
        store=store, extractor=LocalExtractor(RuleTagger()), clock=lambda: NOW, embedder=embedder
    )
    items = [
        {"content": text, "speaker": who, "timestamp": when, "tags": tags, "document_id": f"{who} {when}"}
        for who, text, when, tags in TURNS
    ]
    retain(retaining, RetainRequest(bank="b", items=read_items(items, {})))
    with ThreadPoolExecutor(8) as executor:
        yield RecallComponents(
            store=store,
            tokens=token_counter("approximate"),
            clock=lambda: NOW + timedelta(days=1),
            executor=executor,
            embedder=embedder,
            reranker=WordReranker(),
        )
        store.release.set()


def ask(components: RecallComponents, query: str, **options: Any) -> RecallResult:
    return recall(components, RecallRequest(**{"bank": "b", "query": query, "recipe": RERANKED, **options}))


def texts(result: RecallResult) -> list[str]:
    return [r.fact.text for r in result.recollections]


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_recipe_finds_the_cat(components: RecallComponents, recipe: str) -> None:
    result = ask(components, "What is Bob's cat called?", recipe=find_recipe(recipe))
    assert "Miso" in texts(result)[0]
    assert result.recipe == recipe


def test_the_same_question_gives_the_same_answer(components: RecallComponents) -> None:
    one, other = ask(components, "Where does Alice work?"), ask(components, "Where does Alice work?")
    assert [(r.fact.id, r.score) for r in one] == [(r.fact.id, r.score) for r in other]


def test_the_reranker_reads_no_text_twice(components: RecallComponents) -> None:
    ask(components, "What is Bob's cat called?", recipe=find_recipe("tempr"))
    reranker = components.reranker
    assert isinstance(reranker, WordReranker)
    assert len(reranker.read) == len(set(reranker.read)) > 1


def test_a_dead_channel_costs_its_hits_and_is_named(components: RecallComponents) -> None:
    components.store.broken = KeywordProbe  # type: ignore[attr-defined]
    result = ask(components, "What is Bob's cat called?")
    assert [d.part for d in result.degraded] == ["keyword"]
    assert result.degraded[0].reason == "unexpected RuntimeError", "its words may quote what is stored"
    assert any("Miso" in text for text in texts(result))


def test_a_recall_that_loses_its_database_is_an_error_and_no_answer_without_channels(
    components: RecallComponents, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> list[Hit]:
        raise StoreUnreachable("no primary answers")

    monkeypatch.setattr(MemoryReading, "search", lose)
    with pytest.raises(StoreUnreachable):
        ask(components, "What is Bob's cat called?")


@pytest.mark.parametrize(("probe", "channel"), [(KeywordProbe, "keyword"), (TemporalProbe, "temporal")])
def test_a_hanging_channel_is_left_behind(
    components: RecallComponents, probe: type[Probe], channel: str
) -> None:
    components.store.hanging = probe  # type: ignore[attr-defined]
    result = ask(components, "What did Bob do in November 2023?", channel_timeout=0.3, explain=True)
    assert [d.part for d in result.degraded] == [channel]
    assert "longer than 0.3 s" in result.degraded[0].reason
    found = {rank.channel for r in result if r.candidate is not None for rank in r.candidate.ranks}
    assert found == {"semantic", "neighbourhood", "keyword", "graph", "temporal"} - {channel}


def test_filters_hold_in_every_channel(components: RecallComponents) -> None:
    tags = read_tags(["home"], "any_strict")
    for recipe in RECIPES.values():
        result = ask(components, "Alice Google Lisbon cat bread", where=Filter(tags=tags), recipe=recipe)
        assert all(r.fact.tags == {"home"} for r in result)
    untagged = ask(components, "Elm Street bakery", where=Filter(tags=read_tags(["home"])))
    assert {frozenset(r.fact.tags) for r in untagged} <= {frozenset({"home"}), frozenset()}


def test_during_filters_and_a_window_only_ranks(components: RecallComponents) -> None:
    year = Window(datetime(2021, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC))
    strict = ask(components, "What did Alice do?", where=Filter(during=year))
    assert texts(strict)
    assert all("marathon" in text for text in texts(strict))
    unasked = ask(components, "What did Alice do?")
    ranked = ask(components, "What did Alice do?", hints=Hints(window=year))
    assert len(ranked) > len(strict)
    gained = {r.fact.id: r.score for r in ranked}
    before = {r.fact.id: r.score for r in unasked}
    for recollection in unasked:
        inside = "marathon" in recollection.text
        assert (gained[recollection.fact.id] > before[recollection.fact.id]) == inside


def test_nothing_was_known_before_it_was_recorded(components: RecallComponents) -> None:
    past = AsOf(known=NOW - timedelta(days=1))
    assert texts(ask(components, "What is Bob's cat called?", where=Filter(as_of=past))) == []


def test_explain_tells_ranks_scores_and_what_was_cut(components: RecallComponents) -> None:
    result = ask(components, "What is Bob's cat called?", explain=True, limit=1)
    [best] = result.recollections
    assert best.candidate is not None
    assert {rank.channel for rank in best.candidate.ranks} >= {"semantic", "keyword"}
    assert best.candidate.logit is not None
    assert {"recency", "temporal", "proof"} <= best.candidate.boosts.keys()
    assert result.cut
    assert all(candidate.cut for candidate in result.cut)
    assert {"understand", "search", "search.keyword", "fuse", "rerank", "total"} <= {
        t.stage for t in result.timings
    }


def test_the_budget_of_tokens_is_kept(components: RecallComponents) -> None:
    result = ask(components, "Alice Bob", max_tokens=30)
    assert result.tokens <= 30
    assert len(result) < 5
    assert len(ask(components, "Alice Bob", max_tokens=0)) == 0


def test_an_unrelated_question_has_no_strong_evidence(components: RecallComponents) -> None:
    assert ask(components, "quantum chromodynamics lattice").evidence is not Evidence.STRONG
    assert ask(components, "anything", bank="empty").evidence is Evidence.NONE


def test_a_recipe_of_ones_own(components: RecallComponents) -> None:
    mine = Recipe(name="mine", channels=(ChannelSpec(name="keyword", limit=2),), cross_pool=0, limit=1)
    assert len(ask(components, "Google engineer", recipe=mine)) == 1
    wrong = Recipe(name="wrong", channels=(ChannelSpec(name="telepathy"),))
    with pytest.raises(InvalidInput, match="telepathy"):
        ask(components, "Google", recipe=wrong)


def test_questions_about_my_things_and_about_what_you_said_mark_whose_words_count(
    components: RecallComponents,
) -> None:
    retaining = RetainComponents(
        store=components.store,
        extractor=LocalExtractor(RuleTagger()),
        clock=lambda: NOW,
        embedder=components.embedder,
    )
    turns = [
        {
            "content": "A red bike with a steel frame costs about 900 euros.",
            "speaker": "assistant",
            "role": "assistant",
        },
        {"content": "The red bike has a steel frame now.", "speaker": "user", "role": "user"},
    ]
    retain(retaining, RetainRequest(bank="b", items=read_items(turns, {})))
    assert _marked(ask(components, "What frame does my red bike have?", explain=True)) == {"user"}
    assert _marked(ask(components, "What did you say a red bike costs?", explain=True)) == {"assistant"}
    assert _marked(ask(components, "What does a red bike cost?", explain=True)) == set()


def _marked(result: RecallResult) -> set[str]:
    return {r.fact.speaker for r in result if r.candidate is not None and r.candidate.by_role}


def test_a_recall_is_counted_unless_it_is_not_tracked(components: RecallComponents) -> None:
    tracker = RecallTracker(components.store)
    tracked = replace(components, tracker=tracker)
    ask(tracked, "What is Bob's cat called?", limit=1, track=False)
    best = ask(tracked, "What is Bob's cat called?", limit=1).recollections[0].fact
    tracker.close()
    with components.store.reading("b") as reading:
        [fact] = reading.facts([best.id])
    assert (fact.recall_count, fact.recall_times) == (1, (components.clock(),))


def test_notes_of_a_folder_are_recalled_beside_facts_and_never_counted(
    components: RecallComponents, tmp_path: Path
) -> None:
    weekly = tmp_path / "b" / "weekly"
    weekly.mkdir(parents=True)
    (weekly / "2023-W45.md").write_text(
        "# Week 45\n\nBob's cat Miso learnt to open doors.\n\nNothing else.\n"
    )
    tracker = RecallTracker(components.store)
    with_notes = replace(components, notes=NotesFolder(tmp_path), tracker=tracker)
    result = ask(with_notes, "What did the cat Miso learn?", recipe=find_recipe("abmind"), explain=True)
    [note] = [one for one in result if one.fact.id.startswith("note:")]
    assert note.text == "Bob's cat Miso learnt to open doors."
    assert note.fact.occurred_start == datetime(2023, 11, 6, tzinfo=UTC)
    assert note.candidate is not None
    assert [rank.channel for rank in note.candidate.ranks] == ["notes"]
    tracker.close()
    outside = Hints(window=Window(datetime(2024, 1, 1, tzinfo=UTC), None))
    later = ask(with_notes, "What did the cat Miso learn?", recipe=find_recipe("abmind"), hints=outside)
    assert not any(one.fact.id.startswith("note:") for one in later)
