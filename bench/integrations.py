"""The adapters of agent frameworks, each tested in an environment of its own.

    python -m bench.integrations [--only NAME ...] [--changed] [--write]

Results are kept run by run, each with a digest of the adapters, the pins and its own files: suites may be run one by one, `--changed`
runs what has no results of the present code, and `--write` refuses to write a table in which a row would be missing.

A suite is a folder `tests/contrib/frameworks/NAME` with its tests (`check_*.py`) and a `suite.toml`:

    framework = "LangGraph"                     # as the tables name it
    extra = "langchain"                         # perdure[langchain]; the page is docs/integrations/EXTRA.md unless `page` says
    requirements = ["langgraph==1.2.22"]        # what is installed beside perdure, pinned
    shown = ["langgraph"]                       # packages whose installed versions the tables show
    example = "langgraph_agent.py"              # in examples/integrations, run after the tests; lines that end with
                                                # `# memory` are counted as those that add memory to a program
    install_seconds = 8                         # measured
    long = false                                # true: only under `pytest -m long`

    [[borrowed]]                                # tests of the framework's own
    sdist = "langgraph-checkpoint-sqlite==3.1.2"  # read from its source distribution; or
    package = "langchain-tests==1.1.9"          # classes of an installed package, subclassed in the suite's folder
    tests = ["tests/test_store.py"]
    plugin = "borrowed_store"                   # module of the suite's folder that puts our class in the place of theirs
    requirements = ["pytest-asyncio==1.2.0"]    # what they need beside the suite's own
    [borrowed.expected_failures]                # name of a test, or `name[parameters]` -> why it cannot pass
    test_sql_injection = "tests SQLite's own queries"
    [borrowed.left_out]                         # tests that would wait for ever -> why

The downloaded distribution is unpacked in the cache and never copied into the repository. A test that fails and is not expected
to, and one that is expected to fail and passes, both fail the suite. With `--write` the results go into docs/integrations.md and the
README.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.page import table, write_section

ROOT = Path(__file__).resolve().parents[1]
SUITES = ROOT / "tests" / "contrib" / "frameworks"
PAGE = ROOT / "docs" / "integrations.md"
README = ROOT / "README.md"
TOOLS = ("pytest>=8.2", "pytest-timeout>=2.3")
LIGHT = {"PERDURE_EMBEDDER": "hashing", "PERDURE_RERANKER": "none", "PERDURE_TAGGER": "rules"}
"""Settings for examples: components that load at once."""
TIME_LIMIT = 900.0
"""Seconds for one run of tests."""
OWN_TESTS, EXAMPLE = "own tests", "example"
"""Titles of the runs that every suite has."""
MARK = "# memory"
"""Ends the lines of an example that add memory to a program which has none."""


class SuiteFailed(Exception):
    """A suite could not be run; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """Tests of a framework, from its source distribution or from a package made for them."""

    tests: tuple[str, ...]
    sdist: str = ""
    package: str = ""
    plugin: str = ""
    requirements: tuple[str, ...] = ()
    expected_failures: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Name of a test that is not run -> why; for those that would wait for ever."""

    @property
    def source(self) -> str:
        """Whose tests these are, pinned."""
        return self.sdist or self.package

    @property
    def name(self) -> str:
        return f"{self.source.replace('==', ' ')}: {', '.join(self.tests)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What `suite.toml` says."""

    name: str
    folder: Path
    framework: str
    extra: str
    requirements: tuple[str, ...]
    shown: tuple[str, ...]
    example: str
    page: str
    install_seconds: float
    long: bool
    borrowed: tuple[Borrowed, ...] = ()

    @property
    def all_requirements(self) -> tuple[str, ...]:
        borrowed = (name for one in self.borrowed for name in (one.package, *one.requirements) if name)
        return (*self.requirements, *borrowed)

    @property
    def titles(self) -> tuple[str, ...]:
        """Its runs, in the order of the table."""
        return (OWN_TESTS, EXAMPLE, *(one.name for one in self.borrowed))

    def borrowed_by(self, title: str) -> Borrowed:
        """What it borrows under this title."""
        return next(one for one in self.borrowed if one.name == title)

    @property
    def lines(self) -> int:
        """Lines that add memory to a program, as its example marks them."""
        text = (ROOT / "examples" / "integrations" / self.example).read_text(encoding="utf-8")
        return sum(line.rstrip().endswith(MARK) for line in text.splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one run of tests."""

    title: str
    passed: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Reason -> how many."""
    expected: Mapping[str, int] = field(default_factory=dict)
    """Reason of failures that are expected -> how many."""
    failed: tuple[str, ...] = ()
    """Tests that failed unexpectedly, or passed though they were expected to fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A suite that was run."""

    suite: Suite
    versions: Mapping[str, str]
    outcomes: tuple[Outcome, ...]

    @property
    def failed(self) -> list[str]:
        return [f"{one.title}: {name}" for one in self.outcomes for name in one.failed]


def read_suites(only: Sequence[str] = ()) -> list[Suite]:
    """The suites by name, all or some."""
    names = sorted(path.parent.name for path in SUITES.glob("*/suite.toml"))
    unknown = sorted(set(only) - set(names))
    if unknown:
        raise SuiteFailed(f"no suite {unknown[0]!r}; there are {', '.join(names)}")
    return [read_suite(SUITES / name) for name in names if not only or name in only]


def read_suite(folder: Path) -> Suite:
    """One suite; a key that has no meaning is refused."""
    body = tomllib.loads((folder / "suite.toml").read_text(encoding="utf-8"))
    borrowed = [_read_borrowed(one) for one in body.pop("borrowed", [])]
    body.setdefault("page", f"{body['extra']}.md")
    body["requirements"] = tuple(body["requirements"])
    body["shown"] = tuple(body["shown"])
    return Suite(name=folder.name, folder=folder, borrowed=tuple(borrowed), **body)


def _read_borrowed(body: dict[str, Any]) -> Borrowed:
    lists: dict[str, Any] = {key: tuple(body[key]) for key in ("tests", "requirements") if key in body}
    borrowed = Borrowed(**{**body, **lists})
    if bool(borrowed.sdist) == bool(borrowed.package):
        raise SuiteFailed(f"{borrowed.name}: borrowed tests have either an sdist or a package")
    return borrowed


def cache_folder() -> Path:
    """Where environments and distributions are kept: outside the repository."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "perdure" / "contrib" / "frameworks"


class Environment:
    """A virtual environment with perdure from this checkout and what a suite requires."""

    def __init__(self, folder: Path, requirements: Sequence[str]) -> None:
        self._folder = folder
        self._requirements = (*TOOLS, *requirements)
        self._stamp = folder / "installed.json"

    @property
    def python(self) -> Path:
        return self._folder / "bin" / "python"

    def make(self) -> None:
        """Install, unless the same was installed before; with uv where it is there, else with pip."""
        state = [sys.version, str(ROOT), (ROOT / "pyproject.toml").read_text(), *self._requirements]
        if self._stamp.exists() and json.loads(self._stamp.read_text()) == state:
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        uv = find_uv()
        packages = ["-e", str(ROOT), *self._requirements]
        if uv:
            run([uv, "venv", "-q", "--python", sys.executable, str(self._folder)])
            run([uv, "pip", "install", "-q", "--python", str(self.python), *packages])
        else:
            run([sys.executable, "-m", "venv", str(self._folder)])
            run([str(self.python), "-m", "pip", "install", "-q", *packages])
        self._stamp.write_text(json.dumps(state))

    def versions(self, packages: Sequence[str]) -> dict[str, str]:
        code = "import json, sys; from importlib.metadata import version; print(json.dumps({n: version(n) for n in sys.argv[1:]}))"
        shown = run([str(self.python), "-c", code, *packages])
        return {str(name): str(number) for name, number in json.loads(shown).items()}


def find_uv() -> str:
    """The program uv: beside this interpreter, or on the path; "" when there is none."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else shutil.which("uv") or ""


def run(command: Sequence[str], *, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """What it prints; SuiteFailed with the end of what it complained when it fails."""
    ended = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False,
        timeout=TIME_LIMIT,
    )  # fmt: skip
    if ended.returncode:
        told = (ended.stderr or ended.stdout).strip()[-2000:]
        raise SuiteFailed(f"{' '.join(command[:6])} ended with {ended.returncode}:\n{told}")
    return ended.stdout


def fetch_sdist(requirement: str, cache: Path) -> Path:
    """The unpacked source distribution, downloaded once."""
    name, _, number = requirement.partition("==")
    folder = cache / "sdists" / f"{name}-{number}"
    if not folder.exists():
        with tempfile.TemporaryDirectory() as scratch:
            run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", scratch, requirement]
            )  # fmt: skip
            [archive] = Path(scratch).glob("*.tar.gz")
            unpacked = Path(scratch) / "unpacked"
            with tarfile.open(archive) as tar:
                tar.extractall(unpacked, filter="data")
            [inner] = unpacked.iterdir()
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(inner, folder)
    return folder


