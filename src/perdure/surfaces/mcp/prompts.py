"""Prompts that a user picks from a menu; what they quote of memory is fenced off as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from perdure.domain.rendering import marked
from perdure.engine import Perdure
from perdure.errors import InvalidInput, NotFound
from perdure.manage.facts import FactListOptions
from perdure.recall.options import PromptOptions
from perdure.surfaces.mcp.tools import DEFAULTS, Tools

RECENT = 30
SEARCH = PromptOptions.read({**DEFAULTS, "precision": "search"})
SESSION = """\
Look back over this conversation and call `retain` for what will matter in later ones:
- facts about me, my people, projects and places; decisions and their reasons; preferences; plans with dates;
- each as full sentences that stand alone, with names and dates instead of "he", "it", "tomorrow";
- what I said as my words, what you found out or did as yours; no guesses, no secrets, no code listings.
Call `recall` first where you are unsure whether it is known. If something remembered turned out wrong, use `correct`.
Then tell me in a few lines what you kept."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: how it is told, and how it is written for a bank."""

    name: str
    title: str
    description: str
    write: Callable[[Perdure, str, str], str]
    argument: tuple[str, str] | None = None
    """Name and description of its one argument, which is required."""

    @property
    def told(self) -> dict[str, object]:
        """The prompt as `prompts/list` tells it."""
        arguments: list[dict[str, object]] = []
        if self.argument is not None:
            name, description = self.argument
            arguments = [{"name": name, "description": description, "required": True}]
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": arguments,
        }


def _about_me(engine: Perdure, bank: str, _: str) -> str:
    tools = Tools(engine)
    asked = tools.recall("What is known about me: who I am, what I do, like and plan?", SEARCH, bank=bank)
    return (
        "Tell me what you remember about me, from the memory below and nothing else: who I am, my people, work, "
        "preferences and plans, then what is open or doubtful. Cite facts as [n]. Say so where memory holds nothing, "
        f"and ask which of it is wrong.\n\n{asked.text}\n\nRemembered last:\n{tools.recent(FactListOptions(limit=RECENT), bank=bank).text}"
    )


def _about(engine: Perdure, bank: str, topic: str) -> str:
    answer = Tools(engine).recall(topic, SEARCH, bank=bank)
    return (
        f"Tell me what you remember about {marked(topic)}, from the memory below and nothing else. Cite facts as [n], "
        f"give dates, and name what is over or contradicts itself.\n\n{answer.text}"
    )


def _session(engine: Perdure, bank: str, _: str) -> str:
    return SESSION


PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt("about_me", "What do you know about me?", "A summary of what memory holds about you", _about_me),
        Prompt(
            "about", "What do you know about ...?", "A summary of what memory holds on a topic", _about,
            ("topic", "A person, project, place or question"),
        ),
        Prompt("remember_session", "Remember the conversation", "Keep what will matter later", _session),
    )
}  # fmt: skip


def read_prompt(name: str, arguments: Mapping[str, str]) -> tuple[Prompt, str]:
    """Return the prompt and its argument; raise if either is wrong."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise NotFound("prompt", name)
    expected = () if prompt.argument is None else prompt.argument[:1]
    for argument in arguments:
        if argument not in expected:
            raise InvalidInput(argument[:80], f"one of: {', '.join(expected) or 'none'}")
    for argument in expected:
        if not arguments.get(argument, "").strip():
            raise InvalidInput(argument, "some text")
    return prompt, arguments[expected[0]] if expected else ""
