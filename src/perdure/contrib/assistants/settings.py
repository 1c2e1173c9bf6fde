"""What a hook process and an installer read from the environment.

A hook has no time to import `perdure.settings`, so the few variables that concern the process itself are read here.
"""

from __future__ import annotations

import os

DEFAULT_FOLDER = "~/.perdure"
HOST_MARKS = ("CURSOR_VERSION", "PLUGIN_ROOT", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CODEX_HOME")
"""Variables that tell hosts apart, and the project of a Claude Code session."""

SESSION_PREFIXES = ("CLAUDE", "CODEX", "CURSOR", "PLUGIN_", "GEMINI")


def assistant_folder(folder: str = "") -> str:
    """Where the memory of assistants lies: the argument, PERDURE_ASSISTANT_FOLDER, or ~/.perdure."""
    chosen = folder or os.environ.get("PERDURE_ASSISTANT_FOLDER", "") or DEFAULT_FOLDER
    return os.path.abspath(os.path.expanduser(chosen))


def assistant_bank() -> str:
    """Return the bank that the variable names, for this project or shell; empty where it names none."""
    return os.environ.get("PERDURE_ASSISTANT_BANK", "")


def host_marks() -> dict[str, str]:
    """Return the variables that tell hosts apart, as far as they are set."""
    return {name: os.environ[name] for name in HOST_MARKS if os.environ.get(name)}


def project_folder() -> str:
    """Return the project that an assistant started this process for: Claude Code names it, others start it there."""
    return os.environ.get("CLAUDE_PROJECT_DIR", "") or os.getcwd()


def config_folder(variable: str, default: str) -> str:
    """Return a folder that a variable of its host may move, such as CODEX_HOME."""
    return os.path.expanduser(os.environ.get(variable, "") or default)


def lasting_environment() -> dict[str, str]:
    """Return the environment without what a host gives to its own session: a process that outlives it has no business with that."""
    return {name: value for name, value in os.environ.items() if not name.startswith(SESSION_PREFIXES)}
