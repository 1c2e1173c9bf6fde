"""What a question asks for: which slot ("home") of which subject ("Ann"), and which statements tell it.

Read from the question's words in the third person, by the table `slots/questions.toml` and the nouns of the tables of
wordings. "What is Ann's ...?" with a noun that no table has asks for an open attribute of that name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from perdure.text.kin import PERSONS
from perdure.text.names import normal_name
from perdure.text.relation_table import is_single_valued
from perdure.text.slot_table import end_of, read_toml, slot_family, slots
from perdure.text.terms import plain_words
from perdure.text.wordlist import word_set

_NAME = r"(?-i:[A-ZÀ-ÖØ-Þ0-9])[\w&'’.-]*"
_NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thir\w+|four\w+|fif\w+|six\w+|seven\w+|eigh\w+|nine\w+"
    r"|twenty\S*|forty\S*)"
)
_HOLES = {
    "who": r"(?P<who>(?:the |an? )?[\w'’.&-]+(?: [\w'’.&-]+){0,5}?)",
    "do": r"(?:do|does|did|will|would|can|has|have|had|is|was|are|were)",
    "be": r"(?:is|are|was|were|'s|has been|will be|be)",
    "time": r"(?:(?:now|still|currently|these days|nowadays|today|at the moment|actually|ever|been|previously|previous|former|old|new|originally|first"
    r"|usually|normally|right now|use to|used to|being|current|latest|last) )*",
    "name": _NAME,
    "number": _NUMBER,
    "end": r"(?=\s*[?.!]*$| (?:now|again|these days|today|nowadays|currently|at the moment|then|in |on |before |when )\b)",
}
_HOLE = re.compile(r"\{(\w+)\}")
_OWNED = re.compile(
    r"\b(?:who|what|which|when|where|how much|how high)(?:'s|’s| is| are| was| were| will be| exactly is)(?: the (?:name|date|time|number) of)? "
    r"(?P<who>[\w.&’'-]+(?: [\w.&’'-]+){0,4}?)['’]s? (?P<noun>[\w’'-]+(?: [\w’'-]+){0,3}?)"
    r"(?: (?:called|named|now|again|these days|today|currently|at the moment|right now|at (?P<at>[A-Z][\w-]+)|(?:in|on|before|since|until|during) .*))?\s*[?.!]*$",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\b(?:who|what|which|when)(?:'s|’s| is| was| are) (?:the )?(?P<noun>[\w-]+(?: [\w-]+){0,2}) of (?P<who>[\w.&’'-]+(?: [\w.&’'-]+){0,4}?)\s*[?.!]*$",
    re.IGNORECASE,
)
_PAID = re.compile(
    r"\bhow much (?:does|do|did) (?P<who>(?:the )?[\w.&’'-]+(?: [\w.&’'-]+){0,3}?) (?:pay|spend|owe) (?:for|on) (?:the |a )?(?P<noun>[\w-]+(?: [\w-]+)?)",
    re.IGNORECASE,
)
_DONE_TO = re.compile(
    r"^(?:who|what|which \w+) \w+s (?P<who>[\w.& -]+?)['’]s (?P<noun>[\w-]+(?: [\w-]+)?)\s*(?:now|these days|currently)?[?.!]*$",
    re.IGNORECASE,
)
_USES = re.compile(
    r"\b(?:what|which)(?: kind of| sort of)? (?P<noun>[\w-]+(?: [\w-]+){0,2}?) (?:does|do|did|is|are|was|has) (?P<who>(?:the |an? )?[\w.&’'-]+(?: [\w.&’'-]+){0,4}?) "
    r"(?:now |still |currently )*(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_STILL = re.compile(
    r"^(?:do|does|is|are|am|has|have) (?P<who>(?:the )?[\w.&’'-]+(?: [\w.&’'-]+){0,3}?) still (?P<what>[^?]{3,80})",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\b(?:do|does|is|are) (?P<who>(?:the )?[\w.&’'-]+(?: [\w.&’'-]+){0,3}?) (?:(?:now|currently|usually|rather) )*"
    r"(?:(?:prefer|like|use|want|drink|eat|take|drive|have|on|in|at|a|an) |\w+(?: \w+)?, )(?P<what>[^?]{2,40} or [^?]{2,40})",
    re.IGNORECASE,
)
_KIND_OF = re.compile(r"\b(what|which) (?:kinds?|sorts?|types?|brand|make|model) of (?:an? )?", re.IGNORECASE)
_WHICH = re.compile(
    r"(?:what|which)(?: kind of| sort of| type of)? (?!is\b|are\b|do\b|does\b)(\w+)", re.IGNORECASE
)
_PRONOUNS = word_set(
    "i me my mine we us our you your he him his she her they them their it its this that there who what"
)
_STATES = word_set(
    "use uses using used run runs running have has having own owns play plays playing drink drinks drinking prefer prefers like likes support supports "
    "wear wears read reads reading watch watches watching learn learning study studying drive drives driving go goes going do doing belong attend attends attending follow follows "
    "take takes taking practise practising visit on in with at"
)
"""Verbs of what lasts: what somebody did once fills no slot."""
_PLAIN_VERBS = word_set(
    "go goes going do does doing have has play plays use uses like likes get gets take takes work works live lives"
)
_OF_THINGS = ("uses_", "date", "time", "value", "owner", "location", "status")
_TRAILING = re.compile(
    r" (?:due|planned|scheduled|supposed|set|happening|taking place|again|exactly|called|hosted|based)$",
    re.IGNORECASE,
)
_QUALIFIER = re.compile(
    r"^(?:new|old|current|present|previous|former|last|latest|first|next|own|actual|exact)\s+", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AskedSlot:
    """A slot of a subject that a question asks for."""

    subject: str
    relations: tuple[str, ...]
    """The relations whose values answer, with those of the same family and those that end them."""
    also: tuple[str, ...]
    """Relations whose values help to answer."""
    telling: re.Pattern[str] | None
    """What a statement holds that tells a value without having been read as one of the relations."""
    one: bool
    """Whether there is one value at a time, so that a newer one stands for the older."""
    is_open: bool = False
    """Whether no table has the slot: any noun may be asked for, and to hold it says less."""

    @property
    def subjects(self) -> tuple[str, ...]:
        """Names under which facts may have the subject: as asked, and what it is without its owner ("the team meeting")."""
        _, _, owned = self.subject.rpartition("'s ")
        last = self.subject.rpartition(" ")[2]
        articled = (f"the {self.subject}", f"the {owned}")
        return tuple(dict.fromkeys((self.subject, *articled, *([last] if last[:1].isupper() else []))))

    @property
    def is_of_thing(self) -> bool:
        """Whether the subject is a thing ("the launch"), or may be one, of which anybody speaks."""
        return self.relations[0].startswith(_OF_THINGS) or not self.subject[:1].isupper()

    @property
    def is_for_person(self) -> bool:
        """Whether the values are persons, of whom statements of the subject speak first ("Mia is my boss now")."""
        relation = self.relations[0]
        return relation.rpartition("_")[2] in PERSONS or (
            relation in slots() and slots()[relation].value == "person"
        )

    def is_subject(self, name: str | None) -> bool:
        """Whether a fact's subject is the one asked for: its name, or the name behind what it is ("Ann's sister Klara")."""
        own = normal_name(name or "")
        return bool(own) and own in {normal_name(subject) for subject in self.subjects}

    def states(self, subject: str | None, relation: str | None) -> bool:
        """Whether a statement of that subject and relation is one of the slot."""
        return relation in self.relations and self.is_subject(subject)

    def is_told_by(self, text: str) -> bool:
        """Whether a statement holds the words that go with a value."""
        return self.telling is not None and self.telling.search(text) is not None


