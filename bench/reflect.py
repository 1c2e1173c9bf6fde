"""Answers of reflect without a language model, beside the first fact of recall.

    python -m bench.reflect [--data FOLDER] [--limit N] [--foreign N] [--page docs/benchmarks.md]

Every question has a gold answer in the data. A gold answer stands in an answer when at least 60% of its content words, and
all its numbers, do: in the short answer or in one cited sentence; of a list, at least 60% of its parts. "yes" and "no" must
be the short answer itself. What a gold answer adds as an explanation ("; ...", "because ...") is not asked for.

Questions fall into two halves by a hash of their id: the rules of the readers were written with the misses of the first one
in sight, the second one was only counted. A foreign question is put to another conversation's bank with its speakers' names.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from statistics import mean

import snowballstemmer

from bench.ablation import sampled
from bench.evidence_data import exchanged
from bench.page import PAGE, load_now, table, taken, write_section
from perdure.domain.time import parse_instant
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledBank, LabelledQuery, load_banks
from perdure.evaluation.run import bank_database, retain_banks
from perdure.settings import Settings
from perdure.text.terms import fold

CACHE = Path(".bench_cache/reflect")
FILES = ("locomo", "longmemeval_pool", "hotpotqa")
LARGE = 3_000
"""A bank of more items is cut behind the last one that the asked questions need."""
LEAST_SHARE = 0.6
ADVERSARIAL = "adversarial"
HEAD = ("", "questions", "gold in answer or sentences", "in the first fact", "exact", "F1", "F1 of the first fact", "refused")  # fmt: skip
_WORD = re.compile(r"[^\W_]+")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_SMALL = frozenset(
    "a an the of in on at to for with by from and or is was are were be her his their its she he they it before that this as".split()
)
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_EXPLANATION = re.compile(
    r"\s*(?:;|,? because\b|,? since\b|,? due to\b|, (?:she|he|they)\b|\. ).*$", re.IGNORECASE | re.DOTALL
)
_PART = re.compile(r"\s*(?:,(?! ?\d{4})|;|\band\b|/)\s*")
_YES_NO = re.compile(r"(?:likely )?(?P<word>yes|no)\b", re.IGNORECASE)
_stemmer = snowballstemmer.stemmer("english")


@dataclass(frozen=True)
class Scored:
    """How one question came out."""

    type: str
    half: int
    in_text: bool
    in_first: bool
    is_exact: bool
    f1: float
    first_f1: float
    is_refusal: bool
    seconds: float


def words_of(text: str) -> list[str]:
    """Stems of the content words; numbers up to twelve in digits."""
    words = (fold(word) for word in _WORD.findall(_ORDINAL.sub("", text.replace("'s", ""))))
    return [_NUMBERS.get(word) or str(_stemmer.stemWord(word)) for word in words if word not in _SMALL]


def golds(gold: str) -> set[str]:
    """The gold answer as it is, and without its explanation."""
    return {gold, _EXPLANATION.sub("", gold)}


def half_of(query_id: str) -> int:
    """0 or 1, by a hash of the id."""
    return int(blake2b(query_id.encode(), digest_size=4).hexdigest(), 16) % 2


def stands_in(gold: str, answer: str, sentences: Sequence[str]) -> bool:
    """Whether a gold answer stands in the short answer or in the sentences."""
    return any(_stands(variant, answer, sentences) for variant in golds(gold))


def _stands(gold: str, answer: str, sentences: Sequence[str]) -> bool:
    said = _YES_NO.match(gold)
    if said is not None:
        return re.search(rf"\b{said['word']}\b", answer, re.IGNORECASE) is not None
    texts = [set(words_of(text)) for text in (answer, *sentences)]
    parts = [words for part in _PART.split(gold) if (words := words_of(part))]
    stand = [any(_share(words, text) >= LEAST_SHARE for text in texts) for words in parts]
    return bool(parts) and sum(stand) / len(stand) >= LEAST_SHARE


def _share(words: Sequence[str], text: set[str]) -> float:
    if any(word.isdigit() and word not in text for word in words):
        return 0.0
    return sum(word in text for word in words) / len(words)


def token_f1(gold: str, answer: str) -> float:
    """2PR / (P + R) over content words, the better of both forms of the gold answer."""
    return max(_f1(Counter(words_of(variant)), Counter(words_of(answer))) for variant in golds(gold))


def _f1(gold: Counter[str], answer: Counter[str]) -> float:
    same = sum((gold & answer).values())
    return 2.0 * same / (sum(gold.values()) + sum(answer.values())) if same else 0.0


def is_exact(gold: str, answer: str) -> bool:
    """Whether both are the same words."""
    return any(words_of(variant) == words_of(answer) != [] for variant in golds(gold))


def score(engine: Perdure, bank: str, query: LabelledQuery, gold: str) -> Scored:
    """Ask, and compare with the gold answer."""
    started = time.perf_counter()
    reflection = engine.reflect(
        bank, query.text, asked_at=parse_instant(query.date, "date"), track=False, budget="mid"
    )
    seconds = time.perf_counter() - started
    first = next((one.fact.text for one in reflection.recalled.recollections), "")
    answer, sentences = reflection.answer or "", [one.text for one in reflection.sentences]
    return Scored(
        type=query.type,
        half=half_of(query.id),
        in_text=stands_in(gold, answer, sentences),
        in_first=stands_in(gold, "", [first]),
        is_exact=is_exact(gold, answer),
        f1=token_f1(gold, answer),
        first_f1=token_f1(gold, first),
        is_refusal=reflection.is_refusal,
        seconds=seconds,
    )


def cut_bank(bank: LabelledBank, limit: int | None) -> LabelledBank:
    """The first questions of a bank; of a large one only the items up to the last that they need."""
    if limit is None:
        return bank
    queries = bank.queries[:limit]
    if len(bank.items) <= LARGE:
        return replace(bank, queries=queries)
    needed = {item for query in queries for item in query.evidence | query.evidence_sessions}
    last = max(
        place for place, item in enumerate(bank.items) if item.id in needed or (item.session or "") in needed
    )
    return replace(bank, items=bank.items[: last + 1], queries=queries)


def row(label: str, scored: Sequence[Scored]) -> list[str]:
    """The figures of some questions."""

    def share(name: str) -> float:
        return mean(float(getattr(one, name)) for one in scored)

    return [
        label,
        str(len(scored)),
        *(f"{share(name):.0%}" for name in ("in_text", "in_first", "is_exact")),
        *(f"{share(name):.2f}" for name in ("f1", "first_f1")),
        f"{share('is_refusal'):.0%}",
    ]


def rows(scored: Sequence[Scored]) -> list[list[str]]:
    """All questions, then each type in either half."""
    by_type: dict[tuple[str, int], list[Scored]] = defaultdict(list)
    for one in scored:
        by_type[one.type, one.half].append(one)
    answerable = [one for one in scored if one.type != ADVERSARIAL]
    return [
        row("all that have an answer", answerable),
        *(
            row(f"{kind}, {'first' if half == 0 else 'second'} half", by_type[kind, half])
            for kind, half in sorted(by_type)
        ),
    ]


def foreign(banks: Sequence[LabelledBank], count: int) -> Iterable[tuple[str, LabelledQuery]]:
    """Questions, each with the bank that it is put to: all the others in turn."""
    homes = sampled(banks, count)
    for place, home in enumerate(homes):
        for number, query in enumerate(home.queries):
            other = homes[(place + 1 + number % (len(homes) - 1)) % len(homes)]
            yield other.id, exchanged(query, home, other)


def run(path: Path, limit: int | None, most_foreign: int) -> tuple[list[Scored], list[bool]]:
    """Every question of a file, and whether each foreign one was refused."""
    banks = [cut_bank(bank, limit) for bank in load_banks(path)]
    gold = {
        str(query["id"]): str(query.get("answer", ""))
        for bank in json.loads(path.read_text(encoding="utf-8"))
        for query in bank["queries"]
    }
    CACHE.mkdir(parents=True, exist_ok=True)
    settings = Settings()
    with Perdure.open(bank_database(banks, settings, CACHE), settings=settings) as engine:
        retain_banks(engine, banks, lambda *_: None)
        scored = [score(engine, bank.id, query, gold[query.id]) for bank in banks for query in bank.queries]
        strange = list(foreign(banks, most_foreign)) if len(banks) > 1 else []
        refused = [engine.reflect(bank, query.text, track=False).is_refusal for bank, query in strange]
    return scored, refused


def section(path: Path, limit: int | None, most_foreign: int) -> list[str]:
    """A heading, what was refused, and the table of one file."""
    load = load_now()
    scored, refused = run(path, limit, most_foreign)
    own = [one for one in scored if one.type != ADVERSARIAL]
    adversarial = [one for one in scored if one.type == ADVERSARIAL]
    told = [f"Own questions refused: {mean(one.is_refusal for one in own):.1%} of {len(own)}."]
    if adversarial:
        told.append(f"Adversarial refused: {mean(one.is_refusal for one in adversarial):.0%} of {len(adversarial)}.")  # fmt: skip
    if refused:
        told.append(f"Foreign refused: {mean(refused):.0%} of {len(refused)}.")
    told.append(f"{mean(one.seconds for one in scored):.2f} s per question.")
    command = f"python -m bench.reflect{f' --limit {limit}' if limit is not None else ''}"
    return [
        f"### Reflect without a model: {path.stem}",
        "",
        taken(command, load),
        "",
        " ".join(told),
        "",
        *table(HEAD, rows(scored)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with the data files")
    parser.add_argument("--files", nargs="*", default=list(FILES))
    parser.add_argument("--limit", type=int, help="questions per bank")
    parser.add_argument("--foreign", type=int, default=100)
    parser.add_argument("--page", type=Path, default=PAGE)
    chosen = parser.parse_args()
    for name in chosen.files:
        lines = section(chosen.data / f"{name}.json", chosen.limit, chosen.foreign)
        print("\n".join(lines), flush=True)
        write_section(f"reflect-{name}", lines, chosen.page)


if __name__ == "__main__":
    main()
