"""`perdure verify`, `backup`, `restore`, and what `doctor` says about a damaged file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from perdure.surfaces.cli import exits
from tests.integration.cli.conftest import Cli


def damage(file: Path) -> None:
    with closing(sqlite3.connect(file)) as raw:
        raw.execute("UPDATE fact SET text = 'something else entirely' WHERE no = 1")
        raw.commit()


def test_verify_says_what_is_damaged_and_mends_it(cli: Cli) -> None:
    cli.remembered("Ann lives in Lisbon.", "Ben lives in Porto.")
    shown = cli("verify")
    assert shown.code == exits.OK
    assert "nothing is damaged" in shown.out
    assert cli("verify", "--json").json["sound"]
    damage(cli.folder / "perdure.db")
    shown = cli("verify")
    assert shown.code == exits.FAILED
    assert "perdure restore BACKUP" in shown.out
    assert "something else" not in shown.out
    assert cli("verify", "--drop").code == exits.BAD_INPUT
    assert cli("verify", "--drop", "--yes").code == exits.OK
    assert cli("verify").code == exits.OK


def test_verify_of_nothing_is_an_error_and_makes_no_file(cli: Cli) -> None:
    assert cli("verify").code == exits.NOT_FOUND
    assert not (cli.folder / "perdure.db").exists()


def test_a_backup_is_written_and_put_back(cli: Cli) -> None:
    cli.remembered("Ann lives in Lisbon.")
    shown = cli("backup", "copy.db", "--json")
    assert shown.code == exits.OK
    assert shown.json["sound"]
    assert cli("backup", "copy.db").code == exits.CONFLICT
    cli.remembered("Ben lives in Porto.")
    assert cli("restore", "copy.db").code == exits.BAD_INPUT
    restored = cli("restore", "copy.db", "--yes", "--json").json
    assert Path(restored["aside"]).exists()
    listed = cli("facts").out
    assert "Lisbon" in listed
    assert "Porto" not in listed
    assert cli("restore", "perdure.db", "--yes").code == exits.BAD_INPUT


def test_doctor_fails_on_a_file_that_sqlite_calls_malformed(cli: Cli) -> None:
    cli.remembered(*(f"Person{number} keeps a zebra in the garden." for number in range(40)))
    file = cli.folder / "perdure.db"
    with closing(sqlite3.connect(file)) as raw:
        (root,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'fact_tag'").fetchone()
    content = bytearray(file.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = bytes(4096)
    file.write_bytes(content)
    checks = [check for check in cli("doctor", "--json").json["checks"] if check["section"] == "Database"]
    assert "fail" in {check["state"] for check in checks}
    assert any("perdure verify" in check["remedy"] for check in checks)


def test_what_is_on_other_pages_is_salvaged_into_a_new_file(cli: Cli) -> None:
    cli.remembered(*(f"Person{number} keeps a zebra in garden {number}." for number in range(60)))
    file = cli.folder / "perdure.db"
    facts = len(cli("facts", "--limit", "500", "--json").json["facts"])
    with closing(sqlite3.connect(file)) as raw:
        pages = [
            page
            for (page,) in raw.execute("SELECT pageno FROM dbstat WHERE name = 'fact' AND pagetype = 'leaf'")
        ]
    content = bytearray(file.read_bytes())
    page = pages[len(pages) // 2]
    content[(page - 1) * 4096 : page * 4096] = bytes(4096)
    file.write_bytes(content)
    assert cli("verify").code == exits.FAILED
    saved = cli("verify", "--salvage", "saved.db", "--json").json
    assert set(saved["incomplete"]) == {"fact"}
    assert facts - 15 < saved["checked"]["facts"] < facts
    assert cli("verify", "--salvage", "saved.db").code == exits.BAD_INPUT
    assert cli("verify", "--drop", "--yes", "-d", "saved.db").code == exits.OK
    assert cli("restore", "saved.db", "--yes").code == exits.OK
    assert cli("verify").code == exits.OK
    assert len(cli("facts", "--limit", "500", "--json").json["facts"]) == saved["checked"]["facts"]
