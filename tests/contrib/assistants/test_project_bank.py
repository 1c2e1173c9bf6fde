"""One bank per repository, wherever in it an assistant is started."""

from __future__ import annotations

import re
from pathlib import Path

from perdure.domain.bank import check_bank_id
from perdure.surfaces.projects import bank_of, project_of


def test_folders_of_one_repository_share_a_bank(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / "src" / "deep").mkdir(parents=True)
    assert bank_of(str(tmp_path / "app" / "src" / "deep")) == bank_of(str(tmp_path / "app"))
    assert re.fullmatch(r"app-[0-9a-f]{8}", bank_of(str(tmp_path / "app")))


def test_a_linked_worktree_shares_the_bank_of_its_repository(tmp_path: Path) -> None:
    (tmp_path / "app" / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {tmp_path}/app/.git/worktrees/fix\n", encoding="utf-8")
    assert bank_of(str(tmp_path / "fix")) == bank_of(str(tmp_path / "app"))


def test_projects_of_one_name_have_banks_of_their_own(tmp_path: Path) -> None:
    for parent in ("one", "two"):
        (tmp_path / parent / "app").mkdir(parents=True)
    assert bank_of(str(tmp_path / "one" / "app")) != bank_of(str(tmp_path / "two" / "app"))


def test_every_folder_has_a_bank_whose_id_is_allowed(tmp_path: Path) -> None:
    for name in ("my app (2)", "..hidden", "ünïcode", "x" * 200, " "):
        (tmp_path / name).mkdir()
        check_bank_id(bank_of(str(tmp_path / name)))
    check_bank_id(bank_of("/"))
    assert project_of(str(tmp_path / "my app (2)")) == str(tmp_path / "my app (2)")
