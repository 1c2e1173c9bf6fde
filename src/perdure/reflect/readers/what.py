"""What: the noun phrase that a sentence gives for the noun or verb asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perdure.ports.tagger import Token
from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage, PassageSentence
from perdure.reflect.readers.reading import (
    TRIED,
    Place,
    Reading,
    children,
    clean,
    is_new,
    is_vague,
    noun_phrase,
    places,
    same_verb,
    shorten,
    subtree,
    without_determiner,
)
from perdure.text.terms import index_terms
from perdure.text.wordlist import word_set

_OBJECTS = ("dobj", "attr", "oprd", "dative")
_COMPLEMENTS = ("xcomp", "ccomp", "acomp")
_WORKS = word_set(
    "book books movie movies film films song songs show shows series game games novel album poem play piece title"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]|(?<!\w)'([^']{2,60})'(?!\w)")
_CALLED = re.compile(
    r"\b(?:called|named|titled|entitled|known as)\s+[\"“]?(?P<name>[^\"”.,;!?]{2,60})", re.IGNORECASE
)
_DID_WHAT = re.compile(
    r"^what (?:do|does|did|is|are|was|were|has|have|had|will|would) .*\b(?:do|doing|done)\b", re.IGNORECASE
)
_NAME_ASKED = re.compile(r"\bnames? (?:of|is|was)\b|\b(?:called|named)\b|'s names?\b", re.IGNORECASE)
_CLAUSE_TAIL = frozenset({"punct", "cc", "conj", "advcl", "parataxis", "mark"})
_NEAR = 3.0


def read_what(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The best phrase of the best sentences; for a book, a film or a name, the first title."""
    ranked = [
        place
        for place in places(asked, passages)[:TRIED]
        if not place.sentence.is_question and place.passage.about is not About.OTHER
    ]
    for place in ranked:
        title = _title(asked, place.sentence)
        if title:
            return Reading(answer=title, passages=(place.passage,), reader="what")
    for place in ranked:
        answer = phrase_of(asked, place)
        if answer:
            return Reading(answer=answer, passages=(place.passage,), reader="what")
    return None


def phrase_of(asked: Asked, place: Place) -> str:
    """The phrase of a sentence that answers, empty when it has none."""
    sentence = place.sentence
    if _DID_WHAT.match(asked.text):
        done = predicate(asked, sentence)
        if done:
            return done
    for head in best_phrases(asked, place):
        phrase = noun_phrase(sentence, head, with_others=True)
        if is_vague(phrase) or not is_new(phrase, asked):
            continue
        if is_answer(asked, sentence.tokens, head):
            return shorten(without_determiner(phrase))
        return predicate(asked, sentence) or shorten(without_determiner(phrase))
    return predicate(asked, sentence)


def is_answer(asked: Asked, tokens: Sequence[Token], head: int) -> bool:
    """Whether a noun hangs on a word of the question, or is the noun asked for with a word of its own before it."""
    token = tokens[head]
    governor = tokens[token.head]
    if token.dep == "pobj":
        governor = tokens[governor.head]
    if head != token.head and (
        same_verb(governor, asked.verb) or set(index_terms(governor.text)) & asked.telling
    ):
        return True
    return bool(asked.focus) and bool(set(index_terms(token.text)) & set(index_terms(asked.focus)))


def _title(asked: Asked, sentence: PassageSentence) -> str:
    """A name or a title behind the noun that is asked for."""
    called = _CALLED.search(sentence.text)
    if called is not None and (_NAME_ASKED.search(asked.text) or _is_work(asked.focus)):
        name = _capitalised(called["name"]) or clean(called["name"])
        if is_new(name, asked):
            return shorten(name, 8)
    if _NAME_ASKED.search(asked.text):
        for mention in sentence.mentions:
            if (
                mention.type != "url"
                and is_new(mention.text, asked)
                and not _is_speaker(mention.text, sentence)
            ):
                return clean(mention.text)
    return next(iter(titles_in(asked, sentence)), "")


def _is_work(focus: str) -> bool:
    return focus.rpartition(" ")[2] in _WORKS


