"""Which way a clause looks in time: back at what happened, or ahead at what is to come.

"Turned 5 on March 4th" and "turns 5 on March 4th" name different days. Tense, modality and the verb's own direction
decide, and the verb nearest to the date decides most. No tagger is asked: the word tables of the language files tell
verbs and their forms, so that `signs` can be read from the words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from perdure.dates.lexicon import english, load_table, split_words, word_set

Direction = Literal["past", "future"]
Tense = Literal["past", "present", "future", "ability"]

_TOKEN = re.compile(
    r"[^\W\d_]+(?=n['’]t\b)|n['’]t\b|['’](?:ll|ve|d|re|m|s)\b|[^\W\d_]+(?:-[^\W\d_]+)*|\d+|[^\w\s]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)]*\s+(?=[\"'“‘(¿¡]?[A-ZÀ-Þ¿¡])|[!?…]+\s+|\n+")
_CONJUNCTIONS = word_set(
    "but because so although though while whereas when whenever if unless which who whose what where that after before until since"
)
_PUNCTUATION = {
    ",": 6,
    ";": 9,
    ":": 7,
    "(": 7,
    ")": 7,
    "—": 9,
    "–": 7,
    "-": 5,
    "/": 3,
    "|": 9,
    '"': 4,
    "“": 4,
    "”": 4,
}
_JOINING = word_set("and or plus")
_CONJUNCTION_COST, _AND_COST, _WEAK_COST, _BEHIND_COST = 3, 4, 14, 3
_LOOK_AHEAD = 5
_LONGEST = 300
"""Characters of a sentence that are looked at on either side of a date."""
_LINKS = word_set("be been being have get gotten stay remain keep going to")
_AFTER_SUBJECT = word_set(
    "fine good ok okay great better best perfect out off up over back here there not down away too going bad busy tricky impossible free full gone"
)
_PLURALS = word_set("people men women children folks police everyone kids")
_BEFORE_PLURALS = word_set("many few several more other new old good big free most fewer")
_PRAISE = word_set("thanks thank sorry proud grateful congrats congratulations blame apologies")
_MEMORY = word_set(
    "regret regrets remember remembers recall enjoyed loved liked hated miss missed stopped finished started"
)
_NO_PARTICIPLES = word_set(
    "being according during nothing something everything anything morning evening regarding considering thing"
)
_LINKING = word_set("stay stays remain remains get gets got keep keeps become becomes became")
_BOUNDS = word_set("by before until till")


class Sign(NamedTuple):
    """Words that tell a tense: the tokens `first` to `last`; a weak sign is a noun or an adverb."""

    tense: Tense
    first: int
    last: int
    weak: bool = False

    @property
    def direction(self) -> Direction:
        """A date with a verb in the present is still to come."""
        return "past" if self.tense == "past" else "future"


class Words:
    """The tokens of the sentence around a date, the date itself left out."""

    def __init__(self, text: str, start: int, end: int) -> None:
        low, high = max(0, start - _LONGEST), min(len(text), end + _LONGEST)
        low = max((stop.end() for stop in _SENTENCE_END.finditer(text, low, start)), default=low)
        ending = _SENTENCE_END.search(text, end, high)
        before = _TOKEN.findall(text, low, start)
        after = _TOKEN.findall(text, end, ending.start() if ending else high)
        self.surface: list[str] = before + after
        self.words = [token.lower().lstrip("'’") for token in self.surface]
        self.date = len(before)
        """Index of the first token after the date."""
        self.bound = text[start:end].split(maxsplit=1)[0].lower() if start < end else ""
        """The first word of the date, which may be "by" or "until"."""
        self.names_day = any(character.isdigit() for character in text[start:end]) or bool(
            english().weekdays.keys() & split_words(text[start:end])
        )

    def before_date(self) -> str:
        """The word directly before the date, articles aside; empty where a sentence begins with it."""
        i = self.date - 1
        while i >= 0 and self.words[i] in ("the", "den", "dem", "el", "le", "la"):
            i -= 1
        return self.words[i] if i >= 0 else ""


def sign_of(text: str, start: int, end: int, language: str = "en") -> Sign | None:
    """The sign that decides for the date at text[start:end]; None where its sentence gives none."""
    if text[start:end].endswith(("'s", "’s")):
        end -= 2
    words = Words(text, start, end)
    if not words.words:
        return None
    signs = _english_signs(words) if language == "en" else _foreign_signs(words, language)
    # Verbs of other languages stand before a date as well as behind it.
    behind = _BEHIND_COST if language == "en" else 0
    nearest = min(signs, key=lambda sign: _cost(words, sign, behind), default=None)
    if language != "en":
        return nearest
    if nearest is None:
        # "Fingers crossed for Thursday"
        return Sign("future", words.date, words.date, weak=True) if words.before_date() == "for" else None
    return _aimed(words, nearest)


def _cost(words: Words, sign: Sign, behind_cost: int) -> tuple[int, int]:
    """How far a sign is from the date: words between them, more for what separates clauses, verbs behind it, nouns."""
    behind = sign.first >= words.date
    between = range(words.date, sign.first) if behind else range(sign.last + 1, words.date)
    cost = sum(_separation(words.words[i]) for i in between)
    return cost + behind_cost * behind + _WEAK_COST * sign.weak, -sign.first


def _separation(word: str) -> int:
    if word in _PUNCTUATION:
        return _PUNCTUATION[word]
    if word in _JOINING:
        return _AND_COST
    return _CONJUNCTION_COST if word in _CONJUNCTIONS else 1


class _English(NamedTuple):
    """The word sets of the English table."""

    pronouns: frozenset[str]
    adverbs: frozenset[str]
    determiners: frozenset[str]
    modals: frozenset[str]
    conditionals: frozenset[str]
    be_present: frozenset[str]
    be_past: frozenset[str]
    irregular: frozenset[str]
    same_form: frozenset[str]
    participles: frozenset[str]
    not_past: frozenset[str]
    arranged: frozenset[str]
    moved: frozenset[str]
    promised: frozenset[str]
    prospective: frozenset[str]
    scheduled: frozenset[str]
    imperatives: frozenset[str]
    stative: frozenset[str]
    reporting: frozenset[str]
    ahead: frozenset[str]
    admissions: frozenset[str]
    obtained: frozenset[str]
    entered: frozenset[str]
    from_then: frozenset[str]
    behind: frozenset[str]
    third_person: frozenset[str]
    """The forms in -s of the scheduled verbs."""


@lru_cache(maxsize=1)
def _english() -> _English:
    tables = {name: word_set(words) for name, words in load_table("en")["direction"].items()}
    forms = frozenset(_third_person(verb) for verb in tables["scheduled"])
    return _English(**tables, third_person=forms)


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeou" else verb + "s"


def _is_past_form(word: str) -> bool:
    """Whether a word is a past form by its table or its ending."""
    table = _english()
    if word in table.irregular:
        return True
    return len(word) > 3 and word.endswith("ed") and word not in table.not_past


def _is_participle(word: str) -> bool:
    return _is_past_form(word) or word in _english().participles or word in _english().same_form


def _english_signs(words: Words) -> Iterator[Sign]:
    i, count = 0, len(words.words)
    while i < count:
        sign = _verb_group(words, i) or _weak_sign(words, i)
        if sign is not None:
            yield sign
            i = sign.last + 1
        else:
            i += 1


def _weak_sign(words: Words, i: int) -> Sign | None:
    word = words.words[i]
    if word in _english().ahead:
        return Sign("future", i, i, weak=True)
    return Sign("past", i, i, weak=True) if word in _english().behind else None


def _verb_group(words: Words, i: int) -> Sign | None:
    """The verb with its auxiliaries that begins at a token."""
    word, table = words.words[i], _english()
    if word in table.modals or word in table.conditionals:
        return _modal(words, i)
    if word in table.be_present:
        return _be(words, i)
    if word in table.be_past:
        return _be_past(words, i)
    if word in ("have", "has", "ve"):
        return _have(words, i)
    if word == "had":
        better = words.words[i + 1 : i + 2] == ["better"]
        return Sign("future" if better else "past", i, _main_verb(words, i))
    if word == "did":
        return Sign("past", i, _asked_verb(words, i))
    if (word, _word(words, i + 1)) in (("how", "about"), ("what", "about"), ("up", "for")):
        return Sign("future", i, i + 1)
    if word in ("do", "does"):
        return _do(words, i)
    if word == "let" and words.words[i + 1 : i + 2] in (["s"], ["us"], ["me"]):
        return Sign("future", i, min(i + 2, len(words.words) - 1))
    if word == "to":
        return _infinitive(words, i)
    if word == "since":
        return Sign("past", i, i)
    if word == "back" and i == 0 and words.date > 1:
        return Sign("past" if words.words[1] == "in" and words.date == 2 else "future", i, i)
    return _plain_verb(words, i)


def _next(words: Words, i: int) -> int:
    """The index of the next word after pronouns and adverbs; the number of words where the clause ends before."""
    table = _english()
    for j in range(i + 1, min(i + 1 + _LOOK_AHEAD, len(words.words))):
        if (
            words.words[j] not in table.pronouns
            and words.words[j] not in table.adverbs
            and words.words[j] != "n't"
        ):
            return j
    return len(words.words)


def _word(words: Words, i: int) -> str:
    return words.words[i] if i < len(words.words) else ""


def _main_verb(words: Words, i: int) -> int:
    """The index of the verb that an auxiliary at an index leads to, or of the last auxiliary."""
    table, last = _english(), i
    while (j := _next(words, last)) < len(words.words):
        word = words.words[j]
        if word in _LINKS:
            last = j
            continue
        known = word == "do" or word in table.scheduled or word in table.imperatives or word in table.stative
        return j if known or _is_participle(word) or word.endswith("ing") else last
    return last


def _asked_verb(words: Words, i: int) -> int:
    """The index of the verb of a question: "did the parcel with the shoes arrive"."""
    last = _main_verb(words, i)
    if last > i:
        return last
    for j in range(i + 1, min(i + 8, len(words.words))):
        if words.words[j] in _PUNCTUATION:
            break
        if words.words[j] in _english().scheduled and words.words[j - 1] not in _english().determiners:
            return j
    return i


def _modal(words: Words, i: int) -> Sign | None:
    """ "will come", "could have come", "couldn't come", "I'd gone"."""
    word, j = words.words[i], _next(words, i)
    following = _word(words, j)
    if word == "d" and i > 0 and words.words[i - 1] in ("how", "what", "where", "why", "when"):
        return Sign("past", i, _asked_verb(words, i))
    if (
        word in ("need", "needs")
        and following != "to"
        and i > 0
        and words.words[i - 1] in _english().determiners
    ):
        return None
    if word == "may" and words.surface[i][:1].isupper() and i > 0:
        return None
    last = _main_verb(words, i)
    if (
        following in ("have", "ve", "of")
        and _is_participle(_word(words, _next(words, j)))
        and word not in ("will", "ll", "shall")
    ):
        return Sign("past", i, _next(words, j))
    if word == "could" and _word(words, i + 1) == "n't":
        return Sign("past", i, last)
    if (
        word == "d"
        and _is_participle(following)
        and following not in _english().scheduled | _english().same_form
    ):
        return Sign("past", i, j)
    return Sign("ability" if word in ("can", "ca", "could") else "future", i, last)


def _be(words: Words, i: int) -> Sign | None:
    """ "is flying", "are going to", "is due", "it's been", "she's gone"; a possessive 's is no verb."""
    word, j = words.words[i], _next(words, i)
    following = _word(words, j)
    if word == "s" and not _is_clitic_verb(words, i, following):
        return None
    if following in ("been", "dated", "born") or (word == "s" and following == "gone"):
        return Sign("past", i, j)
    if following == "got":
        return Sign("present", i, j)
    if following.endswith("ing") and following not in (
        "thing",
        "nothing",
        "everything",
        "something",
        "during",
    ):
        return Sign("future", i, _main_verb(words, i))
    if _is_participle(following):
        return Sign("future" if following in _english().arranged else "present", i, j)
    return Sign("present", i, i)


