"""Where each assistant keeps its servers and hooks, and what Perdure's entries there are: a table."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from perdure.contrib.assistants.settings import config_folder

Format = Literal["json", "jsonc", "toml"]
START_MATCHER = "startup|resume|clear|compact|fork"
SERVER = "perdure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How an assistant starts Perdure."""

    program: str = "perdure"
    folder: str = ""
    """Of the memory, where it is not the usual one."""

    @property
    def environment(self) -> dict[str, str]:
        return {"PERDURE_ASSISTANT_FOLDER": self.folder} if self.folder else {}

    def server(self, **more: object) -> dict[str, object]:
        """Return an entry of a server in the usual form."""
        entry: dict[str, object] = {**more, "command": self.program, "args": ["assistant"]}
        return {**entry, "env": self.environment} if self.folder else entry

    def hook(self, event: str, host: str) -> str:
        """Return the command line of a hook, for a shell."""
        words = [self.program, "hook", event, "--host", host]
        return shlex.join([*words, "--folder", self.folder] if self.folder else words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """A file of an assistant and what Perdure has in it."""

    path: str
    format: Format
    members: Mapping[tuple[str, ...], object] = field(default_factory=dict)
    """Path of keys -> Perdure's value there."""
    required: Mapping[tuple[str, ...], object] = field(default_factory=dict)
    """Path of keys -> a value that must be there for the others to count; not Perdure's own."""
    lists: Mapping[tuple[str, ...], Mapping[str, object]] = field(default_factory=dict)
    """Path of a list -> Perdure's entry in it."""


Files = Callable[[Launch], list[ConfigFile]]
"""How Perdure is started -> the files to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """An assistant that Perdure can be installed into."""

    name: str
    title: str
    user_files: Files
    project_files: Files | None = None
    """Paths below the project's folder; None where it keeps nothing there that Perdure needs."""
    note: str = ""
    """What its user has to do or to know."""


def _servers(path: str, entry: object, *, under: str = "mcpServers", format: Format = "json") -> ConfigFile:  # noqa: A002
    return ConfigFile(path=path, format=format, members={(under, SERVER): entry})


def _hooks(
    path: str,
    launch: Launch,
    host: str,
    events: Mapping[str, str],
    entry: Callable[[str], Mapping[str, object]],
    *,
    under: str = "hooks",
    versioned: bool = False,
) -> ConfigFile:
    """Return a file of hooks: event of the host -> the event of `perdure hook`; `entry` wraps a command line."""
    lists: dict[tuple[str, ...], Mapping[str, object]] = {
        (under, name): entry(launch.hook(event, host)) for name, event in events.items()
    }
    return ConfigFile(path=path, format="json", required={("version",): 1} if versioned else {}, lists=lists)


def _command(line: str) -> Mapping[str, object]:
    return {"type": "command", "command": line, "timeout": 5}


CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}


def claude_hooks(launch: Launch, host: str) -> dict[tuple[str, ...], Mapping[str, object]]:
    """Return the hooks of Claude Code and Codex; `SessionEnd` has one second there."""
    lists: dict[tuple[str, ...], Mapping[str, object]] = {}
    for name, event in CLAUDE_EVENTS.items():
        entry = {**_command(launch.hook(event, host)), "timeout": 1 if name == "SessionEnd" else 5}
        matcher = {"matcher": START_MATCHER} if name == "SessionStart" else {}
        lists["hooks", name] = {**matcher, "hooks": [entry]}
    return lists


def _claude(config: str, settings: str) -> Files:
    return lambda launch: [
        _servers(config, launch.server()),
        ConfigFile(path=settings, format="json", lists=claude_hooks(launch, "claude-code")),
    ]


def _claude_user(launch: Launch) -> list[ConfigFile]:
    folder = config_folder("CLAUDE_CONFIG_DIR", "~/.claude")
    usual = os.path.expanduser("~/.claude")
    config = os.path.expanduser("~/.claude.json") if folder == usual else os.path.join(folder, ".claude.json")
    return _claude(config, os.path.join(folder, "settings.json"))(launch)


def _codex(folder: str) -> Files:
    config, hooks = os.path.join(folder, "config.toml"), os.path.join(folder, "hooks.json")
    return lambda launch: [
        _servers(config, launch.server(), under="mcp_servers", format="toml"),
        ConfigFile(path=hooks, format="json", lists=claude_hooks(launch, "codex")),
    ]


