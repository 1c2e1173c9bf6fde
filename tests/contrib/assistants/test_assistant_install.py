"""`perdure install`: entries come once, go again, and nothing else changes."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from perdure import __version__
from perdure.contrib.assistants.commands import AssistantName, enter_assistant_memory
from perdure.contrib.assistants.install.hosts import ASSISTANTS, Launch, claude_hooks
from perdure.surfaces.cli.main import main
from perdure.surfaces.projects import bank_of

ROOT = Path(__file__).resolve().parents[3]
OTHERS = {
    ".claude.json": '{\n\t"numStartups": 3,\n\t"mcpServers": {\n\t\t"git": {"command": "git-mcp"}\n\t}\n}\n',
    ".claude/settings.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]}, "model": "opus"}',
    ".codex/config.toml": 'model = "m"\n\n[mcp_servers.git]\ncommand = "git-mcp"\n\n[tui]\nsound = true\n',
    ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {\n    "stop": [\n      {"command": "notify"}\n    ]\n  }\n}\n',
    ".config/Code/User/mcp.json": '{\r\n  // mine\r\n  "servers": {\r\n    "git": {}, // nice\r\n  }\r\n}\r\n',
    ".gemini/settings.json": '{\n    "ui": {"theme": "x"} // dark\n}\n',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PERDURE_ASSISTANT_FOLDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    for name, text in OTHERS.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return tmp_path


def contents(home: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(home)): file.read_bytes()
        for file in home.rglob("*")
        if file.is_file() and ".before-perdure" not in file.name
    }


def test_the_command_knows_every_assistant_of_the_table() -> None:
    assert [name.value for name in AssistantName] == list(ASSISTANTS)


@pytest.mark.parametrize("name", ASSISTANTS)
@pytest.mark.parametrize("scope", [[], ["--project"]], ids=["user", "project"])
def test_installing_is_idempotent_and_uninstalling_restores_every_file(
    name: str, scope: list[str], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(home)
    assert main(["install", name, "--dry-run", *scope]) == 0
    shown = capsys.readouterr().out
    assert "perdure" in shown
    assert "+++" in shown
    assert contents(home) == before
    assert main(["install", name, *scope]) == 0
    capsys.readouterr()
    installed = contents(home)
    assert installed != before
    assert main(["install", name, "--json", *scope]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] == []
    assert contents(home) == installed
    for file, text in before.items():
        if installed[file] != text:
            assert (home / f"{file}.before-perdure").read_bytes() == text
    assert main(["install", name, "--uninstall", *scope]) == 0
    assert contents(home) == before


def test_claude_code_gets_server_and_hooks_beside_its_own(home: Path) -> None:
    main(["install", "claude-code"])
    servers = json.loads((home / ".claude.json").read_text())["mcpServers"]
    assert servers["git"] == {"command": "git-mcp"}
    assert servers["perdure"]["args"] == ["assistant"]
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    assert hooks["Stop"][0] == {"hooks": [{"type": "command", "command": "notify"}]}
    assert [hooks[event][-1]["hooks"][0]["command"].partition("hook ")[2] for event in hooks] == [
        "stop --host claude-code", "session-start --host claude-code", "prompt --host claude-code",
        "pre-compact --host claude-code", "session-end --host claude-code",
    ]  # fmt: skip


def test_codex_gets_a_table_and_hooks(home: Path) -> None:
    main(["install", "codex"])
    config = tomllib.loads((home / ".codex" / "config.toml").read_text())
    assert config["mcp_servers"]["perdure"]["args"] == ["assistant"]
    assert config["mcp_servers"]["git"] == {"command": "git-mcp"}
    assert set(json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]) == {
        "SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "file", "text", "place"),
    [
        ("claude-code", ".claude/settings.json", '{\n  "model": "opus",\n}', "line 2, column 18"),
        ("claude-code", ".claude.json", "{\n  // note\n}", "line 2, column 3"),
        ("cursor", ".cursor/mcp.json", "[1]", "JSON object"),
        ("codex", ".codex/config.toml", "model =\n", "line 1"),
        ("codex", ".codex/hooks.json", '{"hooks": {"Stop": {}}}', "a list at hooks.Stop"),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            '{"servers": {"perdure": {"command": "other"}}}',
            "somebody else",
        ),
    ],
)
def test_what_cannot_be_merged_is_refused_and_nothing_is_touched(
    name: str, file: str, text: str, place: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / file).write_text(text)
    before = contents(home)
    assert main(["install", name]) == 2
    error = capsys.readouterr().err
    assert str(home / file) in error
    assert place in error
    assert contents(home) == before


def test_another_folder_of_memory_is_in_every_command(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_ASSISTANT_FOLDER", str(home / "my memory"))
    main(["install", "codex"])
    config = tomllib.loads((home / ".codex" / "config.toml").read_text())
    assert config["mcp_servers"]["perdure"]["env"] == {"PERDURE_ASSISTANT_FOLDER": str(home / "my memory")}
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"].endswith(f"--folder '{home / 'my memory'}'")


def test_versions_and_hooks_of_the_plugin_are_those_of_the_package() -> None:
    [listed] = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    plugin = ROOT / listed["source"]
    manifest = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text())
    assert listed["version"] == manifest["version"] == __version__
    hooks = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    installed = claude_hooks(Launch(), "auto")
    assert hooks == {
        event: [json.loads(json.dumps(group).replace(" --host auto", ""))]
        for (_, event), group in installed.items()
    }
    assert json.loads((plugin / ".mcp.json").read_text())["mcpServers"]["perdure"] == Launch().server()
    assert (plugin / "skills" / "memory" / "SKILL.md").read_text().startswith("---\nname: memory\n")


def test_the_tools_have_the_memory_of_the_hooks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = home / "app"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    assert enter_assistant_memory(None) == bank_of(str(project))
    assert Path.cwd() == home / ".perdure"
    (home / ".perdure" / "perdure.toml").write_text('assistant_bank = "mine"\n')
    assert enter_assistant_memory(None) == "mine"
    assert enter_assistant_memory("given") == "given"
    monkeypatch.setenv("PERDURE_ASSISTANT_BANK", "named")
    assert enter_assistant_memory(None) == "named"