def _be_past(words: Words, i: int) -> Sign:
    """ "was flying" looks back; "was booked for" and "said he was coming" ahead."""
    j = _next(words, i)
    following = _word(words, j)
    if following in _english().arranged and following != "due":
        return Sign("future", i, j)
    if _word(words, j + 1) == "to":
        return Sign("past", i, _main_verb(words, j + 1))
    reported = not _english().reporting.isdisjoint(words.words[max(0, i - 4) : i])
    if reported and following.endswith("ing"):
        return Sign("future", i, j)
    return Sign("past", i, _main_verb(words, i))


def _is_clitic_verb(words: Words, i: int, following: str) -> bool:
    """Whether 's stands for "is" or "has" and not for a possessor."""
    owner = _word(words, i - 1) if i else ""
    if owner in _english().pronouns or owner in ("what", "where", "how", "here", "when", "let"):
        return owner != "let"
    if i == words.date or following in _AFTER_SUBJECT:
        return following in _AFTER_SUBJECT
    verbal = (
        following.endswith("ing")
        or _is_participle(following)
        or following in ("a", "the", "on", "in", "at", "been", "due")
    )
    return verbal and i + 1 < len(words.words)


def _have(words: Words, i: int) -> Sign:
    """ "have seen" looks back; "have to go", "have an exam" and "have booked" ahead."""
    j = _next(words, i)
    following = _word(words, j)
    if following == "to":
        return Sign("future", i, _main_verb(words, i))
    if following == "got":
        return Sign("future" if _word(words, j + 1) == "to" else "present", i, j)
    last = _main_verb(words, i)
    if _word(words, last) in _english().arranged:
        return Sign("future", i, last)
    if _is_participle(following):
        return Sign("past", i, last)
    return Sign("present", i, i)


