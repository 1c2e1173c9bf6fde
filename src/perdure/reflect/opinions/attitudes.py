"""Attitudes: what a fact's words say that somebody likes or prefers, or that the agent believes.

Read from the words alone, sentence by sentence, so that an opinion can be worded anew from the facts that are left. Nothing is
read from questions, suppositions, quotations, plans and instructions, nor from the past tense: who loved a film once may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import INSTRUCTION, Fact, FactType
from perdure.domain.opinion import Polarity
from perdure.domain.statement import is_verbatim
from perdure.recall.beliefs import BeliefKind
from perdure.text.names import normal_name
from perdure.text.sentence import folded
from perdure.text.supposition import is_asked, is_supposed
from perdure.text.terms import index_terms
from perdure.text.voice import voice_of
from perdure.text.wordlist import word_set

STATED = 0.85
"""Strength of a stated preference."""
LOVED = 0.65
"""Strength of a love, a passion, a hobby or a hatred of a kind of thing: it makes a belief by itself."""
LIKED, MOVED = 0.5, 0.55
"""Strength of a liking, and of a love of one particular thing ("loves the way it turned out"): to be said twice."""
BELIEVED = 0.65
SURE, HEDGED, HEARSAY = 0.1, -0.2, -0.1
"""What words of certainty, of doubt, and being said by somebody else add."""
MAX_TOPIC_WORDS = 8

_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])|\s[-–—]\s(?=[A-Z])")
_SPEAKER = re.compile(r"^(?P<name>[^\":]{1,40}?)(?: said)?: (?=\S)")
_OWN_WORDS = re.compile(r"^(?P<name>[^\":]{1,40}?) said: \"(?P<body>[^\"]*)\"(?P<rest>.*)$", re.DOTALL)
_QUOTED = re.compile(r"[\"“”«»]|(?<!\w)['‘][^'’]+['’](?!\w)")
_REPORTED = re.compile(
    r"\b(?:says?|said|claims?|claimed|told|heard|hears|thinks?|believes?|reckons|guesses|wonders?|whether|pretends?|"
    r"will|plans?|planned|going to|hopes?|wants?|if|unless|imagine|suppose|supposedly|allegedly|maybe|perhaps)\b",
    re.IGNORECASE,
)
_MINE = re.compile(r"(?:(?<=\s)|^)[Mm]y ")
_OURS = re.compile(r"(?<=\s)our (?=\w)")
_FIRST_PERSON = {"I'm ": "is ", "I’m ": "is ", "I've ": "has ", "I’ve ": "has ", "I ": "", "We ": ""}
"""How a sentence of one's own begins -> how it goes on behind the speaker's name."""
_NEGATION = r"(?:does not|doesn['’]t|do not|don['’]t|is not|isn['’]t|are not|aren['’]t|no longer|not|never|can['’]?not)"
_ADVERB = (
    r"(?:really|truly|also|still|always|absolutely|just|particularly|especially|generally|usually|often|totally|"
    r"definitely|certainly|very much|simply|genuinely|actually|now|mostly|all)"
)
_HEDGE = r"(?:sometimes|occasionally|kind of|kinda|sort of|somewhat|rarely|seldom|now and then|at times|hardly ever|once in a while)"
_LEAD = re.compile(
    r"^(?:(?:Honestly|Actually|Personally|Lately|Recently|Now|Nowadays|These days|Also|And|But|So|Well|Still|Frankly|In general"
    r"|Generally|Usually|You know|You know that|That's why|This is why|Overall|To be honest|As always|For what it's worth),? )+(?=[^\W\d_a-z]|the )"
)
_COMMA = re.compile(r"[,;] (?:and |but |so |since |because )?")
_JOINT = re.compile(
    r"(?:[,;]? (?:because|['’]cause|cause|since|and|but|so|why|how much|that)|[,;]| [-–—]) (?=(?:the )?[^\W\d_a-z])"
)
"""What stands before a further clause that names its subject."""
_OF_SEVERAL = re.compile(
    rf"(?:the )?\S+(?: [^\W\d_a-z]\S*)*(?: {_ADVERB})* (?:like|love|enjoy|adore|prefer|hate|dislike|loathe|despise|are|have)\b"
)
"""A plural verb: whoever stands before it is one of several."""
_CONDITION = re.compile(r"(?:when|whenever|if|unless|while|before|after|as long as|in case)\b", re.IGNORECASE)
_SUBJECT = r"(?P<subject>(?:The|the) [a-z]+|[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,4}?)"
_BEFORE_VERB = rf"(?P<before>(?: (?:{_NEGATION}|{_ADVERB}|{_HEDGE}))*)"
_LIKING = re.compile(
    rf"^{_SUBJECT}{_BEFORE_VERB} (?P<verb>likes?|loves?|enjoys?|adores?|prefers?|hates?|dislikes?|loathes?|despises?"
    r"|can['’]t stand|can not stand|cannot stand|can['’]t get enough of|lives for|used to (?:like|love|enjoy|adore|prefer)"
    r"|has (?:always |long )?(?:loved|adored|enjoyed|hated)|has (?:always )?(?:had )?a (?:\w+ )?(?:passion|love|soft spot) for"
    rf"|(?:is|isn['’]t|has(?: always)? been)(?P<inside>(?: (?:not|{_ADVERB}|{_HEDGE}))*) (?:(?:a|an) (?:big |huge |great |real )?(?:fan|lover) of"
    r"|fond of|keen on|into|obsessed with|crazy about|mad about|passionate about)) (?P<rest>\S.*)$"
)
_OWN_LOVE = re.compile(
    r"(?:^|\s)(?P<subject>(?:The|the) [a-z]+|[^\W\d_a-z][\w.-]*(?: [^\W\d_a-z][\w.-]*)?)['’]s (?:\w+ )?(?:loves?|passion|fondness) (?:of|for) "
    r"(?P<rest>\S.*)$"
)
_LOVE_ENDS = re.compile(
    r"\s(?:is|are|was|were|has|have|had|and (?:the|how|that|what|in|on|\w+s? (?:is|are))|into|even|by|with|to|will|can|really|just|always|keep|make|bring|give|help|let"
    r"|(?:bring|make|keep|give|let|help|shine|drive|show|come|get|inspire|motivate)s|each|every)\b.*$"
)
"""Where what is loved ends in the middle of a sentence."""
_LOST = re.compile(
    r"\b(?:los[et]|losing|lacks?|without|never|not|no longer|used to|over)\b|n['’]t\b", re.IGNORECASE
)
_IS_FAVOURITE = re.compile(
    r"^(?P<rest>[^\W\d_][^,;:.!?]{1,60}?) (?:is|are)(?: (?:still|always|definitely|also|truly|really))*"
    r" (?:one of )?(?P<subject>(?:The|the) [a-z]+|[^\W\d_a-z][\w.-]*(?: [^\W\d_a-z][\w.-]*)?)['’]s "
    r"(?:(?:absolute|all-time|big|biggest|greatest|great|true|real|new|current|main) )*"
    r"(?P<what>favou?rites?(?: (?:thing|way|pastime|hobby|hobbies|activity|activities)(?: to do)?)?|hobby|hobbies|passions?|pastime)\b(?P<after>.*)$"
)
_HOBBIES = re.compile(
    r"^(?P<subject>(?:The|the) [a-z]+|[^\W\d_][\w.-]*(?: [^\W\d_][\w.-]*){0,2}?)['’]s (?:(?:main|favou?rite|biggest|true|only|other) )*"
    r"(?:hobby|hobbies|passions?|pastimes?) (?:is|are|includes?) (?P<rest>\S.*)$"
)
_FAVOURITE = re.compile(
    r"^(?P<subject>(?:The|the) [a-z]+|[^\W\d_][\w.-]*(?: [^\W\d_][\w.-]*){0,2}?)['’]s (?:absolute |all-time |new |current )?"
    r"(?P<slot>favou?rite [\w-]+(?: [\w-]+)?) (?P<verb>is(?: now| still| not| no longer)*|isn['’]t) (?P<rest>\S.*)$"
)
_NO_SUBJECTS = word_set(
    "i we you they he she it this that these those there who everyone everybody nobody people someone somebody one and or but so "
    "what which as when while because since also then"
)
_NEGATIVE_VERBS = ("hate", "dislike", "loathe", "despise", "can", "used")
_STRONG_VERBS = ("love", "adore", "hate", "loathe", "despise", "can", "is", "has", "lives")
_PARTICULAR = re.compile(
    r"(?:the|this|that|these|those|all the|all of|your|our|their|his|her|my|\w+['’]s?(?= ))\b|.*\b(?:the way|right now|today|tonight)\b|.*\b(?:this|that|these|those) \w+$",
    re.IGNORECASE,
)
"""What one cannot have as a taste: a thing at hand rather than a kind of things."""
_WHEN = re.compile(r"\b(?:when|whenever|where|while)\b")
_DANGLING = word_set("it them this these those him himself themself themselves")
_OVER = re.compile(r"\s(?:over|rather than|instead of|more than|better than|to)\s", re.IGNORECASE)
_REST_ENDS = re.compile(
    r"[,;:!?()—–]|\.(?=\s|$)|\s-\s|\s(?:because|['’]cause|but|since|although|though|so that|so|which|who|and (?:he|she|they|it|we|I|does|is|has|would)"
    r"|as|like|such as|including|especially)\s",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"\s*\b(?:a lot|very much|so much|right now|now|these days|nowadays|lately|any ?more|any longer|at the moment|most of the time|most"
    r"|too|as well|again|still|the most|best|more|sometimes|occasionally|at times|now and then|once in a while)$",
    re.IGNORECASE,
)
_LATE_HEDGE = re.compile(
    r"\b(?:sometimes|occasionally|at times|now and then|once in a while)\b", re.IGNORECASE
)
_ANY_MORE = re.compile(r"\b(?:any ?more|any longer)\b", re.IGNORECASE)
_LIST_JOINT = re.compile(r",? (?:and|or) (?:also )?|, ")
_LIST_ENDS = re.compile(
    r"[;:!?()—–]|\s-\s|\.\s|,?\s(?:because|['’]cause|but|since|although|though|so|which|who|as|when|where|especially|like)\s"
)
_CLAUSE = re.compile(
    r"\b(?:i|he|she|they|it|we|you|who|which|that|is|are|was|were|has|have|had|does|do|can|will|would|because|but|so|it['’]s|there|them)\b"
    r"|['’](?:s|re|ve|ll)(?= (?:a|an|so|such|been|the|really|great)\b)",
    re.IGNORECASE,
)
"""Words of a clause, which no thing of a list has."""
MAX_LISTED_WORDS = 4
_LIMITS = ("in ", "of ", "part", "so far", "from ", "about ")
"""What makes a favourite one among few: "is Ann's favourite of the three"."""
_EMPTY_TOPICS = word_set(
    "it this that these those them him her you your me us how what when where why everything something anything nothing one ones "
    "here there thanks thank"
)
_TOO_LITTLE = word_set(
    "playing doing being having making getting going watching seeing trying working using learning taking"
)
"""What says nothing without what it is done to."""
_HALF_PHRASE = re.compile(
    r"\b(?:a|an) [a-z]+, (?!and\b|but\b|so\b|it\b|it['’]s|he\b|she\b|they\b|which\b|who\b)[a-z]"
)
""" "a safe, welcoming place": the comma ends nothing."""

_NOUNS_IN_ING = word_set("morning evening spring string king ring wing sibling ceiling wedding pudding")

_AGENT_BELIEF = re.compile(
    r"^(?:(?:Well|So|And|But|Honestly|Personally|Overall),? )?(?:"
    r"I (?P<how>(?:(?:do not|don['’]t|no longer|really|truly|still|personally|firmly|strongly|honestly|also|just|now|actually) )*)"
    r"(?:think|believe|feel|reckon|find|suspect|guess|suppose|(?:am|['’]m) (?P<sure>sure|certain|convinced|confident))"
    r"|I['’]m (?P<surely>sure|certain|convinced|confident)"
    r"|In my (?:view|opinion|experience|judgement|judgment),?|I['’]d say|I would say|It seems to me,?)"
    r"(?: that)? (?P<clause>[^\s,].{4,})$"
)
_ADVICE = re.compile(
    r"\b(?:you|your|we|us|let['’]s|should|shall|ought|need to|must|please)\b|^(?:I|it|this|that|there)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\b(?:maybe|perhaps|might|possibly|probably|guess|suppose|suspect|kind of|sort of)\b")
_DENIED = re.compile(rf"\b{_NEGATION}\b|n['’]t\b", re.IGNORECASE)
_COPULA = re.compile(r"\b(is|are|was|were|has|have|can|will|does|do)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attitude:
    """What one sentence says of a liking, a preference or a belief."""

    subject: str
    kind: BeliefKind
    polarity: Polarity
    topic: str
    statement: str
    """In words of the sentence, to stand alone."""
    strength: float
    over: str = ""
    issue: str = ""
    hedged: bool = False
    """Whether it holds at times only, so that it makes no belief by itself."""


def attitudes_of(fact: Fact) -> list[Attitude]:
    """The attitudes that a fact states, in the order of its sentences."""
    if INSTRUCTION in fact.flags or fact.type is FactType.OBSERVATION:
        return []
    return [attitude for sentence in asserted(fact) for attitude in _read(sentence, fact)]


def asserted(fact: Fact) -> Iterator[str]:
    """The sentences that a fact asserts: no questions, suppositions, or quotations."""
    if INSTRUCTION in fact.flags or is_asked(fact.text):
        return
    for text, in_first_person in _voices(fact):
        for sentence in map(folded, _SPLIT.split(text.strip())):
            spoken = _SPEAKER.match(sentence)
            is_told = spoken is not None and _is_speaker(spoken["name"], fact)
            body = sentence[spoken.end() :] if spoken is not None and is_told else sentence
            if is_told or in_first_person:
                body = _named(body, fact)
            if body and not (body.endswith("?") or _QUOTED.search(body) or is_supposed(body)):
                yield body


def _voices(fact: Fact) -> Iterator[tuple[str, bool]]:
    """The parts of a fact's text, and whether the speaker says "I" in it.

    Words that the speaker did not quote are the speaker's own, though the fact has them in quotation marks.
    """
    if is_verbatim(fact):
        yield fact.text, True
        return
    whole = _OWN_WORDS.match(fact.text)
    if whole is None or not _is_speaker(whole["name"], fact) or _QUOTED.search(fact.source_text or '"'):
        yield fact.text, False
        return
    yield whole["body"], True
    yield whole["rest"], False


def _is_speaker(name: str, fact: Fact) -> bool:
    return normal_name(name) == normal_name(fact.speaker) != ""


def _named(body: str, fact: Fact) -> str:
    """What somebody says in the first person, with their name."""
    voice = voice_of(fact.speaker)
    if voice is None or fact.type is FactType.EXPERIENCE:
        return body
    body = _OURS.sub("their ", _MINE.sub(f"{voice.at_start}'s ", body))
    for own, told in _FIRST_PERSON.items():
        if body.startswith(own):
            return f"{voice.at_start} {told}{body[len(own) :]}"
    return body


def _read(sentence: str, fact: Fact) -> list[Attitude]:
    if fact.type is FactType.EXPERIENCE:
        belief = _agent_belief(sentence, fact)
        return [belief] if belief is not None else []
    if fact.is_planned:
        return []
    names = _names_in(fact)
    readings = (_stated_in(part) for part in _parts(sentence))
    first = next((read for read in readings if read and normal_name(read[0].subject) in names), [])
    return [_as_told(attitude, fact) for attitude in first]


def _stated_in(clause: str) -> list[Attitude]:
    """The attitudes that a clause states: one, or one per thing of a list ("loves reading, hiking and chess")."""
    favourite = _favourite(clause)
    return [favourite] if favourite is not None else _liking(clause) or _hobby(clause) or _own_love(clause)


def _as_told(attitude: Attitude, fact: Fact) -> Attitude:
    """An attitude as sure as who tells it makes it."""
    if not fact.speaker or normal_name(attitude.subject) == normal_name(fact.speaker):
        return attitude
    return replace(attitude, strength=_bounded(attitude.strength + HEARSAY))


def _parts(sentence: str) -> Iterator[str]:
    """The sentence, and what of it follows a comma, unless the part before says on what condition."""
    yield _LEAD.sub("", sentence)
    before, *parts = _COMMA.split(sentence)
    for part in parts:
        if not _CONDITION.match(before):
            yield _LEAD.sub("", part)
        before = part
    start = 0
    for joint in _JOINT.finditer(sentence):
        before, start = sentence[start : joint.start()], joint.end()
        if not (_CONDITION.match(before) or _REPORTED.search(before) or _OF_SEVERAL.match(sentence[start:])):
            yield sentence[start:]


def _names_in(fact: Fact) -> set[str]:
    """Whom a fact speaks of: its entities, its subject and who says it."""
    return {normal_name(name) for name in (*fact.entities, fact.subject or "", fact.speaker)} - {""}


def _favourite(sentence: str) -> Attitude | None:
    match = _FAVOURITE.match(sentence.rstrip(". !"))
    if match is None or not _is_subject(match["subject"]):
        return None
    topic = _topic(match["rest"])
    if topic is None:
        return None
    denied = re.search(r"not|no longer|n['’]t", match["verb"]) is not None
    slot = match["slot"].casefold().replace("favorite", "favourite")
    subject = _shown(match["subject"])
    return Attitude(
        subject=subject,
        kind=BeliefKind.PREFERENCE,
        polarity=Polarity.NEGATIVE if denied else Polarity.POSITIVE,
        topic=topic,
        issue=slot,
        statement=f"{subject}'s {slot} is {'not ' if denied else ''}{topic}",
        strength=STATED,
    )


def _liking(sentence: str) -> list[Attitude]:
    match = _LIKING.match(sentence.rstrip(". !"))
    if match is None or not _is_subject(match["subject"]):
        return []
    adverbs = f"{match['before']} {match['inside'] or ''}"
    rest, verb = match["rest"], match["verb"].casefold()
    if _REPORTED.search(f"{match['subject']} {adverbs}"):
        return []
    topic, over = _compared(rest, prefers=verb.startswith("prefer"))
    topics = [topic] if over or "prefer" in verb else _listed(rest) or [topic]
    denied = (
        _DENIED.search(adverbs) is not None
        or verb.startswith("isn")
        or (_ANY_MORE.search(rest) is not None and _DENIED.search(match[0]) is not None)
    )
    negative = _is_negative(verb)
    if denied and negative:
        return []
    over_now = denied and (_ANY_MORE.search(rest) is not None or "no longer" in adverbs)
    is_strong = over_now or (verb.startswith(_STRONG_VERBS) and not denied)
    compares = bool(over)
    prefers = "prefer" in verb or compares
    subject = _shown(match["subject"])
    return [
        Attitude(
            subject=subject,
            kind=BeliefKind.PREFERENCE if prefers else BeliefKind.LIKING,
            polarity=Polarity.NEGATIVE if denied or negative else Polarity.POSITIVE,
            topic=one,
            over=over,
            issue=list(index_terms(one))[-1] if prefers and not compares and not _is_doing(one) else "",
            statement=f"{subject} {_verb(verb, denied, prefers)} {one}{f' to {over}' if over else ''}",
            strength=STATED if prefers else _strength(one, is_strong=is_strong),
            hedged=re.search(_HEDGE, adverbs) is not None or _LATE_HEDGE.search(rest) is not None,
        )
        for one in topics
        if one is not None
    ]


def _strength(topic: str, *, is_strong: bool) -> float:
    """How sure a liking is by its words and by whether a taste for its topic can be had."""
    if not is_strong:
        return LIKED
    return MOVED if _PARTICULAR.match(topic) else LOVED


def _is_negative(verb: str) -> bool:
    return (verb.startswith(_NEGATIVE_VERBS) and "enough" not in verb) or verb.endswith("hated")


def _hobby(sentence: str) -> list[Attitude]:
    """ "Painting is Ann's favourite hobby", "Ann's hobbies are chess and reading"."""
    bare = sentence.rstrip(". !")
    match = _HOBBIES.match(bare)
    if match is not None:
        return _loves(match["subject"], _listed(match["rest"]) or [_topic(match["rest"])])
    match = _IS_FAVOURITE.match(bare)
    if match is None or _LOST.search(bare) or match["after"].strip().startswith(_LIMITS):
        return []
    return _loves(match["subject"], _listed(match["rest"]) or [_topic(match["rest"])])


def _own_love(sentence: str) -> list[Attitude]:
    """ "... Ann's love of reading", wherever it stands."""
    match = _OWN_LOVE.search(sentence.rstrip(". !"))
    if match is None or _LOST.search(sentence[: match.start("rest")]) or _REPORTED.search(sentence):
        return []
    rest = _LOVE_ENDS.sub("", match["rest"])
    return _loves(match["subject"], _listed(rest) or [_topic(rest)])


def _loves(name: str, topics: Sequence[str | None]) -> list[Attitude]:
    subject = _shown(name)
    return [
        Attitude(
            subject=subject,
            kind=BeliefKind.LIKING,
            polarity=Polarity.POSITIVE,
            topic=topic,
            statement=f"{subject} likes {topic[:1].lower() + topic[1:] if _is_doing(topic) else topic}",
            strength=_strength(topic, is_strong=True),
        )
        for topic in topics
        if topic is not None and _is_subject(subject)
    ]


def _listed(rest: str) -> list[str | None]:
    """The things of a list ("reading, watching films and chess"); nothing where it is none, or its words belong together."""
    bare = _LIST_ENDS.split(rest.rstrip(". !"), maxsplit=1)[0]
    parts = [part.strip() for part in _LIST_JOINT.split(bare) if part.strip()]
    if len(parts) < 2 or not re.search(r"\b(?:and|or)\b", bare):
        return []
    if any(len(part.split()) > MAX_LISTED_WORDS or _CLAUSE.search(part) for part in parts):
        return []
    are_doings = all(_is_doing(part) for part in parts)
    are_words = all(len(part.split()) == 1 for part in parts)
    return [_topic(part) for part in parts] if are_doings or are_words or len(parts) > 2 else []


def _verb(verb: str, denied: bool, prefers: bool) -> str:
    if prefers:
        return "does not prefer" if denied or verb.startswith("used") else "prefers"
    if denied or verb.startswith("used"):
        return "does not like"
    return "dislikes" if _is_negative(verb) else "likes"


def _compared(rest: str, *, prefers: bool) -> tuple[str | None, str]:
    """(what is liked, what it is preferred to) from the words behind the verb."""
    bare = _REST_ENDS.split(rest, maxsplit=1)[0].strip()
    for match in _OVER.finditer(bare):
        compares = match[0].strip().casefold() not in ("to", "over") or (prefers and not _is_doing(bare))
        if compares:
            over = _topic(bare[match.end() :])
            return _topic(bare[: match.start()]), over or ""
    return _topic(rest), ""


def _is_doing(topic: str) -> bool:
    first = topic.split(" ", 1)[0].casefold()
    return first == "to" or (first.endswith("ing") and first not in _NOUNS_IN_ING)


def _topic(text: str) -> str | None:
    """What somebody likes, without what stands around it; None where that is no thing."""
    bare = _REST_ENDS.split(text, maxsplit=1)[0].strip()
    half = _HALF_PHRASE.search(text)
    if half is not None and half.start() < len(bare) <= half.end():
        return None
    while (shorter := _TRAILING.sub("", bare).strip()) != bare:
        bare = shorter
    bare = bare.strip(" .'’").removeprefix("both ")
    words = bare.split()
    if not words or len(words) > MAX_TOPIC_WORDS or words[0].casefold() in _EMPTY_TOPICS:
        return None
    if len(words) == 1 and bare.casefold() in _TOO_LITTLE:
        return None
    if _DANGLING & {word.casefold().strip(",.'’") for word in _WHEN.split(bare)[0].split()}:
        return None
    return bare if index_terms(bare) else None


def _agent_belief(sentence: str, fact: Fact) -> Attitude | None:
    match = _AGENT_BELIEF.match(sentence.rstrip(". !"))
    if match is None or _ADVICE.search(match["clause"]) or _REPORTED.search(match["clause"]):
        return None
    clause = match["clause"].strip()
    subject = min((name for name in fact.entities if name and name in clause), key=clause.index, default=None)
    if subject is None:
        return None
    is_affirmed = _DENIED.search(match["how"] or "") is None
    denied = _DENIED.search(clause) is not None
    sure = SURE if match["sure"] or match["surely"] else 0.0
    unsure = HEDGED if _UNSURE.search(sentence) else 0.0
    return Attitude(
        subject=subject,
        kind=BeliefKind.BELIEF,
        polarity=Polarity.POSITIVE if is_affirmed is not denied else Polarity.NEGATIVE,
        topic=clause,
        statement=_stated(clause) if is_affirmed else _stated(_denial(clause)),
        strength=_bounded(BELIEVED + sure + unsure),
    )


def _denial(clause: str) -> str:
    """The opposite of a clause."""
    copula = _COPULA.search(clause)
    if copula is None or _DENIED.search(clause):
        return f"it is not so that {clause}"
    return f"{clause[: copula.end()]} not{clause[copula.end() :]}"


def is_denied(sentence: str) -> bool:
    """Whether a sentence denies something."""
    return _DENIED.search(sentence) is not None


def is_reported(sentence: str) -> bool:
    """Whether a sentence tells what somebody says, thinks, plans or supposes."""
    return _REPORTED.search(sentence) is not None


def is_hedged(sentence: str) -> bool:
    """Whether a sentence says that something is so at times only, or not surely."""
    return re.search(_HEDGE, sentence) is not None or _UNSURE.search(sentence) is not None


def _stated(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


def _is_subject(subject: str) -> bool:
    words = subject.casefold().split()
    is_named = (subject[:1].isupper() or subject.startswith("the ")) and not subject.endswith(("'s", "’s"))
    return is_named and words[0] not in _NO_SUBJECTS and not {"and", "or", "but", "that"} & set(words)


def _shown(subject: str) -> str:
    return subject[:1].upper() + subject[1:]


def _bounded(strength: float) -> float:
    return round(min(max(strength, 0.0), 1.0), 2)
