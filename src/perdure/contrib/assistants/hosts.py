"""What assistants tell their hooks and how they want to be answered: one table row each, read into one kind of call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from perdure.errors import InvalidInput

Payload = Mapping[str, object]
Shape = Callable[[str, Payload], Mapping[str, object]]
"""(text, payload) -> what the host reads on standard output."""

SPOKEN_SOURCES = frozenset({"", "user", "sdk"})
"""Sources of prompts that a person wrote; the others are wake-ups, schedules and notices."""
_SLASH_COMMAND = re.compile(r"/[A-Za-z][\w:-]*(?=\s|$)")
_UNIQUE = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ROLLOUT = re.compile(r"[/\\]rollout-[^/\\]*\.jsonl$")
"""A transcript of Codex."""
_SESSION = ("session_id", "sessionId", "conversation_id", "conversationId")
_FOLDER = ("cwd", "workspace_roots", "workspacePaths")
_TRANSCRIPT = ("transcript_path", "transcriptPath")
_PROMPT = ("prompt", "userPrompt")
_REPLY = ("last_assistant_message", "prompt_response", "lastAssistantMessage")
_TURN = ("prompt_id", "turn_id", "generation_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookCall:
    """One call of a hook, whatever the host."""

    event: str
    host: str
    session: str
    folder: str
    prompt: str = ""
    reply: str = ""
    """The assistant's last message, of hosts that hand it over."""
    turn: str = ""
    """The host's own id of the turn."""
    transcript: str = ""
    source: str = ""
    """Where a prompt comes from, or how a session starts."""
    in_subagent: bool = False
    payload: Payload

    @property
    def document_id(self) -> str:
        """The document that holds the session: its id, with the host before it where others might use the same."""
        return self.session if _UNIQUE.fullmatch(self.session) else f"{self.host}:{self.session}"

    @property
    def is_spoken(self) -> bool:
        """Whether a person wrote the prompt, as words and not as a command."""
        return self.source in SPOKEN_SOURCES and not self.in_subagent and is_words(self.prompt)


def is_words(prompt: str) -> bool:
    """Whether a prompt says something: it is not empty and no slash command."""
    text = prompt.strip()
    return bool(text) and not _SLASH_COMMAND.match(text)


def _claude_shape(event_name: str) -> Shape:
    def shape(text: str, payload: Payload) -> Mapping[str, object]:
        name = payload.get("hook_event_name")
        return {
            "hookSpecificOutput": {
                "hookEventName": name if isinstance(name, str) else event_name,
                "additionalContext": text,
            }
        }

    return shape


def _antigravity(text: str, _: Payload) -> Mapping[str, object]:
    return {"injectSteps": [{"ephemeralMessage": text}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """An assistant: how it is told from others and how it is answered."""

    name: str
    at_start: Shape | None = None
    at_prompt: Shape | None = None
    """None where the host takes no text at that event."""
    starts_with_prompt: bool = False
    """Whether its first prompt is the start of the session, which it has no event for."""


HOSTS: Mapping[str, Host] = {
    host.name: host
    for host in (
        Host(
            name="claude-code",
            at_start=_claude_shape("SessionStart"),
            at_prompt=_claude_shape("UserPromptSubmit"),
        ),
        Host(
            name="codex", at_start=_claude_shape("SessionStart"), at_prompt=_claude_shape("UserPromptSubmit")
        ),
        Host(name="vscode", at_start=_claude_shape("SessionStart")),
        Host(
            name="cursor",
            at_start=lambda text, _: {"additional_context": text},
            at_prompt=lambda text, _: {"continue": True, "additional_context": text},
        ),
        Host(name="antigravity", at_start=_antigravity, at_prompt=_antigravity, starts_with_prompt=True),
        Host(
            name="gemini-cli",
            at_start=_claude_shape("SessionStart"),
            at_prompt=_claude_shape("BeforeAgent"),
        ),
    )
}


def detect_host(payload: Payload, marks: Mapping[str, str]) -> str:
    """Return the host by the variables and fields that only it has; Cursor sets Claude Code's variable too, hence the order."""
    if "CURSOR_VERSION" in marks or "cursor_version" in payload:
        return "cursor"
    if "PLUGIN_ROOT" in marks or "turn_id" in payload:
        return "codex"
    if "conversationId" in payload and "workspacePaths" in payload:
        return "antigravity"
    if "sessionId" in payload:
        return "vscode"
    if payload.get("hook_event_name") in ("BeforeAgent", "AfterAgent"):
        return "gemini-cli"
    rollout = _first(payload, _TRANSCRIPT)
    return "codex" if _ROLLOUT.search(rollout) else "claude-code"


def read_call(event: str, host: str, payload: Payload, marks: Mapping[str, str], folder: str) -> HookCall:
    """Return a hook's call from what the host handed over; `folder` is where the hook ran."""
    name = detect_host(payload, marks) if host == "auto" else host
    if name not in HOSTS:
        raise InvalidInput("--host", f"auto or one of {', '.join(HOSTS)}", host)
    session = _first(payload, _SESSION)
    if not session.strip():
        raise InvalidInput("standard input", f"an id of the session ({', '.join(_SESSION)})")
    return HookCall(
        event=event,
        host=name,
        session=session,
        folder=_first(payload, _FOLDER) or marks.get("CLAUDE_PROJECT_DIR", "") or folder,
        prompt=_first(payload, _PROMPT),
        reply=_first(payload, _REPLY),
        turn=_first(payload, _TURN),
        transcript=_first(payload, _TRANSCRIPT),
        source=_first(payload, ("source",)),
        in_subagent=bool(_first(payload, ("agent_id",))),
        payload=payload,
    )


def shaped(shape: Shape | None, text: str, payload: Payload) -> str:
    """Return the text as a host reads it; nothing where there is no text, or the host takes none."""
    body = shape(text, payload) if shape is not None and text else {}
    return json.dumps(body, ensure_ascii=False) if body else ""


def _first(payload: Payload, names: tuple[str, ...]) -> str:
    """Return the first of these fields that holds a text, or a list of texts, of which it is the first."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and value:
            return value
    return ""
