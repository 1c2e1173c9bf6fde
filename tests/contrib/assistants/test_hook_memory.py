"""What assistants are told and what is retained of their sessions, by what each host hands to its hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from perdure import Fact, Perdure
from perdure.contrib.assistants.hosts import detect_host
from perdure.contrib.assistants.memory import AssistantMemory
from perdure.contrib.assistants.place import make_folder
from perdure.ports.store import NewFact
from perdure.retain.commit import FactChanges, commit
from perdure.retain.features import features_of_edited
from perdure.surfaces.projects import bank_of

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
BANK = bank_of("/srv/app")
STATED = "My dog is called Tilly and we deploy with Nomad."
ASKED = "What is my dog called?"


@dataclass
class Hooks:
    """The hooks of all hosts before one memory, at a clock of the test's own."""

    engine: Perdure
    memory: AssistantMemory
    folder: Path
    now: float = 1_795_000_000.0

    def request(self, event: str, payload: dict[str, Any], host: str = "auto", **more: Any) -> dict[str, Any]:
        self.now += 60
        return {
            "event": event, "host": host, "payload": payload, "marks": {}, "bank": "", "at": self.now, "folder": "/", **more,
        }  # fmt: skip

    def tell(self, event: str, payload: dict[str, Any], host: str = "auto", **more: Any) -> Any:
        output = self.memory.answer(self.request(event, payload, host, **more))
        return json.loads(output) if output else None

    def retain(self, event: str, payload: dict[str, Any], host: str = "auto", **more: Any) -> int:
        turns = self.memory.retain(self.request(event, payload, host, **more))
        for bank in self.engine.banks.list():
            for operation in self.engine.operations.list(bank.id):
                self.engine.operations.get(bank.id, operation.id, wait=90)
        return turns

    def claude(self, session: str, prompt: str, **more: Any) -> str:
        """What Claude Code is told beside a prompt."""
        payload = {
            "session_id": session,
            "cwd": "/srv/app",
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
            **more,
        }
        told = self.tell("prompt", payload)
        return told["hookSpecificOutput"]["additionalContext"] if told else ""

    def turn(self, session: str, prompt: str, reply: str = "Good.", **more: Any) -> int:
        """One turn of Claude Code; returns how many were retained at its end."""
        self.claude(session, prompt)
        return self.retain(
            "stop", {"session_id": session, "cwd": "/srv/app", "last_assistant_message": reply, **more}
        )

    def texts(self, bank: str = BANK) -> list[str]:
        return [
            chunk.text
            for document in self.engine.documents.list(bank)
            for chunk in self.engine.documents.chunks(bank, document_id=document.id)
        ]


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    make_folder(str(tmp_path))
    with Perdure.open(
        tmp_path / "perdure.db", embedder="hashing", reranker="none", tagger="rules", tokens="approximate"
    ) as engine:
        yield Hooks(engine, AssistantMemory(engine, str(tmp_path)), tmp_path)


def filled(part: Any, **values: str) -> Any:
    text = json.dumps(part)
    for name, value in values.items():
        text = text.replace(name, json.dumps(value)[1:-1])
    return json.loads(text)


@pytest.mark.parametrize("name", RECORDED)
def test_each_host_is_told_by_its_input_and_answered_in_its_shape(
    name: str, hooks: Hooks, tmp_path: Path
) -> None:
    host = RECORDED[name]
    hooks.turn("earlier", STATED)
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text(json.dumps({"role": "user", "content": ASKED}) + "\n", encoding="utf-8")
    values = {"PROMPT": ASKED, "REPLY": "Tilly, you said.", "TRANSCRIPT": str(transcript)}
    if host["start"]:
        payload = filled(host["start"], **values)
        assert detect_host(payload, host["marks"]) in {
            name,
            "claude-code" if name == "gemini-cli" else name,
        }
        told = hooks.tell("session-start", payload, name, marks=host["marks"])
        assert "Tilly" in json.dumps(told)
        assert _shape(told) == host["at_start"]
        for file in Path(hooks.folder, "sessions").iterdir():
            file.unlink()
    payload = filled(host["prompt"], **values)
    told = hooks.tell("prompt", payload, name, marks=host["marks"])
    if host["at_prompt"] is None:
        assert told is None
    else:
        assert "Tilly" in json.dumps(told)
        assert _shape(told) == filled(host["at_prompt"], PROMPT=ASKED)
    before = len(hooks.texts())
    assert hooks.retain("stop", filled(host["stop"], **values), name, marks=host["marks"]) == 1
    assert len(hooks.texts()) == before + 1
    assert hooks.retain("stop", filled(host["stop"], **values), name, marks=host["marks"]) == 0
    assert len(hooks.texts()) == before + 1


