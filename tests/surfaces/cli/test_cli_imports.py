"""`perdure import` and `perdure export` for other programs."""

from __future__ import annotations

from pathlib import Path

from perdure.surfaces.cli import exits
from tests.support.import_samples import SAMPLES
from tests.surfaces.cli.conftest import Cli


def test_import_finds_out_the_source_and_again_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    path = str(SAMPLES["chatgpt"](tmp_path))
    planned = cli("import", path, "--as", "Ines", "--dry-run")
    assert planned.code == exits.OK
    assert "would import 1 document from chatgpt into default" in planned.out
    assert cli("banks", "list").code != exits.OK or "default" not in cli("banks", "list").out
    first = cli("import", path, "--as", "Ines", "--json").json
    assert (first["source"], first["added"], first["skipped_total"]) == ("chatgpt", 1, 1)
    again = cli("import", "chatgpt", path, "--as", "Ines")
    assert "(0 new, 0 changed, 1 unchanged)" in again.out
    assert "skipped" in again.out
    assert "Porto" in cli("recall", "Where did Ines move?").out


def test_an_import_that_writes_nothing_makes_no_database(cli: Cli, tmp_path: Path) -> None:
    path = str(SAMPLES["chatgpt"](tmp_path))
    (cli.folder / "empty.bin").write_bytes(b"\x00")
    for words, code in (
        (("nowhere.zip",), exits.NOT_FOUND), (("notion", path), exits.BAD_INPUT), (("empty.bin",), exits.BAD_INPUT),
        (("chatgpt", path, "--dry-run"), exits.OK),
    ):  # fmt: skip
        assert cli("import", *words, "--database", "new.db").code == code
        assert not (cli.folder / "new.db").exists(), words


def test_an_exported_bank_is_still_imported_as_it_was(cli: Cli) -> None:
    cli.remembered("Maya plays the cello.")
    assert cli("export", "bank.jsonl").code == exits.OK
    for source in (("bank.jsonl",), ("perdure", "bank.jsonl")):
        bank = "-".join(source).replace(".", "")
        ran = cli("import", *source, "--bank", bank)
        assert ran.out.strip() == f"imported 1 facts into bank {bank}"
    ran = cli("import", "-", "--bank", "piped", stdin=Path("bank.jsonl").read_text())
    assert ran.code == exits.OK


def test_export_writes_every_format(cli: Cli) -> None:
    cli.remembered("Maya plays the cello in Oslo.")
    for form in ("jsonl", "dot", "graphml"):
        assert "Maya plays the cello in Oslo." in cli("export", "--format", form).out
    assert cli("export", "vault", "--format", "markdown").code == exits.OK
    assert (cli.folder / "vault" / "index.md").exists()
    assert cli("export", "bank.zip", "--format", "hindsight", "--json").json["lines"] == 1
    assert cli("import", "bank.zip", "--bank", "two", "--json").json["facts"] == 1
    assert cli("export", "--format", "markdown").code == exits.BAD_INPUT
    assert cli("export", "x", "--format", "csv").code == exits.BAD_INPUT


def test_mistakes_are_named(cli: Cli) -> None:
    assert cli("import", "nowhere.zip").code == exits.NOT_FOUND
    assert "one of hindsight" in cli("import", "notion", "x").err
    assert cli("import", "a", "b", "c").code == exits.BAD_INPUT
    Path("note.md").write_text("Tea is ready.")
    assert "--dry-run" in cli("import", "perdure", "note.md", "--dry-run").err
