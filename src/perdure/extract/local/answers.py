"""Questions and their answers as statements in the first person: "Are you still in Ghent?", "Yes" -> "I am still in Ghent."

Only where the transformation is sure; the caller keeps question and answer side by side elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from perdure.extract.local.replies import Reply, read_reply
from perdure.extract.local.units import QUOTED, Unit
from perdure.text import verbs
from perdure.text.wordlist import word_set

_BE = word_set("am is are was were 's 're")
_HAVE = word_set("have has had")
_DO = word_set("do does did")
_MODALS = word_set("will would can")
_AUXILIARIES = _BE | _HAVE | _DO | _MODALS
_ABILITIES = word_set(
    "swim drive speak cook play ride read sing dance ski fly code eat type see hear understand remember"
)
_WISHES = word_set("like love prefer rather")
_PRONOUNS = word_set("you he she they i")
_EMPTY_SUBJECTS = word_set("it this that these those everything anything we everyone anyone who what")
_SWAPPED = {
    "your": "my", "yours": "mine", "yourself": "myself", "i": "you", "me": "you", "my": "your", "mine": "yours",
    "myself": "yourself",
}  # fmt: skip
_AFTER_I = {"are": "am", "'re": "'m", "were": "was"}
_AFTER_YOU = {"am": "are", "'m": "'re", "was": "were"}
_SOME = {"anything": "something", "anyone": "someone", "anybody": "somebody", "anywhere": "somewhere"}
_OPENERS = word_set(
    "so and but well oh wow hey hi haha hah ok okay also then anyway btw ah aw aww hmm um uh lol yeah yes no nice cool great"
)
_TAG = re.compile(
    r"[\s,]*(?:,\s*(?:right|yeah|yes|no|huh|correct|then|though|by the way|btw|(?:is|are|do|did|does|was|were|have|has|wo|ca|won|can)n['’]t \w+|"
    r"(?:is|are|do|did|does|was|were|have|has) \w+)|\s+or not|\s+by the way|\s+btw)$",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|m|d|ll)\b|[^\W_]+(?:[-'’.@:/+][^\W_]+)*|[^\w\s]"
)
_PHATIC = word_set("sure serious ok okay kidding joking alright crazy")
_MOVING = word_set("go move travel fly head relocate drive return")
_STAYING = word_set("live stay be reside base bear grow")
_PREPOSITIONS = word_set(
    "in on at to from near by with for about around over under behind next inside outside off into of through between"
)
_STRANDED = word_set("from to at in with for on about")
_TIME_STARTS = word_set(
    "in on at last next this since yesterday today tomorrow tonight around about during before after until by early late every right"
)
_WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_MONTHS = word_set("january february march april may june july august september october november december")
_NO_VALUE = word_set(
    "it that this these those they he she yes no not never maybe nothing none nobody well because to so i'm we you i there here "
    "good great fine okay ok nice sure just"
)
_DONE = word_set(
    "quit left sold lost kept finished cancelled canceled returned dropped passed failed stopped fixed bought got found started "
    "ended postponed moved changed cleaned repaired ordered booked submitted sent delivered closed"
)
"""Pasts that need an object."""
_LONGEST_VALUE = 8
_LOWERED = word_set(
    "a an the my our his her their in on at near from with for to about around since last next every some two three four five six seven eight nine ten"
)


@dataclass(frozen=True, slots=True)
class Answered:
    """A statement made of a question and its answer; `rest` is where in the answer what goes beyond it begins."""

    text: str
    rest: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    low: str
    spaced: bool
    tag: str = ""
    dep: str = ""
    head: int = -1
    index: int = -1

    def put(self, text: str) -> _Word:
        return replace(self, text=text, low=text.casefold())


def restate(question: Unit, answer: Unit) -> Answered | None:
    """What the one who answers says with it, in the first person; None when that is not sure."""
    if not (question.is_readable and answer.is_readable):
        return None
    if QUOTED.search(question.text) or "`" in question.text or "http" in question.text:
        return None
    words = _question_words(question)
    if len(words) < 2:
        return None
    reply = read_reply(answer.text)
    if reply is not None:
        told = _polar(words, reply)
        return Answered(_sentence(told), reply.rest) if told else None
    told = _done_with(words, answer)
    if told:
        return Answered(_sentence(told), len(answer.text))
    value = _value(answer)
    told = (_chosen(words, value) or _open(words, value)) if value else []
    return Answered(_sentence(told), len(answer.text)) if told else None


def _sentence(words: Sequence[_Word]) -> str:
    text = "".join((" " if word.spaced and place else "") + word.text for place, word in enumerate(words))
    text = " ".join(text.split()).rstrip(" ,;.")
    return f"{text[:1].upper()}{text[1:]}."


def _new(*texts: str) -> list[_Word]:
    return [_Word(text, text.casefold(), True) for text in texts]


def _question_words(unit: Unit) -> list[_Word]:
    """The question's words without what opens and closes it, such as "So, " and ", right?"."""
    text = unit.text.rstrip("?!.… '\"”’)*_")
    end = len(text)
    while (tag := _TAG.search(text)) is not None:
        text = text[: tag.start()]
    words = [word for word, start in _all_words(unit) if start < len(text)] if len(text) <= end else []
    first = 0
    while first < len(words) and (
        words[first].low in _OPENERS
        or not words[first].low[:1].isalnum()
        or (words[first].tag == "NNP" and first + 1 < len(words) and words[first + 1].text in (",", "!"))
    ):
        first += 1
    if first + 1 < len(words) and words[first].low in _OPENERS | {"just"}:
        first += 1
    return words[first:]