def _do(words: Words, i: int) -> Sign | None:
    j = _next(words, i)
    if _word(words, j) in _english().stative and _word(words, j) not in ("like", "love", "see"):
        return None
    return Sign("present", i, _main_verb(words, i))


def _infinitive(words: Words, i: int) -> Sign | None:
    """ "to" with a verb, where a word before it tells that this is still to be done: "promised to call"."""
    before = [word for word in words.words[max(0, i - 4) : i] if word not in _PUNCTUATION]
    following = _word(words, i + 1)
    is_verb = (
        following.isalpha()
        and following not in _english().determiners
        and following not in _english().pronouns
    )
    is_verb &= not words.surface[min(i + 1, len(words.words) - 1)][:1].isupper()
    if not before or not is_verb or _english().prospective.isdisjoint(before):
        return None
    return Sign("future", i, _main_verb(words, i))


def _plain_verb(words: Words, i: int) -> Sign | None:
    """A verb without an auxiliary: a past form, a form of the present, an imperative or a participle."""
    word, table = words.words[i], _english()
    previous = words.words[i - 1] if i else ""
    opens = i != words.date and (i == 0 or previous in _PUNCTUATION or previous in _JOINING)
    if word == "used":
        return Sign("past", i, i) if _word(words, i + 1) == "to" else None
    if word in table.arranged and word != "due":
        return Sign("future", i, i)
    if word in table.stative and word != "said":
        return None
    if word == "left" and previous in table.determiners:
        return None
    linked = i + 1 if word in _LINKING and _is_participle(_word(words, i + 1)) else i
    if _is_past_form(word):
        return Sign("past", i, linked)
    subject = previous in table.pronouns or (
        previous in table.adverbs and i > 1 and words.words[i - 2] in table.pronouns
    )
    if word in table.same_form:
        # "The storm hit": a singular noun would take "hits" in the present.
        singular = (
            i > 0
            and i != words.date
            and previous.isalpha()
            and not previous.endswith("s")
            and previous != "to"
        )
        return (
            Sign("past", i, i)
            if subject or opens or (singular and previous not in table.determiners)
            else None
        )
    if word in ("thanks", "thank") and "for" in words.words[i + 1 : i + 3]:
        return Sign("past", i, i + 1)
    if word.endswith("ing") and len(word) > 4:
        return _participle(words, i, previous, opens)
    if word in table.third_person:
        noun = opens or previous in table.determiners or previous in _BEFORE_PLURALS or previous.isdigit()
        return None if noun or previous in english().cardinals else Sign("present", i, linked)
    if opens and word in table.imperatives:
        return Sign("future", i, i)
    if word in table.scheduled:
        plural = previous in _PLURALS or (previous.endswith("s") and not previous.endswith("ss"))
        verbal = subject or previous in table.adverbs or plural or i == words.date
        return Sign("present", i, linked) if verbal and previous not in table.determiners else None
    if subject and previous != "that" and previous != "this" and word.isalpha() and word not in table.adverbs:
        finite = previous not in ("he", "she", "it") or word.endswith("s")
        return (
            Sign("present", i, i)
            if finite and word not in table.pronouns and word not in table.determiners
            else None
        )
    return None


