"""Small talk, which says nothing worth remembering, and replies, which say something only after their question."""

from __future__ import annotations

import re
from collections.abc import Collection

from perdure.extract.local.units import Unit
from perdure.text.wordlist import phrase_set, word_set

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_GREETING = re.compile(
    r"(?:hi|hey|hello|hiya|dear|good (?:morning|evening|afternoon)|thanks|thank you|cheers|regards|best|bye)"
    r"(?: there| so much| again| all| everyone)?[ ,]+[^\W\d_]+(?: [^\W\d_]+)?[\s,.!:)]*"
)
_PART = re.compile(r"[,;:!?.–—]+\s+|\s+-+\s+")
_LONGEST = 9

_EMPTY_WORDS = word_set("""
a absolutely agree agreed ah aha ahh alright always amazing and appreciate as aw awesome aww awww bet brilliant but bye
cheers cool congrats congratulations cute dang definitely enjoy exactly excellent fair fantastic feels fine for fun
funny gee glad good goodbye gosh got gotcha great haha hahaha happy hear heard hehe hello hey hi hiya hmm huh i i'm
im impressive incredible indeed inspiring interesting is it it's its just k kidding kind know lol looks lot lots love
lovely man many me morning much my neat nice no noted oh ok okay omg one ooh perfect phew please pleasure point
pretty really right same see seems so sorry sound sounds stuff such super sure sweet thank thanks that that's thats the
there they're this those to too totally true u ugh uh um very was way well whoa wonderful worries would wow xd ya yay
yea yeah yep yes yo you you're your yup
""")
_EMPTY_PHRASES = phrase_set("""
how are you; how are you doing; how are you doing today; how have you been; how's it going; how is it going; what's up
what's new; what's up with you; anything new; anything new with you; what about you; how about you; and you
what's going on; what have you been up to; what have you been up to lately; what's been going on; long time no see
it's been a while; it's been ages; how's everything; how's everything going; how's life; how was your day; you ok
good to see you; great to see you; nice to see you; good to hear from you; great to hear from you; nice to hear from you
lovely to hear from you; nice to meet you; nice talking to you; great talking to you; nice chatting with you
glad to hear that; glad to hear it; glad you like it; glad you liked it; happy to hear that; so happy for you
i'm happy for you; i'm so happy for you; that's great to hear; that's good to hear; good for you; good luck
best of luck; good luck with everything; good luck with that; take care; take care of yourself; stay safe; keep it up
keep up the good work; see you; see you soon; see you later; see you then; see you there; talk to you later
talk to you soon; talk soon; talk later; catch you later; have a great day; have a good day; have a nice day
have a good one; have a great weekend; have a nice weekend; have fun; have a good night; good night; good evening
good afternoon; happy to help; i'm happy to help; i'm glad to help; glad i could help; glad to help; you're welcome
you're very welcome; you are welcome; no problem; no problem at all; no worries; don't worry; don't mention it
anytime; any time; my pleasure; i see; i get it; i understand; makes sense; that makes sense; sounds good; sounds great
sounds like fun; sounds like a plan; will do; got it; me too; me neither; same here; i agree; i couldn't agree more
you got this; you can do it; keep going; let me know; let me know how it goes; keep me posted; tell me more
i'd love to hear more; can't wait; can't wait to hear about it; can't wait to hear more; can't wait to see it
i can't wait; looking forward to it; fingers crossed; hope so; i hope so; i hope this helps; i hope that helps
hope this helps; hope that helps; let me know if you have any questions; let me know if you have any other questions
let me know if you have any further questions; let me know if you need anything else; let me know if you need anything
let me know if there's anything else i can help you with; is there anything else i can help you with
is there anything else you'd like to know; feel free to ask; feel free to ask if you have any questions
feel free to ask if you have any more questions; feel free to ask if you have any other questions
feel free to reach out; do you have any other questions; do you have any questions; how can i help you
how can i help you today; how can i assist you today; what can i do for you; what can i help you with
have a wonderful day; thanks for asking; thanks for sharing; thank you for sharing; thanks for the help
thank you for your help; thanks for your help; thanks for the info; thanks for the tip; thanks for the tips
thanks for the advice; thanks for the suggestions; thanks for listening; thanks for being there; you know
of course; by all means; what do you think; any thoughts; really; are you serious; is that so; oh no; oh my god
i don't know; not sure; what a day; way to go; well done; good job; great job; nice work; great work; good question
best; best regards; kind regards; regards; warm regards; sincerely; yours sincerely; yours truly; best wishes; xoxo
you're a star; you're the best; you rock; you're awesome; you're a lifesaver; that helps; that helps a lot; that helped
great question; that's a great question; that's a good question; that's awesome to hear; tell me about it
""")
_OPENERS = word_set(
    "hey hi hello oh wow yeah yes yep ok okay well so and thanks great cool awesome nice sure haha aww ah"
)

