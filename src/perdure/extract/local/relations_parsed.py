"""Relations from the dependency parse, by the table of patterns."""

from __future__ import annotations

from collections.abc import Iterator

from perdure.extract.local.mentions import clean_name
from perdure.extract.local.units import QUOTED, Unit
from perdure.ports.extractor import Triple
from perdure.ports.tagger import Mention, Token
from perdure.text.relation_table import ObjectKind, Pattern, patterns_by_verb
from perdure.text.voice import Voice
from perdure.text.wordlist import word_set

_SUBJECTS = ("nsubj", "nsubjpass")
_OBJECTS = ("dobj", "attr", "oprd", "obj")
_MIDDLES = ("dobj", "attr", "acomp", "obj", "oprd")
_INSIDE = ("compound", "amod", "nummod", "poss", "nmod", "quantmod", "flat", "case")
_HEDGES = word_set("would could might may should can must shall will wo ca if unless 'll ’ll 'd ’d going")
_KEEPS_FACT = word_set("start begin continue decide finish")
_SHORT_OF = word_set("almost nearly")
_DAYS = frozenset(
    "January February March April May June July August September October November December "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
)
_NO_MORE = word_set("anymore more longer")
_NOBODY = word_set("nobody none neither no-one")
_UNREAL = word_set("wish pretend imagine dream doubt deny")
_BELIEF = word_set("think believe assume suppose claim")
_EMPTY_OBJECTS = word_set(
    "it that this them one thing things something anything everything nothing lot bit way time times what which who lots "
    "all some any more most much kind sort part idea chance fun hand day week year people person i me you he she they us"
)
_POSSESSIONS = word_set(
    "dog cat puppy kitten pet horse bird parrot rabbit hamster fish car truck motorcycle bike boat house apartment flat "
    "condo cottage cabin son daughter brother sister kid kids child children siblings twins wife husband girlfriend "
    "boyfriend roommate degree phd allergy diabetes asthma license licence business company studio guitar piano dogs cats"
)
_NAMED_KINDS: dict[ObjectKind, tuple[str, ...]] = {
    "place": ("place",),
    "person": ("person", "handle"),
    "organisation": ("organisation",),
}


def parsed_triples(unit: Unit, speaker: Voice | None, other: Voice | None) -> list[Triple] | None:
    """The relations of a parsed sentence, in the order of its verbs; None when it says that they are not so."""
    parse = _Parse(unit, speaker, other)
    triples = list(parse.triples())
    return None if parse.refused and not triples else triples


