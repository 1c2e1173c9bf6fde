"""Where each assistant keeps its servers and hooks, and what Perdure's entries there are: a table."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from perdure.contrib.assistants.settings import config_folder

Format = Literal["json", "jsonc", "toml", "script"]
Hooks = Mapping[str, Mapping[str, object]]
"""Event of the host -> the entry in its list."""
START_MATCHER = "startup|resume|clear|compact|fork"
SERVER = "perdure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How an assistant starts Perdure."""

    program: str = "perdure"
    folder: str = ""
    """Of the memory, where it is not the usual one."""

    @property
    def server_arguments(self) -> list[str]:
        return ["assistant"]

    @property
    def environment(self) -> dict[str, str]:
        return {"PERDURE_ASSISTANT_FOLDER": self.folder} if self.folder else {}

    def server(self, **more: object) -> dict[str, object]:
        """An entry of a server in the usual form."""
        entry: dict[str, object] = {**more, "command": self.program, "args": self.server_arguments}
        return {**entry, "env": self.environment} if self.folder else entry

    def hook(self, event: str, host: str) -> str:
        """The command line of a hook, for a shell."""
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
    script: str = ""
    """The whole file, where it is Perdure's alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """An assistant that Perdure can be installed into."""

    name: str
    title: str
    user_files: Callable[[Launch], list[ConfigFile]]
    project_files: Callable[[Launch], list[ConfigFile]] | None = None
    """Paths below the project's folder; None where it keeps nothing there that Perdure needs."""
    note: str = ""
    """What its user has to do or to know."""


def _events(launch: Launch, host: str, names: Mapping[str, str]) -> dict[str, str]:
    """Event of the host -> command line."""
    return {name: launch.hook(event, host) for name, event in names.items()}


CLAUDE_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "Stop": "stop",
    "PreCompact": "pre-compact",
    "SessionEnd": "session-end",
}


def claude_hooks(launch: Launch, host: str) -> dict[tuple[str, ...], Mapping[str, object]]:
    """The hooks of Claude Code and Codex; `SessionEnd` has one second there."""
    lists: dict[tuple[str, ...], Mapping[str, object]] = {}
    for name, command in _events(launch, host, CLAUDE_EVENTS).items():
        entry = {"type": "command", "command": command, "timeout": 1 if name == "SessionEnd" else 5}
        matcher = {"matcher": START_MATCHER} if name == "SessionStart" else {}
        lists["hooks", name] = {**matcher, "hooks": [entry]}
    return lists


def _claude(config: str, settings: str) -> Callable[[Launch], list[ConfigFile]]:
    return lambda launch: [
        ConfigFile(path=config, format="json", members={("mcpServers", SERVER): launch.server()}),
        ConfigFile(path=settings, format="json", lists=claude_hooks(launch, "claude-code")),
    ]


def _claude_user(launch: Launch) -> list[ConfigFile]:
    folder = config_folder("CLAUDE_CONFIG_DIR", "~/.claude")
    usual = os.path.expanduser("~/.claude")
    config = os.path.expanduser("~/.claude.json") if folder == usual else os.path.join(folder, ".claude.json")
    return _claude(config, os.path.join(folder, "settings.json"))(launch)


def _codex(folder: str) -> Callable[[Launch], list[ConfigFile]]:
    return lambda launch: [
        ConfigFile(
            path=os.path.join(folder, "config.toml"),
            format="toml",
            members={("mcp_servers", SERVER): launch.server()},
        ),
        ConfigFile(
            path=os.path.join(folder, "hooks.json"), format="json", lists=claude_hooks(launch, "codex")
        ),
    ]


def _cursor(folder: str) -> Callable[[Launch], list[ConfigFile]]:
    events = {"sessionStart": "session-start", "beforeSubmitPrompt": "prompt", "stop": "stop"}
    return lambda launch: [
        ConfigFile(
            path=os.path.join(folder, "mcp.json"),
            format="json",
            members={("mcpServers", SERVER): launch.server()},
        ),
        ConfigFile(
            path=os.path.join(folder, "hooks.json"),
            format="json",
            required={("version",): 1},
            lists={
                ("hooks", name): {"command": command, "timeout": 5}
                for name, command in _events(launch, "cursor", events).items()
            },
        ),
    ]


