"""What each event does with memory: what an assistant is told, and what is retained of its sessions."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from perdure import Perdure
from perdure.contrib.assistants.hosts import HOSTS, HookCall, is_words, read_call, shaped
from perdure.contrib.assistants.profile import write_profile
from perdure.contrib.assistants.sessions import Session, digest, open_session, turn_key
from perdure.contrib.assistants.transcripts import Turn, own_words, read_turns
from perdure.domain.item import Item, UpdateMode
from perdure.domain.recall import Precision, RecallResult
from perdure.errors import Conflict, NotFound
from perdure.extending import strip_fenced
from perdure.surfaces.plugins.process import bank_of

PROMPT_TOKENS, START_TOKENS = 600, 800
"""What an assistant is told beside a prompt and at a session's start, at most."""
RECIPE = "fast"
"""The reader reads few candidates; a hook has little time."""
QUERY_CHARACTERS = 2_000
"""Of a longer prompt the beginning and the end are asked about: what is pasted stands between."""
MOST_REPLY = 20_000
"""Characters of an assistant's reply that are retained."""
RESUMED = "resume"
"""The start of a session whose assistant still sees what it was told; after any other one it does not."""
CountedTurn = tuple[Turn, int]
"""A turn, and for the how-manieth time its prompt was asked in the session."""


class AssistantMemory:
    """The memory behind the hooks of all assistants of one user."""

    def __init__(self, engine: Perdure, folder: str) -> None:
        self._engine, self._folder = engine, folder
        self._settings = engine.settings
        self._busy: dict[str, threading.Lock] = {}
        """Document of a session -> held while its file is read, changed and written."""

    def answer(self, request: Mapping[str, object]) -> str:
        """Return what a hook prints for a start or a prompt; empty for nothing."""
        call, bank, at = self._read(request)
        host = HOSTS[call.host]
        with self._session(call) as session:
            if call.event == "session-start":
                return shaped(host.at_start, self._at_start(call, bank, session, at), call.payload)
            text = self._at_prompt(call, bank, session, at)
            if host.starts_with_prompt and not session.began_at:
                text = "\n".join(filter(None, (self._at_start(call, bank, session, at), text)))
            return shaped(host.at_prompt, text, call.payload)

    def retain(self, request: Mapping[str, object]) -> int:
        """Retain what is new in a session; returns how many turns. Doing it again retains nothing."""
        call, bank, at = self._read(request)
        if call.in_subagent:
            return 0
        with self._session(call) as session:
            if request.get("unanswered"):
                self._note_prompt(call, session, at)
                return 0
            retained = self._retain_turns(call, bank, session, at)
        if call.event == "session-end" and retained and not self._engine.settings.consolidate_after:
            self._engine.consolidate(bank)
        return retained

    def bank(self, call: HookCall, named: str) -> str:
        """Return the bank of a call: what its environment names, the setting, or that of the project."""
        return named or self._settings.assistant_bank or bank_of(call.folder)

    def _read(self, request: Mapping[str, object]) -> tuple[HookCall, str, float]:
        payload, marks, at = request.get("payload"), request.get("marks"), request.get("at")
        call = read_call(
            str(request.get("event")),
            str(request.get("host")),
            payload if isinstance(payload, Mapping) else {},
            {str(key): str(value) for key, value in marks.items()} if isinstance(marks, Mapping) else {},
            str(request.get("folder")),
        )
        when = float(at) if isinstance(at, int | float) else self._engine.clock().timestamp()
        return call, self.bank(call, str(request.get("bank") or "")), when

    @contextmanager
    def _session(self, call: HookCall) -> Iterator[Session]:
        with self._busy.setdefault(call.document_id, threading.Lock()):
            session = open_session(self._folder, call.document_id)
            yield session
            session.save()

    def _at_start(self, call: HookCall, bank: str, session: Session, at: float) -> str:
        if call.source == "fork":
            session.forked_at = at
        if call.source != RESUMED:
            session.begin_context(at)
        resumed = call.document_id if call.source == RESUMED else ""
        try:
            profile = write_profile(self._engine, bank, START_TOKENS, without_document=resumed)
        except NotFound:
            return ""
        told = digest(profile.text)
        if told == session.profile:
            return ""
        session.profile = told
        session.shown += [one for one in profile.fact_ids if one not in session.shown]
        return profile.text

    def _note_prompt(self, call: HookCall, session: Session, at: float) -> bool:
        """Keep the prompt for the turn's end; whether it is a new one that a person wrote."""
        words = own_words(call.prompt)
        if not call.is_spoken:
            if words and is_words(words):
                session.skip(words)
            return False
        return bool(words) and session.ask(words, call.turn, at)

    def _at_prompt(self, call: HookCall, bank: str, session: Session, at: float) -> str:
        if not call.prompt and HOSTS[call.host].starts_with_prompt:
            turns = read_turns(call.host, call.transcript)
            call = replace(call, prompt=turns[-1].prompt if turns else "", turn=str(len(turns)))
        if not self._note_prompt(call, session, at):
            return ""
        try:
            result = self._engine.recall(
                bank,
                _query(own_words(call.prompt)),
                precision=Precision.INJECT,
                max_tokens=PROMPT_TOKENS,
                recipe=RECIPE,
                asker=self._settings.assistant_user or None,
            )
        except NotFound:
            return ""
        fresh = _untold(result, session, call.document_id)
        prompt = fresh.fit_prompt()
        session.shown += [one.fact.id for one in fresh.recollections[: prompt.shown]]
        return prompt.text

    def _retain_turns(self, call: HookCall, bank: str, session: Session, at: float) -> int:
        turns = _counted(read_turns(call.host, call.transcript))
        words = own_words(call.prompt)
        if not turns and words != session.prompt and digest(words) != session.ended:
            self._note_prompt(call, session, at)
        turns = _with_last(turns, call, session, at)
        retained = 0
        for turn, count in turns[:-1] if call.event == "pre-compact" else turns:
            key = turn_key(call.document_id, turn.prompt, count)
            if key in session.retained or digest(turn.prompt) in session.skipped:
                continue
            session.retained.append(key)
            if session.forked_at and turn.said_at and turn.said_at.timestamp() < session.forked_at:
                continue
            self._retain_turn(call, bank, turn, key, at)
            retained += 1
        if call.event != "pre-compact" and session.prompt:
            session.end_turn()
        return retained

    def _retain_turn(self, call: HookCall, bank: str, turn: Turn, key: str, at: float) -> None:
        said_at = turn.said_at or datetime.fromtimestamp(at, UTC)
        user = self._settings.assistant_user or "user"
        items = [Item(content=turn.prompt, role="user", speaker=user, timestamp=said_at)]
        reply, replied_at = strip_fenced(turn.reply)[:MOST_REPLY], turn.replied_at or said_at
        if reply.strip():
            items.append(
                Item(content=reply, role="assistant", speaker="assistant", timestamp=max(said_at, replied_at))
            )
        try:
            self._engine.retain_later(
                bank,
                [replace(item, document_id=call.document_id) for item in items],
                update_mode=UpdateMode.APPEND,
                operation_id=f"assistant-{key}",
            )
        except Conflict:
            return  # The turn was retained before, and its file of the session lost.


