"""placeholder"""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2b

from perdure.text.terms import fold

_ARTICLES = frozenset("a an the of in on at to for with by from and or is was are were be her his their its she he they it before that this as".split())
_WORD = re.compile(r"[^\W_]+")
_EXPLANATION = re.compile(r"\s*(?:;|,? because\b|,? since\b|,? due to\b|, (?:she|he|they)\b|\. ).*$", re.IGNORECASE | re.DOTALL)
_NUMBERS = {word: str(number) for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
_MONTHS = {}


def words_of(text: str) -> list[str]:
    from perdure.text.terms import _stem
    words = [fold(word) for word in _WORD.findall(re.sub(r"(\d)(st|nd|rd|th)\b", r"\1", text.replace("'s", "")))]
    return [_NUMBERS.get(w, _stem(w)) for w in words if w not in _ARTICLES]


def half_of(query_id: str) -> int:
    return int(blake2b(query_id.encode(), digest_size=4).hexdigest(), 16) % 2


def stands_in(gold: object, answer: str, sentences: list[str]) -> bool:
    return any(_stands(variant, answer, sentences) for variant in {str(gold), _EXPLANATION.sub("", str(gold))})


_ITEM = re.compile(r"\s*(?:,(?! ?\d{4})|;|\band\b|/)\s*")


def _stands(gold: str, answer: str, sentences: list[str]) -> bool:
    said = re.match(r"(?:likely )?(?P<word>yes|no)\b", gold, re.IGNORECASE)
    if said:
        return re.search(rf"\b{said['word']}\b", answer, re.IGNORECASE) is not None
    texts = [set(words_of(text)) for text in (answer, *sentences)]
    items = [words for part in _ITEM.split(gold) if (words := words_of(part))]
    stand = [any(_share(words, text) >= THRESH for text in texts) for words in items]
    return bool(items) and sum(stand) / len(stand) >= THRESH


THRESH = 0.6


def _share(words: list[str], text: set[str]) -> float:
    if any(w.isdigit() and w not in text for w in words):
        return 0.0
    return sum(w in text for w in words) / len(words)


def token_f1(gold: object, answer: str) -> float:
    best = 0.0
    for variant in {str(gold), _EXPLANATION.sub("", str(gold))}:
        g, a = Counter(words_of(variant)), Counter(words_of(answer))
        same = sum((g & a).values())
        if same:
            p, r = same / sum(a.values()), same / sum(g.values())
            best = max(best, 2 * p * r / (p + r))
    return best


def exact(gold: object, answer: str) -> bool:
    return any(words_of(v) == words_of(answer) != [] for v in {str(gold), _EXPLANATION.sub("", str(gold))})
