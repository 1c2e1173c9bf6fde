"""The options of a recall, declared once for every surface, and the request that the pipeline works on."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Self

from perdure.domain.bank import check_bank_id
from perdure.domain.filter import Conditions
from perdure.domain.options import NOT_MCP, PROGRAMS, Moment, option
from perdure.domain.recall import Budget, Precision
from perdure.domain.time import parse_utc
from perdure.errors import InvalidInput
from perdure.recall.option_groups import Hints, Include, MinScores
from perdure.recall.recipe import Recipe

MAX_QUERY_CHARACTERS = 20_000
_ASKED = re.compile(
    r"(?i)\b(?:ask(?:ed|ing)?|questions?|want(?:ed)? to know|frag(?:e|en|te)|gefragt|wissen wollte|pregunt\w+|demandée?s?)\b"
)
"""Words of a question about what was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions(Conditions):
    """Options of a recall."""

    budget: Budget = option(Budget.MID, "Search depth: low, mid or high.", on=NOT_MCP)
    max_tokens: int = option(4096, "Tokens of fact text to return.", at_least=0, flag="-t")
    limit: int | None = option(None, "Number of facts to return at most.", at_least=1, on=NOT_MCP, flag="-n")
    asked_at: datetime | None = option(
        None, "When the question is asked, now by default; \"last week\" counts from there.",
        also="query_timestamp", on=NOT_MCP, read=parse_utc, accepts=Moment,
    )  # fmt: skip
    asker: str | None = option(
        None, 'Whom "I" and "my" mean: a name, or user; the bank\'s user by default.', at_least=1
    )
    hints: Hints = option(Hints(), "What is known about the question.", on=NOT_MCP)
    include: Include = option(Include(), "What to return in addition to the facts.", on=NOT_MCP)
    min_scores: MinScores = option(MinScores(), "Lowest scores of results.", on=PROGRAMS)
    recipe: str | Recipe | None = option(
        None, "How to rank: default, tempr, memoria, abmind or fast.", on=NOT_MCP
    )
    precision: Precision = option(
        Precision.SEARCH, "search returns all that may help; inject only what probably helps, or nothing."
    )
    explain: bool = option(
        False, "Return channels, ranks, scores and what was left out.", on=NOT_MCP, flag="-x"
    )
    track: bool = option(True, "Count the recall in the facts' statistics.", on=NOT_MCP)
    channel_timeout: float | None = option(
        None, "Seconds after which a channel is left out and named in the result.", on=PROGRAMS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions(RecallOptions):
    """Options of a recall whose facts are put into a prompt."""

    precision: Precision = option(
        Precision.INJECT, "inject returns only what probably helps, or nothing; search all that may help."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest(RecallOptions):
    """One recall: its options with bank, question and the recipe itself."""

    bank: str
    query: str
    recipe: Recipe

    @classmethod
    def of(cls, bank: str, query: str, options: RecallOptions, recipe: Recipe) -> Self:
        """Return the request of a recall."""
        values = {one.name: getattr(options, one.name) for one in fields(RecallOptions)}
        return cls(bank=bank, query=query, **{**values, "recipe": recipe})

    def _complete(self) -> None:
        Conditions._complete(self)
        check_bank_id(self.bank)
        if not isinstance(self.query, str) or not self.query.strip():
            raise InvalidInput("query", "non-empty text", self.query)
        if len(self.query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput("query", f"at most {MAX_QUERY_CHARACTERS} characters", len(self.query))
        if not isinstance(self.recipe, Recipe):
            raise InvalidInput("recipe", "a Recipe", self.recipe)


def wants_questions(request: RecallRequest) -> bool:
    """Return whether questions that were put to the agent are results: when they are included, or asked about."""
    return request.include.questions or _ASKED.search(request.query) is not None
