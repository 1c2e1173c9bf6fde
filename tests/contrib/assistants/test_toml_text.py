"""A table of a TOML file comes and goes without touching the rest."""

from __future__ import annotations

import tomllib

import pytest

from perdure.contrib.assistants.install.toml_text import drop_table, put_table
from perdure.errors import InvalidInput

PATH = ("mcp_servers", "perdure")
VALUES = {"command": "/opt/my tools/perdure", "args": ["assistant"]}
CONFIG = '# mine\nmodel = "m"\n\n[mcp_servers.git]\ncommand = "git"  # keep\n\n[tui]\nsound = true\n'


@pytest.mark.parametrize(
    "before", ["", CONFIG, CONFIG.rstrip("\n"), 'x = """\n[mcp_servers.perdured]\n"""\n']
)
def test_a_table_is_added_once_and_removed_again(before: str) -> None:
    after = put_table(before, "config.toml", PATH, VALUES)
    assert tomllib.loads(after)["mcp_servers"]["perdure"] == VALUES
    assert put_table(after, "config.toml", PATH, VALUES) == after
    assert drop_table(after, "config.toml", PATH).rstrip("\n") == before.rstrip("\n")


def test_other_keys_and_tables_below_stay_when_the_command_changes() -> None:
    before = (
        '[mcp_servers.perdure]\ncommand = "old"\nargs = []\nstartup_timeout_sec = 20 # slow disk\n\n'
        '[mcp_servers.perdure.env]\nPERDURE_RECIPE = "default"\n\n[tui]\nsound = true\n'
    )
    after = put_table(before, "config.toml", PATH, VALUES)
    assert tomllib.loads(after)["mcp_servers"]["perdure"] == {
        **VALUES, "startup_timeout_sec": 20, "env": {"PERDURE_RECIPE": "default"},
    }  # fmt: skip
    assert "# slow disk" in after
    assert drop_table(after, "config.toml", PATH) == "[tui]\nsound = true\n"


def test_invalid_toml_is_refused_with_its_position() -> None:
    with pytest.raises(InvalidInput, match=r"config\.toml: expected valid TOML: .*line 1"):
        put_table("model = \n", "config.toml", PATH, VALUES)


def test_a_folder_of_memory_is_written_as_an_inline_table() -> None:
    after = put_table("", "config.toml", PATH, {**VALUES, "env": {"PERDURE_ASSISTANT_FOLDER": "/a b"}})
    assert tomllib.loads(after)["mcp_servers"]["perdure"]["env"] == {"PERDURE_ASSISTANT_FOLDER": "/a b"}