class _Parse:
    """A sentence's tree, with what its noun phrases are called."""

    def __init__(self, unit: Unit, speaker: Voice | None, other: Voice | None) -> None:
        self._tokens = unit.tokens
        self._mentions = unit.mentions
        self._low, self._high = unit.origin, unit.origin + len(unit.text)
        self._names = {"i": speaker, "me": speaker, "you": other}
        self._owners = {"my": speaker, "your": other}
        self._quoted = [
            (quote.start() + unit.origin, quote.end() + unit.origin) for quote in QUOTED.finditer(unit.text)
        ]
        self.refused = False
        self._children: dict[int, list[int]] = {}
        for index, token in enumerate(unit.tokens):
            if token.head != index:
                self._children.setdefault(token.head, []).append(index)

    def triples(self) -> Iterator[Triple]:
        table = patterns_by_verb()
        for index, token in enumerate(self._tokens):
            if not self._low <= token.start < self._high:
                continue
            patterns = table.get(token.lemma.casefold()) if token.pos in ("VERB", "AUX") else None
            if not patterns:
                continue
            if self._is_untrue(index):
                self.refused = True
                continue
            subject = self._subject(index)
            if not subject or self._is_doubtful(index):
                continue
            for pattern in patterns:
                triple = self._match(pattern, index, subject)
                if triple is not None:
                    yield triple
                    break

    def _match(self, pattern: Pattern, verb: int, subject: str) -> Triple | None:
        over = self._is_no_longer(verb)
        denied = self._has(verb, "neg") or over
        passive = self._has(verb, "nsubjpass")
        denial = (over and pattern.ended) or pattern.denied
        if (denied and not denial) or (passive and not (pattern.passive or pattern.after)):
            return None
        if pattern.event and self._is_planned(verb):
            self.refused = True
            return None
        if pattern.passive and not passive:
            return None
        target = self._object(pattern, verb)
        if target is None:
            return None
        name = self._name_of(target, pattern.object)
        if not name or name == subject:
            return None
        past = pattern.past if self._is_over(verb) else ""
        relation = denial if denied else past or pattern.relation
        single = pattern.single and not denied and relation == pattern.relation
        return Triple(subject=subject, relation=relation, object=name, single_valued=single)

    def _object(self, pattern: Pattern, verb: int) -> int | None:
        start = verb
        if pattern.middle:
            middles = [
                child
                for child in self._children.get(verb, ())
                if self._tokens[child].dep in _MIDDLES
                and self._tokens[child].lemma.casefold() in pattern.middle
            ]
            if not middles and self._tokens[verb].lemma in pattern.middle:
                middles = [verb]
            if not middles:
                return None
            start = middles[0]
        if not pattern.after:
            return self._first(start, _OBJECTS)
        return self._after_preposition(start, pattern) or self._after_other_phrase(verb, pattern)

    def _after_preposition(self, head: int, pattern: Pattern) -> int | None:
        for child in self._children.get(head, ()):
            token = self._tokens[child]
            if token.dep in ("prep", "agent") and token.text.casefold() in pattern.after:
                noun = self._first(child, ("pobj",))
                if noun is not None:
                    return noun
        return None

    def _after_other_phrase(self, verb: int, pattern: Pattern) -> int | None:
        """The preposition hangs on the verb behind a noun, or on another phrase: "work as a nurse AT"."""
        if pattern.middle:
            return self._after_preposition(verb, pattern)
        for child in self._children.get(verb, ()):
            noun = self._first(child, ("pobj",)) if self._tokens[child].dep == "prep" else None
            target = self._after_preposition(noun, pattern) if noun is not None and pattern.single else None
            if target is not None:
                return target
        return None

    def _subject(self, verb: int) -> str:
        """Who the verb is about, also through "and" and "started to"."""
        for _ in range(4):
            subject = self._first(verb, _SUBJECTS)
            if subject is not None:
                return self._subject_name(subject)
            token = self._tokens[verb]
            if token.dep == "conj" or (
                token.dep == "xcomp" and self._tokens[token.head].lemma in _KEEPS_FACT
            ):
                verb = token.head
            elif token.dep == "relcl" and self._tokens[token.head].pos == "PROPN":
                return self._phrase(token.head)
            else:
                return ""
        return ""

    def _subject_name(self, index: int) -> str:
        token = self._tokens[index]
        if token.pos == "PRON":
            voice = self._voice(token)
            return voice.name if voice is not None and not self._has(index, "cc") else ""
        if self._has(index, "cc"):
            return ""
        called = self._first(index, ("appos",))
        if called is not None and self._tokens[called].pos == "PROPN":
            index = called
        named = self._named(index)
        if named is not None:
            return clean_name(named.text)
        if token.pos == "PROPN" or self._has(index, "poss"):
            return self._phrase(index)
        return ""

    def _name_of(self, index: int, kind: ObjectKind) -> str:
        token = self._tokens[index]
        if token.pos == "PRON":
            voice = self._voice(token) if kind == "person" else None
            return voice.name if voice is not None else ""
        mention = self._named(index)
        if kind in _NAMED_KINDS:
            if mention is not None and mention.type in _NAMED_KINDS[kind]:
                return clean_name(mention.text)
            loose = mention is None and token.pos == "PROPN" and kind == "place" and token.text not in _DAYS
            kin = kind == "person" and self._has(index, "poss") and token.pos == "NOUN"
            return self._phrase(index) if loose or kin else ""
        if kind == "name":
            return (
                clean_name(mention.text)
                if mention is not None
                else self._phrase(index)
                if token.pos == "PROPN"
                else ""
            )
        if token.pos not in ("NOUN", "PROPN") or token.lemma.casefold() in _EMPTY_OBJECTS:
            return ""
        if kind == "possession" and token.lemma.casefold() not in _POSSESSIONS:
            return ""
        return clean_name(mention.text) if mention is not None else self._phrase(index)

    def _voice(self, token: Token) -> Voice | None:
        """Who "I" or "you" is; in somebody's quoted words nobody knows."""
        return None if self._is_quoted(token) else self._names.get(token.text.casefold())

    def _is_quoted(self, token: Token) -> bool:
        return any(start <= token.start < end for start, end in self._quoted)

    def _named(self, index: int) -> Mention | None:
        token = self._tokens[index]
        return next((m for m in self._mentions if m.start <= token.start and token.end <= m.end), None)

    def _phrase(self, index: int) -> str:
        """The noun with what stands before it, without its article; "my" becomes the owner's name."""
        inside = [index]
        for child in self._children.get(index, ()):
            if self._tokens[child].dep in _INSIDE and child < index:
                inside.append(child)
                inside += [c for c in self._children.get(child, ()) if self._tokens[c].dep in _INSIDE]
        words = []
        for place in sorted(set(inside)):
            token = self._tokens[place]
            if token.tag == "PRP$":
                owner = None if self._is_quoted(token) else self._owners.get(token.text.casefold())
                if owner is None:
                    return ""
                words.append(owner.possessive)
            elif token.text in ("'s", "’s") and words:
                words[-1] += token.text
            else:
                words.append(token.text)
        return " ".join(words)

    def _is_doubtful(self, verb: int) -> bool:
        """Not said as a fact: hedged, conditional, wished for, over and done ("used to")."""
        token = self._tokens[verb]
        if any(self._tokens[c].text.casefold() in _HEDGES for c in self._children.get(verb, ())):
            return True
        if token.dep == "conj" and self._is_doubtful(token.head) and self._first(verb, _SUBJECTS) is None:
            return True
        if token.dep in ("xcomp", "ccomp", "advcl") and token.tag in ("VB", "VBG"):
            return self._tokens[token.head].lemma not in _KEEPS_FACT
        return False

    def _is_untrue(self, verb: int) -> bool:
        """ "Almost", "nobody", wished for or believed by others: said, but not so."""
        token = self._tokens[verb]
        for child in self._children.get(verb, ()):
            low = self._tokens[child].text.casefold()
            if low in _SHORT_OF or (low in _NOBODY and self._tokens[child].dep in _SUBJECTS):
                return True
        return token.dep == "ccomp" and self._is_belief(token.head)

    def _is_no_longer(self, verb: int) -> bool:
        """It was so and is no more: "no longer work", "don't work there anymore"."""
        for child in self._children.get(verb, ()):
            low = self._tokens[child].text.casefold()
            if low == "longer" and self._has(child, "neg"):
                return True
            if low in _NO_MORE and self._has(verb, "neg"):
                return True
        return False

    def _is_belief(self, verb: int) -> bool:
        """Whether what depends on the verb is unreal, not believed, or only what somebody else believes."""
        lemma = self._tokens[verb].lemma
        if lemma not in _BELIEF:
            return lemma in _UNREAL
        if self._has(verb, "neg"):
            return True
        holder = self._first(verb, _SUBJECTS)
        return holder is not None and self._tokens[holder].text.casefold() != "i"

    def _is_planned(self, verb: int) -> bool:
        """Present progressive: "is moving to Lyon" tells of what has not happened yet."""
        auxiliaries = [self._tokens[c] for c in self._children.get(verb, ()) if self._tokens[c].dep == "aux"]
        tags = [token.tag for token in auxiliaries if token.lemma == "be"]
        return self._tokens[verb].tag == "VBG" and any(tag in ("VBP", "VBZ") for tag in tags)

    def _is_over(self, verb: int) -> bool:
        """Simple past: it was so, and may be no longer."""
        if self._tokens[verb].tag == "VBD":
            return True
        return any(
            self._tokens[c].dep in ("aux", "auxpass") and self._tokens[c].tag == "VBD"
            for c in self._children.get(verb, ())
        )

    def _first(self, head: int, deps: tuple[str, ...]) -> int | None:
        return next((c for c in self._children.get(head, ()) if self._tokens[c].dep in deps), None)

    def _has(self, head: int, dep: str) -> bool:
        return self._first(head, (dep,)) is not None
