"""The page of a memory that asks a language model: what calls came to, and how an answer came about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.page_browser import Watched, address
from bench.page_demo import served
from tests.reflect.loop_kit import call, done
from tests.support.rest_server import open_quick
from tests.support.scripted_llm import ScriptedLlm

BANK = "home"


def test_costs_and_the_trace_show_what_a_language_model_read_and_wrote(
    watch: Callable[..., Watched], tmp_path: Path
) -> None:
    llm = ScriptedLlm([call("recall", query="home"), done(("Ann lives in Lisbon.", ["F1"]))])
    with open_quick(tmp_path, llm=llm) as engine, served(engine) as url:
        engine.retain(BANK, "I live in Lisbon.", speaker="Ann")
        watched = watch(url)
        page = watched.page
        watched.open(f"{address(BANK, 'ask')}?q=Where+does+Ann+live")
        page.get_by_role("button", name="Answer in sentences").click()
        page.get_by_text("Ann lives in Lisbon.").first.wait_for()
        page.get_by_text("How this answer was made").click()
        heads = page.locator("section[aria-label=Answer] th").all_inner_texts()
        assert {"tokens in", "tokens out"} <= set(heads)
        assert page.get_by_text("200 tokens in, 20 out").count() == 1
        watched.open(address(BANK, "costs"))
        figures = page.locator(".figure").all_inner_texts()
        assert any("Calls" in one and "2" in one for one in figures)
        assert any("Tokens" in one and "220" in one for one in figures)
        assert page.get_by_role("rowheader", name="reflect").count() == 1
        assert watched.problems == []
        assert watched.elsewhere() == []
