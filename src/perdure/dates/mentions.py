"""Whether a date expression tells when something was or will be: no fraction, no name, no habit, no length of time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.dates.lexicon import word_set
from perdure.dates.model import DateSpan

_BEFORE, _AFTER = 120, 60
"""Characters around a date that are looked at."""
# What makes a date of two numbers.
_LEADS = word_set(
    "on by until till from since before after between to through due for dated date of starting beginning around the at closed is was and "
    "am den dem der bis ab seit für vom zum und el del desde hasta para y le du au depuis jusqu'au dès et"
)
_FIRM_LEADS = word_set("on by until till from since before after between through due dated")
_FRACTION = re.compile(r"(\d{1,2})/(\d{1,2})$")
_DOTTED_PAIR = re.compile(r"\d{1,2}\.\d{1,2}\.?$|\d{1,2}[.-]\d{1,2}[.-]\d{2}$")
_SHARE_WORDS = re.compile(
    r"(?i)\b(?:attempt|step|page|part|chapter|scored?|rat(?:e|ed|es|ing)|round|stage|task|retry|phase|grade|mark|gave|gives?|easy|solid"
    r"|got|get|gets|pressure|vision|size|quiz|ratio|odds|chance|roughly|only|nearly|almost|a|an|another)\s+(?:\w+\s+){0,2}$"
)
_NUMBERED = re.compile(
    r"(?i)\b(?:v|(?:version|release|build|python|node|ios|android|chapter|section|rfc|ip|no|nr|fig|table|order|id|ticket|invoice|ref|case"
    r"|number|sku|serial|code|pin|commit|job|batch|lot|gate|room|seat|platform|page|row|unit|apartment|track|bus|line)\.?\s+)$|\$\s*$"
)
_STREET = re.compile(
    r"\s+(?:Street|St\.|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr\.|Boulevard|Blvd|Court|Place|Square|Way|Terrace|Crescent|Straße|Strasse|Gate|Close)\b"
)
_STREET_OF = re.compile(
    r"(?i)\b(?:straße|strasse|platz|calle|plaza|rue|place|avenue|boulevard|avenida)\s+(?:(?:des|del?|du)\s+)?$"
)
# What counts from a story and not from the time of speaking: "the next day", "that weekend".
_NARRATIVE = re.compile(
    r"(?i)(?:the\s+)?(?:next|following|previous|same|other|day|that)\b.*\bday\b|(?:the\s+)?day\s+(?:before|after)$|the\s+day$|(?:that|same)\b"
)
_IN_NUMBER = re.compile(r"(?i)in\s+(?:the\s+)?(?:\d+|an?|one|two|three)\b")
_PLAIN_UNIT = re.compile(
    r"(?i)(?<!business )(?<!working )\b(?:sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?)$"
)
_THE_UNIT = re.compile(r"(?i)the (?:week|month|year|quarter|decade|century|day)$")
_MOVED = re.compile(
    r"(?i)\b(?:moved?|moving|shift(?:ed)?|change[ds]?|postponed|rescheduled|pushed|switched|brought forward)\s+(?:\w+\s+){0,3}$"
)
_EVERY_YEAR = re.compile(r"(?i)\b(?:birthday|anniversary|name day) (?:is|falls) (?:on |in )?(?:the )?$")
_HABIT = re.compile(
    r"(?i)\b(?:usually|normally|typically|generally|always|often|mostly|every year|each year|once|twice|times)\s+"
    r"(?:(?:on|in|during|around|over)\s+)?(?:the\s+)?$"
)
_RATE = re.compile(r"(?i)\b(?:once|twice|times)\s+$")
_OF_EVERY = re.compile(r"(?i)\s+(?:every|each|of every|of each)\b")
_IDIOM = re.compile(r"(?i)\b(?:at (?:the )?(?=end of the day)|so (?=last year))")
_WISH = re.compile(
    r"(?i)(?:^|[.!?,]\s+)(?:(?:have|enjoy|wish(?:ing)? you)\s+(?:a|an|your|the)\s+(?:\w+\s+)?|happy\s+)$"
)
_BARE_YEAR = re.compile(r"\d{4}$")
_YEAR_LEADS = word_set(
    "in since until till by of from during before after early late mid summer spring fall autumn winter year to - – and around circa about the our "
    "my for that through between over january february march april may june july august september october november december"
)
_YEAR_VERBS = re.compile(r"\s+(?:was|is|has|had|will|were|felt|went|turned|brought)\b|\s*[:,–-]")
# Months that are also the names of people, and the words by which they are months.
_NAME_MONTHS = word_set("april may june august jan")
TIME_LEADS = word_set(
    "in since until till by of from during before after last next this early late mid through throughout between to for end beginning start middle "
    "around about and or every each till past coming following than - spent spend spending all"
)
_TALK = re.compile(
    r"(?i)\b(?:talk|talked|talking|spoke|speak|spoken|listen|listened|said|wrote|gave|give|gift|present|letter|call|email|e-mail|message|text|hi|hello"
    r"|thanks|friend|sister|daughter|aunt|cousin|married|proposed|love|news|introduced|sorry|cook|cooked|care)\s+(?:to|for|from|about|of|by|after)\s+$"
)
_PARTNER = re.compile(r"(?<!\bin )(?<!\bof )\b([A-Z][a-z]+) (?:and|or) $")
_NO_PARTNERS = word_set("january february march july september october november december in on")
# Words that can follow a date which is not the attribute of a noun.
_PREPOSITIONS = word_set(
    "on in at by from since until till before after of for during between to around about over through within than starting beginning and or"
)
_AFTER_DATE = word_set(
    "i we he she they you it the a an my our his her their this that at in on for with to from and or but so when while because as if by "
    "was is were will had has have did do does after before until during about around there then who which where morning afternoon evening night "
    "works work sounds sound suits suit looks look fit seems fits would could can should might may instead though please again just too also only "
    "still already now are am not since via per unless once all ok okay right next last every than yet maybe probably hopefully either both let "
    "went came got met saw took made turned felt started ended began broke thanks anyway later everyone someone nobody what how why"
)
_DETERMINERS = word_set("the a an my your his her our their every each no that some any another such")
_DAY_NOUNS = word_set(
    "blues driver person vibes vibe mood feeling feels routine ritual tradition thing mornings nights evenings afternoons madness issue"
)
_NAMED_DAY = re.compile(r"(?i)\b(?:man|girl|casual|tgi|mr\.?|mrs\.?|ms\.?|dr\.?|miss)\s+$")
_NAME_BEFORE = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+\s+$|^[A-Z][a-z]+\s+$")
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A date expression with the text around it; `previous` is the word before it in lower case."""

    span: DateSpan
    before: str
    after: str
    previous: str

    @property
    def several(self) -> bool:
        """Whether the expression has more than one reading."""
        return len(self.span.values) > 1

    @property
    def opens_sentence(self) -> bool:
        """Whether nothing of the sentence stands before it."""
        before = self.before.rstrip()
        return not before or before[-1] in '.!?:\n"“('


