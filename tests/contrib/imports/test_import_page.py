"""The page on imports shows files that are read as it says, and every source, format and key."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from perdure import ImportedDocument
from perdure.contrib.imports.registry import NAMES, detect, open_source
from perdure.manage.exporting import FORMATS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "import.md").read_text(encoding="utf-8")
SECTIONS = {section.split("\n", 1)[0]: section for section in PAGE.split("## Exports")[0].split("\n### ")[1:]}
BLOCK = re.compile(r"```(\w+)(?: ([^\n]+))?\n(.*?)```", re.DOTALL)


def test_the_page_shows_every_source_and_every_format() -> None:
    assert set(SECTIONS) == set(NAMES)
    table = PAGE.split("| source |")[1].split("\n\n")[0]
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == sorted(NAMES)
    formats = PAGE.split("| `--format` |")[1].split("\n\n")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", formats, re.MULTILINE)) == FORMATS


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_an_example_of_the_page_is_recognised_and_gives_what_the_page_says(name: str, tmp_path: Path) -> None:
    expected: list[str] = []
    for language, file, content in BLOCK.findall(SECTIONS[name]):
        if language == "gives":
            expected = content.strip().splitlines()
            continue
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if language == "sql":
            database = sqlite3.connect(path)
            database.executescript(content)
            database.close()
        else:
            path.write_text(content, encoding="utf-8")
    files = list(tmp_path.iterdir())
    target = files[0] if len(files) == 1 and files[0].is_file() else tmp_path
    assert detect(target) == name
    told = []
    source = open_source(target)
    for part in source.read():
        if isinstance(part, ImportedDocument):
            said = part.items if part.facts is None else part.facts
            for one in said:
                text = one.text if hasattr(one, "text") else one.content
                told.append(" ".join(f"{part.id} | {one.speaker} | {text}".split()))
    source.close()
    assert told == expected