def _participle(words: Words, i: int, previous: str, opens: bool) -> Sign | None:
    """ "Flying to Rome on the 12th", "a package arriving on Friday"; "after meeting her" tells nothing."""
    word, table = words.words[i], _english()
    if previous in _MEMORY or (previous == "for" and not _PRAISE.isdisjoint(words.words[:i])):
        return Sign("past", i, i)
    if word == "having" and _is_participle(_word(words, i + 1)):
        return Sign("past", i, i + 1)
    if opens and i == 0:
        return None if word in _NO_PARTICIPLES else Sign("future", i, i)
    stems = {word[:-3], word[:-3] + "e", word[:-4]}
    if stems.isdisjoint(table.scheduled | table.imperatives) and word not in (
        "looking",
        "having",
        "doing",
        "planning",
    ):
        return None
    if opens or previous in ("m", "be"):
        return Sign("future", i, i)
    return (
        None
        if previous in table.determiners or previous in _CONJUNCTIONS
        else Sign("future", i, i, weak=True)
    )


def _aimed(words: Words, sign: Sign) -> Sign:
    """The sign with what a preposition adds: what was moved "to" a date or got "for" it lies there."""
    if sign.first >= words.date:
        return _origin(words, sign)
    preposition = words.before_date()
    if sign.tense != "past":
        return _origin(words, sign)
    said = words.words[sign.first : sign.last + 1]
    moved = preposition in ("to", "until", "till") or words.bound in ("until", "till")
    aimed = (moved and not _english().moved.isdisjoint(said)) or (preposition == "for" and words.names_day)
    between = words.words[sign.last + 1 : words.date]
    if "for" in between or "to" in between:
        aimed |= not _english().admissions.isdisjoint(between) and not _english().obtained.isdisjoint(said)
        aimed |= not _english().entered.isdisjoint(said)
    promised = words.bound in _BOUNDS and not _english().promised.isdisjoint(said)
    return sign._replace(tense="future") if aimed or promised else sign


