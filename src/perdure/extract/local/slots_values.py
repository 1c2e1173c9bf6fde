"""Kinds of values that a slot may have: what each looks like in a sentence, and what only looks like it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from perdure.text.slot_table import read_toml
from perdure.text.value_patterns import MAIL, MONEY, PHONE, WHEN
from perdure.text.wordlist import word_set

WORDS = {name: word_set(words) for name, words in read_toml("slots/en_words.toml").items()}
ANIMALS = WORDS["animals"]
GAMES, SPORTS, LANGUAGES = WORDS["games"], WORDS["sports"], WORDS["languages"]
_JOBS, _NOT_ROLES = WORDS["jobs"], WORDS["not_roles"]
CAPITAL = r"[A-ZÀ-ÖØ-ÞŠŽŁŚ][\w'&.-]*"
_STOP = (
    "in on at to for with from by as and or but because so when while after before since until till if that which who where is are was "
    "were has have had it he she they we you i every each last next this than then too about into yesterday today tomorrow recently soon "
    "now again instead anymore any already though anyway lately currently these nowadays right just only still not over per via during "
    "within without around near between through across rather back starting finally altogether permanently officially also ever "
    "although however whatever completely entirely already once later earlier until effective"
)
STOP_WORDS = word_set(_STOP)
_WORD = rf"(?!(?i:{'|'.join(STOP_WORDS)})\b)[^\W_][\w'&+/@#%.-]*"
NOUNS = rf"(?:(?i:an?|the|my|our|some|his|her|their)\s+)?{_WORD}(?:\s+{_WORD}){{0,4}}(?:\s+of\s+(?:the\s+)?{_WORD}(?:\s+{_WORD})?)?"
_NO_DATE = r"(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thu|Thurs|Fri|Sat|Sun)(?:[a-z]*day|uary|ch|il|e|y|ust|(?:t?em|o|em)?ber)?\b)"
_NAMES = rf"{CAPITAL}(?:\s+(?:(?:of|de|da|do|del|la|le|am|an der|der|von|van|the|upon|on|and|&)\s+){{0,2}}{_NO_DATE}{CAPITAL})*"
_PLACE = rf"(?:(?:the|downtown|central|north|south|east|west|northern|southern|eastern|western|rural|greater|upstate|nearby)\s+)*{_NAMES}(?:,\s+{CAPITAL}(?:\s+{CAPITAL})*)?"
NUMBER = r"(?i:\d[\d.,']*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a dozen)"
_ADDRESS = rf"(?:\d{{1,5}}[a-zA-Z]?\s+{CAPITAL}(?:\s+{CAPITAL}){{0,4}}|{CAPITAL}(?:\s+{CAPITAL}){{0,3}}\s+\d{{1,5}}\s?[a-zA-Z]?\b)(?:,\s*[\w ]{{2,30}}){{0,3}}"
_ANIMAL = "|".join(sorted(ANIMALS, key=len, reverse=True))
_CAR = rf"(?i:an?|the|my|our|some|his|her)?\s*(?i:(?:brand[- ]new|new|used|second-?hand|electric|old|red|blue|black|white|grey|gray|silver|green|small|big|vintage|hybrid|leased)\s+(?:car,?\s+(?:an?|the)\s+)?)*(?:car,?\s+(?:an?|the)\s+|car,\s+)?(?:\d{{4}}\s+)?(?:[\wÀ-ž-]+)(?:\s+(?!(?i:{'|'.join(STOP_WORDS)})\b)[\w.-]+){{0,3}}"
_FOODS = "meat|fish|dairy|gluten|red meat|pork|beef|chicken|seafood|eggs|sugar|animal products|everything|anything|wheat|carbs|cheese|poultry"
_DIET = rf"(?i:an?\s+|the\s+)?(?i:(?:strict|full|fully|mostly|completely|strictly|lapsed|new)\s+)?(?i:(?:{'|'.join(sorted(WORDS['diets']))})(?:\s+(?:diet|food|again))?|(?:{_FOODS})(?=\s+(?:again|now|too|diet)|[.,;!]|$))"
_STATUS = r"(?i:(?:(?:happily|newly|recently|finally|legally|officially|very|still|now)\s+)?(?:single|married|divorced|widowed|engaged|separated|the\s+knot|in\s+a\s+(?:new\s+|serious\s+|long-distance\s+)?relationship|in\s+an\s+open\s+relationship|taken|a\s+(?:widow|widower|divorcee)))(?!\s+(?:to|with|from|mother|father|mom|dad|parent|malt|biggest|most|best|thing|time|handed|out|room|bed|in)\b)"
_RELIGION = rf"(?i:an?\s+)?(?i:(?:practising|practicing|devout|strict|roman|born-again)\s+)*(?i:{'|'.join(sorted(WORDS['religions'], key=len, reverse=True))})\b(?!\s+(?:school|church|food|music|art|friend|name))"
_SELF = r"(?i:freelance|freelancing|a freelancer|self-employed|my own boss|myself|ourselves|independent consulting|an independent contractor|a contractor|my own (?:business|company|studio|shop|bakery|firm|practice|startup|agency)|our own (?:business|company|studio))"
_HOURS = r"(?i:(?:from\s+)?\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?)?\s*(?:to|till|until|-|–)\s*\d{1,2}(?:[:.]\d{2})?\s*(?:[ap]\.?m\.?)?|part-?\s?time|full-?\s?time|(?:the\s+)?(?:night|day|early|late|morning|evening)\s*shifts?|(?:the\s+)?nights|(?:four|three|two|five|\d)(?:-day weeks?|\s+days\s+(?:a|per)\s+week)|(?:a\s+)?(?:four|three|two|five|\d)-day\s+weeks?|\d{1,2}\s+hours(?:\s+(?:a|per)\s+week)?|\d{1,3}%|half-?days|mornings(?:\s+only)?|afternoons(?:\s+only)?|weekends)"
_WORKPLACE = r"(?i:remotely|remote|hybrid|from\s+home|from\s+the\s+office|in\s+the\s+office(?:\s+(?:full-?time|every\s+day|again))?|on-?site|fully\s+remote)"
_TRANSPORT = r"(?i:(?:the\s+|my\s+|a\s+|an\s+)?(?:e-?bike|bike|bicycle|bus|train|car|tube|tram|subway|metro|underground|ferry|scooter|motorbike|motorcycle|s-bahn|u-bahn|carpool|foot|public\s+transport|moped|cab|taxi|light\s+rail))"
_TO_WORK = r"(?i:to\s+(?:work|the\s+office|school|uni)\b)"
_MODEL = r"(?i:an?\s+|the\s+|my\s+)?(?i:(?:brand[- ]new|new|used|old|refurbished)\s+)?(?i:iphone|google pixel|pixel|samsung galaxy|samsung|galaxy|fairphone|oneplus|xiaomi|huawei|nokia|motorola|nothing phone|sony xperia|android phone|flip phone|dumbphone|dumb phone)(?:\s+(?:\d+\w*|SE|Pro|Max|Plus|Ultra|Mini|Fold|Flip|[A-Z]\d+|X[RS]?))*"
_DOSE = r"\d[\d.,]*\s?(?:mg|mcg|µg|ml|g|units|iu)"
_MED = rf"(?:(?:the|a|an|my)\s+)?(?:{_DOSE}\s+(?:of\s+)?)?(?:low-dose\s+|daily\s+)?(?:[A-Za-z][\w-]+(?:\s+(?:pills?|tablets?|supplements?|[A-Z]\d?\d?|[BDCEK]\d*))?)(?:\s+{_DOSE})?"
_DRUG = re.compile(
    r"(?i)^(?:.*(?:pril|sartan|statin|olol|azole|pam|lam|zine|tine|pine|done|ine|ol|ium|mycin|cillin|formin|xaban|tide|gliptin|oxetine|traline|pram|barb|bital|phen|profen|xen|zide|mide|xone|sone|lone|thyroxine|afil|dol|fen|mab|cort|xin|nib|vir|mune|zole|lukast|terol)|"
    r"insulin|aspirin|vitamins?.*|magnesium|iron|zinc|antibiotics?|antidepressants?|antihistamines?|painkillers?|pills?|pill|medication|meds|supplements?.*|melatonin|ritalin|adderall|xanax|prozac|zoloft|lexapro|ozempic|wegovy|concerta|vyvanse|lithium|steroids?|statins?|blood thinners?|beta blockers?|birth control.*|creatine|ashwagandha|warfarin|eliquis|tylenol|advil|ibuprofen|lyrica|wellbutrin|cymbalta|effexor|humira|metformin|mounjaro|omega.*|probiotics?|fish oil|biotin|collagen)$"
)
_ROLE_END = re.compile(
    r"(?i)(?:er|or|ist|ian|eer|ant|man|woman|nurse|chef|cook|pilot|architect|analyst|lead|head|director|coach|intern|apprentice|surgeon|ceo|cto|cfo|coo|vp|principal|clerk|guard|host|hostess|waitress|actress|"
    r"president|dean|judge|mechanic|paramedic|vet|paralegal|dj|au pair|nanny|midwife|postdoc|phd student|student|trainee|partner|associate|assistant|consultant|scientist|staff|barista|sales rep|rep|spokesperson|chair|captain|agent|tutor|aide|temp|sre|dev|devops|executive|officer|specialist|expert|representative|secretary|priest|pastor|rabbi|monk|soldier|athlete|model|critic|editor-in-chief|superintendent|provost|foreman|chief of staff|bartender|butcher|tailor|manager)$"
)
_BAD_ORG = re.compile(
    r"(?i)^(?:(?:the|a|an|my|our|his|her|their|some|this|that)\s+)*(?:.*\b(?:pace|speed|level|time|moment|night|weekends?|weekend|home|desk|noon|lunch|dawn|heart|hand|end|bottom|top|beginning|start|least|most|all|first|last|once|height|height|rate|price|"
    r"project|projects|task|tasks|report|presentation|thesis|deadline|exam|living|money|free|fun|hours?|days?|weeks?|months?|years?|minutes?|morning|evening|shift|nights|me|you|him|it|them|us|wood|kids|children|people|clients|computers?|things?|something|anything|it|this|that|home office|job|jobs|position|role|post|gig|notice|work|there|here|now|soon|o'clock|am|pm|distance|peace|dinner|breakfast|gym|door|table|"
    r"degree|charity event|while|bit|change|better|good|sake|reason|team|boss|manager|laptop|window|kitchen)|\d.*)$"
)
_SCHOOL = re.compile(
    r"(?i)(?:universit|college|school|institute|academy|polytechnic|uni\b|gymnasium|lycée|\bMIT\b|\bETH\b|UCLA|NYU|UCL\b|LSE\b|EPFL|Caltech|Stanford|Harvard|Yale|Princeton|Oxford|Cambridge|Berkeley|Cornell|Columbia|Sorbonne|TU\s|HEC|KTH|Heidelberg|Georgetown|Duke|Brown|Bocconi|INSEAD|law|med school|grad school|community college|kindergarten|daycare)"
)

VALUE_PATTERNS: dict[str, str] = {
    "place": _PLACE,
    "org": rf"(?:(?i:an?|the|my|our)\s+)?{_WORD}(?:\s+(?:{_WORD}|(?:of|and|&)\s+(?:the\s+)?{_WORD})){{0,5}}",
    "worg": _NAMES,
    "school": rf"(?:the\s+)?{_WORD}(?:\s+(?:{_WORD}|of\s+(?:the\s+)?{_WORD})){{0,4}}",
    "role": rf"(?:(?i:an?|the|my|our|their)\s+)?{_WORD}(?:\s+{_WORD}){{0,4}}(?:\s+(?:of|for)\s+(?:the\s+)?{_WORD}(?:\s+{_WORD}){{0,2}})?",
    "arole": rf"(?:(?i:an?|the)\s+){_WORD}(?:\s+{_WORD}){{0,4}}(?:\s+of\s+(?:the\s+)?{_WORD}(?:\s+{_WORD}){{0,2}})?|(?:(?:senior|lead|chief|head|vice|deputy|principal|staff|assistant|team)\s+){_WORD}(?:\s+{_WORD}){{0,3}}",
    "iorg": _NAMES,
    "jorg": _NAMES,
    "iperson": rf"{CAPITAL}(?:\s+{CAPITAL})?",
    "brole": rf"(?:(?:the|senior|junior|lead|chief|head|vice|deputy|principal|staff|assistant|team|associate|regional|general|interim|acting)\s+)?{_WORD}(?:\s+{_WORD}){{0,2}}(?=\s*(?:[.,;!]|$|\s(?:as of|now|at|of|these days|since|for)\b))",
    "hourend": r"\w+",
    "divorced": r"",
    "wed": r"(?=\s*(?:[.,;!]|$|\s))",
    "onechild": r"(?=\s*(?:[.,;!]|$|\s(?:now|and|,)))",
    "gone": r"",
    "money2": rf"(?:{MONEY}|\d[\d.,]*)",
    "bybike2": r"(?=\s*(?:[.,;!]|$|\s(?:now|these|to|every|most|nowadays|instead)))",
    "onfoot2": r"(?=\s*(?:[.,;!]|$|\s(?:now|these|to|every|most|nowadays|instead)))",
    "bycar2": r"(?=\s*(?:[.,;!]|$|\s(?:now|these|to|every|most|nowadays|instead)))",
    "tz": r"(?i:(?:utc|gmt)(?:\s?[+-]\s?\d+)?|cet|cest|bst|ist|jst|aest|[ecmp][sd]?t\b|(?:eastern|pacific|central|mountain|\w+)\s+(?:standard\s+|daylight\s+|summer\s+)?time(?:\s+zone)?\b)",
    "amount": r"\d[\d.,']{2,}k?|\d+k",
    "person": rf"(?i:(?:an?|the|my)\s+(?:\w+\s+){{0,2}}(?:guy|girl|man|woman|person|colleague|coworker|friend|someone|doctor|teacher|nurse|lawyer|musician|engineer)\s+(?:named|called)\s+)?{CAPITAL}(?:\s+{CAPITAL})*|(?i:someone(?: else| new)?|somebody(?: else| new)?)",
    "personk": rf"{CAPITAL}(?:\s+{CAPITAL})*|(?i:my|her|his|our|their)\s+(?:\w+\s+)?\w+(?:\s+{CAPITAL})?|(?i:(?:two|three|four|\d)\s+(?:\w+\s+)?(?:roommates|flatmates|housemates|friends|others|people|students)|an?\s+(?:roommate|flatmate|housemate|friend)|roommates|flatmates|housemates|friends)",
    "alone": r"(?i:alone|by\s+myself|on\s+my\s+own|by\s+herself|by\s+himself|on\s+her\s+own|on\s+his\s+own)",
    "thing": NOUNS,
    "skill": r"(?i:the\s+)?[^\W\d_][\w+#-]*(?:\s+(?:Chinese|language|chi))?",
    "subject": rf"{_WORD}(?:\s+{_WORD}){{0,3}}",
    "food": r"[a-z][\w-]*(?:\s+[a-z]+)?",
    "fullname": rf"{CAPITAL}(?:\s+{CAPITAL})*",
    "n": NUMBER,
    "age": r"(?:\d{1,3}|(?i:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?)(?=\s+years?\s+old|\s+(?:now|today|yesterday|last|this|in|on|already|as|and|soon|recently)\b|\s*(?:[.,;!](?!\d)|$))",
    "money": MONEY,
    "date": WHEN,
    "phone": PHONE,
    "mail": MAIL,
    "address": _ADDRESS,
    "car": _CAR,
    "oldcar": rf"(?i:my|our|the|her|his|their)\s+(?i:old\s+|red\s+|blue\s+)?[\wÀ-ž-]+(?:\s+(?!(?i:{'|'.join(STOP_WORDS)})\b)[\w.-]+)?",
    "pet": rf"(?i:an?|two|three|four|five|\d|some|another|our|my)\s+(?:[\w-]+\s+){{0,3}}(?i:{_ANIMAL})\b(?:,?\s*(?:named|called)?\s*{CAPITAL}(?:\s+and\s+{CAPITAL})?)?",
    "oldpet": rf"(?:[\w-]+\s+){{0,2}}(?i:{_ANIMAL})\b(?:,?\s*{CAPITAL})?|{CAPITAL}",
    "diet": _DIET,
    "nofood": rf"(?i:{_FOODS})(?=\s*(?:[.,;!]|$|\s))",
    "food2": rf"(?i:{_FOODS})(?=\s*(?:[.,;!]|$|\s))",
    "mostdiet": r"(?i:on\s+an?\s+[\w-]+\s+diet)",
    "status": _STATUS,
    "religion": _RELIGION,
    "selfemployed": _SELF,
    "hours": _HOURS,
    "workplace": _WORKPLACE,
    "transport": _TRANSPORT,
    "model": _MODEL,
    "med": _MED,
    "game": r"(?i:the\s+|in\s+a\s+)?[\w&-]+(?:\s+(?:tennis|pong|polo|frisbee|guitar|bass|and\s+dragons))?",
    "sport": r"[\w-]+(?:\s+chi)?",
    "team": rf"(?:the\s+|FC\s+)?{_NAMES}",
    "length": r"\d[\d.,]*\s?(?:cm|m|ft|feet|meters|metres)?(?:\s?\d+)?|\d'\d+\"?",
    "mass": r"\d[\d.,]*\s?(?:kg|kilos?|lbs?|pounds|stone)",
    "smoke": r"(?=\s*(?:[.,;!]|$|\s(?:again|now|a|about|one|two|\d+|cigarettes|every|daily)))",
    "nosmoke": r"(?=\s*(?:[.,;!]|$|\s))",
    "smoker": r"(?:non-)?smoker",
    "drink": r"",
    "nodrink": r"(?=\s*(?:[.,;!]|$|\s(?!coffee|tea|soda|milk|cola|juice)))",
    "teetotal": r"(?i:sober|teetotal|a\s+teetotaller|dry)",
    "bybike": _TO_WORK,
    "onfoot": _TO_WORK,
    "bycar": _TO_WORK,
    "commuteing": r"(?i:cycling|biking|walking|driving|taking\s+the\s+\w+|commuting\s+by\s+\w+)",
    "end": r"(?=\s*(?:[.,;!]|$|\s(?:last|yesterday|today|this|in|on|two|a|recently|after|because|and|my|for|from|amicably|earlier)\b))",
    "time": WHEN,
}
"""Kind -> the pattern of its values."""

FIXED_VALUES = {
    "divorced": "divorced",
    "wed": "married",
    "onechild": "one",
    "gone": "",
    "bybike2": "bike",
    "onfoot2": "foot",
    "bycar2": "car",
    "bybike": "bike",
    "onfoot": "foot",
    "bycar": "car",
    "smoke": "yes",
    "nosmoke": "no",
    "drink": "yes",
    "nodrink": "no",
}
"""Kind -> the value that the wording alone gives."""


@cache
def things() -> dict[str, str]:
    """Name of a product in lower case -> its kind."""
    return {
        name.replace("_", " "): kind
        for kind, names in read_toml("slots/things.toml").items()
        for name in names.split()
    }


def thing_kind(value: str) -> str:
    """The kind of a product, such as "database"; empty for what is not known."""
    low = bare(value).casefold()
    known = things()
    if low in known:
        return known[low]
    words = low.split()
    for length in (2, 1):
        kind = known.get(" ".join(words[:length])) if len(words) > length else None
        if kind and all(
            word[:1].isdigit() or word in ("db", "pro", "plus", "premium", "version", "enterprise", "lts")
            for word in words[length:]
        ):
            return kind
    return ""


_ARTICLE = re.compile(r"^(?:(?:an?|the|my|our|some|his|her|their|brand[- ]new|new)\s+)+(?=\S)", re.I)
_TAIL = re.compile(
    r"(?:[\s,.;:!?]+|\s+(?:now|again|too|instead|as well|though|lately|today|these days|please|lol|haha|ok|okay|finally|anymore|yet|btw|either|guys|everyone|all))+$",
    re.I,
)


def bare(value: str) -> str:
    """The value without article and trailing adverbs."""
    return _ARTICLE.sub("", _TAIL.sub("", value.strip())).strip(' ,.;:!?"“”')


def clean_value(kind: str, raw: str) -> str:
    """The value of a kind as it is stored; empty for what only looks like one."""
    if kind in FIXED_VALUES:
        return FIXED_VALUES[kind]
    value = bare(raw)
    if not value or value.casefold() in WORDS["nothing"]:
        return ""
    is_one = _TESTS.get(kind)
    if is_one is not None and not is_one(value):
        return ""
    if kind == "brole" and _NOT_A_TITLE.match(raw.strip()):
        return ""
    rewrite = _REWRITINGS.get(kind)
    return rewrite(value) if rewrite is not None else value


_NOT_A_TITLE = re.compile(
    r"(?:in|on|at|my|our|her|his|their|your|no|not|such|more|less|quite|very|so|too)\s", re.I
)
_JOINED_FOR_FUN = re.compile(
    r"\b(?:group|club|programme?|gym|choir|team|class|band|league|society|church|course|community|discord|server|network|"
    r"association|party|army|navy|forum|meetup|circle|union|academy|barn)s?\b",
    re.I,
)
_TIME_NOT_ZONE = re.compile(
    r"(?:the|my|good|bad|his|her|our|last|first|next|this|same|some|free|spare|quality|me|on|full|part|big|prime|story|show|"
    r"half|over|down|all|what|any|long|short)\s+time",
    re.I,
)
_EMPLOYING = frozenset(
    ("", "music_service", "chat", "cloud", "payment", "crm", "assistant", "code_host", "design_tool", "calls")
)
"""Kinds of products that are named like the companies behind them."""
_NO_SUBJECT = word_set("for hard a late all abroad together remotely at")
_NO_FOOD = word_set("bad severe mild strong new food")
_ADVERB = re.compile(r"^(?:happily|newly|recently|finally|legally|officially|very|still|now)\s+")


def _is_place(value: str) -> bool:
    low = value.casefold()
    not_places = WORDS["not_places"]
    return not (thing_kind(value) or low.split()[0] in not_places or low in WORDS["car_makes"])


def _is_organisation(value: str) -> bool:
    first = value.casefold().split()[0]
    return not (_BAD_ORG.match(value) or first in WORDS["not_places"] or thing_kind(value) not in _EMPLOYING)


def _is_skill(value: str) -> bool:
    words = value.casefold().split()
    known = any(word in LANGUAGES or word in GAMES or word in SPORTS for word in words)
    return known or thing_kind(value) == "programming_language"


def is_role(value: str) -> bool:
    """Whether a noun phrase names a job."""
    low = value.casefold()
    if value[:1].isupper() and " " not in value and low not in _JOBS and not value.isupper():
        return False
    words = low.split(" of ")[0].split(" for ")[0].split()
    if not words or words[-1] in _NOT_ROLES:
        return False
    return _ROLE_END.search(words[-1]) is not None or _ROLE_END.search(" ".join(words[-2:])) is not None


def is_car(value: str) -> bool:
    """Whether a noun phrase names a car: by its make, or the word itself."""
    words = re.findall(r"[\wÀ-ž-]+", value)
    if not words or words[0].casefold() in _GADGETS:
        return False
    if words[-1].casefold() in _VEHICLES:
        return True
    return any(word[:1].isupper() and word.casefold() in WORDS["car_makes"] for word in words)


_GADGETS = word_set("iphone ipad mac macbook imac galaxy samsung pixel")
_VEHICLES = word_set(
    "car van truck suv pickup minivan camper campervan motorbike motorcycle convertible hatchback sedan"
)


def is_medicine(value: str) -> bool:
    """Whether a noun phrase names a medicine: by a dose, by its ending, or as a word for medicines."""
    words = [word for word in value.split() if not _NOT_THE_DRUG.match(word)]
    if not words or words[0].casefold() in WORDS["not_medicines"] or words[0].casefold() in SPORTS:
        return False
    return re.search(_DOSE, value) is not None or _DRUG.match(" ".join(words).casefold()) is not None


_NOT_THE_DRUG = re.compile(r"^\d|^(?:of|mg|mcg|ml|daily|low-dose|a|the)$")

_TESTS: dict[str, Callable[[str], bool]] = {
    "place": _is_place,
    "org": _is_organisation,
    "worg": _is_organisation,
    "jorg": lambda value: _is_organisation(value) and not _JOINED_FOR_FUN.search(value),
    "brole": lambda value: is_role(value) and value.casefold().split()[-1] in _JOBS,
    "role": is_role,
    "arole": is_role,
    "tz": lambda value: not _TIME_NOT_ZONE.match(value),
    "school": lambda value: _SCHOOL.search(value) is not None,
    "car": is_car,
    "oldcar": is_car,
    "med": is_medicine,
    "game": lambda value: not GAMES.isdisjoint(value.casefold().split()),
    "sport": lambda value: value.casefold().split()[0] in SPORTS,
    "skill": _is_skill,
    "subject": lambda value: value.casefold().split()[0] not in _NO_SUBJECT,
    "food": lambda value: value.casefold() not in _NO_FOOD,
}
"""Kind -> what a value of it must be."""

_REWRITINGS: dict[str, Callable[[str], str]] = {
    "place": lambda value: re.sub(r",?\s+I$", "", value),
    "status": lambda value: _ADVERB.sub("", value.casefold()).removeprefix("the ").replace("knot", "married"),
    "smoker": lambda value: "no" if value.casefold().startswith("non") else "yes",
    "teetotal": lambda value: "no",
    "person": lambda value: re.sub(r"^.*\b(?:named|called)\s+", "", value),
    "personk": lambda value: re.sub(r"^.*\b(?:named|called)\s+", "", value),
    "date": lambda value: re.sub(r"^(?:on|at|in|for|by)\s+", "", value, flags=re.I),
    "time": lambda value: re.sub(r"^(?:on|at|in|for|by)\s+", "", value, flags=re.I),
    "nofood": lambda value: f"no {value.casefold()}",
    "diet": lambda value: re.sub(r"\s+(?:diet|food|again)$", "", value.casefold()),
}
"""Kind -> how its values are written."""


_BARE_KINDS = ("mail", "phone", "money", "date", "number", "fullname")


def bare_value(text: str) -> tuple[str, str]:
    """(value, kind) of a value that stands alone; empty for what is none."""
    text = text.strip(" *.!")
    for kind in _BARE_KINDS:
        pattern = (
            VALUE_PATTERNS[kind]
            if kind != "number"
            else r"\d[\d.,']*(?:\s?(?:kg|kilos?|cm|mg|km|%|years old))?"
        )
        match = re.fullmatch(rf"(?:(?:on|at|in|for)\s+)?(?P<value>{pattern})", text)
        if match is not None and (kind != "date" or not re.fullmatch(r"\d[\d.,]*", text)):
            return clean_value(kind, match["value"]), "number" if kind == "money" else kind
    if (
        len(text.split()) <= 3
        and re.fullmatch(r"[\w -]+", text)
        and text.casefold() not in STOP_WORDS
        and text[:1].islower()
    ):
        return text, "word"
    return "", ""
