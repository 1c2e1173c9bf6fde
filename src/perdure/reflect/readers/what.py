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
_QUOTED = re.compile(r"[\"“']([^\"“”']{2,60})[\"”'](?!\w)")
_CALLED = re.compile(r"\b(?:called|named|titled|entitled|known as)\s+[\"“]?(?P<name>[^\"”.,;!?]{2,60})", re.IGNORECASE)
_DID_WHAT = re.compile(r"^what (?:do|does|did|is|are|was|were|has|have|had|will|would) .*\b(?:do|doing|done)\b", re.IGNORECASE)
_CLAUSE_TAIL = frozenset({"punct", "cc", "conj", "advcl", "parataxis", "mark"})
_NEAR = 3.0


def read_what(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The best phrase of the best sentences."""
    for place in places(asked, passages)[:TRIED]:
        if place.sentence.is_question or place.passage.about is About.OTHER:
            continue
        answer = phrase_of(asked, place)
        if answer:
            return Reading(answer=answer, passages=(place.passage,), reader="what")
    return None


def phrase_of(asked: Asked, place: Place) -> str:
    """The phrase of a sentence that answers, empty when it has none."""
    sentence = place.sentence
    title = _title(asked, sentence)
    if title:
        return title
    if _DID_WHAT.match(asked.text):
        done = predicate(asked, sentence)
        if done:
            return done
    for head in best_phrases(asked, place):
        phrase = noun_phrase(sentence, head)
        if is_vague(phrase) or not is_new(phrase, asked):
            continue
        return shorten(without_determiner(phrase))
    return predicate(asked, sentence)


def _title(asked: Asked, sentence: PassageSentence) -> str:
    """A name or a title behind the noun that is asked for."""
    called = _CALLED.search(sentence.text)
    if called is not None and ("name" in asked.text.lower() or "called" in asked.text.lower() or asked.focus.split()[-1:] and asked.focus.split()[-1] in _WORKS):
        name = _capitalised(called["name"]) or clean(called["name"])
        if is_new(name, asked):
            return shorten(name, 8)
    if asked.focus and asked.focus.split()[-1] in _WORKS:
        for quote in _QUOTED.finditer(sentence.text):
            if is_new(quote[1], asked):
                return clean(quote[1])
        for mention in sentence.mentions:
            if mention.type in ("work", "product") and is_new(mention.text, asked):
                return clean(mention.text)
    return ""


def _capitalised(text: str) -> str:
    match = re.match(r"(?:[A-Z0-9][\w'’&:-]*|of|the|and|in|to|a|for)(?: (?:[A-Z0-9][\w'’&:-]*|of|the|and|in|to|a|for))*", text.strip())
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
        if token.pos in ("NOUN", "PROPN", "NUM") and token.dep not in ("compound", "poss", "nummod", "npadvmod", "amod")
    ]
    for worth, index in sorted(scored, reverse=True):
        if worth > 0.0:
            yield -index


def _worth(asked: Asked, tokens: Sequence[Token], index: int) -> float:
    """How well a noun's place in its sentence fits the question: object of the verb asked for, value of the noun asked for."""
    token = tokens[index]
    own = set(index_terms(token.text))
    governor = tokens[token.head]
    worth = {"dobj": 2.0, "attr": 1.8, "oprd": 1.8, "appos": 1.5, "conj": 1.0, "pobj": 1.0, "ROOT": 0.8}.get(token.dep, 0.3)
    if own & asked.terms:
        worth -= 2.5
        if asked.focus and own & set(index_terms(asked.focus)) and any(
            tokens[child].dep in ("amod", "compound", "nummod", "nmod") and not set(index_terms(tokens[child].text)) & asked.terms
            for child in children(tokens, index)
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
    members = [index for index in subtree(tokens, root, _CLAUSE_TAIL | {"nsubj", "nsubjpass", "aux", "intj", "npadvmod"}) if index >= root]
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
    return phrase if phrase and is_new(phrase, asked) and not is_vague(phrase) else ""
