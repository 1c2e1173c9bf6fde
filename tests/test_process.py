from __future__ import annotations

import gc
import logging
import weakref
from pathlib import Path

import pytest

from perdure.surfaces.process import short_collections, warn_of_readers


class Node:
    """Something that can be part of a cycle."""

    other: Node


def test_what_outlives_a_long_collection_is_set_aside_until_the_end() -> None:
    with short_collections(longer_than=0.0):
        gc.collect()
        assert gc.get_freeze_count() > 1000
    assert gc.get_freeze_count() == 0


def test_short_and_young_collections_set_nothing_aside() -> None:
    with short_collections(longer_than=60.0):
        gc.collect()
        assert gc.get_freeze_count() == 0
    with short_collections(longer_than=0.0):
        gc.collect(1)
        assert gc.get_freeze_count() == 0


def test_garbage_made_later_is_still_collected() -> None:
    with short_collections(longer_than=0.0):
        gc.collect()
        one, two = Node(), Node()
        one.other, two.other = two, one
        seen = weakref.ref(one)
        del one, two
        gc.collect()
        assert seen() is None


def test_a_database_that_others_may_read_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "m.db"
    file.touch(0o600)
    with caplog.at_level(logging.WARNING):
        warn_of_readers(str(file))
        assert not caplog.records
        file.chmod(0o640)
        warn_of_readers(f"sqlite:///{file}")
    assert "chmod 600" in caplog.text
