"""Attitudes: what a fact's words say that somebody likes or prefers, or that the agent believes.

Read from the words alone, sentence by sentence, so that an opinion can be worded anew from the facts that are left. Nothing is
read from questions, suppositions, quotations, plans and instructions, nor from the past tense: who loved a film once may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from perdure.domain.fact import INSTRUCTION, Fact, FactType
from perdure.domain.opinion import Polarity
from perdure.recall.beliefs import BeliefKind
from perdure.text.names import normal_name
from perdure.text.sentence import folded
from perdure.text.supposition import is_asked, is_supposed
from perdure.text.terms import index_terms
from perdure.text.voice import voice_of
from perdure.text.wordlist import word_set

STATED = 0.85
"""Strength of a stated preference."""
LIKED, LOVED = 0.5, 0.55
"""Strength of a liking, which has to be said twice to be believed."""
BELIEVED = 0.65
SURE, HEDGED, HEARSAY = 0.1, -0.2, -0.1
"""What words of certainty, of doubt, and being said by somebody else add."""
MAX_TOPIC_WORDS = 8

_SPLIT = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")
_SPEAKER = re.compile(r"^(?P<name>[^\":]{1,40}?)(?: said)?: (?=\S)")
_OWN_WORDS = re.compile(r"^(?P<name>[^\":]{1,40}?) said: \"(?P<body>[^\"]*)\"(?P<rest>.*)$", re.DOTALL)
_QUOTED = re.compile(r"[\"“”«»]|(?<!\w)['‘][^'’]+['’](?!\w)")
_REPORTED = re.compile(
    r"\b(?:says?|said|claims?|claimed|told|heard|hears|thinks?|believes?|reckons|guesses|wonders?|whether|pretends?|"
    r"will|plans?|planned|going to|hopes?|wants?|if|unless|imagine|suppose|supposedly|allegedly|maybe|perhaps)\b",
    re.IGNORECASE,
)
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
_CONDITION = re.compile(r"(?:when|whenever|if|unless|while|before|after|as long as|in case)\b", re.IGNORECASE)
_SUBJECT = r"(?P<subject>(?:The|the) [a-z]+|[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,4}?)"
_BEFORE_VERB = rf"(?P<before>(?: (?:{_NEGATION}|{_ADVERB}|{_HEDGE}))*)"
_LIKING = re.compile(
    rf"^{_SUBJECT}{_BEFORE_VERB} (?P<verb>likes?|loves?|enjoys?|adores?|prefers?|hates?|dislikes?|loathes?|despises?"
    r"|can['’]t stand|can not stand|cannot stand|used to (?:like|love|enjoy|adore|prefer)"
    rf"|(?:is|isn['’]t)(?P<inside>(?: (?:not|{_ADVERB}|{_HEDGE}))*) (?:(?:a|an) (?:big |huge |great )?(?:fan|lover) of|fond of|keen on|into|obsessed with"
    r"|passionate about)) (?P<rest>\S.*)$"
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
_STRONG_VERBS = ("love", "adore", "hate", "loathe", "despise", "can", "is")
_OVER = re.compile(r"\s(?:over|rather than|instead of|more than|better than|to)\s", re.IGNORECASE)
_REST_ENDS = re.compile(
    r"[,;:!?()—–]|\.(?=\s|$)|\s-\s|\s(?:because|but|since|although|though|so that|so|which|who|and (?:he|she|they|it|we|I|does|is|has|would)|as)\s",
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
_EMPTY_TOPICS = word_set(
    "it this that these those them him her you your me us how what when where why everything something anything nothing one ones "
    "here there"
)

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
    read = (_read(sentence, fact) for sentence in asserted(fact))
    return [attitude for attitude in read if attitude is not None]


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
    if body.startswith("I "):
        return f"{voice.at_start} {body[2:]}"
    return f"{voice.at_start}'s {body[3:]}" if body.startswith("My ") else body


def _read(sentence: str, fact: Fact) -> Attitude | None:
    if fact.type is FactType.EXPERIENCE:
        return _agent_belief(sentence, fact)
    if fact.is_planned:
        return None
    names = _names_in(fact)
    read = (_favourite(part) or _liking(part) for part in _parts(sentence))
    attitude = next((one for one in read if one is not None and normal_name(one.subject) in names), None)
    if attitude is None:
        return None
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


def _liking(sentence: str) -> Attitude | None:
    match = _LIKING.match(sentence.rstrip(". !"))
    if match is None or not _is_subject(match["subject"]):
        return None
    adverbs = f"{match['before']} {match['inside'] or ''}"
    rest, verb = match["rest"], match["verb"].casefold()
    if _REPORTED.search(f"{match['subject']} {adverbs}"):
        return None
    topic, over = _compared(rest, prefers=verb.startswith("prefer"))
    if topic is None:
        return None
    denied = (
        _DENIED.search(adverbs) is not None
        or verb.startswith("isn")
        or (_ANY_MORE.search(rest) is not None and _DENIED.search(match[0]) is not None)
    )
    negative = verb.startswith(_NEGATIVE_VERBS)
    if denied and negative:
        return None
    compares = bool(over)
    prefers = "prefer" in verb or compares
    subject = _shown(match["subject"])
    terms = list(index_terms(topic))
    start = STATED if prefers else LOVED if verb.startswith(_STRONG_VERBS) else LIKED
    return Attitude(
        subject=subject,
        kind=BeliefKind.PREFERENCE if prefers else BeliefKind.LIKING,
        polarity=Polarity.NEGATIVE if denied or negative else Polarity.POSITIVE,
        topic=topic,
        over=over,
        issue=terms[-1] if prefers and not compares and not _is_doing(topic) else "",
        statement=f"{subject} {_verb(verb, denied, prefers)} {topic}{f' to {over}' if over else ''}",
        strength=start,
        hedged=re.search(_HEDGE, adverbs) is not None or _LATE_HEDGE.search(rest) is not None,
    )


def _verb(verb: str, denied: bool, prefers: bool) -> str:
    if prefers:
        return "does not prefer" if denied or verb.startswith("used") else "prefers"
    if denied or verb.startswith("used"):
        return "does not like"
    return "dislikes" if verb.startswith(_NEGATIVE_VERBS) else "likes"


def _compared(rest: str, *, prefers: bool) -> tuple[str | None, str]:
    """(what is liked, what it is preferred to) from the words behind the verb."""
    bare = _REST_ENDS.split(rest, maxsplit=1)[0].strip()
    for match in _OVER.finditer(bare):
        compares = match[0].strip().casefold() not in ("to", "over") or (prefers and not _is_doing(bare))
        if compares:
            over = _topic(bare[match.end() :])
            return _topic(bare[: match.start()]), over or ""
    return _topic(bare), ""


def _is_doing(topic: str) -> bool:
    first = topic.split(" ", 1)[0].casefold()
    return first == "to" or (first.endswith("ing") and first not in _NOUNS_IN_ING)


def _topic(text: str) -> str | None:
    """What somebody likes, without what stands around it; None where that is no thing."""
    bare = _REST_ENDS.split(text, maxsplit=1)[0].strip()
    while (shorter := _TRAILING.sub("", bare).strip()) != bare:
        bare = shorter
    bare = bare.strip(" .'’")
    words = bare.split()
    if not words or len(words) > MAX_TOPIC_WORDS or words[0].casefold() in _EMPTY_TOPICS:
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
    held = _DENIED.search(match["how"] or "") is None
    denied = _DENIED.search(clause) is not None
    sure = SURE if match["sure"] or match["surely"] else 0.0
    unsure = HEDGED if _UNSURE.search(sentence) else 0.0
    return Attitude(
        subject=subject,
        kind=BeliefKind.BELIEF,
        polarity=Polarity.POSITIVE if held is not denied else Polarity.NEGATIVE,
        topic=clause,
        statement=_stated(clause) if held else _stated(_denial(clause)),
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
    is_named = subject[:1].isupper() or subject.startswith("the ")
    return is_named and words[0] not in _NO_SUBJECTS and not {"and", "or", "but", "that"} & set(words)


def _shown(subject: str) -> str:
    return subject[:1].upper() + subject[1:]


def _bounded(strength: float) -> float:
    return round(min(max(strength, 0.0), 1.0), 2)
