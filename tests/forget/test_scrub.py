"""What erasing a fact takes out of the text around it."""

from __future__ import annotations

from perdure.domain.fact import FORGOTTEN, Chunk, TurnSpan
from perdure.forget.scrub import scrub_chunk, wordings_of

TEXT = "Ann: I moved to Lisbon.\n\nBen: My cat is called Miso."
TURNS = (TurnSpan(start=5, end=23, speaker="Ann"), TurnSpan(start=30, end=52, speaker="Ben"))


def chunk() -> Chunk:
    return Chunk(id="c", bank="b", document_id="d", ordinal=0, text=TEXT, content_hash="h", spans=TURNS)


def turns(scrubbed: Chunk) -> list[tuple[str, str]]:
    return [(span.speaker, scrubbed.text[span.start : span.end]) for span in scrubbed.spans]


def test_turns_move_with_the_text() -> None:
    assert turns(chunk()) == [("Ann", "I moved to Lisbon."), ("Ben", "My cat is called Miso.")]
    left = scrub_chunk(chunk(), wordings_of(["i moved  to lisbon."]))
    assert left.text == f"Ann: {FORGOTTEN}\n\nBen: My cat is called Miso."
    assert turns(left) == [("Ann", FORGOTTEN), ("Ben", "My cat is called Miso.")]


def test_a_wording_over_the_border_of_turns_leaves_no_turns() -> None:
    left = scrub_chunk(chunk(), wordings_of(["to Lisbon. Ben: My cat"]))
    assert left.text == f"Ann: I moved {FORGOTTEN} is called Miso."
    assert left.spans == ()


def test_a_chunk_without_the_wording_is_emptied() -> None:
    left = scrub_chunk(chunk(), wordings_of(["something else"]))
    assert (left.text, left.spans) == (FORGOTTEN, ())
