"""Reading a question for what kind of answer it wants, of whom, and by which words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from perdure.domain.recall import Query, Stance
from perdure.ports.tagger import Tagger, Token
from perdure.text.clauses import lemma_of
from perdure.text.terms import index_terms
from perdure.text.third_person import in_third_person
from perdure.text.wordlist import word_set


class AskedKind(StrEnum):
    """What kind of answer a question wants."""

    WHO = "who"
    WHERE = "where"
    WHEN = "when"
    HOW_LONG = "how long"
    HOW_MANY = "how many"
    CHOICE = "which of these"
    YES_NO = "yes or no"
    LATEST = "latest value"
    LIST = "list of all"
    WHY = "why"
    HOW = "how"
    WHAT = "what"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as readers see it."""

    text: str
    """In the third person."""
    kind: AskedKind
    terms: frozenset[str]
    """Stems of its content words."""
    telling: frozenset[str]
    """The terms without the names of persons and the words of the kind asked for."""
    persons: tuple[str, ...] = ()
    """Persons and speakers that it names, as the bank spells them."""
    focus: str = ""
    """The noun asked for ("book" in "Which book did ..."), lower case; empty when it has none."""
    verb: str = ""
    """Lemma of the main verb, empty for a form of "be" or none."""
    is_copula: bool = False
    """Whether the main verb is a form of "be"."""
    unit: str = ""
    """The unit of time asked for ("year", "days")."""
    options: tuple[str, ...] = ()
    """What a choice is made among."""
    is_negative: bool = False
    stance: Stance = Stance.NOW
    first: bool = False
    last: bool = False
    slot: tuple[str, str] | None = None
    asked_at: datetime | None = None


