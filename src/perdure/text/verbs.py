"""Forms of English verbs: which word is one, and how the present agrees with a third person."""

from __future__ import annotations

from perdure.text.wordlist import word_set

PRESENT = word_set("""
accept ache act adapt add admire admit adore advise afford agree aim allow announce answer apologize apply appreciate
approach argue arrange arrive ask aspire assist assume attach attempt attend avoid bake balance base beat become beg
begin behave believe belong bike block blog book borrow bother bounce brainstorm break breathe bring browse build buy
call camp care carry catch celebrate challenge change charge chat check cherish choose clean climb close coach code
collaborate collect combine come commit communicate commute compare compete complete compose concentrate connect
consider contact continue contribute control cook cope count cover crave create cry cycle dance deal decide decorate
defend define deliver depend describe deserve design desire despise develop devote discover discuss dislike dive donate
doubt drag draw dread dream drink drive drop earn eat edit embrace enable encourage end engage enjoy ensure enter
escape estimate examine exercise exist expect experience experiment explain explore express face fall fear feed feel
fight figure fill find finish fish fit fix fly focus follow forget forgive form freelance gain gather get give go
grab grow guess guide handle hang happen hate head heal hear help hesitate hide hike hire hold hope host hug hunt
identify ignore imagine implement improve include increase inspire install intend interact introduce invest invite
involve join journal judge jump keep kick know lack last laugh launch lead lean learn leave lend lie lift like listen
live look lose love maintain make manage mean measure meditate meet mention mentor miss mix move need notice offer open
order organize overcome owe own paint participate pass pay perform pick plan plant play plead post practice pray
predict prefer prepare present pretend prevent process produce promise promote propose protect prove provide
publish pull push question race raise reach react realize receive recharge recognize recommend record recover reduce
refer reflect refuse regret relate relax release rely remain remember remind remove rent repair repeat reply report
represent require research respect respond rest return review ride run save say schedule search see seek seem sell
send serve share shop show sign sing sit skate ski sketch skip sleep smile snowboard solve sound speak specialize spend
stand start stay stick stop store stream stretch struggle study submit succeed suffer suggest support suppose surf
surround suspect swear swim take talk taste teach tell tend test text thank think throw thrive touch tour track train
translate travel treasure treat trust try turn tutor type understand update upload use value visit volunteer wait wake
walk want warn wash waste watch water wear welcome wish wonder work worry worship write yearn
""")
"""Base forms that read as the present after "I"."""

PAST_ALIKE = word_set(
    "put read cut let hit set quit bet cost hurt shut split spread cast beat bid burst upset"
)
"""Forms that are both base and past: left as they are, which is right for the past."""

PAST = word_set("""
ate awoke became began bent bit bled blew bought bred broke brought built came caught chose clung crept dealt did drank
drew dreamt drove dug fed fell felt flew forgave forgot fought found froze gave got grew had heard held hid hung kept
knelt knew laid lay learnt led left lent lit lost made meant met misunderstood overcame overheard paid ran rang rode
rose said sang sank sat saw sent shook shone shot slept slid sold spent spoke spun stole stood struck stuck sung swam
swept swore taught thought threw told took tore understood undertook was went were woke won wore wove wrote
""")

PARTICIPLES = PAST | word_set("""
been begun bitten blown broken chosen done drawn driven drunk eaten fallen flown forgiven forgotten frozen given gone
gotten grown hidden known lain proven ridden risen rung run seen shaken shown spoken stolen sung swum taken thrown torn
woken worn written become come put read cut let hit set quit always ever never just already also only
""")

AUXILIARY = {
    "am": "is", "'m": "is", "are": "is", "'re": "is", "have": "has", "'ve": "has", "do": "does",
    "wanna": "wants to", "gotta": "has to", "haven't": "hasn't", "don't": "doesn't", "aren't": "isn't", "ain't": "isn't", "were": "was", "weren't": "wasn't",
}  # fmt: skip
"""Verb after "I" or "you" -> verb after a name."""

UNCHANGED = word_set("""
was wasn't had hadn't did didn't will won't would wouldn't can can't cannot could couldn't should shouldn't may might
must mustn't shall shan't 'll wont cant didnt couldnt wouldnt shouldnt wasnt
""")
"""Auxiliaries that are the same for every person."""

ADVERBS = word_set("""
never always just also still already even only often sometimes almost ever now then first both once soon too rather
pretty quite kinda sorta generally mostly seldom instead better indeed thus therefore currently all each again
""")

_NOT_PAST = word_set("need feed speed bleed breed seed heed weed exceed proceed succeed shed embed wed")
_NOT_ADVERB = word_set(
    "apply reply rely supply multiply fly comply bully tally rally family ally belly only imply"
)


def is_adverb(word: str) -> bool:
    """Whether a lower-case word may stand between a subject and its verb."""
    return word in ADVERBS or (word.endswith("ly") and len(word) > 4 and word not in _NOT_ADVERB)


def is_past(word: str) -> bool:
    """Whether a lower-case word reads as a past form after a subject."""
    if word in PAST or word in PAST_ALIKE:
        return True
    return word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST


def third_person(verb: str) -> str:
    """The present of a base form after a name: like -> likes, try -> tries, have -> has."""
    if verb in AUXILIARY:
        return AUXILIARY[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and len(verb) > 1 and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


_IRREGULAR_PAST = dict(pair.split("/") for pair in """
be/was become/became begin/began bend/bent bet/bet bite/bit bleed/bled blow/blew break/broke bring/brought build/built burn/burned
burst/burst buy/bought catch/caught choose/chose come/came cost/cost cut/cut deal/dealt dig/dug do/did draw/drew drink/drank
drive/drove eat/ate fall/fell feed/fed feel/felt fight/fought find/found fit/fit fly/flew forget/forgot forgive/forgave freeze/froze
get/got give/gave go/went grow/grew hang/hung have/had hear/heard hide/hid hit/hit hold/held hurt/hurt keep/kept know/knew lay/laid
lead/led leave/left lend/lent let/let lie/lay light/lit lose/lost make/made mean/meant meet/met pay/paid put/put quit/quit read/read
ride/rode ring/rang rise/rose run/ran say/said see/saw sell/sold send/sent set/set shake/shook shine/shone shoot/shot show/showed
shut/shut sing/sang sink/sank sit/sat sleep/slept speak/spoke spend/spent split/split spread/spread stand/stood steal/stole stick/stuck
strike/struck swear/swore sweep/swept swim/swam swing/swung take/took teach/taught tear/tore tell/told think/thought throw/threw
understand/understood wake/woke wear/wore win/won withdraw/withdrew write/wrote
""".split())  # fmt: skip
_DOUBLED = word_set("""
admit ban beg chat commit control drag drop equip grab hop hug jog knit nap occur permit pin plan plug prefer rub refer regret rip rob
scan scrub ship shop skip slip snap stop strip submit swap tap tip transfer trap trim trip wrap zip
""")


def past_form(verb: str) -> str:
    """The simple past of a base form: go -> went, stop -> stopped, try -> tried."""
    if verb in _IRREGULAR_PAST:
        return _IRREGULAR_PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and len(verb) > 1 and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in _DOUBLED else "") + "ed"
