"""Claude Code and Codex themselves, from npm, against a stub of the model's API: what one session says is in the next one's prompt.

    npm install --prefix FOLDER @anthropic-ai/claude-code-linux-x64 codex-linux@npm:@openai/codex@VERSION-linux-x64

PERDURE_ASSISTANTS names FOLDER, which is a temporary one unless given; the packages are installed there when they are missing.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contrib.assistants.hook_process import HookUser, wait_until
from tests.contrib.assistants.model_stub import ModelStub, running_model

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("PERDURE_ASSISTANTS") or Path(tempfile.gettempdir()) / "perdure-assistants")
CLAUDE = "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
CODEX = "node_modules/codex-linux/vendor/x86_64-unknown-linux-musl/bin/codex"
STATED = "My dog is called Tilly and the staging host is called Basil."
ASKED = "What is my dog called?"
OTHER = "Which tax applies to imported bicycles?"


def npm(*words: str) -> str:
    done = subprocess.run(["npm", *words], capture_output=True, text=True, check=False, timeout=500)
    if done.returncode:
        pytest.skip(f"npm {' '.join(words)}: {done.stderr[-300:]}")
    return done.stdout.strip()


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with both programs."""
    if sys.platform != "linux" or shutil.which("npm") is None:
        pytest.skip("needs Linux and npm")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (FOLDER / CLAUDE).exists():
        npm("install", "--prefix", str(FOLDER), "@anthropic-ai/claude-code-linux-x64")
    if not (FOLDER / CODEX).exists():
        version = npm("view", "@openai/codex", "version")
        npm("install", "--prefix", str(FOLDER), f"codex-linux@npm:@openai/codex@{version}-linux-x64")
    return FOLDER


class Developer(HookUser):
    """A user of both assistants, in a home of the test's own, whose models are a stub."""

    def __init__(self, home: Path, programs: Path, model: ModelStub) -> None:
        super().__init__(home)
        self.programs, self.model = programs, model
        tools = home / "bin"
        tools.mkdir()
        command = tools / "perdure"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m perdure "$@"\n')
        command.chmod(0o755)
        codex = home / ".codex"
        codex.mkdir()
        (codex / "config.toml").write_text(
            f'model = "stub"\nmodel_provider = "stub"\n\n[model_providers.stub]\nname = "stub"\n'
            f'base_url = "{model.url}/v1"\nenv_key = "STUB_KEY"\nwire_api = "responses"\n'
        )
        self.environment |= {
            "PATH": f"{tools}:/usr/bin:/bin",
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CODEX_HOME": str(codex),
            "STUB_KEY": "x",
        }

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [str(self.programs / words[0]), *words[1:]],
            capture_output=True, text=True, env=self.environment, cwd=self.project, stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def claude(self, prompt: str) -> list[str]:
        """Say something to Claude Code with the plugin; returns the texts of its request."""
        assert self.model.reply in self.run(
            CLAUDE, "-p", prompt, "--plugin-dir", str(ROOT / "plugins" / "perdure"), "--allowedTools", "Bash"
        )
        return self.model.texts(prompt)

    def codex(self, prompt: str) -> list[str]:
        """The same with Codex, whose plugin is installed from the marketplace."""
        if not (self.home / ".codex" / "plugins").exists():
            self.run(CODEX, "plugin", "marketplace", "add", str(ROOT))
            self.run(CODEX, "plugin", "add", "perdure@perdure")
        self.run(CODEX, "exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", prompt)
        return self.model.texts(prompt)

    def await_retained(self, words: str) -> None:
        """Wait until a fact with these words is stored."""
        wait_until(lambda: words in self.facts(), 90, lambda: self.log)

    def facts(self) -> str:
        database = self.folder / "perdure.db"
        if not database.exists():
            return ""
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=1)
        try:
            return "\n".join(text for (text,) in connection.execute("select text from fact"))
        except sqlite3.OperationalError:
            return ""
        finally:
            connection.close()


@pytest.fixture
def developer(tmp_path: Path, programs: Path) -> Iterator[Developer]:
    with running_model() as model:
        developer = Developer(tmp_path, programs, model)
        yield developer
        developer.end_warm()


