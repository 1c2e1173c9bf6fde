"""The pure parts of the comparison: what is asked, what is told, what is measured and what is printed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.peers.contestants import CONTESTANTS, ENVIRONMENTS
from bench.peers.drivers.protocol import WARM_UP, Bank, Query, events, read_job
from bench.peers.outcome import Outcome, figures
from bench.peers.page import Section, page
from bench.peers.runner import DEPTH, Runner, TooSlow, Watch
from bench.peers.selection import evenly, plain_text, select
from perdure.evaluation.data import LabelledBank, LabelledItem, LabelledQuery


def _query(name: str, *evidence: str) -> LabelledQuery:
    return LabelledQuery(
        id=name, text=f"{name}?", type="all", evidence=frozenset(evidence), evidence_sessions=frozenset()
    )


def _banks() -> list[LabelledBank]:
    items = [LabelledItem(id=name, text=f"text {name}") for name in "abc"]
    return [
        LabelledBank(
            id="one", items=items, queries=[_query("q1", "a"), _query("q2"), _query("q3", "b", "c")]
        ),
        LabelledBank(id="two", items=items, queries=[_query("q4", "c"), _query("q5", "a")]),
    ]


class _Echo:
    """Answers with the bank's items from the last to the first, the last one twice."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def retain(self, bank: Bank, progress: Callable[[int], None]) -> None:
        progress(len(bank.items))

    def search(self, bank: Bank, query: Query, depth: int) -> Sequence[str]:
        self.asked.append(query.text)
        names = [item.id for item in reversed(bank.items)]
        return [names[0], *names]


def _events(memory: _Echo) -> list[dict[str, Any]]:
    selection = select("data", _banks(), None, None)
    raw = {"folder": ".", "depth": DEPTH, "options": {}, "banks": selection.as_job()}
    told: list[dict[str, Any]] = [{"event": "opened", "versions": {"echo": "1.0"}}]
    told.extend(events(read_job(io.StringIO(json.dumps(raw))), memory, told.append))
    return told


def test_turns_and_passages_as_a_user_would_paste_them() -> None:
    turn = LabelledItem(id="1", text="Hi!", speaker="Ann", date="2023-05-08T13:56:00")
    assert plain_text(turn) == "[8 May 2023] Ann: Hi!"
    assert plain_text(LabelledItem(id="2", text="A town.", title="Oslo")) == "Oslo: A town."
    assert plain_text(LabelledItem(id="3", text="Bare.")) == "Bare."


def test_questions_are_spread_over_all_banks_and_unlabelled_ones_left_out() -> None:
    assert evenly(range(10), 4) == [0, 2, 5, 7]
    assert evenly(range(3), 9) == [0, 1, 2]
    chosen = select("data", _banks(), None, 2)
    assert [[query.id for query in bank.queries] for bank in chosen.banks] == [["q1"], ["q4"]]
    assert [len(bank.queries) for bank in select("data", _banks(), 1, None).banks] == [2]


def test_a_driver_is_not_told_the_labels() -> None:
    assert "evidence" not in json.dumps(select("data", _banks(), None, None).as_job())


def test_every_bank_is_warmed_up_before_a_question_is_timed() -> None:
    memory = _Echo()
    told = _events(memory)
    assert memory.asked == [*WARM_UP, *WARM_UP, "q1?", "q3?", "q4?", "q5?"]
    assert [event["texts"] for event in told if event["event"] == "progress"] == [3, 6]
    assert [event["ranked"] for event in told if event["event"] == "ranking"] == [["c", "b", "a"]] * 4


def test_figures_of_known_rankings() -> None:
    outcome = Outcome(
        retained={"one": (3, 1.0), "two": (3, 2.0)},
        ranked={"q1": (["a"], 1.0), "q3": (["b", "a"], 2.0), "q4": (["a", "c"], 3.0), "q5": ([], 4.0)},
    )
    found = figures(outcome, select("data", _banks(), None, None))
    assert found.quality["recall@5"] == (1.0 + 0.5 + 1.0 + 0.0) / 4
    assert found.quality["mrr"] == (1.0 + 1.0 + 0.5 + 0.0) / 4
    assert (found.p50, found.texts_a_second) == (2.5, 2.0)
    assert round(found.recall_error, 4) == 0.2394


def test_the_page_names_who_did_not_run_and_no_folder_of_the_machine() -> None:
    selection = select("data", _banks(), None, None)
    ran = Outcome.from_events(_events(_Echo()), 12.0, 0.5)
    failed = Outcome(failure="No such file: '/some/where/pg0'")
    section = Section(selection, {"perdure": ran, "mem0": failed})
    written = page("python -m bench.peers data.json", [section])
    assert "| Perdure, `default` | 1.000 |" in written
    assert "did not run: No such file: pg0" in written
    assert "/some/where" not in written
    assert "echo 1.0" in written
    assert "Not asked to run: Perdure, `fast`," in written


def test_results_are_kept_by_data_and_options(tmp_path: Path) -> None:
    runner = Runner(tmp_path, minutes=1.0)
    whole, part = select("data", _banks(), None, None), select("data", _banks(), 1, None)
    named = {runner.result(contestant, whole) for contestant in CONTESTANTS}
    assert len(named) == len(CONTESTANTS)
    assert runner.result(CONTESTANTS[0], part) not in named
    assert runner.cached(CONTESTANTS[0], whole) is None


def test_a_slow_driver_is_given_up_but_not_for_its_slow_start() -> None:
    times = [0.0]
    watch = Watch(select("data", _banks(), None, None), 60.0, lambda: times[-1])
    for second, texts in ((100.0, 1), (125.0, 2), (131.0, 5)):
        times.append(second)
        watch.see({"event": "progress", "texts": texts})
    times.append(170.0)
    with pytest.raises(TooSlow, match="6 texts would take about 2 minutes"):
        watch.see({"event": "progress", "texts": 5})


def test_every_contestant_has_an_environment_and_a_driver() -> None:
    root = Path(__file__).resolve().parents[2]
    for contestant in CONTESTANTS:
        assert contestant.environment in ENVIRONMENTS
        assert (root / Path(*contestant.driver.split("."))).with_suffix(".py").exists()