def environment_of(suite: Suite, cache: Path) -> Environment:
    """The environment of a suite, one per checkout."""
    digest = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return Environment(cache / "venvs" / f"{suite.name}-{digest}", suite.all_requirements)


def run_suite(suite: Suite, cache: Path, *, changed_only: bool = False) -> Report:
    """Its own tests, its example, and what it borrows; with `changed_only` what has no result of the present code. Results are kept."""
    environment = environment_of(suite, cache)
    saved = saved_outcomes(suite, cache) if changed_only else {}
    if set(saved) != set(suite.titles):
        environment.make()
    for title in suite.titles:
        if title not in saved:
            saved[title] = run_title(suite, title, environment, cache)
            save_outcome(suite, saved[title], cache)
    outcomes = tuple(saved[title] for title in suite.titles)
    return Report(suite=suite, versions=environment.versions(suite.shown), outcomes=outcomes)


def run_title(suite: Suite, title: str, environment: Environment, cache: Path) -> Outcome:
    """One of the runs that a suite consists of."""
    if title == OWN_TESTS:
        return run_own_tests(suite, environment)
    if title == EXAMPLE:
        return run_example(suite, environment)
    return run_borrowed(suite, suite.borrowed_by(title), environment, cache)


def run_own_tests(suite: Suite, environment: Environment) -> Outcome:
    """`check_*.py` of the suite."""
    options = ["-o", "addopts=", "-o", "filterwarnings=", "-o", "asyncio_mode=auto"]
    options += ["-o", "python_files=check_*.py"]
    return run_pytest(environment, [*options, str(suite.folder)], cwd=ROOT, title=OWN_TESTS)