def _origin(words: Words, sign: Sign) -> Sign:
    """ "The photos from Saturday are up": what is from a day is past, whatever it is now."""
    if sign.tense != "present" or words.date < 2 or words.words[words.date - 1] != "from":
        return sign
    return sign if words.words[words.date - 2] in _english().from_then else sign._replace(tense="past")


class _Foreign(NamedTuple):
    """The words and word forms by which another language tells its tenses.

    `participles` and `participle_form` look back only beside one of the `auxiliaries`; `not_past` are words that look
    like a past form.
    """

    past: frozenset[str]
    participles: frozenset[str]
    auxiliaries: frozenset[str]
    future: frozenset[str]
    present: frozenset[str]
    pronouns: frozenset[str]
    not_past: frozenset[str]
    past_form: re.Pattern[str]
    participle_form: re.Pattern[str]
    future_form: re.Pattern[str]


@lru_cache(maxsize=16)
def _foreign(language: str) -> _Foreign | None:
    table = load_table(language).get("direction")
    if table is None:
        return None
    sets = (word_set(table[name]) for name in _Foreign._fields if not name.endswith("_form"))
    forms = (re.compile(table.get(name, "(?!)")) for name in _Foreign._fields if name.endswith("_form"))
    return _Foreign(*sets, *forms)  # type: ignore[arg-type]


def _foreign_signs(words: Words, language: str) -> Iterator[Sign]:
    """The signs of a language that has tables of words and forms only."""
    table = _foreign(language)
    if table is None:
        return
    perfect = not table.auxiliaries.isdisjoint(words.words)
    for i, word in enumerate(words.words):
        capital = words.surface[i][:1].isupper() and any(other.isalpha() for other in words.words[:i])
        if word not in table.past and (word in table.future or table.future_form.fullmatch(word)):
            yield Sign("future", i, i)
        elif _looks_back(table, word, perfect, capital):
            yield Sign("past", i, i)
        elif word in table.present or (i > 0 and words.words[i - 1] in table.pronouns and word.isalpha()):
            yield Sign("present", i, i, weak=True)


def _looks_back(table: _Foreign, word: str, perfect: bool, capital: bool) -> bool:
    """Whether a word is a past form; a participle is one where the sentence is in the perfect, a name never."""
    if word in table.past:
        return True
    if word in table.not_past or capital:
        return False
    if table.past_form.fullmatch(word):
        return True
    return perfect and (word in table.participles or table.participle_form.fullmatch(word) is not None)
