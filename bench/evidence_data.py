"""Labelled questions for evidence, asked and kept with the signals of their recalls, so that fitting needs no model.

| set | questions | unanswerable |
| --- | --- | --- |
| `locomo` | of two people's conversations | the same of another conversation, with the speakers' names exchanged |
| `longmemeval_pool` | of a user, in the first person | the same, with every session that holds a part of the answer left out |
| `chats` | the seen half of `bench/chats`, after all messages | their own |
| `written` | the development conversations of `lab/data/written`, which the reader is not trained on | their own |

Each question belongs to a half: it is fitted on one and reported on the other. Conversations are halved whole; questions of the one bank
of LongMemEval by a hash of their id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bench.chats.__main__ import MESSAGE, retain_chat
from bench.chats.conversation import read_chats
from bench.truth.replay import open_replay
from lab.scenes import DEV
from lab.sources import written_scenes
from perdure import Filter, Perdure, RecallResult
from perdure.domain.recall import FactSignals, QuestionSignals
from perdure.domain.time import parse_instant
from perdure.evaluation.data import LabelledBank, LabelledQuery, load_banks
from perdure.evaluation.run import ITEM_KEY, bank_database, retain_banks
from perdure.settings import Settings

RECIPES = ("default", "fast")
MAX_TOKENS = 8192
MOST = 500
"""Questions of a data file."""
NEAR = 2
"""Turns: who asks "Why Tilly?" is helped by the turn that tells of Tilly as by the next one that tells why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    """A question that was asked: its signals, and which candidates are of a turn that helps."""

    set: str
    group: str
    """Conversation or language."""
    id: str
    kind: str
    person: str
    recipe: str
    fitted: bool
    """Whether it is of the half that is fitted on."""
    answerable: bool
    signals: QuestionSignals
    answers: tuple[bool, ...]
    """Whether each candidate is of a turn that is labelled as the answer."""
    helps: tuple[bool, ...]
    """Whether it is of such a turn, or of the same exchange: at most NEAR turns away in the same session."""
    level: str
    tokens: tuple[int, ...]

    @property
    def right_first(self) -> bool:
        """Whether the first fact helps."""
        return bool(self.helps) and self.helps[0]

    @property
    def right_in_three(self) -> bool:
        """Whether one of the first three facts helps."""
        return any(self.helps[:3])

    @property
    def answers_first(self) -> bool:
        """Whether the first fact is of a turn that is labelled as the answer."""
        return bool(self.answers) and self.answers[0]


def is_fitted(name: str) -> bool:
    """The half of a name, by its hash."""
    return blake2b(name.encode(), digest_size=4).digest()[0] % 2 == 0


def halves(names: Sequence[str]) -> dict[str, bool]:
    """Which of a few names are fitted on: half of them, in the order of their hashes."""
    ordered = sorted(names, key=lambda name: blake2b(name.encode(), digest_size=8).digest())
    return {name: place % 2 == 0 for place, name in enumerate(ordered)}


def judged(
    result: RecallResult, evidence: Iterable[str], key: str, near: Iterable[str] = (), **fields: Any
) -> JudgedQuestion:
    """What a recall with `explain` gave."""
    answering = frozenset(evidence)
    helping = answering.union(near)
    recalled = [*((one.fact, one.tokens) for one in result)]
    recalled += [(one.fact, 0) for one in result.cut if one.fact is not None]
    signals = result.signals or QuestionSignals(facts=())
    judged_facts = recalled[: len(signals.facts)]
    return JudgedQuestion(
        signals=signals,
        answers=tuple(fact.metadata.get(key, "") in answering for fact, _ in judged_facts),
        helps=tuple(fact.metadata.get(key, "") in helping for fact, _ in judged_facts),
        level=result.evidence.value,
        tokens=tuple(tokens for _, tokens in judged_facts),
        **fields,
    )


def ask_banks(path: Path, cache: Path, most: int) -> Iterator[JudgedQuestion]:
    """Questions of a data file in the order of their hashes, of their own bank and every other one of a bank without an answer."""
    banks, settings = load_banks(path), Settings()
    with Perdure.open(bank_database(banks, settings, cache), settings=settings) as memory:
        retain_banks(memory, banks, lambda *_: None)
        half_of = halves([bank.id for bank in banks])
        asked = sorted(((bank, query) for bank in banks for query in bank.queries), key=_shuffled)
        for number, (bank, query) in enumerate(asked[:most]):
            fields: dict[str, Any] = {
                "set": path.stem, "group": bank.id, "id": query.id,
                "fitted": half_of[bank.id] if len(banks) > 1 else is_fitted(query.id),
                "person": "first" if len(banks) == 1 else "third",
            }  # fmt: skip
            near = exchange(bank, query.evidence)
            yield from _ask(memory, bank.id, query, kind=query.type, answerable=True, near=near, **fields)
            if query.type == "adversarial" or (number % 2 and len(banks) > 1):
                continue
            unanswered = replace(query, evidence=frozenset())
            if len(banks) > 1:
                other = _other_bank(banks, bank, number, half_of)
                foreign = exchanged(unanswered, bank, other)
                yield from _ask(memory, other.id, foreign, kind="foreign", answerable=False, **fields)
            else:
                sessions = frozenset(item.session or item.id for item in bank.items)
                left = Filter(document_ids=sessions - query.evidence_sessions)
                yield from _ask(
                    memory, bank.id, unanswered, left, kind="left out", answerable=False, **fields
                )


