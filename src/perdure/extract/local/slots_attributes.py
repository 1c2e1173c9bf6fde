"""Open attributes: what a definite noun is ("my dentist is Dr. Osei", "the launch moved to 9 November", "Ben owns billing")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from perdure.extract.local.slots_subjects import Cast
from perdure.extract.local.slots_values import (
    ANIMALS,
    CAPITAL,
    NOUNS,
    VALUE_PATTERNS,
    bare,
    clean_value,
    is_car,
    is_role,
    thing_kind,
)
from perdure.extract.local.units import Unit
from perdure.text.clauses import Clause, Noun, is_verb_form, lemma_of, read_noun
from perdure.text.kin import PERSONS as KIN
from perdure.text.slot_table import FAVOURITE, nouns_of_slots, slots
from perdure.text.value_patterns import WHEN
from perdure.text.wordlist import word_set


@dataclass(frozen=True, slots=True)
class Attribute:
    """A value of an attribute of a person or thing; with `ends`, it has none any more."""

    subject: str
    relation: str
    value: str
    ends: bool = False


_CHANGES = word_set(
    "put move change push postpone reschedule shift delay bring switch go rise increase drop fall extend raise lower set rename update bump reset cut "
    "climb jump decrease reduce slip migrate adjust amend revise correct grow upgrade double advance swap reassign transfer relocate fix schedule book slide double"
)
_CHANGED_TO = re.compile(
    r"\s*(?:(?:back|out|forward|up|down|over|ahead|again|now|slightly|just|recently)\s+)*(?:by\s+[^,]{1,20}?\s+)?(?:from\s+[^,;]{1,40}?\s+)?(?:to|until|till|for|as)\s+(?P<value>\S.*)$",
    re.I,
)
_CHANGED_OBJECT = re.compile(
    r"\s*(?:(?:back|forward|up|down|out|over)\s+)?(?P<noun>(?:my|our|your|his|her|their|the|this|[A-Z]\w*'s?)\s+[\w' -]{2,50}?)(?:\s+(?:back|forward|up|down|out|over))?(?:\s+from\s+[^,;]{1,40}?)?\s+(?:to|until|till|for|with)\s+(?P<value>\S.*)$",
    re.I,
)
_NOW = re.compile(
    r"^\s*(?:(?:now|currently|still|actually|officially|again|back|really|definitely|probably|just|only|finally|these\s+days|nowadays|both|at\s+the\s+moment|going\s+to\s+be|to\s+be|called|named|known\s+as|set|scheduled|fixed|booked|planned|confirmed|due|happening|taking\s+place|held|moved|changed|tomorrow,?(?=\s+at))\s+)*",
    re.I,
)
_DISCOURSE = word_set(
    "problem point question issue thing things idea reason answer truth fact best worst part way goal advice opinion guess bet take view thought hope wish "
    "dream fear worry concern weather food movie book song story news result results end story moral trick key secret difference rest bottom line matter "
    "case plan feeling impression intention suggestion recommendation tip rule example conclusion message lesson topic argument claim world life day week "
    "morning night time year month week moment weekend evening afternoon one first second last next only same other biggest main hardest "
    "question mood hair face eyes hands head heart mind body back leg arm feet room kitchen bathroom sky sun sea joke party dinner lunch breakfast "
    "everything nothing something anything someone everyone nobody it this that there here what which who game show episode experience trip vacation holiday past future "
    "happening highlight opposite latter former reality bonus downside upside catch challenge alternative"
)
_EVENTS = word_set(
    "appointment meeting launch deadline release standup stand-up call interview exam test flight train wedding party dinner lunch breakfast class lesson concert "
    "game match demo review retro retrospective sync workshop conference talk presentation delivery surgery operation checkup check-up party move trip session "
    "training rehearsal ceremony hearing trial event kickoff kick-off webinar reservation booking table due-date submission sprint planning offsite reunion "
    "show movie screening race marathon tournament practice graduation funeral anniversary visit viewing inspection pickup pick-up exam date start go-live golive "
    "shift shipment opening closing vacation holiday arrival departure bus ferry webcast podcast date time retrospective one-on-one 1:1 offsite hackathon summit renewal payment rent"
)
_DROPPED = word_set(
    "new current latest own main primary actual regular present updated final official planned original next upcoming scheduled real usual"
)
_NOT_NOUNS = word_set(
    "plus and but so also then well sounds glad thanks great good nice cool sure really just still not all some many most both each every other such there here"
)
_FORMER = word_set("old former previous ex last first earlier prior past second other")
_ROLES_OF_ONE = word_set(
    "dentist doctor gp therapist lawyer accountant landlord landlady hairdresser barber trainer coach tutor mentor mechanic vet plumber cleaner nanny babysitter "
    "boss manager supervisor lead captain ceo cto cfo president director head chair chairman chairwoman owner assistant secretary agent broker advisor adviser "
    "counsellor counselor psychiatrist physiotherapist physio dermatologist optometrist pediatrician paediatrician gynecologist cardiologist surgeon midwife "
    "professor teacher maintainer reviewer contact maid butler driver chef neighbor neighbour bandmate drummer singer editor publisher supplier provider insurer bank "
    "roommate flatmate housemate husband wife girlfriend boyfriend partner fiancé fiancée fiance fiancee spouse sponsor guardian godfather godmother best-friend representative pm po treasurer moderator admin dj photographer caterer architect contractor realtor"
)
_ABSTRACT = word_set(
    "colour color status priority size level type name title theme password username handle code pin plan password goal target budget price cost fee rate limit version address "
    "language hobby instrument team club brand provider plan subscription editor browser laptop computer phone os setup stack database framework tool drink dish food snack "
    "pronouns currency format unit tone style genre order breakfast coffee seat stop station gym school bank insurance carrier network mattress shampoo perfume size haircut"
)
"""Nouns whose values may be words without an article ("status is blocked")."""
_STATES = word_set(
    "great good bad nice fine ready done broken late early off on open closed sick ill tired happy sad gone over here there away busy free full empty dead alive "
    "red blue green black white hot cold sold out back home amazing awful terrible lovely wonderful beautiful boring fun funny long short big small huge tiny "
    "hard easy difficult important delicious expensive cheap slow fast loud quiet clean dirty safe dangerous better worse best worst cancelled canceled canceled booked "
    "coming going doing working getting looking visiting moving so very really too quite pretty such always never not just all both"
)
_OWNS = re.compile(
    r"^\s*(?:(?:now|currently|all of)\s+)*(?P<thing>(?:the|our|this)\s+[\w' /-]{2,50}|[A-Z][\w'-]*(?:\s+[\w'-]+){0,3}|[a-z][\w-]+(?:\s+[a-z][\w-]+)?)(?P<from>\s+from\s+.*)?$"
)
_RESPONSIBLE = re.compile(
    r"^\s*(?:(?:now|currently)\s+)*(?:responsible\s+for|in\s+charge\s+of|assigned\s+to|accountable\s+for|the\s+(?:new\s+)?(?:owner|assignee|lead|driver)\s+(?:of|for|on)|on\s+point\s+for|on\s+the\s+hook\s+for|handling|leading|owning|driving)\s+(?P<thing>[\w' /-]{2,60})",
    re.I,
)
_TAKES_OVER = re.compile(
    r"^\s*over\s+(?:(?:as\s+(?:the\s+)?(?:owner|lead)\s+(?:of|for)|responsibility\s+for|ownership\s+of)\s+)?(?P<thing>(?!as\b)[\w' /-]{2,50}?)(?:\s+(?:from|for)\s+.*)?$",
    re.I,
)
_HANDS_TO = re.compile(
    r"^\s*(?:over\s+|off\s+)?(?P<thing>(?:the\s+|our\s+|my\s+)?[\w' /-]{2,50}?)\s+(?:over\s+|off\s+)?to\s+(?P<person>[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)?)"
)
_ASSIGNED = re.compile(
    r"^\s*(?:now\s+|been\s+|re-?)*(?:assigned|handed|given|passed|transferred|delegated|owned|handled|led|taken)\s*(?:over\s+)?(?:to|by|over by)\s+(?P<person>[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)?)",
    re.I,
)
_USES = re.compile(
    rf"^\s*(?:(?:now|mainly|mostly|only|primarily|just|currently|exclusively)\s+)*(?P<thing>{NOUNS})(?:\s+(?:for|as)\s+(?:all\s+)?(?:(?:my|our|the|his|her|their|its|a|an)\s+)?(?P<purpose>[\w -]{{3,40}}?))?(?=\s*(?:[,.;!]|$|\s(?:now|these days|instead|since|anymore|any more|at|and|because|in|on|again)\b))"
)
_SWITCHED = re.compile(
    rf"^\s*(?:(?:everything|over|all|back|entirely|completely|the\s+\w+|our\s+\w+|my\s+\w+|fully|away)\s+)*(?:from\s+(?P<old>[^,;]{{1,40}}?)\s+)?(?:to|onto|with|for)\s+(?:using\s+)?(?P<thing>{NOUNS})(?:\s+(?:for|as)\s+(?:all\s+)?(?:(?:my|our|the|his|her|their|its)\s+)?(?P<purpose>[\w -]{{3,40}}?))?(?=\s*(?:[,.;!]|$|\s(?:now|these days|instead|since|last|this|yesterday|from|in|on|after|because|and|again)\b))"
)
_FAVOURITE = re.compile(r"^(?:all-time\s+|absolute\s+|new\s+|current\s+|personal\s+)*favou?rite\s+", re.I)
_PREFER = re.compile(
    rf"^\s*(?:(?:now|much|really|actually|definitely|clearly|still)\s+)*(?:(?:having|drinking|eating|using|working|to\s+(?:have|drink|eat|use|work|take|sit in|get|fly|stay|be))\s+)?(?:with\s+|in\s+)?(?P<thing>{NOUNS})"
)
_DIED = re.compile(r"^(?:died|passed|put|run|ran|got|gone|rehomed|euthanised|euthanized)$")
_CALLED_OFF = re.compile(
    r"^\s*(?:now\s+|been\s+|just\s+|officially\s+)*(?:cancell?ed|called\s+off|off|scrapped|not\s+happening)(?=\s*(?:[,.;!]|$|\s))",
    re.I,
)


def attribute_statements(clause: Clause, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """The attributes that a clause gives a value or ends."""
    if clause.meant == "unreal":
        return
    yield from _it_is(clause, cast, unit)
    if clause.noun is not None and not _is_indefinite(clause.noun):
        yield from _noun_is(clause, clause.noun, cast, unit)
        yield from _noun_changes(clause, clause.noun, cast, unit)
        yield from _is_the_noun(clause, clause.noun, cast)
        yield from _lost(clause, clause.noun, cast)
        yield from _presupposed(clause.noun, cast)
    ported = list(_runs_on(clause))
    yield from ported or _changed_noun(clause, cast, unit)
    yield from _responsible(clause, cast)
    yield from _uses(clause, cast)
    yield from _prefers(clause, cast)


def _is_indefinite(noun: Noun) -> bool:
    return noun.owner in ("a", "an")


_NEW_NOUN = re.compile(
    r"\b(?:(?:a |my |our |the )?(?:brand[- ]new|new|different)\s+(?P<new>[\w-]+(?:\s+[\w-]+)?)|(?:changed|switched|updated|moved|pushed|reset|rescheduled|swapped|postponed)\s+(?:my |our |the |to a new )?(?P<changed>[\w-]+(?:\s+[\w-]+)?)|(?P<subject>(?:my|our|the)\s+[\w-]+(?:\s+[\w-]+)?)\s+(?:has\s+|have\s+|got\s+|was\s+|is\s+)*(?:changed|moved|different|new|wrong|gone))"
    r"\s*(?:now|again|today|yesterday|last \w+|this \w+)?\s*(?:[,:;.—–-]+|\band|\bso)?\s*$",
    re.I,
)


def _it_is(clause: Clause, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """ "I've got a new number, it's 0467 330 215": the noun stands right before "it"."""
    if (
        clause.subject not in ("it", "that", "this")
        or clause.verb != "be"
        or clause.meant != "fact"
        or not cast.speaker
    ):
        return
    before = re.sub(r"\b(?:now|and|so|but)\s*$", "", clause.before.rstrip()).rstrip()
    match = _NEW_NOUN.search(before + " ")
    if match is None:
        return
    words = (
        match["new"] or match["changed"] or re.sub(r"^(?:my|our|the)\s+", "", match["subject"], flags=re.I)
    ).split()
    if words[-1].casefold() == "year" or not words:
        return
    if len(words) == 1 and words[0].endswith("s") and not words[0].endswith("ss"):
        words = [words[0][:-1]]
    owner = "the" if match["subject"] and match["subject"].casefold().startswith("the") else "my"
    yield from _valued(
        Noun(owner, tuple(words)), _NOW.sub("", clause.rest, count=1), cast, unit, changed=True
    )


def _presupposed(noun: Noun, cast: Cast) -> Iterator[Attribute]:
    """ "My new boyfriend Leon took me skating" says who the boyfriend is."""
    slot = nouns_of_slots().get(noun.words[-1].casefold()) if noun.name and noun.words else None
    owner = cast.owner(noun.owner) if slot is not None and slots()[slot].value == "person" else ""
    if owner and slot is not None and not {word.casefold() for word in noun.words[:-1]} & _FORMER:
        yield Attribute(owner, slot, noun.name)


_RUNS = re.compile(
    rf"^\s*(?P<noun>(?:the|our|my|this)\s+[\w' -]{{2,40}}?|[A-Z]\w*)\s+(?:on|with|in|to|onto|over to)\s+(?P<thing>{NOUNS})"
)


def _runs_on(clause: Clause) -> Iterator[Attribute]:
    """ "We run the booking service on Postgres 14", "we upgraded it to Postgres 16"."""
    is_state = clause.verb in ("run", "host", "build", "write", "deploy") and clause.meant in (
        "fact",
        "progressive",
        "perfect",
    )
    is_change = clause.verb in (
        "upgrade",
        "migrate",
        "move",
        "port",
        "switch",
        "rewrite",
        "rebuild",
        "convert",
        "downgrade",
    ) and clause.meant in ("past", "perfect")
    match = _RUNS.match(clause.rest) if is_state or is_change else None
    if match is None:
        return
    value = bare(match["thing"])
    kind = thing_kind(value)
    thing = re.sub(r"^(?:our|my|this)\s+", "the ", match["noun"], flags=re.I)
    if kind:
        yield Attribute(thing, f"uses_{kind}", value)


def _noun_is(clause: Clause, noun: Noun, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """ "My dentist is Dr. Osei", "standup is at 9:30", "the report is due Friday"."""
    if clause.verb == "be" and clause.form not in ("was", "were"):
        rest = clause.rest
    elif (
        clause.verb in ("start", "begin", "happen", "take", "expire", "end", "open", "depart", "leave", "run")
        and noun.head in _EVENTS
    ):
        rest = re.sub(r"^place\s+", "", clause.rest)
    elif clause.verb in ("cost",):
        rest = clause.rest
    else:
        return
    if clause.meant == "denied" or clause.meant == "over":
        return
    behind = _NOW.sub("", rest, count=1)
    when = re.match(WHEN, behind)
    if clause.meant in ("past",) or (clause.meant == "planned" and when is None):
        return
    yield from _valued(noun, behind, cast, unit, changed=False)


def _noun_changes(clause: Clause, noun: Noun, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """ "The deadline was pushed to Friday", "my rent went up to 950"."""
    verb, rest = clause.verb, clause.rest
    if verb == "be" or verb == "get":
        first, _, rest = rest.lstrip().partition(" ")
        verb = lemma_of(first)
        if first.casefold() in ("now", "just", "been", "also", "recently"):
            first, _, rest = rest.partition(" ")
            verb = lemma_of(first)
    if verb not in _CHANGES or clause.meant in ("denied", "over"):
        return
    if clause.meant == "planned" and noun.head not in _EVENTS:
        return
    match = _CHANGED_TO.match(rest)
    if match is not None:
        yield from _valued(noun, match["value"], cast, unit, changed=True)


def _changed_noun(clause: Clause, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """ "They moved the deadline to Friday", "I changed my number to ..."."""
    if clause.verb not in _CHANGES and clause.verb != "replace":
        return
    if clause.meant in ("denied", "over"):
        return
    match = _CHANGED_OBJECT.match(clause.rest)
    noun = read_noun(match["noun"]) if match is not None else None
    if match is None or noun is None:
        return
    when = re.match(WHEN, match["value"])
    if when is None and (
        clause.meant in ("planned", "progressive", "fact")
        or clause.verb in ("move", "bring", "transfer", "push", "book", "relocate", "shift")
    ):
        return
    yield from _valued(noun, match["value"], cast, unit, changed=True)


def _valued(noun: Noun, text: str, cast: Cast, unit: Unit, *, changed: bool) -> Iterator[Attribute]:
    """The attribute that a noun names, with the value that the text begins with."""
    place = _slot_of(noun, cast)
    if place is None:
        return
    subject, label, shared = place
    head = label.split()[-1]
    if (
        clean_value("med", label)
        and not shared
        and (dose := re.match(r"\d[\d.,]*\s?(?:mg|mcg|µg|ml|units|iu)\b", text, re.I)) is not None
    ):
        yield Attribute(subject, "takes", f"{dose[0]} {label}")
        return
    slot = nouns_of_slots().get(label)
    if (
        slot is None
        and label.split()[-1] in nouns_of_slots()
        and len(label.split()) > 1
        and label.split()[0] in ("work", "office", "business", "private", "personal", "home", "emergency")
    ):
        slot = nouns_of_slots()[label.split()[-1]]
        prefix = (
            ""
            if slots()[slot].value not in ("phone", "mail", "text")
            else "work_"
            if label.split()[0] in ("work", "office", "business")
            else f"{label.split()[0]}_"
        )
        if label.startswith("personal"):
            prefix = "private_"
    else:
        prefix = ""
    if slot is not None and not (shared and slots()[slot].value in ("person", "phone", "mail", "name")):
        value = _slot_value(slot, label, text)
        if value and (cast.speaker or not shared):
            owner = cast.speaker if shared else subject
            relation = (
                "phone_model" if slot == "phone" and len(re.findall(r"\d", value)) < 6 else prefix + slot
            )
            yield Attribute(owner, relation, value)
            return
        names_a_value = slot != "phone" and (value or not shared)
        if names_a_value and slots()[slot].value not in ("text", "thing", "organisation"):
            return
    if label.startswith("favourite "):
        value = _short_value(text)
        if value and not shared:
            yield Attribute(subject, FAVOURITE + label.removeprefix("favourite ").replace(" ", "_"), value)
        return
    if head in _DISCOURSE or label in _DISCOURSE or (head in KIN and head not in _ROLES_OF_ONE):
        return
    when = re.match(WHEN, text)
    if when is not None and _ends_there(text[when.end() :]):
        if shared and not changed and not (head in _EVENTS or cast.speaker):
            return
        value = clean_value("date", when[0])
        if (
            not re.search(r"[a-z]", value, re.I)
            and re.fullmatch(r"\d{1,2}", value)
            and not (changed and head in _EVENTS)
            and not re.match(r"\s*at\b", text)
        ):
            when = None
        elif value:
            yield _attribute(subject, label, value, shared, _time_relation(value))
            return
    value = _open_value(head, text, unit, shared=shared, changed=changed)
    kind = thing_kind(value) if value else ""
    if kind and shared:
        yield Attribute(f"the {label}", f"uses_{kind}", value)
    elif value and (cast.speaker or not shared):
        yield _attribute(subject, label, value, shared, "value")


def noun_attribute(noun: Noun, text: str, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """The attribute that a noun names, with the value that the text begins with, as if it had just been given."""
    yield from _valued(noun, _NOW.sub("", text, count=1), cast, unit, changed=True)


def _attribute(subject: str, label: str, value: str, shared: bool, relation: str) -> Attribute:
    """Of a thing that nobody owns, the thing itself is the subject."""
    if shared:
        return Attribute(f"the {label}", relation, value)
    return Attribute(subject, re.sub(r"[^\w]+", "_", label).strip("_"), value)


def _time_relation(value: str) -> str:
    has_day = re.search(
        r"(?i)[a-z]{3,}|\d{4}|\d[./]\d|\d(?:st|nd|rd|th)",
        re.sub(
            r"(?i)\b(?:noon|midnight|half|past|quarter|to|o'clock|am|pm|in|the|morning|afternoon|evening)s?\b",
            "",
            value,
        ),
    )
    return "date" if has_day else "time"


def _slot_of(noun: Noun, cast: Cast) -> tuple[str, str, bool] | None:
    """(subject, the attribute's noun in lower case, whether nobody owns it); None where it names none."""
    words = list(noun.words)
    if not words or noun.name or any(word in ("the", "a", "an", "my", "our") for word in words):
        return None
    owner = cast.owner(noun.owner) if noun.owner not in ("", "the", "this", "our") else ""
    if noun.owner not in ("", "the", "this", "our") and not owner:
        return None
    if not noun.owner and (words[0].casefold() in _NOT_NOUNS or words[0].endswith("ing")):
        return None
    owning = next((index for index, word in enumerate(words[:-1]) if word.endswith(("'s", "s'"))), None)
    if owning is not None:
        holder = Noun(noun.owner, (*words[:owning], words[owning].removesuffix("'s").removesuffix("'")))
        owner = cast.kin(holder) or (
            " ".join(holder.words)
            if holder.words[0][:1].isupper()
            else f"{owner}'s {' '.join(holder.words)}"
            if owner
            else ""
        )
        if not owner:
            return None
        words = words[owning + 1 :]
    lows = [word.casefold() for word in words]
    if set(lows[:-1]) & _FORMER:
        return None
    while len(lows) > 1 and lows[0] in _DROPPED:
        words, lows = words[1:], lows[1:]
    if not lows or lows[-1] in _STATES:
        return None
    rest = noun.rest
    shared = False
    if not owner:
        if (
            rest
            and (
                match := re.match(
                    rf"(?:of|for|in|at|on)\s+(?:the\s+|our\s+|project\s+)*(?P<thing>{CAPITAL}(?:\s+[\w'-]+){{0,2}}|[a-z][\w-]*(?:\s+[\w-]+){{0,2}})$",
                    rest,
                )
            )
            is not None
        ):
            thing = match["thing"]
            if thing[:1].isupper():
                owner, rest = thing, ""
            else:
                lows, rest, shared = [*thing.casefold().split(), *lows], "", True
        elif (
            len(words) > 1
            and words[0][:1].isupper()
            and not words[-1][:1].isupper()
            and noun.owner in ("", "the", "our")
            and not is_verb_form(lows[0])
        ):
            cut = next(index for index, word in enumerate(words) if not word[:1].isupper())
            owner, lows = " ".join(words[:cut]), lows[cut:]
        elif noun.owner == "our" and lows[-1] not in _EVENTS:
            owner = cast.speaker
        else:
            shared = True
    label = " ".join(lows)
    label = _FAVOURITE.sub("favourite ", label)
    if rest:
        label = f"{label} {rest.casefold()}"
    if len(label) > 60:
        return None
    return owner, label, shared


_SLOT_KINDS = {
    "place": ("place",), "organisation": ("org",), "role": ("role",), "person": ("fullname",), "thing": ("thing",), "name": ("fullname",),
    "number": ("n",), "date": ("date",), "time": ("time",), "money": ("money",), "phone": ("phone", "model"), "mail": ("mail",),
}  # fmt: skip


def _slot_value(slot: str, label: str, text: str) -> str:
    """The value that fits the slot's kind; for prose kinds any short noun phrase."""
    kind = slots()[slot].value
    if slot == "drives":
        match = re.match(VALUE_PATTERNS["car"], text)
        return clean_value("car", match[0]) if match and is_car(bare(match[0])) else ""
    if slot == "weight" or slot == "height":
        match = re.match(VALUE_PATTERNS["mass" if slot == "weight" else "length"], text)
        return bare(match[0]) if match else ""
    if slot == "address":
        match = re.match(r"(?:at\s+)?(?P<value>[^;!?]*\d[^;!?]*)", text)
        return bare(match["value"]) if match else ""
    if kind == "text":
        return _short_value(text) if _short_value(text).casefold().split(" ")[0] not in _STATES else ""
    if slot in ("works_at", "works_as"):
        match = re.match(
            VALUE_PATTERNS["org" if slot == "works_at" else "role"], re.sub(r"^(?:at|with|as)\s+", "", text)
        )
        return clean_value("org" if slot == "works_at" else "role", match[0]) if match else ""
    if slot == "birthday" and not re.search(r"\d|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", text):
        return ""
    for name in _SLOT_KINDS[kind]:
        match = re.match(rf"(?:(?:on|at|in|by)\s+)?(?P<value>{VALUE_PATTERNS[name]})", text)
        value = clean_value(name, match["value"]) if match else ""
        if value and value.casefold().split()[0] not in _STATES:
            return value
    return ""


def _short_value(text: str) -> str:
    match = re.match(
        r"(?P<value>(?:[^.,;:!?()]|[.,:](?=\d)){1,60}?)(?=\s*(?:[,;:!?()]|\.(?:\s|$)|$)|\s+(?:now|these days|nowadays|because|since|but|and|instead|as of|at the moment|again|so|right now|anymore|lately)\b)",
        text,
    )
    return bare(match["value"]) if match and not _POINTS_BACK.match(match["value"]) else ""


_POINTS_BACK = re.compile(r"\s*(?:still\s+)?(?:the\s+)?(?:one|same|usual|old one)\b", re.I)


def _ends_there(behind: str) -> bool:
    return (
        re.match(
            r"\s*(?:[.,;:!?()]|$|(?:now|instead|this|next|because|since|so|and|but|due|as|at|in|on|from|not|rather|again|for|with|sharp|cet|cest|gmt|utc|pst|est|local|every|\()\b)",
            behind,
            re.I,
        )
        is not None
    )


def _open_value(head: str, text: str, unit: Unit, *, shared: bool, changed: bool) -> str:
    """A value of an attribute that no table knows: a name, a number, a code, or a noun phrase."""
    for kind in ("mail", "phone", "money"):
        match = re.match(VALUE_PATTERNS[kind], text)
        if match is not None:
            return clean_value(kind, match[0])
    short = _short_value(text)
    if not short or len(short.split()) > 6:
        return ""
    first = short.split()[0].casefold()
    if first in _STATES or first in (
        "to",
        "that",
        "in",
        "on",
        "at",
        "for",
        "with",
        "like",
        "about",
        "from",
        "by",
        "as",
        "if",
        "when",
        "how",
        "why",
        "what",
        "where",
        "who",
        "between",
        "under",
        "over",
        "up",
        "down",
        "no",
        "none",
        "more",
        "less",
        "near",
    ):
        return ""
    if re.match(CAPITAL, short) or re.search(r"\d", short):
        return re.split(
            r"\s+(?:over|after|before|during|on|in|for|from|by|with|at|this|last|next|since)\s+(?=the|a|an|my|our|last|next|this|\w+day|we|i|it)\b",
            short,
            maxsplit=1,
            flags=re.I,
        )[0]
    if head in _ROLES_OF_ONE:
        return ""
    if changed or head in _ABSTRACT:
        return short
    if shared:
        return ""
    return (
        short
        if re.match(r"(?:an?|the)\s", text, re.I) and head not in KIN and head not in ANIMALS
        else short
        if _is_noun(short, unit)
        else ""
    )


def _is_noun(value: str, unit: Unit) -> bool:
    last = value.split()[-1]
    return (
        any(token.text == last and token.pos in ("NOUN", "PROPN", "NUM", "X") for token in unit.tokens)
        and len(value.split()) <= 3
    )


_IS_THE = re.compile(
    rf"^\s*(?:(?:now|also|officially|currently|still|as|over\s+as)\s+)*(?P<noun>(?:my|our|your|his|her|their|the|{CAPITAL}(?:\s+{CAPITAL})?'s?)\s+.+?)(?=\s*(?:[,.;!]|$|\s(?:now|these days|since|instead|as of|again|from now)\b))"
)


def _is_the_noun(clause: Clause, subject: Noun, cast: Cast) -> Iterator[Attribute]:
    """ "Karen is my new boss", "teal is my favourite colour", "Priya took over as the lead of Apollo"."""
    if clause.meant in ("denied", "over", "planned") or clause.verb not in ("be", "become", "take"):
        return
    if clause.verb == "take" and not clause.rest.startswith("over as"):
        return
    if clause.verb == "be" and (clause.meant == "past" or clause.form in ("was", "were")):
        return
    match = _IS_THE.match(clause.rest)
    noun = read_noun(match["noun"]) if match is not None else None
    if noun is None or not noun.words:
        return
    value = " ".join(subject.words) if not subject.rest else f"{' '.join(subject.words)} {subject.rest}"
    if subject.owner not in ("", "the"):
        return
    place = _slot_of(noun, cast)
    if place is None:
        return
    owner, label, shared = place
    if label.startswith("favourite "):
        if not shared and owner:
            yield Attribute(owner, FAVOURITE + label.removeprefix("favourite ").replace(" ", "_"), value)
        return
    name = cast.person("", subject)
    if not name or shared or not owner:
        return
    head = label.split()[-1]
    slot = nouns_of_slots().get(label)
    if slot is not None and slots()[slot].value == "person":
        yield Attribute(owner, slot, name)
    elif (
        head in _ROLES_OF_ONE or (noun.owner in ("the", "our") and is_role(head))
    ) and head not in KIN - _ROLES_OF_ONE:
        yield Attribute(owner, re.sub(r"[^\w]+", "_", label), name)


def _lost(clause: Clause, noun: Noun, cast: Cast) -> Iterator[Attribute]:
    """ "Our dog died", "the Friday call was cancelled"."""
    if clause.meant in ("denied", "over", "planned", "progressive"):
        return
    animal = noun.head in ANIMALS
    if animal and noun.owner in ("my", "our", "the", "his", "her") and cast.speaker:
        died = (
            clause.verb == "die"
            or (clause.verb == "pass" and clause.rest.startswith(("away", "on", "last")))
            or re.match(
                r"(?:put (?:down|to sleep)|run over|hit by|rehomed|gone\b|no longer with us)", clause.rest
            )
            or (clause.verb == "run" and clause.rest.startswith("away"))
        )
        if died:
            owner = cast.owner(noun.owner) or cast.speaker
            yield Attribute(owner, "has_pet", f"{noun.head} {noun.name}".strip(), ends=True)
        return
    if (clause.verb == "be" and _CALLED_OFF.match(clause.rest)) or (
        clause.verb == "get" and re.match(r"\s*cancell?ed", clause.rest)
    ):
        place = _slot_of(noun, cast)
        if place is not None and place[1].split()[-1] in _EVENTS:
            subject, label, shared = place
            yield Attribute(
                f"the {label}" if shared else subject,
                "date" if shared else re.sub(r"[^\w]+", "_", label),
                "",
                ends=True,
            )


def _responsible(clause: Clause, cast: Cast) -> Iterator[Attribute]:
    """Who owns a task: "Ben owns billing", "Ana handed billing to Ben", "billing was assigned to Ben"."""
    if clause.meant in ("denied", "over"):
        return
    person = cast.person(clause.subject, clause.noun)
    if clause.verb == "be":
        if (
            clause.noun is not None
            and (match := _ASSIGNED.match(clause.rest)) is not None
            and clause.meant in ("fact", "past", "perfect")
        ):
            thing = _task(" ".join([*clause.noun.words, clause.noun.rest]).strip())
            if thing and clause.noun.owner in ("", "the", "our", "this"):
                yield Attribute(thing, "owner", match["person"])
        elif person and (match := _RESPONSIBLE.match(clause.rest)) is not None and clause.meant == "fact":
            thing = _task(match["thing"])
            if thing:
                yield Attribute(thing, "owner", person)
        return
    if clause.verb == "belong" and clause.noun is not None and clause.meant == "fact":
        match = re.match(r"\s*to\s+(?P<person>[A-Z]\w+)", clause.rest)
        if match is not None:
            yield Attribute(_task(" ".join(clause.noun.words)), "owner", match["person"])
        return
    if not person:
        return
    if (
        clause.verb in ("own", "handle", "lead", "drive", "manage", "maintain", "run")
        and not (clause.verb == "run" and _RUNS.match(clause.rest))
        and clause.meant in ("fact", "progressive")
    ):
        match = _OWNS.match(clause.rest)
        definite = match is not None and re.match(r"(?:the|our|this)\s|[A-Z]", match["thing"])
        if (
            match is not None
            and (definite or clause.verb == "own")
            and not re.match(r"(?:an?|my|his|her|their|two|three|\d)\b", match["thing"])
            and not is_car(match["thing"])
        ):
            thing = _task(match["thing"])
            if thing:
                yield Attribute(thing, "owner", person)
    elif (
        clause.verb == "take"
        and clause.meant in ("past", "perfect")
        and (match := _TAKES_OVER.match(clause.rest)) is not None
    ):
        thing = _task(match["thing"])
        if thing:
            yield Attribute(thing, "owner", person)
    elif (
        clause.verb in ("hand", "pass", "give", "transfer", "assign", "reassign", "delegate")
        and clause.meant in ("past", "perfect")
        and (match := _HANDS_TO.match(clause.rest)) is not None
    ):
        thing = _task(match["thing"])
        if thing and (clause.verb != "give" or match["thing"].startswith(("the ", "our "))):
            yield Attribute(thing, "owner", match["person"])


_GENERIC = word_set(
    "task tasks ticket tickets project work module service issue feature workstream stream epic area part topic stuff duties process"
)


def _task(text: str) -> str:
    """A task's name as a subject: without article, trailing adverbs and words such as "task"."""
    thing = bare(text)
    words = thing.split()
    if words and words[-1].casefold() in _GENERIC and len(words) > 1:
        words = words[:-1]
    low = " ".join(words).casefold()
    if not words or low in ("it", "that", "this", "one", "them", "everything", "things") or low in _GENERIC:
        return ""
    return " ".join(words) if words[0][:1].isupper() else f"the {' '.join(words)}"


def _uses(clause: Clause, cast: Cast) -> Iterator[Attribute]:
    """ "We use Postgres", "the project runs on Postgres", "I switched from Slack to Teams", "Spotify for music"."""
    if clause.meant in ("denied", "past") and clause.verb in ("use", "run"):
        return
    subject = cast.person(clause.subject, clause.noun)
    if (
        not subject
        and clause.noun is not None
        and clause.noun.owner in ("", "the", "our", "this", "my")
        and clause.noun.words
    ):
        subject = _task(" ".join(clause.noun.words)) or f"the {' '.join(clause.noun.words)}"
    if not subject:
        return
    if clause.verb in (
        "use",
        "run",
        "build",
        "host",
        "write",
        "deploy",
        "work",
        "rely",
        "be",
    ) and clause.meant in ("fact", "progressive", "perfect", "over", "past"):
        rest = clause.rest
        if clause.verb != "use":
            match = re.match(
                r"\s*(?:now\s+|still\s+|built\s+|hosted\s+|written\s+|deployed\s+|based\s+|entirely\s+)*(?:on|in|with|using)\s+(?P<rest>\S.*)$",
                rest,
            )
            if match is None:
                return
            rest = match["rest"]
        match = _USES.match(rest)
        if match is None:
            return
        value = bare(match["thing"])
        relation = _use_relation(value, match["purpose"] if clause.verb == "use" else None)
        if relation is None or (
            clause.meant == "past" and clause.verb not in ("build", "host", "write", "deploy")
        ):
            return
        yield Attribute(subject, relation, value, ends=clause.meant == "over")
    elif clause.verb in (
        "switch",
        "migrate",
        "move",
        "change",
        "convert",
        "upgrade",
        "go",
        "port",
        "transition",
        "downgrade",
        "swap",
        "replace",
        "ditch",
        "drop",
        "trade",
        "adopt",
        "choose",
        "pick",
        "start",
        "stop",
        "quit",
    ) and clause.meant in ("past", "perfect"):
        yield from _switched(clause, subject)


def _switched(clause: Clause, subject: str) -> Iterator[Attribute]:
    rest = clause.rest
    if clause.verb in ("adopt", "choose", "pick", "start", "stop", "quit"):
        rest = re.sub(r"^\s*(?:using|to\s+use)\s+", "", rest)
        if clause.verb in ("start", "stop", "quit") and rest == clause.rest:
            return
        match = _USES.match(rest)
        old = ""
    elif clause.verb in ("swap", "replace", "ditch", "drop", "trade"):
        match = re.match(
            rf"\s*(?P<old>[^,;]{{1,40}}?)\s+(?:with|for|by|in\s+favou?r\s+of)\s+(?P<thing>{NOUNS})", rest
        )
        old = match["old"] if match is not None else ""
    else:
        match = _SWITCHED.match(rest)
        old = (match["old"] or "") if match is not None else ""
    if match is None:
        return
    value = bare(match["thing"])
    groups = match.groupdict()
    purpose = groups.get("purpose") if clause.verb not in ("go", "move", "change", "trade", "drop") else None
    relation = _use_relation(value, purpose) or (_use_relation(old, None) if old else None)
    if relation is None or is_car(value):
        return
    yield Attribute(subject, relation, value, ends=clause.verb in ("stop", "quit"))


def _use_relation(value: str, purpose: str | None) -> str | None:
    """ "uses_database" by the kind of a product, else by what it is used for."""
    kind = thing_kind(value)
    if kind:
        return f"uses_{kind}"
    if purpose and value[:1].isalnum():
        words = [
            word
            for word in purpose.casefold().split()
            if word not in ("all", "my", "our", "the", "new", "everyday", "daily", "personal", "work")
        ]
        if (
            words
            and len(words) <= 3
            and words[-1]
            not in (
                "now",
                "years",
                "months",
                "weeks",
                "days",
                "it",
                "that",
                "reasons",
                "while",
                "time",
                "fun",
                "free",
            )
        ):
            return f"uses_{'_'.join(words)}"
    return None


def _prefers(clause: Clause, cast: Cast) -> Iterator[Attribute]:
    person = cast.person(clause.subject, clause.noun)
    if not person or clause.verb != "prefer" or clause.meant not in ("fact", "progressive"):
        return
    if re.match(r"\s*(?:to be called|to go by|being called|going by)\b", clause.rest):
        return
    match = _PREFER.match(clause.rest)
    value = bare(match["thing"]) if match is not None else ""
    if value and value.casefold() not in ("it", "that", "this", "not", "them"):
        yield Attribute(person, "prefers", value)
