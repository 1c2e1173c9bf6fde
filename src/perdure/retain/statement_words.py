"""A statement's words, as far as statements are compared by them: its nouns, names and numbers, and of whom it speaks."""

from __future__ import annotations

import re
from itertools import pairwise

from perdure.text.given_names import is_given_name
from perdure.text.names import normal_name

_VOCATIVE = re.compile(
    r"(?:\A|(?<=[.!?]\s)|\b(?:hey|hi|hello|thanks|thank\s+you|wow|yep|yeah|yes|no|oh|sure|sorry|danke|gracias|merci)\b[,\s]*|,\s*)"
    r"(?-i:[A-Z]\w+)(?=\s*[,!]|\s*[.?]\s*\Z)",
    re.IGNORECASE,
)
"""A name by which somebody is addressed."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_NUMBER = re.compile(r"\d[\d.,:/-]*\d|\d")
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w'’&+-]+")
_FULL_NAME = re.compile(r"\b([A-ZÀ-Ö][\w'’-]+)\s+([A-ZÀ-Ö][\w'’-]+?)(?=['’]s\b|\b)")
_COMMON_WORDS = frozenset(
    """that this these those with from have been were they them their there here what when which your yours mine ours just
    about after before again still back into onto over only really very much more most some such than then now never
    ever always actually finally officially okay yeah well today yesterday tomorrow week month year years months weeks
    last next since until because though although will would could should might must does done doing being gets getting
    going went gone come came make made take took taken time thing things stuff people someone something anything nothing
    everything call called name named said says tell told think know like love want need good great nice little same
    longer anymore instead used using first days nowadays switched changed moved started stopped left
    dass dies diese dieser dieses haben hatte hatten habe sein seit sind wird wurde werden wurden nicht noch mehr schon jetzt
    heute gestern eine einen einem einer mein meine meinen meinem meiner unser unsere unserem unseren sich auch aber oder wenn
    dann doch jahr jahre woche monat heißt ganz immer wieder neue neuen neuer neues statt über
    para pero como este esta estos estas desde hasta porque cuando donde tengo tiene tenemos hace años ahora antes
    después siempre nunca nuevo nueva mucho muy todo toda sobre entre también hoy ayer semana llama llamo
    avec pour dans mais plus depuis parce quand comme cette notre votre leur elle nous vous ils sont suis était avons avez
    maintenant avant après toujours jamais nouveau nouvelle très tout toute aussi hier semaine mois année ans fait faire
    """.split()
)


def telling_words(text: str) -> set[str]:
    """Words of a text by which a value is known again."""
    return {
        word
        for word in normal_name(text).split()
        if (len(word) > 2 or word[:1].isdigit()) and word not in _COMMON_WORDS
    }


def names_and_numbers(text: str, speaker: str = "") -> set[str]:
    """Names and numbers of a sentence, but for the speaker's."""
    own = set(normal_name(speaker).split())
    bare = _VOCATIVE.sub(" ", text).strip()
    names = {
        normal_name(match[0])
        for match in _NAME.finditer(bare)
        if _is_inside(bare, match.start()) or is_given_name(match[0])
    }
    return ({name for name in names if name not in _COMMON_WORDS} | set(_NUMBER.findall(bare))) - own - {""}


def _is_inside(text: str, start: int) -> bool:
    """Whether a word stands where only names are capitals."""
    return text[:start].rstrip()[-1:] not in ("", ".", "!", "?", ":")


def content_words(text: str) -> set[str]:
    """Beginnings of the words that carry meaning."""
    words = (word.casefold() for word in _WORD.findall(text))
    return {word[:6].rstrip("s") for word in words if len(word) > 3 and word not in _COMMON_WORDS}


def other_of_kind(first: str, second: str) -> bool:
    """Whether two statements name different ones of a kind: "my work phone" and "the home phone"."""
    if _other_surname(first, second):
        return True
    left, right = _qualified(first), _qualified(second)
    return any(
        not left[noun] & right[noun] and all(left[noun]) and all(right[noun])
        for noun in left.keys() & right.keys()
    )


def _other_surname(first: str, second: str) -> bool:
    """Whether both name somebody in full, by the same first name and another surname."""
    left, right = (dict(_FULL_NAME.findall(text)) for text in (first, second))
    return any(left[name] != right[name] for name in left.keys() & right.keys())


def _qualified(text: str) -> dict[str, set[str]]:
    """Noun -> the words right before it that say which one, empty where none does."""
    words = [word.casefold() for word in _WORD.findall(text)]
    qualified: dict[str, set[str]] = {}
    for before, word in pairwise(["", *words]):
        if word[:6].rstrip("s") in _KIND_NOUNS:
            qualified.setdefault(word[:6].rstrip("s"), set()).add("" if before in _NO_QUALIFIER else before)
    return qualified


_KIND_NOUNS = frozenset(
    word[:6].rstrip("s")
    for word in """phone number line mobile address email mail account password code pin deadline meeting appointment exam review
    budget bill fee price rent car bike laptop computer team band book film song server database service app project report
    office flat house doctor teacher coach class course lesson shift allergy telefon nummer adresse konto passwort frist termin
    teléfono número cuenta contraseña plazo cita numéro adresse compte délai""".split()
)
"""Nouns of things that are told apart by the word before them."""
_NO_QUALIFIER = (
    _COMMON_WORDS
    | frozenset(
        """ the a an my our your his her its their new old current is was are be it's i've got get in on at to of for and or but so as by
    no not one this that big little which main own actual right wrong s der die das den dem ein eine mein unser neue el la los las un
    una mi nuestro le les une mon ma notre nouveau nouvelle de du des au""".split()
    )
    | {""}
)


_KIN_SUBJECT = re.compile(
    r"""(?:^|[.!?;:,—–]\s*|\b(?:and|but|so|because|that|und|aber|weil|y|pero|porque|et|mais)\s+)
    (?:(?:my|our|mein[e]?|unser[e]?|mi|nuestr[oa]|mon|ma|notre|the|die|der|la|le|el)\s+(?:\w+\s+){0,2}?(?P<kin>sister|brother|mother|father|mum|mom|dad|parents|gran|grandma|grandmother|grandpa|grandfather|aunt|uncle|cousin|niece|nephew|son|daughter|friend|mate
    |neighbou?r|colleague|flatmate|roommate|housemate|ex|dog|cat|in-laws|schwester|bruder|mutter|vater|oma|opa|tante|onkel|cousine|nichte|neffe|sohn|tochter|freund|freundin|nachbar|nachbarin|kollege|kollegin|hund|katze
    |hermana|hermano|madre|padre|abuela|abuelo|tía|tío|prima|primo|sobrina|sobrino|hijo|hija|amiga|amigo|vecina|vecino|compañera|compañero|perro|gato|sœur|frère|mère|père|tante|oncle|cousin|nièce|neveu|fils|fille|ami|amie|voisin|voisine|collègue|chien|chat)
    |(?P<bare>gran|granny|grandma|grandpa|mum|mom|dad|oma|opa|papa|mama|maman))\b(?!['’]?s\s+(?:place|house|flat))""",
    re.IGNORECASE | re.VERBOSE,
)


def kin_subject(text: str) -> str:
    """The word for somebody else of whom a sentence speaks ("my sister moved"); empty where it is nobody such."""
    match = _KIN_SUBJECT.search(text)
    return (match["kin"] or match["bare"]).casefold() if match is not None else ""
