"""`perdure verify`, `backup`, `restore`, and what `doctor` says about a damaged file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from perdure.surfaces.cli import exits
from tests.surfaces.cli.conftest import Cli


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
    listed = cli("facts", "list").out
    assert "Lisbon" in listed
    assert "Porto" not in listed
    assert cli("restore", "perdure.db", "--yes").code == exits.BAD_INPUT
