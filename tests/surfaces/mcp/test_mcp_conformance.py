"""The conformance suite of the protocol, installed from npm, against a running server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import mcp_conformance as conformance
from tests.surfaces.mcp.mcp_client import LINE_2


def test_every_expected_failure_has_its_reason_and_stands_on_the_page() -> None:
    reasons = conformance.expected_failures()
    text = conformance.EXPECTED.read_text(encoding="utf-8")
    assert len(reasons) == len(re.findall(r"^  - ", text, re.MULTILINE))
    page = Path("docs/mcp.md").read_text(encoding="utf-8")
    assert all(f"`{entry}`" in page for entry in reasons)


@pytest.mark.skipif(not LINE_2, reason="line 1.x of the SDK speaks no protocol without a handshake")
def test_the_suite_fails_only_where_it_is_expected_to(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    try:
        conformance.install(tmp_path / "suite")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"npm cannot install the suite: {error.stderr[-300:]}")
    with conformance.serving(tmp_path) as url:
        for revision in conformance.REVISIONS:
            run = conformance.run_suite(tmp_path / "suite", url, revision, tmp_path / revision)
            assert run.as_expected, run.told
            assert run.passed
