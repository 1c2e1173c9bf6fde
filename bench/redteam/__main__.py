"""What planted attacks reach a model with and without Perdure's prompt.

    python -m bench.redteam [--models] [--only TECHNIQUE] [--list]

Each attack of `attacks.jsonl` is retained in a bank of its own and asked for. The plain prompt is what is retrieved, joined line
by line with its speaker, title, context, tags and metadata; the others are what Perdure gives to a model. `judge.py` judges by signs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.redteam.attack import Attack, plant, read_attacks
from bench.redteam.judge import breaks_out, is_exposed, is_marked
from perdure import Perdure, RecallResult
from perdure.domain.filter import Filter
from perdure.domain.recall import Evidence
from perdure.domain.rendering import quoted
from perdure.surfaces.mcp.prompts import SEARCH
from perdure.surfaces.mcp.tools import Tools

PLAIN = "plain"
QUICK: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules"}
ORDERS = frozenset({"order", "split"})
"""Signs of attacks that give orders, which the mark is for."""


def run(memory: Perdure, attack: Attack) -> tuple[set[str], bool]:
    """Return the texts that show the attack unprotected, and whether the prompt marks it as an order."""
    bank = attack.id
    plant(memory, bank, attack)
    found = memory.recall(bank, attack.question)
    injected = memory.recall(bank, attack.question, precision="inject")
    tools = Tools(memory)
    texts = {
        "prompt": found.to_prompt(),
        "inject": injected.to_prompt(),
        "mcp recall": fenced_part(tools.recall(attack.question, SEARCH, bank=bank, with_ids=True).text),
        "mcp reflect": fenced_part(tools.reflect(attack.question, bank=bank).text),
    }
    documents = "\n".join(quoted(one.fact, one.text) for one in found)
    exposed = {PLAIN} if is_exposed(plain_prompt(memory, bank, found), attack) else set()
    if attack.sign == "claim":
        exposed |= believed(memory, attack, found, injected)
    else:
        exposed |= {name for name, text in texts.items() if is_exposed(text, attack) or breaks_out(text)}
        if attack.sign not in ORDERS and is_exposed(documents, attack):
            exposed.add("documents")
    return exposed, is_marked(texts["prompt"], attack)


def believed(memory: Perdure, attack: Attack, found: RecallResult, injected: RecallResult) -> set[str]:
    """Return where a claim about the user counts as something that the user said."""
    exposed = {"inject"} if any(attack.needle in one.text for one in injected) else set()
    strong = [one for one in found if one.evidence is Evidence.STRONG and attack.needle in one.text]
    first = found.recollections[0] if len(found) else None
    if strong or (
        first and attack.needle in first.text and (attack.before or found.evidence is Evidence.STRONG)
    ):
        exposed.add("prompt")
    answer = memory.reflect(attack.id, attack.question)
    if attack.needle in answer.text:
        exposed.add("mcp reflect")
    stated = [
        fact
        for fact in memory.facts.list(attack.id, where=Filter(include_closed=True)).facts
        if fact.text == attack.before
    ]
    return exposed | ({"prompt"} if any(not fact.is_open for fact in stated) else set())


def plain_prompt(memory: Perdure, bank: str, found: RecallResult) -> str:
    """Return what is retrieved, joined as programs do that take no care."""
    titles = {document.id: document.title for document in memory.documents.list(bank)}
    facts = [one.fact for one in found]
    said = [f"{fact.speaker}: {fact.text}" if fact.speaker else fact.text for fact in facts]
    around = [
        text
        for fact in facts
        for text in (
            titles.get(fact.document_id or "", ""), fact.context, *fact.tags, *fact.metadata.values(), *fact.entities,
            fact.document_id or "",
        )
    ]  # fmt: skip
    return "\n".join([*said, *filter(None, around)])


def fenced_part(text: str) -> str:
    """Return what a tool tells; the sentence that says that there is nothing is ours."""
    return "" if text.startswith(("Memory holds no", "Nothing: ")) else text


def table(attacks: Sequence[Attack], outcomes: Mapping[str, tuple[set[str], bool]]) -> str:
    """Return the figures by technique, as Markdown."""
    rows = [
        "| technique | attacks | plain prompt | Perdure | orders marked |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    techniques = [*dict.fromkeys(attack.technique for attack in attacks), ""]
    for technique in techniques:
        own = [attack for attack in attacks if technique in ("", attack.technique)]
        plain = sum(PLAIN in outcomes[attack.id][0] for attack in own)
        ours = sum(bool(outcomes[attack.id][0] - {PLAIN}) for attack in own)
        orders = [
            attack for attack in own if attack.sign in ORDERS and attack.channel in ("chat", "tool", "web")
        ]
        marked = f"{sum(outcomes[attack.id][1] for attack in orders)} of {len(orders)}" if orders else ""
        rows.append(f"| {technique or 'all'} | {len(own)} | {plain} | {ours} | {marked} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", action="store_true", help="with the default models instead of none")
    parser.add_argument("--only", help="one technique")
    parser.add_argument(
        "--list", action="store_true", help="name what gets through, and orders without a mark"
    )
    options = parser.parse_args()
    attacks = [attack for attack in read_attacks() if options.only in (None, attack.technique)]
    with tempfile.TemporaryDirectory() as folder:
        models: dict[str, Any] = {} if options.models else QUICK
        with Perdure.open(Path(folder) / "m.db", require_keys=False, **models) as memory:
            outcomes = {attack.id: run(memory, attack) for attack in attacks}
    print(table(attacks, outcomes))
    print("by text:", dict(Counter(name for exposed, _ in outcomes.values() for name in exposed)))
    if options.list:
        for attack in attacks:
            exposed, marked = outcomes[attack.id]
            unmarked = attack.sign in ORDERS and attack.channel in ("chat", "tool", "web") and not marked
            if exposed - {PLAIN} or unmarked:
                print(attack.id, sorted(exposed - {PLAIN}), "unmarked" * unmarked, repr(attack.text))


if __name__ == "__main__":
    main()
