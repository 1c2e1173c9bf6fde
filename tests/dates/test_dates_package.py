"""The package stands alone, and its modules do not import each other in a circle."""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import perdure.dates
from perdure.dates.lexicon import english
from perdure.dates.reader import first_words

ROOT = Path(perdure.dates.__file__).parent
MODULES = {
    ".".join(("perdure.dates", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def imports(path: Path) -> set[str]:
    """Every module a file imports, also inside functions and for type checking only."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inner & MODULES.keys() or {str(node.module)}
    return names


def test_the_package_needs_the_standard_library_only() -> None:
    outside = {name for path in MODULES.values() for name in imports(path) if name not in MODULES}
    assert {name.split(".")[0] for name in outside} <= sys.stdlib_module_names | {"__future__"}


def test_no_module_imports_itself_by_a_detour() -> None:
    order = list(
        TopologicalSorter(
            {name: imports(path) & MODULES.keys() for name, path in MODULES.items()}
        ).static_order()
    )
    assert order[-1] == "perdure.dates"


def test_every_word_that_the_tables_of_readers_name_can_begin_an_expression() -> None:
    lex = english()
    assert {*lex.months, *lex.weekdays, *lex.seasons, *lex.holidays, *lex.bounds, *lex.rates} <= first_words()
