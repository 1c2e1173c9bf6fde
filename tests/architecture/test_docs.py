"""The pages name what exists: links, settings, commands, options, recipes, files; and their Python runs."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.recall.recipes import RECIPES
from perdure.settings import Settings
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.main import every_entry

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "perdure"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITHOUT_MODELS = 'embedder="hashing", reranker="none", tagger="rules"'
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def text_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table whose heading row begins so."""
    table = page.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("| ").split(" |")] for line in table.splitlines()[2:]]


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in re.findall(
        r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", CODE.sub("", page.read_text(encoding="utf-8"))
    ):
        if "://" in target:
            continue
        found = page.parent / target if target else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), f"{target}#{anchor}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        if page.is_dir():
            waiting += page.glob("*.md")
        elif page.suffix == ".md":
            targets = re.findall(r"\]\(([^)#\s:]+)", page.read_text(encoding="utf-8"))
            waiting += [found for target in targets if (found := (page.parent / target).resolve()).exists()]
    assert not set(PAGES) - reached


def test_the_settings_page_has_every_setting_with_its_default() -> None:
    shown: dict[str, str] = {}
    for names, defaults, _ in rows(text_of("settings.md"), "setting | default"):
        values = [value.strip(" `") for value in defaults.split(",")] if defaults else []
        for place, name in enumerate(named(names)):
            shown[name] = values[place] if values else ""
    assert shown == {name: _shown(field.default) for name, field in Settings.model_fields.items()}


def _shown(default: object) -> str:
    if default is None or str(default) == "":
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)


def test_the_settings_page_has_every_other_name_of_a_setting() -> None:
    shown = {
        name: alias
        for names, others in rows(text_of("settings.md"), "setting | other variable")
        for name, alias in zip(named(names), named(others), strict=True)
    }
    known = {
        name: str(choices[1])
        for name, field in Settings.model_fields.items()
        if (choices := getattr(field.validation_alias, "choices", ()))
    }
    assert shown == known


def test_variables_that_pages_name_are_settings() -> None:
    known = {f"PERDURE_{name.upper()}" for name in Settings.model_fields} | {"PERDURE_KEY"}
    for page in PAGES:
        assert set(re.findall(r"PERDURE_[A-Z_]+", page.read_text(encoding="utf-8"))) <= known, page


def test_the_command_line_page_has_every_command() -> None:
    shown = [named(row[0])[0].split()[1] for row in rows(text_of("cli.md"), "command | what it does")]
    assert shown == [entry.name for entry in every_entry()]


def test_the_command_line_page_has_every_exit_code() -> None:
    shown = [int(row[0]) for row in rows(text_of("cli.md"), "code | meaning")]
    assert shown == [
        value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)
    ]


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        joined = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^\$ (.+?)(?:  +#.*)?$", joined, re.MULTILINE) + re.findall(
            r"`(perdure [^`]+)`", joined
        ):
            for call in re.findall(r"(?:^|[|] |-- )(perdure [^|]+)", line):
                yield page.name, call


def test_every_command_that_pages_show_has_the_options_that_it_is_given() -> None:
    entries = {entry.name: entry for entry in every_entry()}
    shown = list(commands())
    assert len(shown) > 40
    for page, call in shown:
        words = re.sub(r"\"[^\"]*\"|'[^']*'", "TEXT", call).split()[1:]
        if not words or words[0].startswith("-"):
            continue
        assert words[0] in entries, f"{page}: {call}"
        command = entries[words[0]].load()
        if len(words) > 1 and words[1] in getattr(command, "commands", {}):
            command = command.commands[words[1]]
        known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
        given = {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)}
        assert given <= known | {"--help"}, f"{page}: {call}"


def test_the_ranking_page_has_every_recipe_as_it_is() -> None:
    shown = {
        named(name)[0]: (tuple(channels.split(", ")), int(reads.split(",")[0]))
        for name, channels, _, reads, _ in rows(text_of("ranking.md"), "recipe | channels")
    }
    assert shown == {
        name: (tuple(spec.name for spec in recipe.channels), recipe.cross_pool)
        for name, recipe in RECIPES.items()
    }


def test_files_that_pages_name_exist() -> None:
    """`recall/pipeline.py`, `stores/sqlite/` and the like, seen from the package, the tests or the root."""
    for page in PAGES:
        if page.name == "extraction.md":
            continue
        for name in re.findall(
            r"`((?:[a-z_]+/)+(?:[a-z_]+\.(?:py|toml|sql))?)`", page.read_text(encoding="utf-8")
        ):
            places = (SOURCE, SOURCE / "stores" / "sqlite", SOURCE.parent, ROOT)
            assert name == "notes/" or any((place / name).exists() for place in places), (
                f"{page.name}: {name}"
            )


def test_the_picture_of_a_recall_is_the_same_wherever_it_stands_and_has_every_stage() -> None:
    pictures = [
        re.findall(r"```\n([^`]*question ─ understand[^`]*)```", page.read_text(encoding="utf-8"))
        for page in (ROOT / "README.md", ROOT / "docs" / "architecture.md")
    ]
    assert pictures[0] == pictures[1]
    [picture] = pictures[0]
    pipeline = (SOURCE / "recall" / "pipeline.py").read_text(encoding="utf-8")
    stages = [stage for stage in re.findall(r'trace\.stage\("(\w+)"\)', pipeline) if stage != "search"]
    assert re.findall(r"[a-z]+", picture.split("question ─", 1)[1].splitlines()[0]) == [
        stages[0], "keyword", *stages[1:], "answer",
    ]  # fmt: skip
    assert {spec.name for spec in RECIPES["default"].channels} <= set(re.findall(r"─ (\w+) ─", picture))


def test_benches_that_pages_name_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"python -m bench\.([a-z_]+)", page.read_text(encoding="utf-8")):
            assert (ROOT / "bench" / f"{name}.py").exists() or (ROOT / "bench" / name).is_dir(), name


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", ["python.md", "ranking.md", "dates.md", "opinions.md", "integrations.md"])
def test_python_of_a_page_runs_from_top_to_bottom(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(ROOT / "docs" / name)
    assert blocks
    names = {"ask_model": lambda *_: "I see.", "print": lambda *_: None}
    for block in blocks:
        code = re.sub(r'\.open\("([a-z.]+)"\)', rf'.open("\1", {WITHOUT_MODELS})', block)
        exec(compile(code, name, "exec"), names)
    if "turn" in names:
        assert names["turn"]("I moved to Lisbon.") == "I see."
        assert "Lisbon" in str(names["memory"].recall("ann", "Lisbon", track=False))
        names["memory"].close()


def test_every_formula_is_where_the_page_says() -> None:
    section = text_of("where.md").partition("## Where a formula lives")[2].partition("\n## ")[0]
    names = re.findall(r"`((?:[a-z_]+\.)+\w+(?:\.\w+)?)`", section)
    assert len(names) > 30
    for name in names:
        assert pkgutil.resolve_name(f"perdure.{name}") is not None
