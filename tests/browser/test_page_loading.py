"""What the page asks the server for: the modules of the view that is open, each once, and no more of an answer than it shows."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx

from bench.page_browser import QUESTION, Watched
from bench.page_demo import BANK
from perdure.surfaces.web import page as served_page

ASKED_BYTES = 100_000
SIZES = """performance.getEntriesByType("resource")
  .filter((one) => one.name.includes("/page/")).map((one) => [one.name, one.transferSize])"""


def modules_of(watched: Watched) -> list[str]:
    paths = [urlsplit(one.url).path for one in watched.requests]
    return [path.split("/", 3)[3] for path in paths if path.endswith(".js")]


def test_a_view_loads_its_own_modules_and_each_once(watched: Watched, site: Any) -> None:
    watched.open(f"#/{BANK}/facts")
    files = modules_of(watched)
    assert [name for name in files if name.startswith("views/")] == ["views/facts.js"]
    assert "parts/curve.js" not in files
    assert len(files) == len(set(files))
    watched.page.get_by_role("link", name="Opinions", exact=True).click()
    watched.page.get_by_role("heading", level=1, name="Opinions").wait_for()
    watched.settle()
    assert "views/opinions.js" in modules_of(watched)
    assert len(modules_of(watched)) == len(set(modules_of(watched)))


def test_a_second_visit_asks_for_none_of_the_files(watched: Watched, site: Any) -> None:
    watched.open(f"#/{BANK}/facts")
    assert sum(size > 0 for _, size in watched.page.evaluate(SIZES)) > 10
    watched.page.goto("about:blank")
    watched.open(f"#/{BANK}/facts")
    sizes = watched.page.evaluate(SIZES)
    assert len(sizes) > 10
    assert [name for name, size in sizes if size > 0] == []


def test_files_come_packed_and_stay_and_the_page_is_asked_for_anew(site: Any) -> None:
    first = httpx.get(site.url)
    assert first.headers["cache-control"] == "no-cache"
    again = httpx.get(site.url, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    address = f"{site.url}/page/{served_page.VERSION}/style.css"
    packed, plain = (httpx.get(address, headers={"Accept-Encoding": one}) for one in ("gzip", "gzip;q=0"))
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text
    assert "immutable" in packed.headers["cache-control"]
    assert httpx.get(f"{site.url}/page/0123456789abcdef/style.css").status_code == 404
    assert httpx.get(f"{site.url}/page/{served_page.VERSION}/%2e%2e/page.py").status_code == 404


def test_a_question_brings_less_than_a_hundred_kilobytes(watched: Watched, site: Any) -> None:
    answers = []
    watched.page.on("response", lambda answer: answers.append(answer) if "/v1/" in answer.url else None)
    watched.open(f"#/{BANK}/ask?q={QUESTION}")
    watched.page.get_by_role("link", name="Why").click()
    watched.page.locator("table.matrix").wait_for()
    assert len([one for one in answers if "/recall" in one.url]) == 1
    assert watched.page.locator("table.matrix tbody tr").count() > 5
    bodies = {urlsplit(one.url).path.rsplit("/", 1)[1]: len(one.body()) for one in answers}
    assert 0 < bodies["recall"] < ASKED_BYTES
    assert sum(bodies.values()) < ASKED_BYTES
