"""Index terms are the same whoever works beside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from perdure.text import terms as terms_module
from perdure.text.terms import index_terms

ENDINGS = ("ing", "ed", "ation", "fulness", "ously", "ements", "ized")
THREADS = 8


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Threads take turns at nearly every step."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def words(thread: int) -> list[str]:
    """Words that no other thread has, so that none comes from the cache."""
    stems = (
        f"{chr(97 + thread)}{'bcdfglmnprst'[number % 12]}or{'aeiou'[number % 5]}t" for number in range(60)
    )
    return [stem + ending for stem in dict.fromkeys(stems) for ending in ENDINGS]


@pytest.mark.usefixtures("quick_switches")
def test_threads_that_stem_at_once_do_not_get_each_others_terms() -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        together = list(
            threads.map(lambda thread: [index_terms(word) for word in words(thread)], range(THREADS))
        )
    for cached in (terms_module._terms_of, terms_module._stem):
        cached.cache_clear()
    for thread, terms in enumerate(together):
        assert terms == [index_terms(word) for word in words(thread)]
