"""What the user and the assistant said, from the files of Claude Code and Codex."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from perdure.contrib.assistants.transcripts import own_words, read_turns

AT = "2026-11-18T15:27:58.049Z"


def claude(kind: str, content: object, **more: object) -> dict[str, object]:
    return {
        "parentUuid": None, "isSidechain": False, "type": kind, "timestamp": AT, "message": {"role": kind, "content": content},
        **more,
    }  # fmt: skip


def codex(role: str, text: str, kind: str = "message") -> dict[str, object]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": kind, "role": role, "content": [part]},
    }


def written(path: Path, entries: list[dict[str, object]], end: str = "") -> str:
    path.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n" + end, encoding="utf-8")
    return str(path)


def test_claude_code_gives_prompts_and_last_replies_alone(tmp_path: Path) -> None:
    text = {"type": "text", "text": "Let me look."}
    file = written(
        tmp_path / "s.jsonl",
        [
            {"type": "queue-operation", "operation": "enqueue", "content": "My dog is called Tilly."},
            {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["memory"]}},
            claude("user", "My dog is called Tilly.", promptSource="sdk"),
            claude(
                "assistant",
                [{"type": "thinking", "thinking": "Hm."}, text, {"type": "tool_use", "name": "Read"}],
            ),
            claude("user", [{"type": "tool_result", "content": "file"}]),
            claude("assistant", [{"type": "text", "text": "A fine name."}]),
            claude("user", "Caveat", isMeta=True),
            claude("user", "<command-name>/clear</command-name>\n<command-args></command-args>"),
            claude("user", "/compact now"),
            claude("user", "Summary of before", isCompactSummary=True),
            claude("user", "Explore the tests", isSidechain=True),
            claude("assistant", [{"type": "text", "text": "Explored."}], isSidechain=True),
            claude("user", "Continue the loop", promptSource="loop_wakeup"),
            claude(
                "user",
                [
                    {
                        "type": "text",
                        "text": "<system-reminder>Be brief.</system-reminder>Where is the config?",
                    }
                ],
            ),
        ],
        end='{"type": "assistant", "mess',
    )
    turns = read_turns("claude-code", file)
    assert [(turn.prompt, turn.reply) for turn in turns] == [
        ("My dog is called Tilly.", "A fine name."),
        ("Where is the config?", ""),
    ]
    assert turns[0].said_at == datetime(2026, 11, 18, 15, 27, 58, 49000, tzinfo=UTC)


def test_codex_gives_no_context_and_no_instructions(tmp_path: Path) -> None:
    file = written(
        tmp_path / "rollout-1.jsonl",
        [
            {"timestamp": AT, "type": "session_meta", "payload": {"id": "1"}},
            codex("developer", "<recalled_memory>\n[1] Ann lives in Porto.\n</recalled_memory>"),
            codex("user", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
            codex("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"),
            codex("user", "Use port 8080."),
            {"timestamp": AT, "type": "response_item", "payload": {"type": "reasoning", "summary": []}},
            codex("assistant", "Done."),
        ],
    )
    assert [(turn.prompt, turn.reply) for turn in read_turns("codex", file)] == [("Use port 8080.", "Done.")]


def test_other_hosts_are_read_by_the_shapes_of_chat_messages(tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": "Use pnpm."},
        {"role": "assistant", "content": "Will do."},
        {"kind": "step"},
    ]
    assert read_turns("cursor", written(tmp_path / "a.jsonl", lines))[0].reply == "Will do."
    (tmp_path / "a.json").write_text(json.dumps(lines), encoding="utf-8")
    assert read_turns("cursor", str(tmp_path / "a.json"))[0].prompt == "Use pnpm."


def test_a_missing_or_unreadable_transcript_has_no_turns(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"\xff\xfe{{{\n[1]\n")
    assert read_turns("claude-code", str(tmp_path / "bad.jsonl")) == []
    assert read_turns("claude-code", str(tmp_path / "none.jsonl")) == read_turns("codex", "") == []


def test_recalled_memory_is_not_the_users_own_words() -> None:
    assert own_words("<recalled_memory>\n[1] Ann.\n</recalled_memory>\nHello") == "Hello"
    assert own_words("[Request interrupted by user]") == ""