def _vscode(servers: str, hooks: str) -> Callable[[Launch], list[ConfigFile]]:
    events = {"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "stop"}
    return lambda launch: [
        ConfigFile(path=servers, format="jsonc", members={("servers", SERVER): launch.server(type="stdio")}),
        ConfigFile(
            path=os.path.join(hooks, "perdure-vscode.json"),
            format="json",
            lists={
                ("hooks", name): {"type": "command", "command": command, "timeout": 5}
                for name, command in _events(launch, "vscode", events).items()
            },
        ),
    ]


def _vscode_user(launch: Launch) -> list[ConfigFile]:
    return _vscode(
        os.path.join(_application_folder("Code"), "User", "mcp.json"), os.path.expanduser("~/.copilot/hooks")
    )(launch)


def _copilot_hooks(launch: Launch, folder: str) -> ConfigFile:
    events = {"sessionStart": "session-start", "userPromptTransformed": "prompt", "agentStop": "stop"}
    return ConfigFile(
        path=os.path.join(folder, "perdure.json"),
        format="json",
        required={("version",): 1},
        lists={
            ("hooks", name): {"type": "command", "bash": command, "powershell": command, "timeoutSec": 5}
            for name, command in _events(launch, "copilot", events).items()
        },
    )


def _copilot_user(launch: Launch) -> list[ConfigFile]:
    folder = os.path.expanduser("~/.copilot")
    servers = ConfigFile(
        path=os.path.join(folder, "mcp-config.json"),
        format="json",
        members={("mcpServers", SERVER): launch.server(type="local") | {"tools": ["*"]}},
    )
    return [servers, _copilot_hooks(launch, os.path.join(folder, "hooks"))]


def _antigravity(folder: str) -> Callable[[Launch], list[ConfigFile]]:
    events = {"PreInvocation": "prompt", "Stop": "stop"}
    return lambda launch: [
        ConfigFile(
            path=os.path.join(folder, "mcp_config.json"),
            format="json",
            members={("mcpServers", SERVER): launch.server()},
        ),
        ConfigFile(
            path=os.path.join(folder, "hooks.json"),
            format="json",
            lists={
                ("perdure", name): {"type": "command", "command": command, "timeout": 5}
                for name, command in _events(launch, "antigravity", events).items()
            },
        ),
    ]


def _gemini_cli(folder: str) -> Callable[[Launch], list[ConfigFile]]:
    events = {"SessionStart": "session-start", "BeforeAgent": "prompt", "AfterAgent": "stop"}
    return lambda launch: [
        ConfigFile(
            path=os.path.join(folder, "settings.json"),
            format="jsonc",
            members={("mcpServers", SERVER): launch.server()},
            lists={
                ("hooks", name): {
                    "hooks": [{"type": "command", "name": SERVER, "command": command, "timeout": 5000}]
                }
                for name, command in _events(launch, "gemini-cli", events).items()
            },
        )
    ]


def _gemini_user(launch: Launch) -> list[ConfigFile]:
    folder = os.path.expanduser("~/.gemini")
    return [*_antigravity(os.path.join(folder, "config"))(launch), *_gemini_cli(folder)(launch)]


def _gemini_project(launch: Launch) -> list[ConfigFile]:
    return [*_antigravity(".agents")(launch), *_gemini_cli(".gemini")(launch)]


def _opencode(config: str, plugins: str) -> Callable[[Launch], list[ConfigFile]]:
    def files(launch: Launch) -> list[ConfigFile]:
        entry: dict[str, object] = {
            "type": "local",
            "command": [launch.program, *launch.server_arguments],
            "enabled": True,
        }
        if launch.folder:
            entry["environment"] = launch.environment
        with_comments = f"{config}c"
        path = with_comments if os.path.exists(with_comments) else config
        return [
            ConfigFile(path=path, format="jsonc", members={("mcp", SERVER): entry}),
            ConfigFile(
                path=os.path.join(plugins, "perdure.js"), format="script", script=opencode_plugin(launch)
            ),
        ]

    return files


def _opencode_user(launch: Launch) -> list[ConfigFile]:
    folder = os.path.join(config_folder("XDG_CONFIG_HOME", "~/.config"), "opencode")
    return _opencode(os.path.join(folder, "opencode.json"), os.path.join(folder, "plugins"))(launch)


def opencode_plugin(launch: Launch) -> str:
    """The plugin that calls the hooks from opencode."""
    with open(os.path.join(os.path.dirname(__file__), "opencode_plugin.js"), encoding="utf-8") as file:
        text = file.read()
    arguments = ["--host", "opencode", *(["--folder", launch.folder] if launch.folder else [])]
    return text.replace("PROGRAM", _quoted(launch.program)).replace(
        "ARGUMENTS", ", ".join(map(_quoted, arguments))
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _zed(path: str) -> Callable[[Launch], list[ConfigFile]]:
    return lambda launch: [
        ConfigFile(path=path, format="jsonc", members={("context_servers", SERVER): launch.server()})
    ]


def _zed_user(launch: Launch) -> list[ConfigFile]:
    folder = (
        os.path.join(config_folder("APPDATA", "~"), "Zed")
        if sys.platform == "win32"
        else os.path.join(config_folder("XDG_CONFIG_HOME", "~/.config"), "zed")
    )
    return _zed(os.path.join(folder, "settings.json"))(launch)


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
            name="copilot",
            title="Copilot CLI",
            user_files=_copilot_user,
            project_files=lambda launch: [_copilot_hooks(launch, os.path.join(".github", "hooks"))],
            note="With --project only the hooks: Copilot CLI keeps its servers in the user's folder.",
        ),
        Assistant(
            name="gemini",
            title="Antigravity and Gemini CLI",
            user_files=_gemini_user,
            project_files=_gemini_project,
            note="Both programs are set up. Some builds of Antigravity run hooks of its plugins only.",
        ),
        Assistant(
            name="opencode",
            title="opencode",
            user_files=_opencode_user,
            project_files=_opencode("opencode.json", os.path.join(".opencode", "plugins")),
        ),
        Assistant(
            name="zed",
            title="Zed",
            user_files=_zed_user,
            project_files=_zed(os.path.join(".zed", "settings.json")),
            note="Zed has no hooks: its assistant asks the tools. A line in AGENTS.md tells it when to.",
        ),
    )
}
