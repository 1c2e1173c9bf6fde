"""Retain messy conversations message by message, ask about them, and report what came up.

    python -m bench.chats [--half seen|unseen] [--recipe default|fast] [--misses] [--json FILE]

`--misses` lists the questions of the seen half that were missed; those of the unseen half are never shown.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from bench.chats.conversation import HALVES, Chat, ChatQuery, read_chats
from bench.truth.replay import SetClock, open_replay
from perdure import Evidence, Filter, Perdure

MESSAGE = "message"
"""Metadata key under which a fact names the message that it was drawn from."""
RECIPES = ("default", "fast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What recall returned for a question."""

    query: ChatQuery
    ranked: Sequence[tuple[str, str, bool]]
    """Message id, text, and whether it is marked as over or retracted, best first."""
    evidence: Evidence
    prompt: str
    milliseconds: float

    @property
    def is_right_first(self) -> bool:
        return bool(self.ranked) and bool(self._values(self.ranked[:1]))

    @property
    def is_right_in_three(self) -> bool:
        return len(self._values(self.ranked[:3])) == len(self.query.expected)

    @property
    def is_stale_above_current(self) -> bool:
        """Whether an outdated value, not marked as such, is ranked above the first right one."""
        for message, text, is_marked in self.ranked:
            if message in self.query.evidence and self.query.values_in(text):
                return False
            if message in self.query.stale and not is_marked:
                return True
        return False

    def _values(self, ranked: Sequence[tuple[str, str, bool]]) -> frozenset[int]:
        of_evidence = (text for message, text, _ in ranked if message in self.query.evidence)
        return frozenset[int]().union(*(self.query.values_in(text) for text in of_evidence))


def retain_chat(memory: Perdure, clock: SetClock, chat: Chat) -> float:
    """Retain every message at the time when it was sent; return the seconds that took."""
    seconds = 0.0
    for message in chat.messages:
        clock.now = message.sent_at
        item = {
            "content": message.text,
            "speaker": message.speaker,
            "role": chat.role_of(message.speaker),
            "timestamp": message.sent_at,
            "document_id": message.session,
            "metadata": {MESSAGE: message.id},
        }
        started = time.perf_counter()
        memory.retain(chat.bank, [item], update_mode="append")
        seconds += time.perf_counter() - started
    return seconds


def ask(memory: Perdure, clock: SetClock, chat: Chat, query: ChatQuery, recipe: str) -> Answer:
    """Ask one question, as a search and as a prompt."""
    clock.now = query.asked_at
    started = time.perf_counter()
    result = memory.recall(chat.bank, query.text, recipe=recipe, asker=chat.asker, limit=10, track=False)
    milliseconds = (time.perf_counter() - started) * 1000
    prompt = memory.prompt(chat.bank, query.text, recipe=recipe, asker=chat.asker, track=False)
    ranked = [
        (
            recollection.fact.metadata.get(MESSAGE, ""),
            recollection.fact.text,
            recollection.fact.valid_to is not None or recollection.replaced_by is not None,
        )
        for recollection in result.recollections
    ]
    return Answer(
        query=query, ranked=ranked, evidence=result.evidence, prompt=prompt, milliseconds=milliseconds
    )


def ask_again(memory: Perdure, clock: SetClock, chat: Chat, recipe: str) -> list[Answer]:
    """Retain the questions that are asked twice as part of a chat, and ask them a second time."""
    repeated = [query for query in chat.queries if query.is_asked_twice]
    latest = max(query.asked_at for query in chat.queries)
    clock.now = latest + timedelta(hours=1)
    for query in repeated:
        item = {
            "content": query.text,
            "speaker": chat.asker,
            "role": chat.role_of(chat.asker),
            "timestamp": clock.now,
            "document_id": f"{recipe}-asked-{query.id}",
            "metadata": {MESSAGE: f"asked-{query.id}"},
        }
        memory.retain(chat.bank, [item], update_mode="append")
    clock.now += timedelta(days=1)
    answers = []
    for query in repeated:
        answers.append(ask(memory, clock, chat, replace(query, asked_at=clock.now), recipe))
    return answers


def count_facts(memory: Perdure, chat: Chat) -> Counter[str]:
    """Count the facts of a conversation: all, those of filler, those with a relation, and false relations."""
    filler = {message.id for message in chat.messages if message.is_filler}
    counts: Counter[str] = Counter()
    for fact in memory.facts.iterate(chat.bank, where=Filter(include_closed=True)):
        counts["facts"] += 1
        counts["filler"] += fact.metadata.get(MESSAGE) in filler
        if fact.relation is not None:
            counts["relations"] += 1
            stated = ((fact.subject or "").casefold(), (fact.object or "").casefold())
            counts["false relations"] += stated not in chat.relations
    return counts