def run_borrowed(suite: Suite, borrowed: Borrowed, environment: Environment, cache: Path) -> Outcome:
    """Tests of the framework, with our class in the place of theirs."""
    options = ["-o", "addopts=", "-o", "filterwarnings="]
    options += ["-p", borrowed.plugin] if borrowed.plugin else []
    chosen = " and ".join(f"not {name}" for name in borrowed.left_out)
    options += ["-k", chosen] if chosen else []
    if borrowed.sdist:
        folder, tests = fetch_sdist(borrowed.sdist, cache), list(borrowed.tests)
    else:
        folder, tests = ROOT, [str(suite.folder / name) for name in borrowed.tests]
        options += ["-o", "asyncio_mode=auto"]
    outcome = run_pytest(
        environment, [*options, *tests], cwd=folder, title=borrowed.name,
        path=suite.folder, expected=borrowed.expected_failures,
    )  # fmt: skip
    return replace(outcome, skipped={**outcome.skipped, **Counter(borrowed.left_out.values())})


def run_example(suite: Suite, environment: Environment) -> Outcome:
    """The example of the page; it asserts what it shows."""
    with tempfile.TemporaryDirectory() as scratch:
        program = ROOT / "examples" / "integrations" / suite.example
        try:
            run([str(environment.python), str(program)], cwd=Path(scratch), env=LIGHT)
        except SuiteFailed as error:
            return Outcome(title=EXAMPLE, passed=0, failed=(str(error),))
    return Outcome(title=EXAMPLE, passed=1)