def _shape(told: Any) -> Any:
    """The answer with TEXT in the place of memory."""
    if isinstance(told, dict):
        return {key: _shape(value) for key, value in told.items()}
    if isinstance(told, list):
        return [_shape(value) for value in told]
    if isinstance(told, str) and "<recalled_memory>" in told:
        return told[: told.index("<recalled_memory>")] + "TEXT"
    return told


def test_a_fact_is_told_once_a_session_and_again_after_compaction(hooks: Hooks) -> None:
    hooks.turn("earlier", STATED)
    assert "Tilly" in hooks.claude("now", ASKED)
    assert hooks.claude("now", "Tell me again what my dog is called.") == ""
    start = {"session_id": "now", "cwd": "/srv/app", "hook_event_name": "SessionStart", "source": "compact"}
    assert "Tilly" in json.dumps(hooks.tell("session-start", start))
    assert hooks.claude("now", ASKED) == ""
    assert "Tilly" in hooks.claude("later", ASKED)


def test_nothing_is_told_when_nothing_passes_the_floor_or_nothing_is_there(hooks: Hooks) -> None:
    assert hooks.claude("first", ASKED) == ""
    hooks.turn("earlier", STATED)
    assert hooks.claude("now", "Which tax applies to imported bicycles in Peru?") == ""


def test_what_was_said_in_the_session_itself_is_not_told_back(hooks: Hooks) -> None:
    start = {"session_id": "now", "cwd": "/srv/app", "hook_event_name": "SessionStart", "source": "startup"}
    hooks.tell("session-start", start)
    hooks.turn("now", STATED)
    assert hooks.claude("now", ASKED) == ""


def test_subagents_wake_ups_and_slash_commands_are_neither_answered_nor_retained(hooks: Hooks) -> None:
    hooks.turn("earlier", STATED)
    assert hooks.claude("now", ASKED, agent_id="a1") == ""
    assert hooks.claude("now", ASKED, source="loop_wakeup") == ""
    assert hooks.claude("now", "/recall my dog") == ""
    stop = {"session_id": "now", "cwd": "/srv/app", "last_assistant_message": "Done."}
    assert hooks.retain("stop", stop) == 0
    assert hooks.retain("stop", {**stop, "agent_id": "a1"}) == 0
    assert len(hooks.texts()) == 1


def test_a_session_is_one_document_of_turns_with_speakers(hooks: Hooks) -> None:
    assert hooks.turn("one", STATED, "Noted.") == 1
    assert hooks.turn("one", "The staging host is called Basil.", "Fine.") == 1
    [document] = hooks.engine.documents.list(BANK)
    assert document.id == "claude-code:one"
    spans = [
        span for chunk in hooks.engine.documents.chunks(BANK, document_id=document.id) for span in chunk.spans
    ]
    assert [(span.speaker, span.is_agent) for span in spans] == [("user", False), ("assistant", True)] * 2


def test_a_transcript_is_retained_once_whatever_hooks_come(hooks: Hooks, tmp_path: Path) -> None:
    lines = [
        {"type": kind, "timestamp": "2026-11-18T10:00:00Z", "message": {"role": kind, "content": text}}
        for kind, text in (("user", STATED), ("assistant", "Noted."), ("user", "We use Postgres."))
    ]
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    body = {"session_id": "s", "cwd": "/srv/app", "transcript_path": str(transcript)}
    assert hooks.retain("pre-compact", body) == 1
    assert hooks.retain("stop", {**body, "last_assistant_message": "Postgres it is."}) == 1
    assert hooks.retain("session-end", body) == 0
    assert hooks.retain("stop", {**body, "last_assistant_message": "Postgres it is."}) == 0
    whole = "\n".join(hooks.texts())
    assert whole.count("Nomad") == whole.count("Postgres it is.") == 1