def run_chat(chat: Chat, recipe: str) -> tuple[list[Answer], list[Answer], Counter[str], float]:
    """Fill a fresh memory with one conversation and ask everything about it."""
    with open_replay() as (memory, clock):
        seconds = retain_chat(memory, clock, chat)
        counts = count_facts(memory, chat)
        answers = [ask(memory, clock, chat, query, recipe) for query in chat.queries]
        return answers, ask_again(memory, clock, chat, recipe), counts, seconds


def measure(answers: Sequence[Answer], repeated: Sequence[Answer]) -> dict[str, tuple[int, int]]:
    """Return each figure as (count, out of)."""
    answerable = [answer for answer in answers if answer.query.is_answerable]
    unanswerable = [answer for answer in answers if not answer.query.is_answerable]
    changed = [answer for answer in answerable if answer.query.stale]
    requests = [answer for answer in answerable if answer.query.type == "request"]
    again = [answer for answer in repeated if answer.query.is_answerable]
    again_not = [answer for answer in repeated if not answer.query.is_answerable]

    def share(chosen: Sequence[Answer], *tests: bool) -> tuple[int, int]:
        return sum(tests), len(chosen)

    return {
        "right first": share(answerable, *(answer.is_right_first for answer in answerable)),
        "right within three": share(answerable, *(answer.is_right_in_three for answer in answerable)),
        "stale above current": share(changed, *(answer.is_stale_above_current for answer in changed)),
        "requests: right within three": share(requests, *(answer.is_right_in_three for answer in requests)),
        "answerable: strong": share(answerable, *(a.evidence is Evidence.STRONG for a in answerable)),
        "answerable: empty prompt": share(answerable, *(not answer.prompt for answer in answerable)),
        "unanswerable: strong": share(unanswerable, *(a.evidence is Evidence.STRONG for a in unanswerable)),
        "unanswerable: prompt injected": share(
            unanswerable, *(bool(answer.prompt) for answer in unanswerable)
        ),
        "asked twice: right first": share(again, *(answer.is_right_first for answer in again)),
        "asked twice, unanswerable: strong": share(
            again_not, *(a.evidence is Evidence.STRONG for a in again_not)
        ),
        "asked twice, unanswerable: prompt injected": share(again_not, *(bool(a.prompt) for a in again_not)),
    }


def main() -> None:
    """Run the conversations and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--recipe", choices=RECIPES)
    parser.add_argument("--misses", action="store_true", help="list what was missed in the seen half")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    arguments = parser.parse_args()
    rows: dict[str, dict[str, str]] = {}
    for half in [arguments.half] if arguments.half else HALVES:
        for recipe in [arguments.recipe] if arguments.recipe else RECIPES:
            rows[f"{half} {recipe}"] = _run_half(
                half, recipe, list_misses=arguments.misses and half == "seen"
            )
    print(_table(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _run_half(half: str, recipe: str, *, list_misses: bool) -> dict[str, str]:
    totals: dict[str, list[int]] = {}
    counts: Counter[str] = Counter()
    seconds, messages, times = 0.0, 0, []
    for chat in read_chats(half):
        answers, repeated, chat_counts, chat_seconds = run_chat(chat, recipe)
        counts += chat_counts
        seconds += chat_seconds
        messages += len(chat.messages)
        times += [answer.milliseconds for answer in answers]
        for name, (count, total) in measure(answers, repeated).items():
            sums = totals.setdefault(name, [0, 0])
            sums[0] += count
            sums[1] += total
            if name == "right first":
                print(f"{half} {recipe} {chat.bank}: {count} of {total} right first", file=sys.stderr)
        if list_misses:
            _print_misses(chat, answers)
    figures = {name: f"{count} of {total}" for name, (count, total) in totals.items()}
    figures["facts"] = str(counts["facts"])
    figures["facts of filler"] = f"{counts['filler']} of {counts['facts']}"
    figures["false relations"] = f"{counts['false relations']} of {counts['relations']}"
    figures["messages retained a second"] = f"{messages / seconds:.1f}"
    figures["recall p50, ms"] = f"{sorted(times)[len(times) // 2]:.0f}"
    return figures


def _print_misses(chat: Chat, answers: Sequence[Answer]) -> None:
    for answer in answers:
        if answer.query.is_answerable and not answer.is_right_first:
            first = answer.ranked[0][1] if answer.ranked else "nothing"
            print(f"{chat.bank} {answer.query.id} {answer.query.text!r}: {first[:100]!r}", file=sys.stderr)


def _table(rows: dict[str, dict[str, str]]) -> str:
    names = list(next(iter(rows.values())))
    lines = ["| | " + " | ".join(rows) + " |", "| --- |" + " ---: |" * len(rows)]
    lines += [
        f"| {name} | " + " | ".join(figures[name] for figures in rows.values()) + " |" for name in names
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