def exchange(bank: LabelledBank, evidence: Iterable[str]) -> set[str]:
    """The turns of the same session at most NEAR away from the evidence."""
    place_of = {item.id: place for place, item in enumerate(bank.items)}
    return {
        bank.items[place].id
        for turn in evidence
        if turn in place_of
        for place in range(max(0, place_of[turn] - NEAR), min(len(bank.items), place_of[turn] + NEAR + 1))
        if bank.items[place].session == bank.items[place_of[turn]].session
    }


def _shuffled(asked: tuple[LabelledBank, LabelledQuery]) -> bytes:
    return blake2b(f"{asked[0].id} {asked[1].id}".encode(), digest_size=8).digest()


def _ask(
    memory: Perdure,
    bank: str,
    query: LabelledQuery,
    where: Filter | None = None,
    near: Iterable[str] = (),
    **fields: Any,
) -> Iterator[JudgedQuestion]:
    for recipe in RECIPES:
        result = memory.recall(
            bank, query.text, recipe=recipe, where=where, asked_at=parse_instant(query.date, "date"),
            max_tokens=MAX_TOKENS, explain=True, track=False,
        )  # fmt: skip
        yield judged(result, query.evidence, ITEM_KEY, near, recipe=recipe, **fields)


def _other_bank(
    banks: Sequence[LabelledBank], home: LabelledBank, number: int, half_of: dict[str, bool]
) -> LabelledBank:
    """Another bank of the same half, so that no conversation is in both."""
    same = [bank for bank in banks if half_of[bank.id] == half_of[home.id] and bank is not home]
    return same[number // 2 % len(same)]


def exchanged(query: LabelledQuery, home: LabelledBank, other: LabelledBank) -> LabelledQuery:
    """The question as if it were about the speakers of another bank."""
    text = query.text
    for name, instead in zip(speakers(home), speakers(other), strict=False):
        text = text.replace(name, instead)
    return replace(query, text=text)


def speakers(bank: LabelledBank) -> list[str]:
    """Who speaks in a bank, in order of name."""
    return sorted({item.speaker for item in bank.items if item.speaker})


def ask_chats() -> Iterator[JudgedQuestion]:
    """The seen chats; two are fitted on."""
    chats = read_chats("seen")
    half_of = halves([chat.bank for chat in chats])
    for chat in chats:
        with open_replay() as (memory, clock):
            retain_chat(memory, clock, chat)
            for query in chat.queries:
                clock.now = query.asked_at
                for recipe in RECIPES:
                    result = memory.recall(
                        chat.bank, query.text, recipe=recipe, asker=chat.asker, explain=True, track=False,
                        max_tokens=MAX_TOKENS,
                    )  # fmt: skip
                    yield judged(
                        result, query.evidence, MESSAGE, set="chats", group=chat.bank, id=query.id, recipe=recipe,
                        kind=query.type, person="first", fitted=half_of[chat.bank], answerable=query.is_answerable,
                    )  # fmt: skip


def ask_written() -> Iterator[JudgedQuestion]:
    """The development conversations of the lab, each question by its asker."""
    scenes = [scene for scene in written_scenes() if scene.split == DEV]
    half_of = halves([scene.id for scene in scenes])
    for scene in scenes:
        with open_replay() as (memory, clock):
            items = [
                {
                    "content": said.text, "speaker": said.speaker, "timestamp": said.date, "document_id": said.date[:10],
                    "role": "assistant" if said.speaker == "bot" else "user", "metadata": {MESSAGE: str(index)},
                }
                for index, said in enumerate(scene.statements)
            ]  # fmt: skip
            clock.now = datetime.fromisoformat(scene.statements[-1].date).replace(tzinfo=UTC) + timedelta(
                days=3
            )
            memory.retain(scene.id, items)
            for number, asked in enumerate(scene.questions):
                current = [str(answer.index) for answer in asked.answers if not answer.is_stale]
                for recipe in RECIPES:
                    result = memory.recall(
                        scene.id, asked.text, recipe=recipe, asker=asked.asker or None, explain=True, track=False,
                        max_tokens=MAX_TOKENS,
                    )  # fmt: skip
                    yield judged(
                        result, current, MESSAGE, set="written", group=scene.id, id=str(number), recipe=recipe,
                        kind=asked.type, person="first" if asked.asker else "third", fitted=half_of[scene.id],
                        answerable=bool(asked.answers),
                    )  # fmt: skip


def gather(data: Sequence[Path], cache: Path, most: int, again: bool) -> list[JudgedQuestion]:
    """Every judged question, from the cache where it has been asked."""
    cache.mkdir(parents=True, exist_ok=True)
    sources: dict[str, Callable[[], Iterator[JudgedQuestion]]] = {
        path.stem: partial(ask_banks, path, cache, most) for path in data
    }
    sources |= {"chats": ask_chats, "written": ask_written}
    questions: list[JudgedQuestion] = []
    for name, ask in sources.items():
        kept = cache / f"evidence-{name}.jsonl"
        if again or not kept.exists():
            begun = kept.with_suffix(".part")
            with begun.open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(asdict(question)) + "\n" for question in ask())
            begun.rename(kept)
        with kept.open(encoding="utf-8") as lines:
            questions += map(read_question, lines)
    return questions


def read_question(line: str) -> JudgedQuestion:
    """A judged question from its line."""
    raw = json.loads(line)
    signals = raw.pop("signals")
    facts = tuple(FactSignals(**fact) for fact in signals.pop("facts"))
    for name in ("answers", "helps", "tokens"):
        raw[name] = tuple(raw[name])
    return JudgedQuestion(signals=QuestionSignals(facts=facts, **signals), **raw)
