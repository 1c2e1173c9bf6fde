"""One server and one Chromium for the package: a bank of real conversation, and one in which every field was planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from bench.page_browser import QUESTION, Watched, address, find_chromium, launched, linked, views_of
from bench.page_demo import BANK, QUICK, fill, served
from perdure import Perdure
from tests.browser.planted import fill_planted
from tests.reflect.thinking import SureTasteJudge, judge_tastes

COPIES = count()


@dataclass
class Site:
    """A served memory."""

    url: str
    engine: Perdure
    views: list[tuple[str, str]] = field(default_factory=list)
    linked: dict[str, dict[str, str]] = field(default_factory=dict)

    def things(self, watched: Watched, bank: str) -> dict[str, str]:
        """Where one thing of each view is to be seen; looked for once."""
        self.is_listed(watched, "ask")
        if bank not in self.linked:
            self.linked[bank] = linked(watched, bank, self.views)
        return self.linked[bank]

    def address(self, watched: Watched, bank: str, view: str) -> str:
        """Where a view is to be seen: by itself when it is in the list, else at the first link to it."""
        if view == "ask":
            return f"{address(bank, view)}?q={quote(QUESTION)}"
        return address(bank, view) if self.is_listed(watched, view) else self.things(watched, bank)[view]

    def is_listed(self, watched: Watched, view: str) -> bool:
        """Whether the list at the side has it."""
        if not self.views:
            watched.open(address(BANK, "ask"))
            self.views = views_of(watched.page)
        return bool(dict(self.views)[view])


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    if find_chromium() is None:
        pytest.skip("chromium is not installed: apt-get install -y chromium")
    with launched() as browser:
        yield browser


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("page")
    with Perdure.open(folder / "memory.db", **QUICK) as engine:
        judge_tastes(engine, SureTasteJudge())
        fill(engine)
        fill_planted(engine)
        with served(engine) as url:
            yield Site(url, engine)


@pytest.fixture
def watch(browser: Any, site: Site) -> Iterator[Callable[..., Watched]]:
    """Opens an empty page whose doings are recorded."""
    contexts = []

    def opened(url: str = site.url, **options: Any) -> Watched:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        return Watched(context.new_page(), url)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def watched(watch: Callable[..., Watched]) -> Watched:
    return watch()


@pytest.fixture
def bank(site: Site) -> str:
    """A copy of the conversation that a test may change."""
    name = f"copy-{next(COPIES)}"
    site.engine.banks.clone(BANK, name)
    return name