def _cursor(folder: str) -> Files:
    servers, hooks = os.path.join(folder, "mcp.json"), os.path.join(folder, "hooks.json")
    events = {"sessionStart": "session-start", "beforeSubmitPrompt": "prompt", "stop": "stop"}

    def entry(line: str) -> Mapping[str, object]:
        return {"command": line, "timeout": 5}

    return lambda launch: [
        _servers(servers, launch.server()),
        _hooks(hooks, launch, "cursor", events, entry, versioned=True),
    ]


def _vscode(servers: str, hooks: str) -> Files:
    file = os.path.join(hooks, "perdure-vscode.json")
    events = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "stop"}
    return lambda launch: [
        _servers(servers, launch.server(type="stdio"), under="servers", format="jsonc"),
        _hooks(file, launch, "vscode", events, _command),
    ]


def _vscode_user(launch: Launch) -> list[ConfigFile]:
    servers = os.path.join(_application_folder("Code"), "User", "mcp.json")
    return _vscode(servers, os.path.expanduser("~/.copilot/hooks"))(launch)


def _antigravity(launch: Launch, folder: str) -> list[ConfigFile]:
    hooks = os.path.join(folder, "hooks.json")
    events = {"PreInvocation": "prompt", "Stop": "stop"}
    return [
        _servers(os.path.join(folder, "mcp_config.json"), launch.server()),
        _hooks(hooks, launch, "antigravity", events, _command, under="perdure"),
    ]


def _gemini_cli(launch: Launch, folder: str) -> ConfigFile:
    events = {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterAgent": "stop"}

    def entry(line: str) -> Mapping[str, object]:
        return {"hooks": [{"type": "command", "name": SERVER, "command": line, "timeout": 5000}]}

    file = _hooks(os.path.join(folder, "settings.json"), launch, "gemini-cli", events, entry)
    return replace(file, format="jsonc", members={("mcpServers", SERVER): launch.server()})


def _gemini_user(launch: Launch) -> list[ConfigFile]:
    folder = os.path.expanduser("~/.gemini")
    return [*_antigravity(launch, os.path.join(folder, "config")), _gemini_cli(launch, folder)]


def _gemini_project(launch: Launch) -> list[ConfigFile]:
    return [*_antigravity(launch, ".agents"), _gemini_cli(launch, ".gemini")]


def _application_folder(name: str) -> str:
    """Where a desktop program keeps its settings."""
    if sys.platform == "darwin":
        return os.path.expanduser(f"~/Library/Application Support/{name}")
    if sys.platform == "win32":
        return os.path.join(config_folder("APPDATA", "~"), name)
    return os.path.join(config_folder("XDG_CONFIG_HOME", "~/.config"), name)


ASSISTANTS: Mapping[str, Assistant] = {
    assistant.name: assistant
    for assistant in (
        Assistant(
            name="claude-code",
            title="Claude Code",
            user_files=_claude_user,
            project_files=_claude(".mcp.json", os.path.join(".claude", "settings.json")),
            note="Start a new session. Sessions in VS Code run these hooks too; nothing is told or retained twice.",
        ),
        Assistant(
            name="codex",
            title="Codex",
            user_files=lambda launch: _codex(config_folder("CODEX_HOME", "~/.codex"))(launch),
            project_files=_codex(".codex"),
            note="Open /hooks in Codex and trust Perdure's hooks: until then it skips them without a word.",
        ),
        Assistant(
            name="cursor",
            title="Cursor",
            user_files=lambda launch: _cursor(os.path.expanduser("~/.cursor"))(launch),
            project_files=_cursor(".cursor"),
            note="Older builds take no text beside a prompt; the start of a session and the tools work there.",
        ),
        Assistant(
            name="vscode",
            title="VS Code (Copilot)",
            user_files=_vscode_user,
            project_files=_vscode(os.path.join(".vscode", "mcp.json"), os.path.join(".github", "hooks")),
            note="VS Code takes text at the start of a session only; beside a prompt the tools are asked.",
        ),
        Assistant(
            name="gemini",
            title="Antigravity and Gemini CLI",
            user_files=_gemini_user,
            project_files=_gemini_project,
            note="Both programs are set up. Some builds of Antigravity run hooks of its plugins only.",
        ),
    )
}