def run_pytest(
    environment: Environment,
    arguments: Sequence[str],
    *,
    cwd: Path,
    title: str,
    path: Path | None = None,
    expected: Mapping[str, str] | None = None,
) -> Outcome:
    """Tests in an environment, counted."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [
            str(environment.python),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--timeout=120",
            *arguments,
        ]
        search = [str(one) for one in (path, ROOT / "src") if one is not None]
        ended = subprocess.run(
            [*command, f"--junitxml={report}"], cwd=cwd, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(search), "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=TIME_LIMIT,
        )  # fmt: skip
        if ended.returncode not in (0, 1) or not report.exists():
            raise SuiteFailed(
                f"{title}: pytest ended with {ended.returncode}:\n{ended.stdout[-3000:]}{ended.stderr[-1000:]}"
            )
        return read_report(title, report, expected or {})


def read_report(title: str, report: Path, expected: Mapping[str, str]) -> Outcome:
    """What a JUnit report of pytest says, against the failures that are expected."""
    passed = 0
    skipped: dict[str, int] = {}
    unmet: dict[str, int] = {}
    failed: list[str] = []
    used: set[str] = set()
    for case in ElementTree.parse(report).iter("testcase"):
        name = case.get("name", "")
        key = next((one for one in (name, name.partition("[")[0]) if one in expected), "")
        problem = next((child for child in case if child.tag in ("failure", "error")), None)
        skip = case.find("skipped")
        if problem is not None and key:
            used.add(key)
            unmet[expected[key]] = unmet.get(expected[key], 0) + 1
        elif problem is not None:
            failed.append(f"{name}: {_first_line(problem.get('message', ''))}")
        elif skip is not None:
            reason = _first_line(skip.get("message", ""))
            skipped[reason] = skipped.get(reason, 0) + 1
        else:
            passed += 1
    failed += [
        f"{name}: expected to fail, but nothing of that name did" for name in sorted(set(expected) - used)
    ]
    if not passed and not failed:
        failed.append("no test ran")
    return Outcome(title=title, passed=passed, skipped=skipped, expected=unmet, failed=tuple(failed))


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]


def result_lines(reports: Sequence[Report]) -> list[str]:
    """The table of results, and below it the reasons."""
    rows, reasons = [], []
    for report in reports:
        versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
        for outcome in report.outcomes:
            unmet, skipped = sum(outcome.expected.values()), sum(outcome.skipped.values())
            rows.append(
                (report.suite.framework, versions, outcome.title, str(outcome.passed), str(len(outcome.failed)), str(unmet), str(skipped))
            )  # fmt: skip
            for kind, told in (("expected to fail", outcome.expected), ("skipped", outcome.skipped)):
                reasons += [
                    f"- {report.suite.framework}, {outcome.title}: {count} {kind}: {reason}"
                    for reason, count in told.items()
                ]
    head = ("framework", "versions", "tests", "passed", "failed", "expected to fail", "skipped")
    return [*table(head, rows, text=("versions", "tests")), "", *reasons]


def framework_lines(reports: Sequence[Report], folder: str = "integrations") -> list[str]:
    """The table of frameworks, for a page that has the adapters' pages in `folder`: lines to add, what was tested."""
    rows = []
    for report in reports:
        versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
        passed = sum(one.passed for one in report.outcomes)
        borrowed = ", ".join(f"`{one.source.partition('==')[0]}`" for one in report.suite.borrowed)
        rows.append(
            (
                f"[{report.suite.framework}]({folder}/{report.suite.page})",
                str(report.suite.lines),
                f"{versions}: {passed} tests" + (f", of them some of {borrowed}" if borrowed else ""),
            )
        )
    return table(("framework", "lines to add memory", "tested with"), rows, text=("tested with",))


