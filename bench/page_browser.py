"""A real browser for the web page: Debian's Chromium without its own errands, and a record of everything that a page does."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
)
QUESTION = "Where does Ines live?"
"""What the view Ask is opened with."""
PATIENCE = 30.0
"""Seconds that a view may take until all its answers are there."""


def find_chromium() -> str | None:
    """The path of an installed Chromium."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """Chromium without a window."""
    path = find_chromium()
    if path is None:
        raise RuntimeError("chromium is not installed: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        try:
            yield browser
        finally:
            browser.close()


def view_names() -> list[str]:
    """The names of the views, in order, as `views.js` lists them."""
    text = (files("perdure.surfaces.web") / "static" / "views.js").read_text(encoding="utf-8")
    return re.findall(r'^  view\("([^"]+)"', text, re.MULTILINE)


def views_of(page: Page) -> list[tuple[str, str]]:
    """(name, group) of the views that an open page has; a view without a group is reached by links alone."""
    listed: list[list[str]] = page.evaluate(
        """import(document.querySelector("script[type=module]").src.replace("main.js", "views.js"))
             .then((m) => m.VIEWS.map((one) => [one.name, one.one ? '' : one.group]))"""
    )
    return [(name, group) for name, group in listed]


@dataclass
class Watched:
    """A page, what it asked for and what went wrong on it."""

    page: Page
    url: str
    requests: list[Request] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _waiting: set[Request] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.on("request", self._asked)
        self.page.on("requestfinished", lambda request: self._waiting.discard(request))
        self.page.on("requestfailed", lambda request: self._waiting.discard(request))
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("crash", lambda _: self.problems.append("the page crashed"))
        self.page.on("console", self._said)
        self.page.on("dialog", self._interrupted)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _interrupted(self, dialog: Dialog) -> None:
        self.problems.append("a dialog opened")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        self.requests.append(request)
        self._waiting.add(request)

    def open(self, address: str) -> None:
        """Go to an address of the page, and wait until the view is drawn."""
        self.page.goto(f"{self.url}/{address}")
        self.settle()

    def settle(self) -> None:
        """Wait until every answer is there and drawn."""
        until = time.monotonic() + PATIENCE
        self.page.wait_for_selector("#content > *", timeout=PATIENCE * 1000)
        quiet = 0
        while quiet < 2:
            if time.monotonic() > until:
                raise TimeoutError(f"still waiting for {[one.url for one in self._waiting]}")
            self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 15)))")
            busy = self._waiting or self.page.query_selector(".busy")
            quiet = 0 if busy else quiet + 1

    def elsewhere(self) -> list[str]:
        """Requests that left the server the page came from."""
        own = urlsplit(self.url).netloc
        return [
            one.url
            for one in self.requests
            if urlsplit(one.url).scheme not in ("data", "blob") and urlsplit(one.url).netloc != own
        ]


def address(bank: str, view: str, thing: str = "") -> str:
    """The part of a URL behind the server's name."""
    return f"#/{quote(bank)}/{view}" + (f"/{quote(thing, safe='')}" if thing else "")


def linked(watched: Watched, bank: str, views: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The first link from a view of the list to one thing of each view: to a fact, a document, a mental model, ..."""
    things: dict[str, str] = {}
    for name, group in views:
        if not group:
            continue
        watched.open(address(bank, name))
        hrefs = watched.page.eval_on_selector_all(
            "#content a[href]", "(all) => all.map((one) => one.getAttribute('href'))"
        )
        for href in hrefs:
            parts = href.split("?")[0].split("/")
            if len(parts) > 3 and parts[0] == "#" and parts[1] == quote(bank):
                things.setdefault(parts[2], href)
    return things