_REPLY = word_set(
    "yes yeah yep yup no nope nah sure definitely absolutely maybe probably exactly correct right indeed totally "
    "sometimes never always mostly usually actually"
)
_POINTING = word_set(
    "it it's its that that's thats this these those they they're he he's she she's them there"
)
_SUBJECTS = word_set("i i'm i've i'd i'll we we're we've you he she they my our")
_LONGEST_QUESTION = 200
_SHORT_ANSWER = 8
_FEW_WORDS = 6
_HALF_SAID = phrase_set("""
i guess so; i think so; i hope so; i suppose so; i believe so; i guess not; i think not; i hope not; i don't think so
i do; i did; i am; i have; i was; i will; i can; i don't; i didn't; i'm not; i haven't; i wasn't; i won't; i can't; we do; we did
we are; we have; we don't; we didn't; we aren't; we haven't; i guess; i think; i suppose
""")
_ABOUT_ME = phrase_set("me; mine; i do; i did; i am; not me; i don't; i didn't")


def is_small_talk(text: str, names: Collection[str] = ()) -> bool:
    """Whether a sentence is a greeting, thanks or an acknowledgement; `names` are lower-case speaker names."""
    if len(text) > 120:
        return False
    folded = _fold(text)
    if _is_empty(folded, names):
        return True
    parts = [part for part in _PART.split(folded) if part.strip()]
    return len(parts) > 1 and all(_is_empty(part, names) for part in parts)


def _fold(text: str) -> str:
    return text.casefold().replace("’", "'")


def _is_empty(folded: str, names: Collection[str]) -> bool:
    if not _LETTER_OR_DIGIT.search(folded) or _GREETING.fullmatch(folded):
        return True
    words = [word for word in _WORD.findall(folded) if word not in names]
    if len(words) <= _LONGEST and all(word in _EMPTY_WORDS for word in words):
        return True
    return _is_phrase(words)


def _is_phrase(words: list[str]) -> bool:
    for skipped in range(min(4, len(words))):
        if " ".join(words[skipped:]) in _EMPTY_PHRASES:
            return True
        if words[skipped] not in _OPENERS:
            break
    return False


def last_question(units: list[Unit], names: frozenset[str]) -> Unit | None:
    """The question that a turn ends with; None when it asks nothing of content."""
    for unit in reversed(units):
        if unit.is_question and not is_small_talk(unit.text, names):
            return unit if len(unit.text) <= _LONGEST_QUESTION else None
        if not is_small_talk(unit.text, names) and not unit.is_aside:
            return None
    return None


def needs_question(unit: Unit) -> bool:
    """Whether a sentence cannot be understood without what was asked: a bare reply, a fragment, "it was"."""
    words = _WORD.findall(_fold(unit.text))
    if not words or unit.kind == "code":
        return False
    if words[0] in _REPLY or words[0] in _POINTING or " ".join(words) in _HALF_SAID:
        return True
    if len(words) <= _FEW_WORDS and words[0] not in _SUBJECTS:
        return True
    return len(words) <= _SHORT_ANSWER and not _is_clause(unit, words)


def is_reply(unit: Unit) -> bool:
    """Whether a sentence is a bare yes, no or "me", which means something only after a question."""
    words = _WORD.findall(_fold(unit.text))
    return 0 < len(words) <= _FEW_WORDS and (words[0] in _REPLY or " ".join(words) in _ABOUT_ME)


def _is_clause(unit: Unit, words: list[str]) -> bool:
    if unit.tokens:
        return any(token.dep in ("nsubj", "nsubjpass") for token in unit.tokens)
    return bool(_SUBJECTS.intersection(words[:3]))
