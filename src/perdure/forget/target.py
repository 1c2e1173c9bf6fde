"""What came of an erasure."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.ports.store import Traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What an erasure did."""

    facts: int = 0
    """How many facts went."""
    kept: int = 0
    """Facts that the caller kept, without the name."""
    existed: bool = True
    """False when the target was not there, perhaps because it went before."""
    traces: Traces = Traces.CLEARED
    """PENDING while erased content may still be found in unused parts of the store's files."""
    unembedded: tuple[str, ...] = ()
    """Facts that stay, whose vectors went because they were made from text with erased words: they should be embedded anew."""
    keys_destroyed: bool = False
    """Whether the content was encrypted and its keys are destroyed: traces of its texts are unreadable, wherever they are."""
    pending: tuple[str, ...] = ()
    """What may still be found and until when, a sentence each; nothing when traces are cleared."""
    mentions_left: int | None = None
    """How many texts of the bank still have the name of a forgotten entity, counted afterwards; None when none was forgotten."""
