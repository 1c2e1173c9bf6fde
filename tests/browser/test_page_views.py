"""Every view opens, on real conversation and on planted text, at both widths, without an error and without leaving the server."""

from __future__ import annotations

from typing import Any

import pytest

from bench.page_browser import Watched, view_names, views_of
from bench.page_demo import BANK
from tests.browser.planted import PLANTED_BANK, TEXT

NARROW = 390
THINGS = {"documents", "entity", "fact", "models", "opinions"}
"""Views that show one thing of many; the others may come."""
VIOLATIONS = """window.__violations = [];
addEventListener("securitypolicyviolation", (event) => window.__violations.push(event.violatedDirective));"""


def sideways(watched: Watched) -> list[str]:
    """What reaches over the right edge of the page, when the page can be scrolled sideways."""
    shown: list[str] = watched.page.evaluate(
        """() => {
          const root = document.scrollingElement;
          if (root.scrollWidth <= root.clientWidth) return [];
          return [...document.querySelectorAll("body *")]
            .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
            .map((one) => `${one.tagName}.${one.getAttribute("class")}: ${one.textContent.slice(0, 60)}`);
        }"""
    )
    return shown


def test_the_views_that_are_tested_are_those_that_the_page_has(watched: Watched, site: Any) -> None:
    watched.open(f"#/{BANK}/ask")
    assert [name for name, _ in views_of(watched.page)] == view_names()
    assert len(view_names()) == len(set(view_names()))


@pytest.mark.parametrize("view", view_names())
def test_a_view_opens_and_fits_a_telephone(view: str, watched: Watched, site: Any) -> None:
    watched.open(site.address(watched, BANK, view))
    assert_sound(watched)


def test_one_thing_of_each_list_opens_and_fits_a_telephone(watched: Watched, site: Any) -> None:
    things = site.things(watched, BANK)
    assert set(things) >= THINGS
    for place in things.values():
        watched.open(place)
        assert_sound(watched)
        watched.page.set_viewport_size({"width": 1280, "height": 900})


def assert_sound(watched: Watched) -> None:
    page = watched.page
    assert page.locator("#content h1").count() == 1
    assert page.locator(".wrong").all_text_contents() == []
    assert page.title().endswith("· Perdure")
    assert sideways(watched) == []
    page.set_viewport_size({"width": NARROW, "height": 800})
    watched.settle()
    assert sideways(watched) == []
    assert watched.problems == []
    assert watched.elsewhere() == []


@pytest.mark.parametrize("view", view_names())
def test_planted_text_is_only_ever_text(view: str, watched: Watched, site: Any) -> None:
    watched.page.add_init_script(VIOLATIONS)
    watched.open(site.address(watched, PLANTED_BANK, view))
    assert_only_text(watched)


def test_planted_things_are_only_ever_text(watched: Watched, site: Any) -> None:
    watched.page.add_init_script(VIOLATIONS)
    for place in site.things(watched, PLANTED_BANK).values():
        watched.open(place)
        assert_only_text(watched)
        watched.page.set_viewport_size({"width": 1280, "height": 900})


def assert_only_text(watched: Watched) -> None:
    """Everything on the page opened, nothing ran and nothing burst the layout."""
    watched.page.eval_on_selector_all("#content details", "(all) => all.forEach((one) => (one.open = true))")
    watched.settle()
    assert watched.page.locator("#content > .wrong").all_text_contents() == []
    assert harm(watched) == []
    watched.page.set_viewport_size({"width": NARROW, "height": 800})
    assert sideways(watched) == []


def harm(watched: Watched) -> list[str]:
    """Signs that text became more than text."""
    page = watched.page
    signs = list(watched.problems) + watched.elsewhere()
    signs += [one.url for one in watched.requests if "/planted.png" in one.url]
    signs += [f"ran {mark}" for mark in page.evaluate("[window.__pwned].filter((one) => one !== undefined)")]
    signs += page.evaluate("(window.__violations || []).map((one) => `policy: ${one}`)")
    signs += page.evaluate(
        """() => [
          ...[...document.querySelectorAll("iframe, object, embed, body script, style, base, meta[http-equiv]")].map((one) => one.tagName),
          ...[...document.querySelectorAll("a, area, use, image, form")]
            .flatMap((one) => ["href", "xlink:href", "action", "formaction"].map((name) => one.getAttribute(name) || ""))
            .filter((value) => /^\\s*(javascript|data|vbscript):/i.test(value)),
          ...[...document.querySelectorAll("*")]
            .flatMap((one) => one.getAttributeNames()).filter((name) => /^on/i.test(name) || name === "srcdoc"),
        ]"""
    )
    return signs


def test_the_planted_text_does_harm_where_it_is_taken_for_markup(watched: Watched) -> None:
    page = watched.page
    page.route("**/*", lambda route: route.abort())
    page.set_content(f"<div>{TEXT}</div>")
    page.wait_for_function("window.__pwned !== undefined")
    signs = harm(watched)
    assert any(one.startswith("ran") for one in signs)
    assert any("planted.example" in one for one in signs)
    assert any(one.startswith("javascript:") for one in signs)


def test_the_policy_stops_a_script_that_would_write_markup(watched: Watched, site: Any) -> None:
    watched.open(f"#/{BANK}/ask")
    refused = watched.page.evaluate(
        """() => {
          try { document.body.innerHTML = "<b>x</b>"; return "written"; } catch (error) { return error.name; }
        }"""
    )
    assert refused == "TypeError"


def test_everything_that_is_served_has_the_policy(watched: Watched, site: Any) -> None:
    answers = []
    watched.page.on("response", lambda answer: answers.append(answer))
    watched.open(f"#/{BANK}/ask")
    files = [one for one in answers if "/v1/" not in one.url]
    assert len(files) > 5
    for one in files:
        policy = one.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert one.headers["x-content-type-options"] == "nosniff"
