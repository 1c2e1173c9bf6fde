"""Written conversations: parse the format of `lab/data/README.md` and check it.

python -m lab.conversations FILE...
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LANGUAGES = ("en", "de", "es", "fr")
KINDS = ("assistant", "friends", "family", "work", "coding", "notes", "mail", "document")
MEANINGS = (
    "fact", "begins", "ended", "corrects", "plan", "wish", "unreal", "denied", "past", "temporary",
    "request", "question", "belief", "reported", "none",
)  # fmt: skip
ABOUTS = ("speaker", "listener", "other", "thing", "-")
NAME_TYPES = ("person", "place", "org", "thing")
QUESTION_TYPES = ("fact", "current", "past", "when", "count", "list", "yesno", "request", "who")
EFFECTS = ("ends", "corrects", "same", "adds", "unrelated")

_STATEMENT = re.compile(
    r"(\d+) (=|\d{4}-\d\d-\d\d(?: \d\d:\d\d)?) ([^\s>]+)>([^\s>]+) \{([a-z]+);([a-z-]+)\} (.+)"
)
_QUESTION = re.compile(r'Q (\S+) "(.+)" -> (none|.+?)(?: !([a-z]+))?')
_ANSWER = re.compile(r'(~?)(\d+) "([^"]+)"(?:, *|$)')
_EFFECT = re.compile(r"E (\d+)>(\d+) ([a-z]+)")


class InvalidConversation(ValueError):
    """A line that does not follow the format."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody typed, with its labels."""

    number: int
    date: str
    speaker: str
    listener: str
    meaning: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The words of a statement that answer a question."""

    number: int
    words: str
    is_stale: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question or request with the statements that answer it; none if nothing does."""

    asker: str
    text: str
    type: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a later statement does to an earlier one."""

    later: int
    earlier: int
    effect: str


@dataclass(slots=True)
class Conversation:
    """One conversation of a batch."""

    id: str
    language: str
    kind: str
    about: str
    statements: list[Statement] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)

    def statement(self, number: int) -> Statement:
        """Return a statement by its number."""
        if not 1 <= number <= len(self.statements):
            raise InvalidConversation(f"there is no statement {number}")
        return self.statements[number - 1]


def read_batch(path: Path) -> list[Conversation]:
    """Read the conversations of a file. Raise `InvalidConversation` naming the first line that is wrong."""
    conversations, problems = _parse(path)
    if problems:
        raise InvalidConversation(problems[0])
    return conversations


def _parse(path: Path) -> tuple[list[Conversation], list[str]]:
    conversations: list[Conversation] = []
    problems: list[str] = []
    for line_number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            if line.startswith("@"):
                conversations.append(_begin(line, f"{path.stem}-{len(conversations) + 1:02}"))
            elif not conversations:
                raise InvalidConversation("a conversation begins with a line '@ lang=... | kind=... | ...'")
            else:
                _add(conversations[-1], line.rstrip())
        except InvalidConversation as error:
            problems.append(f"{path.name}:{line_number}: {error}: {line[:100]}")
    for conversation in conversations:
        problems.extend(f"{path.name}: {conversation.id}: {problem}" for problem in _check(conversation))
    return conversations, problems


def _begin(line: str, id: str) -> Conversation:
    parts = [part.strip() for part in line[1:].split("|", 2)]
    if len(parts) != 3 or not parts[0].startswith("lang=") or not parts[1].startswith("kind="):
        raise InvalidConversation("expected '@ lang=CODE | kind=KIND | description'")
    language, kind = parts[0][5:], parts[1][5:]
    _one_of(language, LANGUAGES, "language")
    _one_of(kind, KINDS, "kind")
    return Conversation(id, language, kind, parts[2])


def _add(conversation: Conversation, line: str) -> None:
    if line.startswith("N "):
        for pair in line[2:].split("|"):
            name, _, type = pair.strip().rpartition("=")
            _one_of(type, NAME_TYPES, "type of name")
            conversation.names[name] = type
    elif line.startswith("Q "):
        conversation.questions.append(_question(conversation, line))
    elif line.startswith("E "):
        conversation.effects.append(_effect(conversation, line))
    else:
        conversation.statements.append(_statement(conversation, line))


def _statement(conversation: Conversation, line: str) -> Statement:
    match = _STATEMENT.fullmatch(line)
    if match is None:
        raise InvalidConversation("expected 'NUMBER DATE SPEAKER>LISTENER {MEANING;ABOUT} TEXT'")
    number, date, speaker, listener, meaning, about, text = match.groups()
    if int(number) != len(conversation.statements) + 1:
        raise InvalidConversation(f"expected number {len(conversation.statements) + 1}")
    if date == "=":
        if not conversation.statements:
            raise InvalidConversation("the first statement needs a date")
        date = conversation.statements[-1].date
    elif conversation.statements and date[:10] < conversation.statements[-1].date[:10]:
        raise InvalidConversation("dates never go back")
    _one_of(meaning, MEANINGS, "meaning")
    _one_of(about, ABOUTS, "about")
    return Statement(int(number), date, speaker, listener, meaning, about, text)


def _question(conversation: Conversation, line: str) -> Question:
    match = _QUESTION.fullmatch(line)
    if match is None:
        raise InvalidConversation("""expected 'Q ASKER "QUESTION" -> ANSWERS !TYPE'""")
    asker, text, answers, type = match.groups()
    if answers == "none":
        return Question(asker, text, "none", ())
    _one_of(type or "", QUESTION_TYPES, "type of question")
    if "".join(part.group() for part in _ANSWER.finditer(answers)) != answers:
        raise InvalidConversation("""expected answers as '3 "words", ~1 "words"'""")
    parsed = []
    for stale, number, words in _ANSWER.findall(answers):
        if words not in conversation.statement(int(number)).text:
            raise InvalidConversation(f"{words!r} is not in statement {number}")
        parsed.append(Answer(int(number), words, bool(stale)))
    return Question(asker, text, type, tuple(parsed))


def _effect(conversation: Conversation, line: str) -> Effect:
    match = _EFFECT.fullmatch(line)
    if match is None:
        raise InvalidConversation("expected 'E LATER>EARLIER EFFECT'")
    later, earlier, effect = int(match[1]), int(match[2]), match[3]
    conversation.statement(later), conversation.statement(earlier)
    if later <= earlier:
        raise InvalidConversation("the later statement comes first")
    _one_of(effect, EFFECTS, "effect")
    return Effect(later, earlier, effect)


def _check(conversation: Conversation) -> Iterator[str]:
    text = "\n".join(statement.text for statement in conversation.statements).casefold()
    for name in conversation.names:
        if name.casefold() not in text:
            yield f"name {name!r} occurs in no statement"
    speakers = {statement.speaker for statement in conversation.statements}
    for question in conversation.questions:
        if question.asker != "bot" and question.asker not in speakers:
            yield f"asker {question.asker!r} says nothing"


def _one_of(value: str, allowed: Sequence[str], what: str) -> None:
    if value not in allowed:
        raise InvalidConversation(f"{what} {value!r} is none of {', '.join(allowed)}")


def main() -> int:
    """Check files and print counts; return 1 if a line is wrong."""
    wrong = False
    total: Counter[str] = Counter()
    for path in map(Path, sys.argv[1:]):
        conversations, problems = _parse(path)
        print(*problems, sep="\n")
        wrong |= bool(problems)
        for conversation in conversations:
            total["conversations"] += 1
            total["statements"] += len(conversation.statements)
            total["questions"] += len(conversation.questions)
            total["questions: none"] += sum(not question.answers for question in conversation.questions)
            total["effects"] += len(conversation.effects)
            total.update(f"meaning {statement.meaning}" for statement in conversation.statements)
            total.update(f"effect {effect.effect}" for effect in conversation.effects)
            total.update(f"question {question.type}" for question in conversation.questions)
            total[f"language {conversation.language}"] += 1
    for name, count in sorted(total.items()):
        print(f"{count:6} {name}")
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