_UNITS = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?"
_WHEN = re.compile(
    r"^(?:and |so |but )?(?:when\b|since when\b|how long ago\b|how recently\b"
    r"|(?:(?:on|in|at|during|around|by) )?(?:what|which)(?: was| is)?(?: the)? (?:exact )?(?P<unit>date|day|weekday|month|year|time|week|weekend|season|decade|holiday)\b"
    r"(?! (?:of activity|off|trip|job|zone)))",
    re.IGNORECASE,
)
_AGO = re.compile(rf"^how many (?P<unit>{_UNITS})\s+ago\b", re.IGNORECASE)
_HOW_LONG = re.compile(
    rf"^(?:for |in |about )?how (?:long\b|many (?:more |full )?(?P<unit>{_UNITS})\b(?!\s+ago)|much time\b)",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(
    r"\bhow (?:many|much|often|old|tall|far|big|large|high)\b|\bwhat (?:is|was) the (?:total )?(?:number|amount|price|cost|count)\b"
    r"|\bhow many times\b|^what (?:percentage|number|age)\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"^(?:and |so |with |to |from |for |by |about )?(?:who(?:m|se)?\b|(?:what|which) (?:person|people|friend|relative|family member|man|woman|actor|actress|author|singer|director|player|band)\b)|\bby whom\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"^(?:and |so |from |to |in |at |near )?(?:where\b|(?:what|which) (?:\w+ )?(?:city|cities|country|countries|state|town|village|place|location|region|county|continent|island|neighbou?rhood|venue)\b)",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"^(?:why\b|what(?: is| was|'s)? (?:the )?(?:reason|made|motivated|inspired|prompted|caused|led)\b|how come\b|for what reason\b)",
    re.IGNORECASE,
)
_HOW = re.compile(r"^(?:and |so |but )?how\b|^in what way", re.IGNORECASE)
_AUXILIARY = re.compile(
    r"^(?:and |so |but )?(?P<aux>(?:do|does|did|is|are|was|were|am|has|have|had|will|would|can|could|should|might|may|must)(?:n't)?)\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\b(?:not|never|no longer|no)\b|n't\b", re.IGNORECASE)
_LIST = re.compile(
    r"^(?:name|list|tell \w+ all|give \w+ all)\b|\ball (?:of )?(?:the|my|his|her|their|\w+'s)\b|^what are\b|^which of\b"
    r"|^what (?:has|have) (?:\w+ ){1,4}?(?:\w+ed|done|bought|made|read|seen|written|won|taken|been|eaten|drawn|built|grown|given|met|tried)\b",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(?:(?<!s)(?<!u)(?<!i)s|people|children|media|men|women)$")
_SINGULAR = word_set(
    "news series lens class business process address christmas texas always does has was is this"
)
_BOTH = re.compile(
    r"\b(?:both|have in common)\b|\bdo \w+ and \w+ (?:both )?(?:share|like|enjoy|own|play)\b", re.IGNORECASE
)
_OPTIONS = re.compile(
    r"(?:,|:|-|–|\b(?:first|earlier|later|older|younger|more|better|rather|prefer|between|either|is|are|was|were|a|an|the|in|on|at|to|of|have|has|own|use|like|drink|eat|be))\s+"
    r"(?P<one>[^,?:]{2,60}?)(?P<more>(?:, [^,?]{2,60}?)*),? or (?P<other>[^?]{2,60}?)\s*\?*$",
    re.IGNORECASE,
)
_FOCUS = re.compile(
    r"\b(?:what|which|whose)(?:'s)? (?:(?:other|new|specific|particular|exact|main|different|one) )*"
    r"(?:(?:kind|type|sort|name|piece|form|style|brand|genre)s? of )?(?P<noun>(?:[\w'-]+ ){0,3}?[\w'-]+)"
    r" (?:do|does|did|is|are|was|were|has|have|had|will|would|can|could|should|might)\b",
    re.IGNORECASE,
)
_IS_THE = re.compile(
    r"\b(?:what|which)(?:'s| is| are| was| were) (?:the |some of the |one of the )?(?:(?P<owner>[\w'’.-]+(?: [\w’'.-]+)?)['’]s? )?"
    r"(?P<noun>[\w-]+(?: [\w-]+){0,2}?)(?: (?:of|that|which|who|in|on|at|for|with|from|about|called|named|called|to)\b|\s*\?)",
    re.IGNORECASE,
)
_NO_FOCUS = word_set(
    "thing things something one ones it kind type sort name reason way part be do does did is are was were has have had"
)
_DO = re.compile(r"^(?:do|be|have|will|would|can|could|should|might|may|must|get)$")
_FIRST = re.compile(r"\b(?:first|earliest|originally|initially)\b", re.IGNORECASE)
_LAST = re.compile(
    r"\b(?:last|latest|most recent(?:ly)?|newest)\b(?! (?:year|week|month|night|\w+day))", re.IGNORECASE
)
_KIND_WORDS = frozenset(
    index_terms(
        "when where who what which how long many much kind type name date day month year time ago last first mention mentioned"
    )
)
_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][\w-]*(?: [A-ZÀ-ÖØ-Þ][\w-]*)*")


def read_asked(query: Query, names: Sequence[str], tagger: Tagger | None = None) -> Asked:
    """The question of a recall; `names` are the persons of the bank that it may name."""
    text = query.text if query.asker is None else in_third_person(query.text, query.asker)
    text = " ".join(text.replace("’", "'").split())
    kind, unit = _kind_of(text)
    options = _options(text) if kind in (AskedKind.WHAT, AskedKind.YES_NO, AskedKind.WHO, AskedKind.LIST, AskedKind.WHERE, AskedKind.LATEST) else ()  # fmt: skip
    if options:
        kind = AskedKind.CHOICE
    if kind is AskedKind.WHAT and query.slot is not None and query.stance is Stance.NOW:
        kind = AskedKind.LATEST
    terms = frozenset(index_terms(text))
    persons = named_persons(text, names)
    own = frozenset(term for person in persons for term in index_terms(person))
    verb, is_copula = _main_verb(text, tagger)
    return Asked(
        text=text,
        kind=kind,
        terms=terms,
        telling=terms - own - _KIND_WORDS,
        persons=persons,
        focus=_focus(text, kind),
        verb=verb,
        is_copula=is_copula,
        unit=unit,
        options=options,
        is_negative=_NEGATIVE.search(text) is not None,
        stance=query.stance,
        first=_FIRST.search(text) is not None,
        last=_LAST.search(text) is not None,
        slot=query.slot,
        asked_at=query.asked_at,
    )


def named_persons(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that a text holds as whole words, in their order there."""
    low = f" {re.sub(r'[^a-z0-9à-ÿ]+', ' ', text.lower())} "
    places = {
        name: low.find(f" {re.sub(r'[^a-z0-9à-ÿ]+', ' ', name.lower()).strip()} ")
        for name in names
        if name.strip()
    }
    return tuple(
        sorted((name for name, place in places.items() if place >= 0), key=lambda name: places[name])
    )


def _kind_of(text: str) -> tuple[AskedKind, str]:
    ago = _AGO.match(text)
    if ago is not None:
        return AskedKind.WHEN, f"{ago['unit'].rstrip('s')}s ago"
    when = _WHEN.match(text)
    if when is not None:
        return AskedKind.WHEN, (when["unit"] or "").lower()
    long = _HOW_LONG.match(text)
    if long is not None:
        return AskedKind.HOW_LONG, (long["unit"] or "").lower()
    for kind, pattern in (
        (AskedKind.HOW_MANY, _HOW_MANY),
        (AskedKind.WHY, _WHY),
        (AskedKind.WHO, _WHO),
        (AskedKind.WHERE, _WHERE),
        (AskedKind.YES_NO, _AUXILIARY),
        (AskedKind.HOW, _HOW),
    ):
        if pattern.search(text):
            return kind, ""
    focus = _focus(text, AskedKind.WHAT).split()[-1:]
    is_plural = bool(focus) and focus[0] not in _SINGULAR and _PLURAL.search(focus[0]) is not None
    is_list = is_plural or _LIST.search(text) or _BOTH.search(text)
    return (AskedKind.LIST if is_list else AskedKind.WHAT), ""


def _options(text: str) -> tuple[str, ...]:
    """What the question leaves to choose from ("tea or coffee"), without articles."""
    match = _OPTIONS.search(text)
    if match is None or (
        _AUXILIARY.match(text) is None and not re.search(r"[,:]", text[: match.start("one")])
    ):
        return ()
    parts = [match["one"], *match["more"].split(","), match["other"]]
    bare = [
        re.sub(r"^(?:the|an?|to|in|on|at|her|his|my|their)\s+", "", part.strip(), flags=re.IGNORECASE)
        for part in parts
    ]
    return tuple(part for part in bare if part)


def _focus(text: str, kind: AskedKind) -> str:
    match = _FOCUS.search(text) or (_IS_THE.search(text) if kind is not AskedKind.WHO else None)
    if match is None:
        return ""
    noun = match["noun"].lower().strip()
    return "" if noun.split()[-1] in _NO_FOCUS else noun


def _main_verb(text: str, tagger: Tagger | None) -> tuple[str, bool]:
    """Lemma of the question's main verb and whether it is a form of "be"; read from the parse where there is one."""
    tokens = question_tokens(text, tagger)
    root = next(
        (token for index, token in enumerate(tokens) if token.head == index and token.dep == "ROOT"), None
    )
    if root is None:
        words = re.findall(r"[a-z']+", text.lower())
        after = next((i for i, word in enumerate(words) if word in ("do", "does", "did")), None)
        if after is None:
            return "", bool(
                re.match(r"(?:what|who|where|which|how)(?:'s| is| are| was| were)\b", text.lower())
            )
        verbs = [lemma_of(word) for word in words[after + 2 :]]
        return next((verb for verb in verbs if verb), ""), False
    lemma = root.lemma.lower()
    if lemma in ("be", "'s", "is", "was", "are", "were"):
        return "", True
    return ("" if root.pos not in ("VERB", "AUX") or _DO.match(lemma) else lemma), False


def question_tokens(text: str, tagger: Tagger | None) -> tuple[Token, ...]:
    """The tokens of a question's first sentence, none without a parser."""
    if tagger is None or not tagger.has_parser:
        return ()
    sentences = tagger.tag([text])[0]
    return sentences[0].tokens if sentences else ()