def mention_of(text: str, span: DateSpan) -> Mention:
    """A span of a text with its surroundings."""
    before = text[max(0, span.start - _BEFORE) : span.start]
    words = before.split()
    previous = words[-1].lower() if words and before[-1].isspace() else ""
    return Mention(span, before, text[span.end : span.end + _AFTER], previous)


def tells_time(mention: Mention, language: str) -> bool:
    """Whether a date tells when something is or was."""
    span = mention.span
    if span.modifier == "ref_undef" or _NARRATIVE.match(span.text) or _THE_UNIT.match(span.text):
        return False
    if _is_length(span) or _is_habit(mention) or _is_move(mention) or _is_phrase(mention):
        return False
    if _is_number(mention) or _is_title_year(mention) or _is_street(mention):
        return False
    return language != "en" or not (_is_person(mention) or _is_attribute(mention))


def _is_length(span: DateSpan) -> bool:
    """Whether a span tells how long and not when: "within 14 days", "in two business days", "in a decade"."""
    if span.text.lower().startswith("within"):
        return True
    return _IN_NUMBER.match(span.text) is not None and _PLAIN_UNIT.search(span.text) is None


def _is_habit(mention: Mention) -> bool:
    """Whether a date comes back: "my birthday is on 4 May", "usually in August", "the 1st of every month"."""
    if (
        _OF_EVERY.match(mention.after)
        or _RATE.search(mention.before)
        or (mention.several and _HABIT.search(mention.before))
    ):
        return True
    yearly = mention.several and mention.span.timex.startswith("XXXX-")
    return yearly and _EVERY_YEAR.search(mention.before) is not None