def _all_words(unit: Unit) -> list[tuple[_Word, int]]:
    if unit.tokens:
        low, high = unit.origin, unit.origin + len(unit.text)
        return [
            (
                _Word(
                    token.text, token.text.casefold().replace("’", "'"),
                    token.start == low or unit.text[token.start - low - 1].isspace(),
                    token.tag, token.dep, token.head, index,
                ),
                token.start - low,
            )
            for index, token in enumerate(unit.tokens)
            if low <= token.start < high
        ]  # fmt: skip
    return [
        (
            _Word(
                m[0], m[0].casefold().replace("’", "'"), m.start() == 0 or unit.text[m.start() - 1].isspace()
            ),
            m.start(),
        )
        for m in _WORD.finditer(unit.text)
    ]


@dataclass(frozen=True, slots=True)
class _Core:
    """A question's auxiliary, its subject and what follows."""

    auxiliary: str
    denied: bool
    subject: list[_Word]
    rest: list[_Word]


def _core(words: Sequence[_Word]) -> _Core | None:
    """The parts of "do you still work there", with persons as the one asked would put them."""
    if not words or words[0].low not in _AUXILIARIES:
        return None
    start = 2 if len(words) > 1 and words[1].low in ("n't", "not") else 1
    end = _subject_end(words, start)
    if end is None or (end >= len(words) and words[0].low not in _BE):
        return None
    subject = _swap(words[start:end])
    low = subject[0].low if len(subject) == 1 else ""
    if low in _EMPTY_SUBJECTS:
        return None
    auxiliary = {"'s": "is", "'re": "are"}.get(words[0].low, words[0].low)
    if low == "i":
        auxiliary = _AFTER_I.get(auxiliary, auxiliary)
    elif low == "you":
        auxiliary = _AFTER_YOU.get(auxiliary, auxiliary)
    return _Core(auxiliary, start == 2, subject, _swap(words[end:]))


def _subject_end(words: Sequence[_Word], start: int) -> int | None:
    """Where the subject that begins at `start` ends: a pronoun, or a phrase up to the noun that the parse names."""
    if start >= len(words):
        return None
    if words[start].low in _PRONOUNS or words[start].low == "there":
        plural = start + 1 < len(words) and words[start + 1].low in (
            "guys",
            "all",
            "two",
            "both",
            "and",
            "or",
        )
        return None if plural else start + 1
    for place in range(start, min(start + 7, len(words))):
        if words[place].dep in ("nsubj", "nsubjpass"):
            joined = any(word.dep == "conj" and word.head == words[place].index for word in words)
            return None if joined else place + 1
        if words[place].tag.startswith("VB") or words[place].tag in ("IN", "TO"):
            return None
    return None


