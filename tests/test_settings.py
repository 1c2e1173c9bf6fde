"""Settings: where they come from and which names they answer to."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import InvalidInput
from perdure.settings import Settings, read_settings


def test_arguments_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "perdure.toml").write_text('recipe = "tempr"\nbudget_low = 11\nport = 1\n')
    monkeypatch.setenv("PERDURE_RECIPE", "memoria")
    chosen = Settings(port=3)
    assert (chosen.recipe, chosen.budget_low, chosen.port) == ("memoria", 11, 3)


@pytest.mark.parametrize(
    ("variable", "value", "knob", "read"),
    [
        ("HINDSIGHT_API_RECALL_BUDGET_FIXED_MID", "77", "budget_mid", 77),
        ("HINDSIGHT_API_RECALL_BUDGET_FUNCTION", "adaptive", "budget_function", "adaptive"),
        ("HINDSIGHT_API_RERANKER_MAX_CANDIDATES", "50", "rerank_pool", 50),
        ("RECALL_DECAY_DAYS", "30", "decay_days", 30.0),
        ("EMBEDDING_SIMILARITY_THRESHOLD", "0.4", "similarity_floor", 0.4),
        ("PERDURE_BUDGET_MID", "78", "budget_mid", 78),
    ],
)
def test_names_of_other_systems_are_read(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, knob: str, read: object
) -> None:
    monkeypatch.setenv(variable, value)
    assert getattr(Settings(), knob) == read


def test_no_variable_without_a_prefix_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGET_MID", "5")
    monkeypatch.setenv("DATABASE", "elsewhere.db")
    assert Settings().budget_mid == 300
    assert Settings().database == "perdure.db"
    assert Settings(budget_mid=6).budget_mid == 6


def test_keys_are_never_shown() -> None:
    assert "hush" not in repr(Settings(embedding_key="hush"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "database",
    [
        "postgresql://ann:hush@host/db",
        "postgresql://ann:hu/s@hush@host:5432,other/db?sslmode=require",
        "postgresql://host/db?user=ann&password=hush&sslmode=require",
    ],
)
def test_the_password_of_a_database_is_never_shown(database: str) -> None:
    settings = Settings(database=database)
    for shown in (repr(settings), str(settings), settings.shown_database):
        assert "hush" not in shown
        assert "host" in shown
    assert Settings(database="folder/a:b@c.db").shown_database == "folder/a:b@c.db"


def test_there_are_few_knobs() -> None:
    assert len(Settings.model_fields) <= 88


def test_a_wrong_knob_is_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        read_settings(Settings(), {"tagger": "telepathy"})
    assert caught.value.field == "tagger"
    assert read_settings(Settings(port=4), {"host": "::1"}).port == 4
