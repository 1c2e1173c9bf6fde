"""The conformance suite of the Model Context Protocol against a running `perdure serve`, in both eras of the protocol.

    python -m bench.mcp_conformance [--folder FOLDER] [--write]

Installs the suite from npm into FOLDER (and Node 22, where the system's is older), serves an empty memory on the loopback
address, and runs what each revision of the specification requires. What Perdure does not pass stands with its reason in
bench/mcp_expected_failures.yml; a failure that does not stand there, or an entry that passes, makes the run fail. `--write`
puts the tables into docs/mcp.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.page import table, write_section

PAGE = Path("docs/mcp.md")
EXPECTED = Path(__file__).parent / "mcp_expected_failures.yml"
SUITE = "@modelcontextprotocol/conformance"
SUITE_VERSION = "0.2.0-alpha.12"
NODE = 22
REVISIONS = ("2025-11-25", "2026-07-28")
QUICK = {
    "PERDURE_EMBEDDER": "hashing", "PERDURE_RERANKER": "none", "PERDURE_TAGGER": "rules", "PERDURE_TOKENS": "approximate",
}  # fmt: skip
START_SECONDS = 120.0
_ENTRY = re.compile(r"^  - (\S+) # (.+)$", re.MULTILINE)
_STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")
_DEMO = re.compile(r"(calls|reads|gets) a \w+ of the suite's demo server")


@dataclass(frozen=True, slots=True)
class Run:
    """What a revision's scenarios gave."""

    revision: str
    passed: Sequence[str]
    """Scenarios without a failed check; a recommendation that is not followed counts as one, as for the suite itself."""
    failed: Sequence[str]
    checks_passed: int
    checks_failed: int
    as_expected: bool
    told: str
    """The end of what the suite printed."""


def install(folder: Path) -> None:
    """The suite, and Node where the system has none that is new enough; raises CalledProcessError when npm cannot."""
    packages = [f"{SUITE}@{SUITE_VERSION}"]
    node = shutil.which("node")
    if node is None or _major(node) < NODE:
        packages.append(f"node@{NODE}")
    if (folder / "node_modules" / SUITE / "package.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    npm = shutil.which("npm") or "npm"
    subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--silent", *packages],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip


def _major(node: str) -> int:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(told.strip().removeprefix("v").split(".")[0])


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """An empty memory, served without keys; gives the address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "perdure.surfaces.cli.main", "serve", "--open", "--port", str(port)]
    with (folder / "serve.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [*command, "--database", str(folder / "memory.db")],
            env={**os.environ, **QUICK}, stdout=log, stderr=log, cwd=folder,
        )  # fmt: skip
        try:
            _await(server, f"http://127.0.0.1:{port}/health")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def _await(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"no server at {url}")


def run_suite(installed: Path, url: str, revision: str, results: Path) -> Run:
    """The scenarios that a revision requires."""
    own = installed / "node_modules" / ".bin" / "node"
    node = str(own) if own.exists() else "node"
    ran = subprocess.run(
        [
            node, str(installed / "node_modules" / ".bin" / "conformance"), "server", "--url", f"{url}/mcp",
            "--requirements", revision, "--expected-failures", str(EXPECTED), "-o", str(results),
        ],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    passed: list[str] = []
    failed: list[str] = []
    good = bad = 0
    for folder in sorted(results.iterdir()):
        scenario = _STAMP.sub("", folder.name.removeprefix("server-"))
        statuses = [check["status"] for check in json.loads((folder / "checks.json").read_text("utf-8"))]
        good += statuses.count("SUCCESS")
        wrong = sum(status in ("FAILURE", "WARNING") for status in statuses)
        bad += wrong
        (failed if wrong else passed).append(scenario)
    return Run(
        revision, passed, failed, good, bad, ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    )


def expected_failures() -> dict[str, str]:
    """Scenario, or scenario:check, -> why it fails."""
    return dict(_ENTRY.findall(EXPECTED.read_text(encoding="utf-8")))


def told(runs: Sequence[Run], reasons: Mapping[str, str]) -> list[str]:
    """The page's lines: figures of each revision, and the expected failures by reason."""
    scenarios = {entry.partition(":")[0] for entry in reasons}
    rows = [
        [
            run.revision,
            str(len(run.passed)),
            str(sum(scenario in scenarios for scenario in run.failed)),
            str(sum(scenario not in scenarios for scenario in run.failed)),
            str(run.checks_passed),
            str(run.checks_failed),
        ]
        for run in runs
    ]
    header = ["revision", "scenarios passed", "expected failures", "failed", "checks passed", "checks failed"]
    grouped: dict[str, list[str]] = {}
    for entry, reason in reasons.items():
        kind = (
            "it uses a tool, resource or prompt of the suite's demo server" if _DEMO.match(reason) else reason
        )
        grouped.setdefault(kind, []).append(f"`{entry}`")
    listed = [f"- {reason}: {', '.join(entries)}" for reason, entries in grouped.items()]
    good = [f"- {run.revision}: {', '.join(f'`{scenario}`' for scenario in run.passed)}" for run in runs]
    return [*table(header, rows), "", "Passed:", "", *good, "", "Expected failures, by reason:", "", *listed]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, help="where the suite is, or is to be, installed")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE}")
    chosen = parser.parse_args(arguments)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        installed: Path = (chosen.folder or folder / "suite").resolve()
        install(installed)
        with serving(folder) as url:
            runs = [run_suite(installed, url, revision, folder / revision) for revision in REVISIONS]
    shown = told(runs, expected_failures())
    print("\n".join(shown))
    for run in runs:
        if not run.as_expected:
            print(f"\n{run.revision} is not as expected:\n{run.told}", file=sys.stderr)
    if chosen.write:
        note = f"`python -m bench.mcp_conformance --write`; {SUITE} {SUITE_VERSION}, mcp {version('mcp')}."
        write_section("conformance", [note, "", *shown], PAGE)
    return 0 if all(run.as_expected for run in runs) else 1


if __name__ == "__main__":
    raise SystemExit(main())
