"""Random and hostile inputs for retain: the same seed gives the same inputs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

WORDS = (
    "I we you my went to Paris Lisbon yesterday because so in 1999 next week dog Ann's the and but said married live "
    "works at Google 3 May 2021 at 25:61 I'd won't it's ate 100% $5 #tag @bob www.x.y a@b.c PROJ-12 snake_case CamelCase"
).split()
MARKS = [
    *"?!.,;:'\"“”’()[]{}<>|`~*_-–—…#@/\\&%$^=+",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "  ",
    "```\n",
    "- ",
    "1. ",
    "# ",
    "> ",
]
STRANGE = [
    "\x00", "\ud800", "\udfff", "\u202e", "\u202d", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\u2029", "\x0b",
    "\x0c", "\x1b[31m", "\x07", "\x7f", "\x85", "\ufffd", "\uffff", "\U0010ffff", "\U000e0041", "e\u0301\u0302\u0303", "👩‍👩‍👧", "🏳️‍🌈",
    "مرحبا بالعالم", "שלום", "日本語。", "한국어", "ไทย", "ﷺ", "ß", "İ", "ǅ", "½", "²", "Ⅷ", "𝔘𝔫𝔦", "ａｂｃ", "\u1160", "\u3164",
]  # fmt: skip
UNITS = [
    *("a ab . , ? ! \n \t A É 😀 ( [ { < > | * _ ` # - ' \" @ / \\ % 0 9 \u0301 \u200d \u202e م 字".split(" ")),
    "\n", " ", "\t", "\r", "\r\n", "<div>", "</div>", "<p", "[[", "](", "{{", "}}", "> ", "- ", "1. ", "# ", "**a", "```", "~~~",
    "| a ", "&amp;", "a@", "a.", "@a", "A.B.", "Mr. ", "I ", "I'm ", "you ", "my ", "and ", "because ", "so ", "Ann ", "Ann's ",
    "a_", "aB", "AB-1 ", "http://", "x/", "1,", "1.", "12:", "5 May ", "1999 ", "yesterday ", "in ", "ago ", "last ", "three weeks ",
    "between ", "'s ", "n't ", "...", "?!", "…", "。", "！", "Yes. ", "[x] ", "(a) ", "\\", "%s", "${", "' OR 1=1 --", "NEAR(", "\"*\"",
    "ha", "lol ", "no ", "Dr. A. ", "said: ", '"a" ', "“a” ", "fav is ", "Ann is Bob's ", "name is ", "AAAA", "Aa ", "aA1_",
]  # fmt: skip
SPEAKERS = [
    "",
    "Ann",
    "Bob",
    "user",
    "assistant",
    "O'Neil",
    "李",
    " ",
    "a" * 3000,
    "(((",
    "[a-z]+",
    "\\",
    "\u202eAnn",
    "Ann\nBob",
]
ODD_VALUES: list[Any] = [
    None, 0, -1, 10**400, 1.5, float("nan"), float("inf"), True, "", " ", "x", "\x00", "\ud800", b"bytes", [], {}, (), [None], [[]],
    {"a": None}, {"\x00": "\x00"}, {"\ud800": 1}, {1: 2}, ["\x00"], ["\ud800"], ["a" * 5000], "a" * 5000, object(), set(), {"text": 1},
    [{"text": "x", "type": None}], [("a", "b")], [("a",)], "unset", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "10000-01-01",
    "not a date", ["a", "b"], {"a": {"b": ["c"]}}, ["Ann"], [{"text": "Bob", "type": "person"}], [{"text": "\x00", "type": "\ud800"}],
]  # fmt: skip
FIELDS = (
    "document_id timestamp speaker role title context tags metadata entities topic tier classification trust credibility relevance "
    "expires_at valid_from valid_to original_text name timeless bogus"
).split()

Case = tuple[Any, dict[str, Any]]


def cases(count: int, seed: int = 0, longest: int = 20_000) -> Iterator[Case]:
    """`count` pairs of content and fields; the first ones are the sizable and well-known troublemakers."""
    rng = random.Random(seed)
    yield from _known(longest)[:count]
    kinds: list[Callable[[random.Random], Case]] = [
        _pieces,
        _noise,
        _repeated,
        _nested,
        _numbers,
        _fields,
        _messages,
    ]
    for _ in range(count - len(_known(longest))):
        yield rng.choices(kinds, weights=(30, 20, 15, 8, 7, 12, 8))[0](rng)


def _known(longest: int) -> list[Case]:
    texts = [
        "", " ", "\n" * 100_000, "\t \u00a0\u2003", "\x00", "a\x00b", "\ud800", "a" * longest, "a " * (longest // 2), "word " * (longest // 5),
        "A" * longest, "Ann said. " * (longest // 10), "<div>" * (longest // 5), "[" * longest, "(" * longest + ")" * longest,
        "> " * (longest // 2) + "x", "- " * (longest // 2), "#" * longest, "`" * longest, "```\n" * (longest // 4), "*" * longest,
        "| a | b |\n" * (longest // 10), "9" * longest, "1," * (longest // 2), "in " + "9" * 5000 + " days", "😀" * (longest // 2),
        "👩‍👩‍👧" * (longest // 5), "e\u0301" * (longest // 2), "\u202e" * longest, "字" * longest, "مرحبا " * (longest // 6), "a@" * (longest // 2),
        "A." * (longest // 2), "aB" * (longest // 2), "a_" * (longest // 2), "http://" + "a/" * (longest // 2), "'" * longest, '"' * longest,
        "I " * (longest // 2), "I'm you're my your " * (longest // 20), "because " * (longest // 8), "so " * (longest // 3), "? " * (longest // 2),
        "yesterday " * (longest // 10), "5 May 2020 " * (longest // 11), "between 1 and " * (longest // 14), " " * longest + "x", "x" + "\n" * longest + "y",
        "\r\n" * (longest // 2) + "x", "[x " * (longest // 3), "[a](b" * (longest // 5), "{{" * (longest // 2), "\\" * longest, "." * longest, "…" * longest,
        "Mr. " * (longest // 4), "A. B. C. " * (longest // 9), "Ann's " * (longest // 6), "Ann is Bob's x " * (longest // 15), "no " * longest,
        ";".join(f"k{n}=v{n}" for n in range(longest // 8)), "".join(map(chr, range(1, 0x300))), "\n".join("- item" for _ in range(longest // 7)),
    ]  # fmt: skip
    return [(text, {"speaker": ("Ann", "")[n % 2]}) for n, text in enumerate(texts)]


def _pieces(rng: random.Random) -> Case:
    pool = (*WORDS, *WORDS, *MARKS, *STRANGE[3 if rng.random() < 0.8 else 0 :])
    joint = rng.choice((" ", "", " ", "\n"))
    text = joint.join(rng.choice(pool) for _ in range(rng.randrange(0, 60)))
    return text, {"speaker": rng.choice(SPEAKERS), "timestamp": "2024-02-29T12:00:00Z"}


def _noise(rng: random.Random) -> Case:
    top = rng.choice((0x80, 0x100, 0x3000, 0xD7FF, 0x10FFFF))
    text = "".join(
        chr(rng.randrange(0 if rng.random() < 0.1 else 1, top)) for _ in range(rng.randrange(0, 400))
    )
    return text, {"speaker": rng.choice(SPEAKERS)}


def _repeated(rng: random.Random) -> Case:
    unit = "".join(rng.choice(UNITS) for _ in range(rng.randrange(1, 4)))
    return unit * rng.choice((1, 10, 100, 700)) + rng.choice(("", "x", "!", "\n")), {
        "title": rng.choice(SPEAKERS)
    }


def _nested(rng: random.Random) -> Case:
    opening, closing = rng.choice(
        (
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ("<b>", "</b>"),
            ("“", "”"),
            ("> ", ""),
            ("  - ", "\n"),
            ("**", "**"),
        )
    )
    depth = rng.choice((3, 50, 400))
    inside = rng.choice(("x", "I went to Paris yesterday.", ""))
    return opening * depth + inside + closing * rng.randrange(depth + 1), {"speaker": "Ann"}


def _numbers(rng: random.Random) -> Case:
    number = rng.choice(
        (
            "9" * rng.randrange(1, 400),
            f"-{rng.random()}e{rng.randrange(999)}",
            "0x" + "f" * 50,
            "٣" * 30,
            "½",
            "1" + ",000" * 60,
        )
    )
    frame = rng.choice(
        (
            "in {} years",
            "{} days ago",
            "on {}/{}/{}",
            "{}:{} pm",
            "since {}",
            "the {}th of May",
            "{} BC",
            "I am {} years old",
            "{}",
        )
    )
    return frame.replace("{}", number), {"speaker": "Ann", "timestamp": "2024-02-29T12:00:00Z"}


def _fields(rng: random.Random) -> Case:
    fields = {rng.choice(FIELDS): rng.choice(ODD_VALUES) for _ in range(rng.randrange(1, 3))}
    return rng.choice(("Ann moved to Lisbon in May.", "I like tea.", *ODD_VALUES[:20])), fields


def _messages(rng: random.Random) -> Case:
    turns = [
        {"role": rng.choice(("user", "assistant", "system", "")), "content": _pieces(rng)[0] or "x", **(_fields(rng)[1] if rng.random() < 0.1 else {})}
        for _ in range(rng.randrange(0, 6))
    ]  # fmt: skip
    return turns, {}