@dataclass(frozen=True, slots=True)
class _AskedRow:
    relations: tuple[str, ...]
    also: tuple[str, ...]
    asks: tuple[re.Pattern[str], ...]
    states: re.Pattern[str] | None
    one: bool
    several: bool


def read_asked_slot(question: str) -> AskedSlot | None:
    """The slot that a question in the third person asks for, None when it asks for something else."""
    asked = _read(question)
    return None if asked is None or asked.subject.lower() in _PRONOUNS else asked


def _read(question: str) -> AskedSlot | None:
    plain = _KIND_OF.sub(r"\1 ", question.replace("’", "'").strip())
    for row in _rows():
        for pattern in row.asks:
            match = pattern.search(plain)
            if match is not None and not (row.relations[0] == "date" and _names_slot(match["who"])):
                return _slot(match["who"], row, one=row.one or (row.several and _asks_for_one(match[0])))
    owned = _OWNED.search(plain) or _OF.search(plain) or _PAID.search(plain) or _DONE_TO.search(plain)
    if owned is not None:
        return _attribute(owned["who"], owned["noun"])
    uses = _USES.search(plain)
    if uses is not None and uses["verb"].lower() in _STATES:
        return _used(uses["who"], uses["noun"])
    activity = _STILL.search(plain) or _EITHER.search(plain)
    return _activity(activity["who"], activity["what"]) if activity is not None else None