def _swap(words: Sequence[_Word]) -> list[_Word]:
    """The words from the other side: "you" is "I" or "me", "my" is "your"."""
    swapped: list[_Word] = []
    for place, word in enumerate(words):
        if word.low == "you":
            swapped.append(word.put("I" if _is_subject(words, place) else "me"))
        elif word.low in _SWAPPED:
            swapped.append(word.put(_SWAPPED[word.low]))
        elif swapped and words[place - 1].low == "you" and swapped[-1].low == "i":
            swapped.append(word.put(_AFTER_I.get(word.low, word.text)))
        elif swapped and words[place - 1].low == "i":
            swapped.append(word.put(_AFTER_YOU.get(word.low, word.text)))
        else:
            swapped.append(word)
    return swapped


def _is_subject(words: Sequence[_Word], place: int) -> bool:
    if words[place].dep:
        return words[place].dep in ("nsubj", "nsubjpass")
    return place == 0 or (place + 1 < len(words) and (
        words[place + 1].low in _AUXILIARIES or words[place + 1].low in verbs.PRESENT
    ))  # fmt: skip


def _verb_place(words: Sequence[_Word]) -> int | None:
    """Where the main verb stands behind a "do"."""
    for place, word in enumerate(words):
        if word.tag == "VB" or word.low in verbs.PRESENT:
            return place
        if not (verbs.is_adverb(word.low) or word.low in ("ever", "really", "actually", "have", "do")):
            return None
        if word.low in ("have", "do"):
            return place
    return None


def _polar(words: Sequence[_Word], reply: Reply) -> list[_Word]:
    core = _core(words)
    if core is None:
        return _declared(words, reply)
    if _is_request(core) or _is_phatic(core) or _has_alternatives(core.rest):
        return []
    return _affirmed(core) if reply.polarity == "yes" else _denied(core, reply)


def _is_request(core: _Core) -> bool:
    """Whether it asks to do something, so that a "sure" is a promise rather than a statement."""
    if core.auxiliary not in ("can", "would"):
        return False
    place = _verb_place(core.rest)
    verb = core.rest[place].low if place is not None else core.rest[0].low if core.rest else ""
    return verb not in (_ABILITIES if core.auxiliary == "can" else _WISHES)


def _is_phatic(core: _Core) -> bool:
    return (len(core.rest) == 1 and core.rest[0].low in _PHATIC) or (
        bool(core.rest) and core.rest[0].low == "mind"
    )


def _has_alternatives(rest: Sequence[_Word]) -> bool:
    return any(word.low == "or" and after.low in _AUXILIARIES for word, after in pairwise(rest))


def _affirmed(core: _Core) -> list[_Word]:
    rest = _without(core.rest, "ever", "yet", "any", "even")
    rest = [word.put(_SOME.get(word.low, word.text)) for word in rest]
    if core.auxiliary not in _DO:
        return [*core.subject, *_new(core.auxiliary), *rest]
    place = _verb_place(rest)
    if place is None:
        return []
    return [
        *core.subject,
        *rest[:place],
        rest[place].put(_form(rest[place], core.auxiliary)),
        *rest[place + 1 :],
    ]


def _form(verb: _Word, auxiliary: str) -> str:
    if auxiliary == "did":
        return verbs.past_form(verb.low)
    return verbs.third_person(verb.low) if auxiliary == "does" else verb.low


def _denied(core: _Core, reply: Reply) -> list[_Word]:
    lows = {word.low for word in core.rest}
    rest = _without(core.rest, "also", "too", "really", "even", "already", "ever", "still")
    adverb = reply.adverb
    if not adverb and "ever" in lows:
        adverb = "never"
    elif not adverb and "still" in lows:
        adverb = "no longer"
    elif not adverb and "already" in lows:
        adverb = "yet"
    if (
        adverb in ("no longer", "never")
        and core.auxiliary in _DO
        and (core.auxiliary != "did" or adverb == "never")
    ):
        place = _verb_place(rest)
        if place is None:
            return []
        verb = rest[place].put(_form(rest[place], core.auxiliary))
        return [*core.subject, *_new(*adverb.split()), *rest[:place], verb, *rest[place + 1 :]]
    if adverb in ("no longer", "never"):
        return [*core.subject, *_new(core.auxiliary, *adverb.split()), *rest]
    if core.auxiliary in _DO and _verb_place(rest) is None:
        return []
    said = ["not", "really"] if adverb == "really" else ["not"]
    rest = [*_without(rest, "yet"), *_new("yet")] if adverb == "yet" else rest
    return [*core.subject, *_new(core.auxiliary, *said), *rest]


