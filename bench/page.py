"""docs/benchmarks.md: each command writes the section between its own marks and leaves the rest alone.

    python -m bench.page NAME TITLE MODULE [ARGUMENTS...]

runs a bench that only prints (`bench.store`, `bench.retain`, `bench.server`) and puts what it printed into the section NAME.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Collection, Iterable
from importlib.metadata import version
from pathlib import Path

PAGE = Path("docs/benchmarks.md")
PACKAGES = ("perdure", "numpy", "onnxruntime", "tokenizers", "spacy")


def write_section(name: str, lines: Iterable[str], page: Path = PAGE) -> None:
    """Put the lines between `<!-- name -->` and `<!-- /name -->`, at the end of the page when it has no such marks."""
    body = f"<!-- {name} -->\n{chr(10).join(lines).strip()}\n<!-- /{name} -->"
    text = page.read_text(encoding="utf-8") if page.exists() else "# Benchmarks\n"
    marked = re.compile(rf"<!-- {re.escape(name)} -->.*?<!-- /{re.escape(name)} -->", re.DOTALL)
    whole = marked.sub(lambda _: body, text) if marked.search(text) else f"{text.rstrip()}\n\n{body}\n"
    page.write_text(whole, encoding="utf-8")


def table(head: Iterable[str], rows: Iterable[Iterable[str]], text: Collection[str] = ()) -> list[str]:
    """A Markdown table; the first column is text, the others are figures unless `text` names them."""
    names = list(head)
    marks = ["---", *("---" if name in text else "---:" for name in names[1:])]
    return [f"| {' | '.join(line)} |" for line in (names, marks, *rows)]


def machine() -> str:
    """What the figures were taken on, and how busy it was with other things."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {versions}."


def taken(command: str, load: float | None = None) -> str:
    """The line under a heading: the command, the machine and its load before the run."""
    busy = "" if load is None else f" Load before the run {load:.1f}."
    return f"`{command}`; {machine()}{busy}"


def load_now() -> float:
    """Processes that wanted a core in the last minute."""
    return os.getloadavg()[0]


def run(name: str, title: str, module: str, arguments: list[str]) -> None:
    """Run a bench, show what it prints, and keep it in the page."""
    load = load_now()
    shown = " ".join(["python -m", module, *(Path(a).name if os.path.exists(a) else a for a in arguments)])
    ran = subprocess.run(
        [sys.executable, "-m", module, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    print(ran.stdout)
    write_section(name, [f"### {title}", "", taken(shown, load), "", "```text", ran.stdout.rstrip(), "```"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("title")
    parser.add_argument("module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    run(chosen.name, chosen.title, chosen.module, chosen.arguments)


if __name__ == "__main__":
    main()
