"""Write the generated files of the project: `python -m tools.generate`. A test fails when one is out of date."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from tools.arguments import arguments_module

ROOT = Path(__file__).resolve().parents[1]
Generator = Callable[[str], str]
"""(the present text of the file, empty for a new one) -> its new text."""


def generators() -> Mapping[Path, Generator]:
    """Return what makes each generated file."""
    return {
        ROOT / "src/perdure/arguments.py": lambda _: formatted(arguments_module()),
        ROOT / "src/perdure/aio.py": _aio,
        ROOT / "docs/python.md": _python_page,
        ROOT / "docs/options.md": _options_page,
    }


def _aio(_: str) -> str:
    from tools.aio import aio_module  # imports the engine, which needs perdure.arguments to be current

    return formatted(aio_module())


def _python_page(present: str) -> str:
    from tools.pages import with_resources

    return with_resources(present)


def _options_page(_: str) -> str:
    from tools.pages import options_page

    return options_page()


def formatted(source: str) -> str:
    """Return Python source in the project's format."""
    ruff = [sys.executable, "-m", "ruff"]
    for command in (
        ["check", "--fix-only", "--quiet", "--stdin-filename", "generated.py", "-"],
        ["format", "-"],
    ):
        source = subprocess.run(
            [*ruff, *command], input=source, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return source


def outdated() -> Iterator[tuple[Path, str]]:
    """Yield the new text of every generated file that is not as it would be written."""
    for path, generate in generators().items():
        present = path.read_text("utf-8") if path.exists() else ""
        text = generate(present)
        if text != present:
            yield path, text


if __name__ == "__main__":
    for path, text in outdated():
        path.write_text(text, "utf-8")
        print(path.relative_to(ROOT))  # noqa: T201