def _without(words: Sequence[_Word], *lows: str) -> list[_Word]:
    return [word for word in words if word.low not in lows]


def _declared(words: Sequence[_Word], reply: Reply) -> list[_Word]:
    """A question in the order of a statement: "You still have the dog?"."""
    if reply.polarity == "no" or words[0].low not in (*_PRONOUNS, "your", "my"):
        return []
    if len(words) < 3 or words[-1].low in _AUXILIARIES:
        return []
    if any(word.dep == "neg" or word.low in ("n't", "not", "never", "or") for word in words):
        return []
    if words[0].low in _PRONOUNS and not any(word.tag in ("VBP", "VBZ", "VBD", "MD") for word in words[1:4]):
        return []
    return _without(_swap(words), "ever", "even")


def _done_with(words: Sequence[_Word], answer: Unit) -> list[_Word]:
    """What was done with what the question names: "What about the job?", "Quit in January" -> "I quit the job in January"."""
    if words[0].low not in ("what", "how") or words[1].low not in ("about", "of") or len(words) < 4:
        return []
    said = [word for word, _ in _all_words(answer)]
    place = 1 if said and said[0].low in ("just", "finally", "already") else 0
    if len(said) <= place or said[place].low not in _DONE or not _is_phrase(words[2:]):
        return []
    following = said[place + 1] if place + 1 < len(said) else None
    if (
        following is not None
        and following.low not in _PREPOSITIONS | _TIME_STARTS
        and following.low[:1].isalnum()
    ):
        return []
    lowered = [word.put(word.low) for word in said[: place + 1]]
    return [*_new("I"), *lowered, *_spaced(_swap(words[2:])), *said[place + 1 :]]


def _value(answer: Unit) -> list[_Word]:
    """The words of a short answer that is no sentence; empty when it is none."""
    words = [word for word, _ in _all_words(answer)]
    while words and not words[-1].low[:1].isalnum():
        words.pop()
    while words and (words[0].low in ("oh", "hmm", "well", "um", "uh", "haha", "ah") or words[0].text == ","):
        words.pop(0)
    count = sum(word.low[:1].isalnum() for word in words)
    if not words or count > _LONGEST_VALUE or words[0].low in _NO_VALUE:
        return []
    if any(word.dep in ("nsubj", "nsubjpass") or word.low in ("but", "?", ";") for word in words):
        return []
    if any(word.tag in ("VBD", "VBP", "VBZ", "MD") for word in words) and answer.tokens:
        return []
    first = words[0]
    if first.low in _LOWERED and (len(first.text) == 1 or not first.text.isupper()):
        words[0] = first.put(first.low)
    return words


def _chosen(words: Sequence[_Word], value: Sequence[_Word]) -> list[_Word]:
    """The statement with the alternative that was chosen: "Do you prefer tea or coffee?", "Coffee"."""
    core = _core(words)
    place = next((place for place, word in enumerate(words) if word.low == "or"), None)
    if core is None or place is None or place + 1 >= len(words) or core.denied:
        return []
    first = next((i for i, word in enumerate(words) if word.index == words[place].head), None)
    if words[place].dep != "cc" or first is None or _is_request(core):
        return []
    while (
        first > 0
        and words[first - 1].head == words[first].index
        and words[first - 1].dep in ("det", "amod", "compound", "poss")
    ):
        first -= 1
    last = next((i for i, w in enumerate(words) if w.dep == "conj" and w.head == words[place].head), None)
    if last is None or last <= place:
        return []
    option = words[last].index
    while last + 1 < len(words) and _hangs_on(words, last + 1, option):
        last += 1
    chosen = _bare(value)
    for end in (last + 1, len(words)):
        for pick in (words[first:place], words[place + 1 : end]):
            if chosen and chosen == _bare(pick):
                return _polar([*words[:first], *pick, *words[end:]], Reply("yes", 0))
    return []


