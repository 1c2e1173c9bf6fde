"""Who may see the page: a key is asked for, kept in the tab alone, and sent nowhere but to the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench.page_browser import Watched
from bench.page_demo import QUICK, served
from perdure import Perdure
from perdure.surfaces.keys import create_key

BANK = "safe"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a memory that is served with keys, and a key."""
    folder: Path = tmp_path_factory.mktemp("locked")
    with Perdure.open(folder / "memory.db", **{**QUICK, "require_keys": True}) as engine:
        engine.retain(BANK, "Ivan Stone collects stamps.")
        _, secret = create_key(engine, scopes=("read", "write", "admin"))
        with served(engine) as url:
            yield url, secret


def answer(body: str, route: Any, _: Any) -> None:
    route.fulfill(body=body, content_type="text/html")


def enter(watched: Watched, secret: str) -> None:
    watched.page.get_by_label("Key").fill(secret)
    watched.page.get_by_role("button", name="Enter").click()


def test_a_memory_with_keys_shows_nothing_before_one_is_entered(
    watch: Callable[..., Watched], locked: tuple[str, str]
) -> None:
    watched = watch(locked[0])
    watched.open(f"#/{BANK}/ask?q=stamps")
    assert watched.page.get_by_label("Key").is_visible()
    assert "stamps" not in watched.page.locator("body").inner_text()
    assert watched.page.locator("nav").count() == 0


def test_a_wrong_key_is_refused(watch: Callable[..., Watched], locked: tuple[str, str]) -> None:
    watched = watch(locked[0])
    watched.open("")
    enter(watched, "pk_wrong")
    alert = watched.page.get_by_role("alert")
    alert.filter(has_text="key").wait_for()
    assert watched.page.locator("nav").count() == 0


def test_a_key_lets_in_and_stays_in_the_tab(watch: Callable[..., Watched], locked: tuple[str, str]) -> None:
    url, secret = locked
    watched = watch(url)
    page = watched.page
    watched.open(f"#/{BANK}/ask?q=stamps")
    enter(watched, secret)
    page.get_by_text("Ivan Stone collects stamps.").first.wait_for()
    page.reload()
    page.get_by_text("Ivan Stone collects stamps.").first.wait_for()
    assert page.context.cookies() == []
    assert secret not in page.evaluate("JSON.stringify(localStorage) + location.href + document.title")
    with_key = [one for one in watched.requests if secret in one.headers.get("authorization", "")]
    assert with_key
    assert all(one.url.startswith(f"{url}/v1/") for one in with_key)
    assert not [one.url for one in watched.requests if secret in one.url]
    assert watched.elsewhere() == []
    other = Watched(page.context.new_page(), url)
    other.open(f"#/{BANK}/ask?q=stamps")
    assert other.page.get_by_label("Key").is_visible()
    page.get_by_role("button", name="Log out").click()
    page.get_by_label("Key").wait_for()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_page_of_another_origin_gets_neither_memory_nor_frame(
    watch: Callable[..., Watched], site: Any, locked: tuple[str, str]
) -> None:
    for url in (locked[0], site.url):
        watched = watch("http://other.example")
        page = watched.page
        page.route("http://other.example/", partial(answer, f"<!doctype html><iframe src='{url}/'></iframe>"))
        page.goto("http://other.example/")
        read = page.evaluate(
            """(url) => fetch(`${url}/v1/perdure/banks.list`, {method: "POST", body: "{}", credentials: "include",
                 headers: {"Content-Type": "application/json"}}).then((one) => one.text(), (error) => error.name)""",
            url,
        )
        assert read == "TypeError"
        assert all("Perdure" not in frame.title() for frame in page.frames[1:])