def titles_in(asked: Asked, sentence: PassageSentence) -> list[str]:
    """The titles of works in a sentence, where the question asks for a book, a film, a song and the like."""
    if not _is_work(asked.focus):
        return []
    quoted = [clean(quote[1] or quote[2]) for quote in _QUOTED.finditer(sentence.text)]
    named = [clean(mention.text) for mention in sentence.mentions if mention.type in ("work", "product")]
    return [title for title in dict.fromkeys([*quoted, *named]) if is_new(title, asked)]


def _is_speaker(name: str, sentence: PassageSentence) -> bool:
    """Whether a name begins the sentence as the one who acts in it."""
    return sentence.text.startswith(name)


def _capitalised(text: str) -> str:
    match = re.match(
        r"(?:[A-Z0-9][\w'’&:-]*|of|the|and|in|to|a|for)(?: (?:[A-Z0-9][\w'’&:-]*|of|the|and|in|to|a|for))*",
        text.strip(),
    )
    words = match[0].split() if match is not None else []
    while words and words[-1].islower():
        words.pop()
    return " ".join(words) if words and words[0][:1].isupper() else ""


def best_phrases(asked: Asked, place: Place) -> Iterator[int]:
    """Indexes of nouns, the likeliest answers first."""
    tokens = place.sentence.tokens
    scored = [
        (_worth(asked, tokens, index), -index)
        for index, token in enumerate(tokens)
        if token.pos in ("NOUN", "PROPN", "NUM")
        and token.dep not in ("compound", "poss", "nummod", "npadvmod", "amod")
    ]
    for worth, index in sorted(scored, reverse=True):
        if worth > 0.0:
            yield -index


def _worth(asked: Asked, tokens: Sequence[Token], index: int) -> float:
    """How well a noun's place in its sentence fits the question: object of the verb asked for, value of the noun asked for."""
    token = tokens[index]
    own = set(index_terms(token.text))
    governor = tokens[token.head]
    worth = {"dobj": 2.0, "attr": 1.8, "oprd": 1.8, "appos": 1.5, "conj": 1.0, "pobj": 1.0, "ROOT": 0.8}.get(
        token.dep, 0.3
    )
    if own & asked.terms:
        worth -= 2.5
        if (
            asked.focus
            and own & set(index_terms(asked.focus))
            and any(
                tokens[child].dep in ("amod", "compound", "nummod", "nmod")
                and not set(index_terms(tokens[child].text)) & asked.terms
                for child in children(tokens, index)
            )
        ):
            worth += 4.0
    near = governor
    if token.dep == "pobj":
        near = tokens[governor.head]
        if re.search(rf"\b{re.escape(governor.text.lower())}\s*\?*$", asked.text.lower()):
            worth += 1.5
    if asked.verb and (same_verb(near, asked.verb) or set(index_terms(near.text)) & asked.terms):
        worth += 1.5
    if near.lemma in ("say", "think", "know", "guess", "hear", "thank"):
        worth -= 1.0
    return worth


def predicate(asked: Asked, sentence: PassageSentence) -> str:
    """What a sentence says of its subject: its verb and all behind it, without side clauses; empty without a parse."""
    tokens = sentence.tokens
    roots = [index for index, token in enumerate(tokens) if token.dep == "ROOT"]
    if not roots:
        return ""
    root = roots[0]
    for index, token in enumerate(tokens):
        if token.pos == "VERB" and asked.verb and same_verb(token, asked.verb):
            root = index
            break
    members = [
        index
        for index in subtree(tokens, root, _CLAUSE_TAIL | {"nsubj", "nsubjpass", "aux", "intj", "npadvmod"})
        if index >= root
    ]
    if not members:
        return ""
    if tokens[root].lemma == "be" or (same_verb(tokens[root], asked.verb) and len(members) > 1):
        members = [index for index in members if index > root]
    if not members:
        return ""
    run = [members[0]]
    for index in members[1:]:
        if index != run[-1] + 1:
            break
        run.append(index)
    phrase = shorten(without_determiner(clean(sentence.piece(run[0], run[-1]))))
    if len(run) == 1 and tokens[run[0]].pos not in ("NOUN", "PROPN", "ADJ"):
        return ""
    return phrase if phrase and is_new(phrase, asked) and not is_vague(phrase) else ""