def _hangs_on(words: Sequence[_Word], place: int, index: int) -> bool:
    """Whether a word, or the one it hangs on, hangs on the word with this index."""
    heads = {word.index: word.head for word in words}
    head = words[place].head
    return head == index or heads.get(head) == index


def _bare(words: Sequence[_Word]) -> str:
    return " ".join(
        word.low for word in words if word.low not in ("a", "an", "the") and word.low[:1].isalnum()
    )


def _open(words: Sequence[_Word], value: list[_Word]) -> list[_Word]:
    """The statement that a short answer makes of a question with what, who, which, where, when or how."""
    asked, rest = words[0].low, words[1:]
    if asked == "how":
        return _measured(rest, value)
    if asked == "who" and rest and rest[0].tag in ("VBZ", "VBD") and rest[0].low not in _AUXILIARIES:
        return _by_whom(rest, value)
    if asked in ("what", "who", "which", "where", "when") and rest and rest[0].low in _AUXILIARIES:
        if rest[0].low in _BE and _is_phrase(rest[1:]):
            return _equated(asked, rest, value)
        return _inserted(words, value)
    if asked in ("what", "which") and "time" not in (rest[0].low if rest else ""):
        return _of_kind(rest, value)
    return []


def _is_phrase(words: Sequence[_Word]) -> bool:
    """Whether words are one noun phrase with an owner or article, or a name."""
    if not words or not all(
        word.tag[:2] in ("NN", "JJ", "CD", "PO", "PR", "DT", "IN") and word.tag != "PRP" for word in words
    ):
        return False
    return words[-1].tag.startswith("NN") and words[0].tag in ("PRP$", "DT", "NNP", "NNPS")


def _equated(asked: str, rest: Sequence[_Word], value: list[_Word]) -> list[_Word]:
    """ "What is your number?", "0171" -> "My number is 0171"."""
    phrase = _swap(rest[1:])
    verb = {"'s": "is", "'re": "are"}.get(rest[0].low, rest[0].low)
    if asked == "where":
        return [*phrase, *_new(verb), *placed] if (placed := _placed(value, "in")) else []
    if asked == "when":
        return [*phrase, *_new(verb), *timed] if (timed := _timed(value)) else []
    if value[0].low in ("me", "mine"):
        return []
    return [*phrase, *_new(verb), *_spaced(value)]


def _by_whom(rest: Sequence[_Word], value: list[_Word]) -> list[_Word]:
    """ "Who owns the page?", "Me" -> "I own the page"."""
    if _bare(value) in ("me", "i", "i do", "me i do"):
        verb = rest[0] if rest[0].tag == "VBD" else rest[0].put(_base(rest[0].low))
        return [*_new("I"), verb, *_swap(rest[1:])]
    if not value[0].tag.startswith(("NNP", "PRP$")):
        return []
    return [*value, *rest[:1], *_swap(rest[1:])]


def _base(verb: str) -> str:
    """The base form of a present in the third person."""
    return next(
        (
            base
            for base in (verb[:-1], verb[:-2], f"{verb[:-3]}y")
            if verbs.third_person(base) == verb and base in verbs.PRESENT
        ),
        verb[:-1],
    )


def _measured(rest: Sequence[_Word], value: list[_Word]) -> list[_Word]:
    """ "How old are you?", "How many kids do you have?", "How long have you lived there?"."""
    if len(rest) < 3:
        return []
    if rest[0].low == "old":
        core = _core(rest[1:])
        if core is None or _without(core.rest, "now", "today") or core.auxiliary not in _BE:
            return []
        years = _new("years", "old") if len(value) == 1 and value[0].tag == "CD" else []
        return [*core.subject, *_new(core.auxiliary), *_spaced(value), *years, *core.rest]
    if rest[0].low == "long":
        told = _told(rest[1:])
        if not told or value[0].low in _TIME_STARTS | {"for", "since"}:
            return [*told, *_spaced(value)] if told else []
        counted = value[0].tag == "CD" or value[0].low in ("a", "an", "almost", "nearly", "several", "many")
        return [*told, *_new("for"), *_spaced(value)] if counted else []
    if rest[0].low == "many" and value[0].tag == "CD" and (len(value) == 1 or value[1].tag.startswith("NN")):
        place = next((i for i, word in enumerate(rest) if word.low in _DO), None)
        core = _core(rest[place:]) if place is not None and place > 1 else None
        told = _affirmed(core) if core is not None else []
        verb = (
            next((i for i, word in enumerate(told) if word.index == rest[place - 1].head), None)
            if place
            else None
        )
        if not told or verb is None:
            return []
        counted_noun = list(rest[1:place]) if len(value) == 1 else []
        return [*told[: verb + 1], *_spaced(value), *counted_noun, *told[verb + 1 :]]
    return []


