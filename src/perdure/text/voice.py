"""Who speaks and to whom, and how their names read in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perdure.ports.extractor import Turn
from perdure.text.wordlist import word_set

_ROLES = word_set(
    "user human assistant ai bot agent system customer client patient doctor student teacher interviewer interviewee "
    "caller operator speaker narrator host guest developer admin moderator employee manager tool model chatbot"
)


@dataclass(frozen=True, slots=True)
class Voice:
    """A speaker's name as it reads inside a sentence ("Caroline", "the user")."""

    name: str

    @property
    def at_start(self) -> str:
        """The name at the start of a sentence."""
        return self.name[:1].upper() + self.name[1:] if self.name.startswith("the ") else self.name

    @property
    def possessive(self) -> str:
        """The name as an owner."""
        return f"{self.name}'s"

    @property
    def is_role(self) -> bool:
        """Return whether it is a role ("the user") and no name."""
        return self.name.startswith("the ")


def voice_of(speaker: str) -> Voice | None:
    """Return the voice of a speaker; None without one."""
    name = " ".join(speaker.split())
    if not name:
        return None
    return Voice(f"the {name.casefold()}") if name.casefold() in _ROLES else Voice(name)


def name_of(speaker: str) -> str:
    """Return the speaker's name; "" for one who is known by a role only."""
    voice = voice_of(speaker)
    return "" if voice is None or voice.is_role else voice.name


def nearest_other(turns: Sequence[Turn], index: int, near: int = 2) -> Turn | None:
    """Return the nearest turn of another speaker, before this one rather than after; None if none is near."""
    around = range(max(index - near, 0), min(index + near + 1, len(turns)))
    by_distance = sorted(around, key=lambda other: (abs(other - index), other))
    return next(
        (turns[at] for at in by_distance if turns[at].is_talk and turns[at].speaker != turns[index].speaker),
        None,
    )


def addressees(turns: Sequence[Turn]) -> list[Voice | None]:
    """For each turn whom "you" means: the other of exactly two speakers, else nobody."""
    speakers = list(dict.fromkeys(turn.speaker for turn in turns if turn.is_talk))
    if len(speakers) != 2:
        return [None] * len(turns)
    other = {speakers[0]: speakers[1], speakers[1]: speakers[0]}
    return [
        voice_of(other[turn.speaker]) if turn.is_talk and turn.speaker in other else None for turn in turns
    ]