def _is_move(mention: Mention) -> bool:
    """Whether a range is none: "moved from Monday to Wednesday" names two days and no time between."""
    return mention.span.text[:5].lower() == "from " and _MOVED.search(mention.before) is not None


def _is_phrase(mention: Mention) -> bool:
    """Whether the words mean no date: "at the end of the day", "so last year", "have a nice weekend"."""
    if mention.span.precision in ("weekend", "day") and _WISH.search(mention.before):
        return True
    lead = mention.before[-8:]
    return _IDIOM.search(lead + mention.span.text) is not None and not lead.lower().endswith("by the ")


def _is_number(mention: Mention) -> bool:
    """Whether digits are a fraction, a score, a version: "9/10", "3/4 cup", "v3.4.21"."""
    span, previous = mention.span, mention.previous
    if _NUMBERED.search(mention.before):
        return True
    fraction = _FRACTION.match(span.text)
    if fraction is None:
        return _DOTTED_PAIR.match(span.text) is not None and previous not in _LEADS
    if previous in _FIRM_LEADS:
        return False
    if _SHARE_WORDS.search(mention.before):
        return True
    low, high = int(fraction.group(1)), int(fraction.group(2))
    if low <= high <= 12:
        return previous != "for"
    return previous not in _LEADS and max(low, high) <= 12


def _is_street(mention: Mention) -> bool:
    """Whether an address names the date: "12 March Road", "Straße des 17. Juni"."""
    return _STREET.match(mention.after) is not None or _STREET_OF.search(mention.before) is not None


def _is_title_year(mention: Mention) -> bool:
    """Whether a bare year is a name: "I read 1984", "Windows 2000"."""
    if not _BARE_YEAR.match(mention.span.text) or mention.previous.strip("(,") in _YEAR_LEADS:
        return False
    if mention.before.rstrip()[-1:] in ("(", ",", "-", "–", "/", "["):
        return False
    return not (mention.opens_sentence and _YEAR_VERBS.match(mention.after))


def _is_person(mention: Mention) -> bool:
    """Whether the name of a month is a person's: "April says", "talked to June"."""
    span = mention.span
    if span.precision != "month" or span.text.lower() not in _NAME_MONTHS or not mention.several:
        return False
    if mention.previous in ("and", "or"):
        partner = _PARTNER.search(mention.before)
        return partner is not None and partner.group(1).lower() not in _NO_PARTNERS
    return mention.previous not in TIME_LEADS or _TALK.search(mention.before) is not None


def _is_attribute(mention: Mention) -> bool:
    """Whether a date only describes a noun or is part of a name: "the Monday blues", "June bug", "Friday Night Lights"."""
    span, previous = mention.span, mention.previous
    if not mention.several and span.precision != "part_of_day":
        return False
    following = next((match.group(1) for match in [_NEXT_WORD.match(mention.after)] if match), "")
    titled = following[:1].isupper() and following != "I"
    if previous in _PREPOSITIONS and not (
        titled and " " in span.text and previous in ("and", "or", "of", "about")
    ):
        return False
    if previous.endswith("|") or _NAMED_DAY.search(mention.before):
        return True
    if not following or titled:
        return titled
    word = following.lower()
    if word in _AFTER_DATE or word.endswith(("ed", "ing")):
        return word in ("is", "was", "has", "are") and _NAME_BEFORE.search(mention.before) is not None
    return span.precision in ("month", "season") or previous in _DETERMINERS or word in _DAY_NOUNS