def stamp_of(suite: Suite, title: str) -> str:
    """Changes when the adapter does, what it is installed with, or the files of this run: other results are out of date."""
    if title == OWN_TESTS:
        files = [*sorted(suite.folder.glob("*.py")), SUITES / "checklist.py", SUITES / "settled.py"]
    elif title == EXAMPLE:
        files = [ROOT / "examples" / "integrations" / suite.example]
    else:
        borrowed = suite.borrowed_by(title)
        names = [f"{borrowed.plugin}.py"] if borrowed.plugin else []
        files = [suite.folder / name for name in (*names, *(() if borrowed.sdist else borrowed.tests))]
    sources = [*files, *adapter_modules(files)]
    digest = hashlib.sha256(repr((suite.requirements, title)).encode())
    if title not in (OWN_TESTS, EXAMPLE):
        digest.update(repr(suite.borrowed_by(title)).encode())
    for path in sources:
        digest.update(path.name.encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


def adapter_modules(files: Sequence[Path]) -> list[Path]:
    """The modules of `perdure.contrib.frameworks` that files import, and those that these import."""
    folder = ROOT / "src" / "perdure" / "contrib" / "frameworks"
    modules: set[Path] = set()
    unread = list(files)
    while unread:
        named = re.findall(r"perdure\.integrations\.(\w+)", unread.pop().read_text(encoding="utf-8"))
        fresh = {path for name in named if (path := folder / f"{name}.py").exists()} - modules
        modules |= fresh
        unread += fresh
    return sorted(modules)


def results_file(suite: Suite, title: str, cache: Path) -> Path:
    """Where the results of one run are kept."""
    digest = hashlib.sha256(title.encode()).hexdigest()[:8]
    return cache / "results" / f"{suite.name}-{digest}.json"


def save_outcome(suite: Suite, outcome: Outcome, cache: Path) -> None:
    """Keep the results of a run."""
    path = results_file(suite, outcome.title, cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"stamp": stamp_of(suite, outcome.title), "outcome": asdict(outcome)}))


def saved_outcomes(suite: Suite, cache: Path) -> dict[str, Outcome]:
    """Title -> results of an earlier run, where nothing has changed since."""
    saved: dict[str, Outcome] = {}
    for title in suite.titles:
        path = results_file(suite, title, cache)
        body = json.loads(path.read_text()) if path.exists() else {}
        if body.get("stamp") == stamp_of(suite, title):
            fields = body["outcome"]
            saved[title] = Outcome(**{**fields, "failed": tuple(fields["failed"])})
    return saved


def saved_report(suite: Suite, cache: Path) -> Report | None:
    """Results of earlier runs, if there are such of all and nothing has changed since."""
    saved = saved_outcomes(suite, cache)
    if set(saved) != set(suite.titles):
        return None
    versions = environment_of(suite, cache).versions(suite.shown)
    outcomes = tuple(saved[title] for title in suite.titles)
    return Report(suite=suite, versions=versions, outcomes=outcomes)


def write_tables(reports: Sequence[Report]) -> None:
    """Both tables of the page, and the README's."""
    write_section("frameworks", framework_lines(reports), PAGE)
    write_section("results", result_lines(reports), PAGE)
    write_section("frameworks", framework_lines(reports, "docs/integrations"), README)


def main() -> int:
    parser = argparse.ArgumentParser(description="Test the adapters of agent frameworks.")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these suites")
    parser.add_argument(
        "--changed", action="store_true", help="run only what has no results of the present code"
    )
    parser.add_argument(
        "--write", action="store_true",
        help="put the tables into docs/integrations.md and the README; suites that are not run now have their last results",
    )  # fmt: skip
    options = parser.parse_args()
    cache = cache_folder()
    names = {suite.name for suite in read_suites(options.only)}
    reports, broken = [], []
    for suite in read_suites():
        try:
            if suite.name in names:
                print(suite.framework, file=sys.stderr, flush=True)
                reports.append(run_suite(suite, cache, changed_only=options.changed))
            elif options.write and (saved := saved_report(suite, cache)):
                reports.append(saved)
            elif options.write:
                broken.append(
                    f"{suite.framework}: no results that are up to date; run it, or all with --changed"
                )
        except SuiteFailed as error:
            broken.append(f"{suite.framework}: {error}")
    print("\n".join(result_lines(reports)))
    failures = [*broken, *(name for report in reports for name in report.failed)]
    print("\n".join(failures), file=sys.stderr)
    if options.write and not broken:
        write_tables(reports)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
