"""The prompts: Markdown files beside this module, named by their stem, versioned by a hash of their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files

FOLDER = "prompts"
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt; `{{name}}` in its text is replaced by `fill`."""

    name: str
    text: str

    @property
    def version(self) -> str:
        """Return name and hash, stored with the output of the prompt."""
        return f"{self.name}@{blake2b(self.text.encode(), digest_size=4).hexdigest()}"

    def fill(self, **values: str) -> str:
        """Replace every placeholder; raise KeyError for one without a value, or a value without a placeholder."""
        unused = set(values) - set(_PLACEHOLDER.findall(self.text))
        if unused:
            raise KeyError(min(unused))
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


@cache
def load(name: str) -> Prompt:
    return Prompt(name, (files("perdure.llm") / FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def prompt_names() -> list[str]:
    return sorted(
        entry.name.removesuffix(".md")
        for entry in (files("perdure.llm") / FOLDER).iterdir()
        if entry.name.endswith(".md")
    )