def _query(prompt: str) -> str:
    if len(prompt) <= QUERY_CHARACTERS:
        return prompt
    half = QUERY_CHARACTERS // 2
    return f"{prompt[:half]}\n{prompt[-half:]}"


def _untold(result: RecallResult, session: Session, document_id: str) -> RecallResult:
    """Return the result without what the assistant was told before, and without what was said in its present context."""
    shown = set(session.shown)
    fresh = [
        one
        for one in result.recollections
        if one.fact.id not in shown
        and not (
            one.fact.document_id == document_id
            and one.fact.mentioned_at is not None
            and one.fact.mentioned_at.timestamp() >= session.began_at
        )
    ]
    numbered = tuple(replace(one, citation=number) for number, one in enumerate(fresh, 1))
    return replace(result, recollections=numbered)


def _counted(turns: Sequence[Turn]) -> list[CountedTurn]:
    asked: Counter[str] = Counter()
    counted = []
    for turn in turns:
        asked[turn.prompt] += 1
        counted.append((turn, asked[turn.prompt]))
    return counted


def _with_last(turns: list[CountedTurn], call: HookCall, session: Session, at: float) -> list[CountedTurn]:
    """Return the turns with the one at hand, which a transcript may not hold yet, or not to its end."""
    pending, count = session.prompt, session.asked.get(digest(session.prompt), 1)
    if pending and sum(turn.prompt == pending for turn, _ in turns) < count:
        said_at = datetime.fromtimestamp(session.prompt_at or at, UTC)
        turns = [*turns, (Turn(prompt=pending, said_at=said_at), count)]
    if turns and call.reply.strip() and call.event != "pre-compact":
        last, count = turns[-1]
        answered = replace(last, reply=call.reply, replied_at=datetime.fromtimestamp(at, UTC))
        turns = [*turns[:-1], (answered, count)]
    return turns
