"""What extraction by a language model costs: `python -m bench.llm_cost DATA.json [--turns 1000] [--write]`.

Turns of the data are retained with a model in the process that answers by what the local extractor makes of the turns it is shown, worded
as a model would have to: facts, entities, words of time, and what is replaced. Nothing is learned about quality; calls, prompts,
schemas and the sizes of answers are real, counted in tokens of cl100k. `--write` puts the table into docs/llm-extraction.md.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from perdure.domain.fact import FactType
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledItem, load_banks
from perdure.extract.local import LocalExtractor
from perdure.models.rule_tagger import RuleTagger
from perdure.models.tokens import token_counter
from perdure.ports.extractor import ExtractedFact, Turn
from perdure.ports.llm import Finish, LlmReply, LlmRequest, TokenUsage

PAGE = Path("docs/llm-extraction.md")
BEGIN, END = "<!-- bench.llm_cost -->", "<!-- end -->"
TURN = re.compile(r"^(?P<number>\d+) (?:(?P<speaker>[^\"]*): )?(?P<text>\".*\")$")
MOST_TURNS = 1_000
LONG_TURN = 3
"""Sentences above which a model quotes, as the prompt asks it to."""
PEER_IN, PEER_OUT = 4_300, 1_700
"""Tokens of a retain call as other systems report them."""
PEER_CALLS_A_TURN = 7


@dataclass(slots=True)
class CountingLlm:
    """A model that answers by rules and counts what it is sent and sends, as a provider would bill it."""

    name: str = "bench:rules"
    window: int = 128_000
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    facts: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, request: LlmRequest) -> LlmReply:
        """An answer with a fact for all that the local extractor reads in the shown turns."""
        counter = token_counter()
        facts = list(answered(request.messages[-1].text))
        text = json.dumps({"facts": facts}, ensure_ascii=False, separators=(",", ":"))
        sent = "".join(message.text for message in request.messages) + json.dumps(
            request.schema, separators=(",", ":")
        )
        usage = TokenUsage(counter.count(sent), counter.count(text))
        with self.lock:
            self.calls += 1
            self.tokens_in += usage.input
            self.tokens_out += usage.output
            self.facts += len(facts)
        finish = Finish.STOP if usage.output <= request.max_tokens else Finish.LENGTH
        return LlmReply(text=text, usage=usage, model=self.name, finish=finish)


def answered(shown: str) -> Iterator[dict[str, object]]:
    """Facts in the form of an answer; the first label of memory is replaced by the first of them."""
    lines = [match for line in shown.splitlines() if (match := TURN.match(line))]
    turns = [Turn(text=json.loads(line["text"]), speaker=line["speaker"] or "") for line in lines]
    replaces = "\nMEMORY\n" in shown
    for fact in LocalExtractor(RuleTagger()).extract(turns):
        yield {
            **_answer(fact, turns[fact.turn]),
            **({"changed": ["F1"]} if replaces else {}),
        }
        replaces = False


def _answer(fact: ExtractedFact, turn: Turn) -> dict[str, object]:
    answer: dict[str, object] = {"turn": fact.turn + 1, "text": fact.text}
    if fact.type is FactType.EXPERIENCE:
        answer["type"] = "experience"
    named = [mention for mention in fact.mentions if mention.text.casefold() != turn.speaker.casefold()]
    if named:
        answer["entities"] = [f"{mention.type}:{mention.text}" for mention in named]
    if len(re.findall(r"[.!?](?:\s|$)", turn.text)) > LONG_TURN:
        answer["quote"] = fact.source_text
    when = re.search(
        r"\b(?:yesterday|today|tomorrow|(?:last|next|this) \w+|\w+day)\b", fact.source_text, re.IGNORECASE
    )
    if when:
        answer["when"] = when[0]
    return answer


@dataclass(frozen=True, slots=True)
class Cost:
    """What one way of retaining cost, of so many turns."""

    way: str
    turns: int
    model: CountingLlm

    def row(self) -> str:
        """Calls and tokens per 1,000 turns, and per call."""
        model, share = self.model, 1_000 / self.turns
        calls = max(model.calls, 1)
        return (
            f"| {self.way} | {model.calls * share:,.0f} | {model.tokens_in * share:,.0f} | {model.tokens_out * share:,.0f} "
            f"| {model.tokens_in / calls:,.0f} | {model.tokens_out / calls:,.0f} |"
        )


def cost(way: str, extractor: str, retains: Sequence[Sequence[LabelledItem]]) -> Cost:
    """Retain groups of turns of one session each, with what the extractor asks a model."""
    model = CountingLlm()
    with (
        tempfile.TemporaryDirectory() as folder,
        Perdure.open(
            Path(folder) / "memory.db", llm=model, extractor=extractor, embedder="hashing", reranker="none",
            tagger="rules", refine_after=None,
        ) as memory,
    ):  # fmt: skip
        for turns in retains:
            items = [
                {"content": turn.text, "speaker": turn.speaker, "timestamp": turn.date} for turn in turns
            ]
            memory.retain("bench", items, document_id=turns[0].session or turns[0].id, update_mode="append")
        if extractor == "refine":
            memory.operations.get("bench", memory.documents.refine("bench").id, wait=3_600)
    return Cost(way, sum(len(turns) for turns in retains), model)


def sessions(path: Path, most: int) -> list[list[LabelledItem]]:
    """The first turns of the data, by session."""
    items = [item for bank in load_banks(path) for item in bank.items][:most]
    return [list(group) for _, group in groupby(items, key=lambda item: item.session or item.id)]


def pairs(groups: Sequence[Sequence[LabelledItem]]) -> list[list[LabelledItem]]:
    """Two turns each: an agent that retains after every exchange."""
    return [list(group[i : i + 2]) for group in groups for i in range(0, len(group), 2)]


def table(path: Path, most: int) -> list[str]:
    """The costs of each way, beside what other systems report."""
    groups = sessions(path, most)
    exchanges = pairs(groups)
    costs = [
        cost("`llm`, a session per retain", "llm", groups),
        cost("`llm`, two turns per retain", "llm", exchanges),
        cost("`refine`, however it is retained", "refine", groups),
    ]
    turns = sum(len(group) for group in groups)
    characters = sum(len(item.text) for group in groups for item in group) / turns
    calls = costs[0].model.calls * 1_000 / turns
    peers = [
        f"| others, as reported, a call per 3,000 characters | {calls:,.0f} | {calls * PEER_IN:,.0f} | {calls * PEER_OUT:,.0f} | {PEER_IN:,} | {PEER_OUT:,} |",
        f"| others, as reported, from {PEER_CALLS_A_TURN} calls a turn | {PEER_CALLS_A_TURN * 1_000:,} | | | | |",
    ]
    return [
        f"`python -m bench.llm_cost {path.name}`: {turns:,} turns of {characters:.0f} characters, {len(groups)} sessions; cl100k tokens, prompt and schema included; "
        f"the answers have {costs[0].model.facts / turns:.1f} facts a turn.",
        "",
        "| per 1,000 turns | calls | tokens in | tokens out | in per call | out per call |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(one.row() for one in costs),
        *peers,
    ]


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--turns", type=int, default=MOST_TURNS)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = table(options.data, options.turns)
    print("\n".join(lines))
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
