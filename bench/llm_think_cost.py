"""What consolidation with a language model costs: calls and tokens per 1,000 turns.

    python -m bench.llm_think_cost DATA.json [--every 100] [--bank ID]

A conversation is retained with the local extractor and consolidated every so many turns. The model is scripted: it makes a sentence of every
two facts of a profile until it has eight, then updates them, and labels one pair of fact and belief in five: about as many words as a model that
uses what it is given would write.
Tokens are counted by cl100k over everything that is sent, the schema included, and everything that comes back.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from pathlib import Path

from perdure.engine import Perdure
from perdure.evaluation.data import load_banks
from perdure.models.tokens import token_counter
from perdure.ports.llm import LlmReply, LlmRequest, TokenUsage

BANK = "b"
SENTENCES = 8
"""Of a profile, as the prompt asks for."""
PEERS = (12_000, 4_700)
"""Tokens in and out of a consolidation call that peers report."""
_FACT = re.compile(r"^\[(F\d+)\] (.*)$")


class CountingModel:
    """Answers consolidation by rule and counts tokens as a provider would."""

    name = "scripted:counting"
    window = 32_000

    def __init__(self) -> None:
        self._count = token_counter("cl100k").count
        self.calls: Counter[str] = Counter()
        self.input: Counter[str] = Counter()
        self.output: Counter[str] = Counter()

    def complete(self, request: LlmRequest) -> LlmReply:
        """A reply to whichever of the prompts it is."""
        shown = request.messages[-1].text
        if "\nBeliefs\n" in shown:
            kind, answer = "opinions", _labels(shown)
        else:
            kind, answer = "observations", _sentences(shown)
        text = json.dumps(answer, ensure_ascii=False)
        sent = "\n".join(message.text for message in request.messages) + json.dumps(request.schema or {})
        usage = TokenUsage(self._count(sent), self._count(text))
        self.calls[kind] += 1
        self.input[kind] += usage.input
        self.output[kind] += usage.output
        return LlmReply(text=text, usage=usage, model=self.name)


def _sentences(shown: str) -> dict[str, object]:
    """A sentence of every two facts, at most `SENTENCES`."""
    facts = [
        (match[1], re.sub(r" [\[(⚠].*$", "", match[2]))
        for match in map(_FACT.match, shown.splitlines())
        if match
    ]
    groups = [facts[place : place + 2] for place in range(0, len(facts), 2)][:SENTENCES]
    return {"sentences": [{"text": own[0][1], "sources": [handle for handle, _ in own]} for own in groups]}


def _labels(shown: str) -> dict[str, object]:
    labels = []
    for line in shown.split("\nFacts\n")[1].splitlines():
        match = re.match(r"\[(F\d+)\].* → (.*)$", line)
        if match is not None:
            labels += [
                {"fact": match[1], "belief": one, "label": "supporting"} for one in match[2].split(", ")
            ]
    return {"labels": labels[::5]}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--bank")
    options = parser.parse_args()
    bank = next(one for one in load_banks(options.data) if options.bank in (None, one.id))
    model = CountingModel()
    with tempfile.TemporaryDirectory() as folder, Perdure.open(
        Path(folder) / "m.db", embedder="hashing", reranker="none", llm=model
    ) as memory:  # fmt: skip
        told: Counter[str] = Counter()
        for start in range(0, len(bank.items), options.every):
            for item in bank.items[start : start + options.every]:
                message = {"role": "user", "speaker": item.speaker, "content": item.text}
                memory.retain(BANK, [message], timestamp=item.date)
            operation = memory.operations.get(BANK, memory.consolidate(BANK).id, wait=7200)
            if operation.error is not None:
                raise SystemExit(operation.error)
            told += Counter(
                {name: value for name, value in (operation.result or {}).items() if isinstance(value, int)}
            )
        facts, profiles = memory.banks.stats(BANK).facts, len(memory.observations.list(BANK))
    turns = len(bank.items)
    print(
        f"{bank.id}: {turns} turns, {facts} facts, {profiles} profiles, consolidated every {options.every} turns"
    )
    print("| what | calls per 1,000 turns | tokens in | tokens out | in per call | out per call |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind in (*model.calls, "all"):
        calls = model.calls.total() if kind == "all" else model.calls[kind]
        sent = model.input.total() if kind == "all" else model.input[kind]
        received = model.output.total() if kind == "all" else model.output[kind]
        per = 1000 / turns
        print(
            f"| {kind} | {calls * per:.0f} | {sent * per:,.0f} | {received * per:,.0f} | {sent / calls:,.0f} | {received / calls:,.0f} |"
        )
    print(f"peers report {PEERS[0]:,} in and {PEERS[1]:,} out a consolidation call")
    print(dict(told))


if __name__ == "__main__":
    main()