def _told(words: Sequence[_Word]) -> list[_Word]:
    core = _core(words)
    if core is None or core.denied or core.auxiliary in _MODALS or not core.rest:
        return []
    return _affirmed(core)


def _inserted(words: Sequence[_Word], value: list[_Word]) -> list[_Word]:
    """ "Where do you live now?", "Lisbon" -> "I live in Lisbon now"."""
    asked = words[0]
    told = _told(words[1:])
    if not told:
        return []
    if told[-1].low in _STRANDED and asked.low != "when":
        return (
            [*told, *_spaced(value)] if value[0].low not in _PREPOSITIONS else [*told[:-1], *_spaced(value)]
        )
    if asked.low == "when":
        timed = _timed(value)
        return [*told, *timed] if timed else []
    verb = next((i for i, word in enumerate(told) if word.index == asked.head and asked.index >= 0), None)
    if verb is None:
        return []
    base = words[asked.head - words[0].index].low if 0 <= asked.head - words[0].index < len(words) else ""
    if asked.low == "where":
        put = _placed(
            value, "to" if base in _MOVING else "in" if base in _STAYING else "at" if base == "work" else ""
        )
    else:
        put = (
            _spaced(value)
            if asked.dep == "dobj" and base != "do" and value[0].low not in _PREPOSITIONS
            else []
        )
    if not put:
        return []
    after = verb + 1
    while after < len(told) and told[after].tag == "RP":
        after += 1
    return [*told[:after], *put, *told[after:]]


def _of_kind(rest: Sequence[_Word], value: list[_Word]) -> list[_Word]:
    """ "What car do you drive?", "A Volvo" -> "The car I drive is a Volvo"."""
    place = next((i for i, word in enumerate(rest) if word.low in _AUXILIARIES), None)
    if not place or place > 5 or value[0].low in _PREPOSITIONS or not rest[place - 1].tag.startswith("NN"):
        return []
    told = _told(rest[place:])
    noun = rest[place - 1]
    if not told or told[-1].low in _STRANDED:
        return []
    past = rest[place].low in ("did", "was", "were", "had")
    several = noun.tag in ("NNS", "NNPS")
    verb = ("were" if several else "was") if past else "are" if several else "is"
    return [*_new("The"), *_swap(rest[:place]), *told, *_new(verb), *_spaced(value)]


def _placed(value: list[_Word], preposition: str) -> list[_Word]:
    if value[0].low in _PREPOSITIONS:
        return _spaced(value)
    if not preposition or value[0].tag not in ("NNP", "NNPS"):
        return []
    return [*_new(preposition), *_spaced(value)]


def _timed(value: list[_Word]) -> list[_Word]:
    first = value[0].low
    if first in _TIME_STARTS or value[-1].low == "ago":
        return _spaced(value)
    if first in _WEEKDAYS:
        return [*_new("on"), *_spaced(value)]
    if first in _MONTHS:
        dated = (
            len(value) > 1 and value[1].low[:1].isdigit() and not re.fullmatch(r"(?:19|20)\d\d", value[1].low)
        )
        return [*_new("on" if dated else "in"), *_spaced(value)]
    return [*_new("in"), *_spaced(value)] if re.fullmatch(r"(?:19|20)\d\d", first) and len(value) == 1 else []


def _spaced(value: list[_Word]) -> list[_Word]:
    return [replace(value[0], spaced=True), *value[1:]]