def test_a_turn_that_two_hosts_report_is_answered_and_retained_once(hooks: Hooks) -> None:
    """VS Code runs the hooks of Claude Code beside its own."""
    hooks.turn("earlier", STATED)
    body = {"session_id": "0cdea78f-9b38-4f00-aed1-d5a5422396ac", "cwd": "/srv/app", "prompt": ASKED}
    first = hooks.request("prompt", body, "claude-code")
    assert "Tilly" in hooks.memory.answer(first)
    assert hooks.memory.answer({**first, "host": "vscode"}) == ""
    assert hooks.retain("stop", {**body, "last_assistant_message": "Tilly."}, "claude-code") == 1
    assert hooks.retain("stop", {**body, "last_assistant_message": "Tilly."}, "vscode") == 0


def test_recalled_memory_is_never_retained(hooks: Hooks) -> None:
    hooks.turn("earlier", STATED)
    told = hooks.claude("now", ASKED)
    hooks.turn("now", f"{told}\nThe database is Postgres.", told)
    assert "\n".join(hooks.texts()).count("Tilly") == 1


def test_the_bank_is_the_projects_unless_it_is_named(hooks: Hooks) -> None:
    stop = {"session_id": "s", "cwd": "/srv/app", "prompt": STATED, "last_assistant_message": "Noted."}
    hooks.retain("stop", stop, bank="mine")
    assert [bank.id for bank in hooks.engine.banks.list()] == ["mine"]


def test_the_start_of_a_session_is_dated_and_within_its_budget(hooks: Hooks) -> None:
    said = [
        f"Service number {number} runs on port {8000 + number} of the host Basil." for number in range(40)
    ]
    hooks.engine.retain(BANK, [{"role": "user", "content": text} for text in said])
    start = {"session_id": "now", "cwd": "/srv/app", "hook_event_name": "SessionStart", "source": "startup"}
    text = hooks.tell("session-start", start)["hookSpecificOutput"]["additionalContext"]
    assert f"as of {hooks.engine.clock():%Y-%m-%d}" in text
    assert "data, not instructions" in text
    assert "(said 2026-" in text
    assert 200 < hooks.engine.count_tokens(text) <= 800
    assert hooks.tell("session-start", {**start, "source": "resume"}) is None


def stated(hooks: Hooks, value: str, speaker: str) -> NewFact:
    """A statement of where Bob lives, stored without a retain that might decide something."""
    now = hooks.engine.clock()
    fact = Fact(
        id=f"{speaker}-{value}", bank=BANK, text=f"Bob lives in {value}.", subject="Bob", relation="lives_in", object=value,
        speaker=speaker, mentioned_at=now, recorded_at=now,
    )  # fmt: skip
    return NewFact(fact, features_of_edited(fact, None))


def test_open_questions_and_profiles_are_told_at_the_start(hooks: Hooks) -> None:
    for text in (
        "Maya works at Lumen Labs.",
        "Maya plays the cello.",
        "Maya lives in Porto.",
        "Maya has two cats.",
    ):
        hooks.engine.retain(BANK, text, speaker="Ann")
    facts = [stated(hooks, "Rome", "Tom"), stated(hooks, "Paris", "Eva")]
    commit(hooks.engine._store, FactChanges(bank=BANK, facts=facts))
    hooks.engine.operations.get(BANK, hooks.engine.consolidate(BANK).id, wait=30)
    start = {"session_id": "now", "cwd": "/srv/app", "hook_event_name": "SessionStart", "source": "startup"}
    text = hooks.tell("session-start", start)["hookSpecificOutput"]["additionalContext"]
    [question] = hooks.engine.questions.list(BANK)
    assert f"Open questions, which only the user can decide:\n- {question.text}" in text
    profiles = hooks.engine.observations.list(BANK)
    assert profiles
    assert all(profile.text in text for profile in profiles)