def _slot(who: str, row: _AskedRow, *, one: bool | None = None) -> AskedSlot:
    single = row.one if one is None else one
    return AskedSlot(
        _TRAILING.sub("", _ARTICLE.sub("", who)), _family(row.relations), row.also, row.states, single
    )


def _asks_for_one(question: str) -> bool:
    """Whether a question asks for one of what there may be several of ("which instrument", not "which instruments")."""
    noun = _WHICH.match(question)
    return noun is not None and not noun[1].lower().endswith("s")


def _attribute(who: str, noun: str) -> AskedSlot:
    """The slot of "What is Ann's ...?"."""
    bare = noun.lower()
    while _QUALIFIER.search(bare):
        bare = _QUALIFIER.sub("", bare)
    bare = re.sub(r"^favorite ", "favourite ", bare)
    relation = _relation_of_noun().get(bare)
    if relation is not None:
        for row in _rows():
            if row.relations[0] == relation:
                return _slot(who, row)
    relation = relation or re.sub(r"[\s-]+", "_", bare)
    words = re.compile(rf"\b{re.escape(bare)}s?\b", re.IGNORECASE)
    return AskedSlot(
        _ARTICLE.sub("", who), _family((relation,)), (), words, is_single_valued(relation), is_open=True
    )


def _used(who: str, noun: str) -> AskedSlot:
    """The slot of "Which database does Apollo use?": things of that kind, and the noun itself."""
    kind = noun.lower().replace(" ", "_")
    kinds = {
        name: things
        for name, things in read_toml("slots/things.toml").items()
        if f"_{name}".endswith(f"_{kind}")
    }
    things = [thing.replace("_", " ") for words in kinds.values() for thing in words.split()]
    words = "|".join(map(re.escape, (noun.lower(), *things)))
    states = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
    return AskedSlot(
        _ARTICLE.sub("", who),
        (f"uses_{kind}", kind, *(f"uses_{name}" for name in kinds)),
        ("uses",),
        states,
        one=True,
        is_open=True,
    )


def _activity(who: str, what: str) -> AskedSlot | None:
    """The slot of "Does Ann still go climbing?" and "Does Ann prefer tea or coffee?": what speaks of it, the newest first."""
    stems = [word[: max(4, len(word) - 3)] for word in plain_words(what) if word not in _PLAIN_VERBS]
    if not stems:
        return None
    told = re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))})", re.IGNORECASE)
    return AskedSlot(_ARTICLE.sub("", who), ("activity",), (), told, one=True, is_open=True)


def _names_slot(who: str) -> bool:
    """Whether a subject is a slot of somebody ("Ann's birthday") rather than a thing that has a date."""
    owner, _, noun = who.rpartition("'s ")
    return bool(owner) and noun.lower() in _relation_of_noun()


def _family(relations: tuple[str, ...]) -> tuple[str, ...]:
    """The relations, those that stand for them, and those that tell of the past or of the end of one."""
    family = dict.fromkeys(relations)
    for relation in relations:
        family |= dict.fromkeys(sorted(slot_family(relation)))
        if relation in slots():
            family |= dict.fromkeys(filter(None, (slots()[relation].past, end_of(relation))))
    return tuple(family)


@cache
def _rows() -> tuple[_AskedRow, ...]:
    return tuple(
        _AskedRow(
            relations=tuple(row["relations"]),
            also=tuple(row.get("also", ())),
            asks=tuple(_pattern(rf"(?:{ask})(?!\w)") for ask in row["asks"]),
            states=_pattern("|".join(f"(?:{state})" for state in row["states"])) if row["states"] else None,
            one=not (row.get("several", False) or row.get("event", False)),
            several=row.get("several", False),
        )
        for row in read_toml("slots/questions.toml").values()
    )


def _pattern(template: str) -> re.Pattern[str]:
    filled = _HOLE.sub(lambda hole: _HOLES[hole[1]] if hole[1] in _HOLES else hole[0], template)
    return re.compile(rf"(?<!\w)(?:{filled})", re.IGNORECASE)


@cache
def _relation_of_noun() -> dict[str, str]:
    """Noun of "Ann's ... is" -> relation, by the English wordings."""
    table = read_toml("slots/en.toml")
    return {
        noun: relation
        for relation, row in table.items()
        if isinstance(row, dict)
        for noun in row.get("nouns", ())
    }
