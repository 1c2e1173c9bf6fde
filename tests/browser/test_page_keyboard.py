"""The page without a mouse, for who cannot see it, and in both lights."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest

from bench.page_browser import QUESTION, Watched, view_names
from bench.page_demo import BANK

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""What the light changes; everything else is the same in both."""


def focus(watched: Watched) -> str:
    """The id of what the keyboard is at, or its tag."""
    return str(watched.page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def test_a_slash_asks_from_every_view(watched: Watched, site: Any) -> None:
    watched.open(f"#/{BANK}/ask?q=beach")
    watched.page.keyboard.press("Escape")
    watched.page.keyboard.press("/")
    assert focus(watched) == "question"
    for name in ("facts", "home"):
        watched.open(f"#/{BANK}/{name}")
        watched.page.keyboard.press("/")
        watched.page.wait_for_selector("#question:focus")


def test_j_and_k_walk_through_what_was_recalled_and_enter_opens(watched: Watched, site: Any) -> None:
    watched.open(f"#/{BANK}/ask?q={QUESTION}")
    page = watched.page
    ids = [str(one.get_attribute("id")) for one in page.locator(".fact:visible").all()]
    assert len(ids) > 2
    for pressed, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(pressed)
        assert focus(watched) == ids[place]
    page.keyboard.press("Enter")
    page.locator(".drawer .statement").wait_for()
    first = page.locator(".drawer .statement").inner_text()
    page.keyboard.press("j")
    page.wait_for_function(
        "(text) => document.querySelector('.drawer .statement')?.innerText !== text", arg=first
    )
    watched.settle()
    page.keyboard.press("Escape")
    assert page.locator(".drawer").count() == 0


def test_a_question_mark_lists_the_keys_and_they_correct(watched: Watched, site: Any) -> None:
    page = watched.page
    watched.open(f"#/{BANK}/facts")
    page.keyboard.press("?")
    assert "Correct the row" in page.get_by_role("dialog", name="Keys").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.get_by_role("dialog", name="Correct this fact").wait_for()


def test_a_narrow_page_has_its_seven_entries_below_and_five_facts_above_them(
    watched: Watched, site: Any
) -> None:
    page = watched.page
    page.set_viewport_size({"width": 390, "height": 800})
    watched.open(f"#/{BANK}/facts")
    entries = page.locator(".entries a")
    assert entries.count() == 7
    bar = page.locator(".entries").bounding_box()
    assert bar is not None
    assert bar["y"] + bar["height"] == 800
    boxes = [one.bounding_box() for one in page.locator(".fact").all()[:5]]
    assert all(box is not None and box["y"] + box["height"] <= bar["y"] for box in boxes)


@pytest.mark.parametrize("view", view_names())
def test_a_view_can_be_used_by_everybody(view: str, watched: Watched, site: Any) -> None:
    page = watched.page
    page.add_init_script(AXE)
    watched.open(site.address(watched, BANK, view))
    violations: list[str] = []
    for light, rules in (("light", RULES), ("dark", COLOURS)):
        page.emulate_media(color_scheme=light, reduced_motion="reduce")
        result = page.evaluate(
            "(only) => axe.run(document, {runOnly: only, resultTypes: ['violations']})", rules
        )
        assert any(one["id"] == "color-contrast" for one in result["passes"])
        violations += [
            f"{light}: {one['id']} ({one['impact']}): {node['html'][:160]} {node['failureSummary']}"
            for one in result["violations"]
            for node in one["nodes"][:3]
        ]
    assert violations == []