def told(texts: list[str]) -> str:
    """What memory put into a request."""
    return "\n".join(text for text in texts if "<recalled_memory>" in text)


@pytest.mark.parametrize("first", ["claude", "codex"])
@pytest.mark.parametrize("second", ["claude", "codex"])
def test_what_one_session_says_is_once_in_the_prompt_of_the_next(
    developer: Developer, first: str, second: str
) -> None:
    getattr(developer, first)(STATED)
    developer.await_retained("Tilly")
    texts = getattr(developer, second)(ASKED)
    assert "Tilly" in told(texts)
    assert "".join(texts).count("Tilly") == 1
    developer.await_retained("asked")
    assert developer.facts().count("Tilly") == 1


@pytest.mark.parametrize("assistant", ["claude", "codex"])
def test_what_tools_do_and_what_is_said_between_is_not_retained(developer: Developer, assistant: str) -> None:
    developer.model.command = "echo zebra-$((40 + 2))"
    developer.model.reply = "Done: the release branch is called Falcon."
    getattr(developer, assistant)("I prefer pnpm over npm. Please look at the folder.")
    asked = json.dumps(developer.model.asked)
    assert "zebra-42" in asked, "the command was run"
    developer.await_retained("Falcon")
    facts = developer.facts()
    assert "prefers pnpm over npm" in facts
    assert not [word for word in ("zebra", "hippopotamus", "echo") if word in facts]


def test_nothing_is_in_the_prompt_where_memory_has_nothing(developer: Developer) -> None:
    assert told(developer.claude(OTHER)) == ""


def test_the_manifests_are_valid(developer: Developer) -> None:
    for folder in (ROOT, ROOT / "plugins" / "perdure"):
        assert "Validation passed" in developer.run(CLAUDE, "plugin", "validate", str(folder))


def test_the_installed_hooks_work_as_the_plugin_does(developer: Developer) -> None:
    done = subprocess.run(
        [str(developer.home / "bin" / "perdure"), "install", "claude-code"],
        env=developer.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    developer.run(CLAUDE, "-p", STATED)
    developer.await_retained("Tilly")
    developer.run(CLAUDE, "-p", ASKED)
    assert "Tilly" in told(developer.model.texts(ASKED))


@pytest.mark.parametrize("assistant", ["claude", "codex"])
@pytest.mark.parametrize(
    "fault", ["dead server", "locked file", "folder that cannot be made", "no interpreter"]
)
def test_a_fault_costs_nothing_but_the_memory(developer: Developer, assistant: str, fault: str) -> None:
    developer.folder.mkdir()
    holder = None
    if fault == "dead server":
        body = {"port": 1, "secret": "11" * 32, "identity": "0.1.0/0", "pid": 1}
        (developer.folder / "warm.json").write_text(json.dumps(body))
        (developer.folder / "warm.failed").touch()
    elif fault == "locked file":
        getattr(developer, assistant)(STATED)
        developer.await_retained("Tilly")
        holder = sqlite3.connect(developer.folder / "perdure.db", isolation_level=None)
        holder.execute("begin exclusive")
    elif fault == "folder that cannot be made":
        developer.environment |= {"PERDURE_ASSISTANT_FOLDER": "/dev/null/perdure"}
    else:
        (developer.home / "bin" / "perdure").write_text("#!/bin/sh\nexit 127\n")
    began = time.monotonic()
    texts = getattr(developer, assistant)("Say hello.")
    assert any("Say hello." in text for text in texts)
    assert time.monotonic() - began < 60
    if holder is not None:
        holder.close()
    (developer.folder / "warm.json").unlink(missing_ok=True) if fault == "dead server" else None


def test_a_disk_that_is_full_costs_nothing_but_the_memory(developer: Developer) -> None:
    """The folder is on a file system without room, where this process may mount one."""
    small = developer.home / ".perdure"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system")
    try:
        (small / "filling").write_bytes(b"x" * 60_000)
        assert any("Say hello." in text for text in developer.claude("Say hello."))
        assert any("Say hello." in text for text in developer.codex("Say hello."))
    finally:
        subprocess.run(["umount", "-l", str(small)], capture_output=True, check=False)
