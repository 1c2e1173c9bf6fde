"""What was told and retained in each session, a small file each, so that nothing is told or retained twice."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from perdure.contrib.assistants.place import read_object, write_whole

KEPT_SECONDS = 90 * 86400.0
"""A session that nobody touched for so long is forgotten; its memory stays."""
TWICE_SECONDS = 5.0
"""The same prompt within this time is the same one, reported by a second hook of the same host."""


def digest(*parts: str) -> str:
    """32 hex digits that stand for these texts."""
    hashed = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
    return hashed.hexdigest()


@dataclass(slots=True, kw_only=True)
class Session:
    """One session of an assistant."""

    path: str
    shown: list[str] = field(default_factory=list)
    """Ids of facts that the assistant was told since its context began."""
    retained: list[str] = field(default_factory=list)
    """Keys of turns that are retained."""
    skipped: list[str] = field(default_factory=list)
    """Digests of prompts that no person wrote."""
    prompt: str = ""
    """The last prompt, until its turn is retained."""
    prompt_turn: str = ""
    ended: str = ""
    """Digest of the prompt whose turn ended last, until another one is asked."""
    prompt_at: float = 0.0
    asked: dict[str, int] = field(default_factory=dict)
    """Digest of a prompt -> how often it was asked."""
    profile: str = ""
    """Digest of the profile that was told last."""
    began_at: float = 0.0
    """When its context began: the start of the session or its last compaction."""
    forked_at: float = 0.0
    """When it was forked off another one, whose turns stand in its transcript too."""

    def save(self) -> None:
        """Write it down."""
        body = {name: getattr(self, name) for name in self.__slots__ if name != "path"}
        write_whole(self.path, json.dumps(body))

    def begin_context(self, at: float) -> None:
        """Note that what was told before has left the assistant's context."""
        self.shown, self.profile, self.began_at = [], "", at

    def ask(self, prompt: str, turn: str, at: float) -> bool:
        """Note a prompt; False when it is the one that was noted last, reported again."""
        same_text = prompt == self.prompt and bool(prompt)
        if same_text and ((turn and turn == self.prompt_turn) or abs(at - self.prompt_at) < TWICE_SECONDS):
            return False
        self.prompt, self.prompt_turn, self.prompt_at, self.ended = prompt, turn, at, ""
        self.asked[digest(prompt)] = self.asked.get(digest(prompt), 0) + 1
        return True

    def end_turn(self) -> None:
        """Note that the last prompt is answered."""
        self.ended, self.prompt, self.prompt_turn = digest(self.prompt), "", ""

    def skip(self, prompt: str) -> None:
        """Note a prompt that no person wrote."""
        if digest(prompt) not in self.skipped:
            self.skipped.append(digest(prompt))


def turn_key(document_id: str, prompt: str, count: int) -> str:
    """Return the key of a turn: the prompt, and how often it was asked in the session, whichever host's hooks report it."""
    return digest(document_id, prompt, str(count))


def open_session(folder: str, document_id: str) -> Session:
    """Return a session as it was left, or a new one."""
    path = os.path.join(folder, "sessions", f"{digest(document_id)}.json")
    body = read_object(path)
    session = Session(path=path)
    for name in session.__slots__:
        value = body.get(name)
        if name != "path" and isinstance(value, type(getattr(session, name))):
            setattr(session, name, value)
    return session


def drop_old_sessions(folder: str, names: Sequence[str]) -> int:
    """Delete files of sessions that nobody touched for long; returns how many."""
    dropped = 0
    for name in names:
        path = os.path.join(folder, "sessions", name)
        if time.time() - os.stat(path).st_mtime > KEPT_SECONDS:
            os.unlink(path)
            dropped += 1
    return dropped
