"""Values in a clause by kind: where one that begins at a place may end, the longest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from perdure.text.wording_clause import Clause

Ends = Iterator[tuple[int, str]]
"""(the place behind the value, the value's text)"""

_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"\+?[\d ()/.-]{6,}")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TIME = re.compile(r"\d{1,2}(?::\d\d|h\d{0,2}|\.\d\d)?")
_CODE = re.compile(r"(?=.*\d)[\w.#+-]+")
_LONGEST_NAME = 5
_LONGEST_PHRASE = 6


def value_ends(clause: Clause, kind: str, place: int) -> Ends:
    """The values of a kind that begin at a place; a kind that is no reader's name is a list of the language."""
    if place >= len(clause.tokens):
        return
    reader = READERS.get(kind)
    if reader is not None:
        yield from reader(clause, place)
    else:
        yield from _listed(clause, kind, place)


def may_be_name(clause: Clause, place: int) -> bool:
    """Whether the word at a place is capitalised and no word of the language that is no name."""
    if place >= len(clause.tokens):
        return False
    token, table = clause.tokens[place], clause.wordings
    return (
        token.capital
        and token.text[0].isalpha()
        and token.low not in table.persons
        and token.low not in table.mine
        and not any(
            token.low in table.words[name] for name in ("no_names", "articles", "prepositions", "stops")
        )
        and token.low not in table.words["joints"]
        and token.low not in table.kin
    )


def _names(clause: Clause, place: int, refused: frozenset[str], *, numbers: bool = True) -> Ends:
    """Runs of capitalised words and numbers, joined by "de", "an der" and the like."""
    joins = clause.wordings.words["name_joins"]
    end, at = place, place
    while at < len(clause.tokens) and at < place + _LONGEST_NAME:
        token = clause.tokens[at]
        named = may_be_name(clause, at) and token.low not in refused
        numbered = (
            numbers and at > place and (_CODE.fullmatch(token.text) is not None or token.text in ("&", "+"))
        )
        if named or numbered:
            end = at + 1
        elif not (at > place and token.low in joins):
            break
        at += 1
    for stop in range(end, place, -1):
        if clause.tokens[stop - 1].low not in joins:
            yield stop, clause.part(place, stop)


def _place(clause: Clause, place: int) -> Ends:
    """A town, region or country; in a language that capitalises nouns, common ones are refused by name."""
    start = place + 1 if clause.has(place, clause.wordings.words["place_articles"]) else place
    streets = tuple(clause.wordings.words["streets"])
    for end, name in _names(clause, start, clause.wordings.words["no_places"], numbers=False):
        if not (streets and clause.tokens[start].low.endswith(streets)):
            yield end, name
        return


def _known_place(clause: Clause, place: int) -> Ends:
    """A town or country of the language's list."""
    if clause.has(place, clause.wordings.words["places"]):
        yield from _place(clause, place)


def _name(clause: Clause, place: int) -> Ends:
    yield from _names(clause, _behind_articles(clause, place), clause.wordings.words["no_values"])


def _person(clause: Clause, place: int) -> Ends:
    """A name, with a title or behind a word for what the person is: "meiner Freundin Lea"."""
    table = clause.wordings
    start = place
    while start < place + 3 and (
        clause.has(start, table.words["articles"])
        or clause.has(start, table.mine)
        or clause.has(start, table.words["adjectives"])
    ):
        start += 1
    while place < start < place + 4 and _is_role_noun(clause, start):
        start += 1
    title = clause.has(start, table.words["titles"])
    first = start + 1 if title else start
    no_people = (
        table.words["no_values"] | table.words["places"] | {*table.choices["job"], *table.kin, *table.nouns}
    )
    while title and clause.has(first, table.words["titles"]):
        first += 1
    if title and first < len(clause.tokens) and clause.tokens[first].capital:
        yield first + 1, clause.part(start, first + 1)
        return
    for end, _ in _names(clause, first, no_people):
        yield end, clause.part(start, end)


def _titled(clause: Clause, place: int) -> Ends:
    """A doctor or professor by name: "Dr. Okafor", "la doctora Bermejo"."""
    table = clause.wordings
    start = place
    while clause.has(start, table.words["articles"] | table.words["titles"] - table.words["doctor_titles"]):
        start += 1
    if clause.has(start, table.words["doctor_titles"]):
        yield from _person(clause, start)


def _is_role_noun(clause: Clause, place: int) -> bool:
    """A word for what a person is to somebody, no title."""
    table = clause.wordings
    if clause.has(place, table.words["titles"]):
        return False
    return clause.has(place, frozenset(table.kin)) or clause.has(place, frozenset(table.nouns))


def _organisation(clause: Clause, place: int) -> Ends:
    """A name or a noun phrase ("einer kleinen Bäckerei"); towns and what else stands there are refused."""
    table = clause.wordings
    refused = table.words["no_organisations"] | table.words["places"]
    start = _behind_articles(clause, place)
    if clause.has(start, refused) or clause.has(start, table.mine):
        return
    if start == place or not table.nouns_capital:
        named = list(_names(clause, start, refused))
        if named:
            yield named[0]
            return
    if start > place and table.nouns_capital:
        yield from _phrase(clause, start)
    else:
        yield from _employer(clause, place)


def _employer(clause: Clause, place: int) -> Ends:
    """A bakery, a bank, a school, with its name if it has one; where anybody works "in" something."""
    table = clause.wordings
    start = _behind_articles(clause, place)
    at = start
    while at < start + 3 and at < len(clause.tokens):
        if _is_institution(clause, at):
            named = list(_names(clause, at + 1, table.words["no_values"] | table.words["places"]))
            end = named[0][0] if named else at + 1
            yield end, clause.part(start, end)
            return
        if table.nouns_capital and clause.tokens[at].capital:
            return
        at += 1


def _employer_name(clause: Clause, place: int) -> Ends:
    """An organisation by its name, or a bakery, a bank, a school."""
    table = clause.wordings
    start = _behind_articles(clause, place)
    if not (clause.has(start, table.words["no_organisations"]) or clause.has(start, table.words["places"])):
        for end, name in _names(clause, start, table.words["no_values"] | table.words["places"]):
            yield end, name
            return
    yield from _employer(clause, place)


def _new_employer(clause: Clause, place: int) -> Ends:
    """An organisation that somebody can change to; of a bank one may be a mere customer."""
    for end, name in _organisation(clause, place):
        choices = clause.wordings.choices
        if name.casefold() not in choices["bank"] and name.casefold() not in choices["provider"]:
            yield end, name


def _job_phrase(clause: Clause, place: int) -> Ends:
    """A job, with what tells more of it: "profesora de yoga"."""
    start = _behind_articles(clause, place)
    if start < len(clause.tokens) and clause.tokens[start].low in clause.wordings.choices["job"]:
        yield from _phrase(clause, start)


def _is_institution(clause: Clause, place: int) -> bool:
    table = clause.wordings
    word = clause.tokens[place].low
    listed = table.choices["institution"]
    return word in listed or (
        table.nouns_capital and any(word.endswith(noun) for noun in listed if len(noun) > 4)
    )


def _branded(kind: str) -> Callable[[Clause, int], Ends]:
    """A make with the model behind it: "Golf", "Tesla Model 3"."""

    def read(clause: Clause, place: int) -> Ends:
        place = _behind_articles(clause, place)
        if place < len(clause.tokens) and clause.tokens[place].low in clause.wordings.choices[kind]:
            model = list(_names(clause, place + 1, clause.wordings.words["no_values"]))
            end = model[0][0] if model else place + 1
            while end < len(clause.tokens) and end < place + 4 and _CODE.fullmatch(clause.tokens[end].text):
                end += 1
            yield end, clause.part(place, end)

    return read


def _role(clause: Clause, place: int) -> Ends:
    start = _behind_articles(clause, place)
    is_word = start < len(clause.tokens) and clause.tokens[start].text[0].isalpha()
    if is_word and not clause.has(start, clause.wordings.words["no_roles"]):
        yield from _phrase(clause, start)


def _thing(clause: Clause, place: int) -> Ends:
    start = _behind_articles(clause, place)
    if not clause.has(start, clause.wordings.words["no_values"]):
        yield from _phrase(clause, start)


def _old(clause: Clause, place: int) -> Ends:
    """A value that was: whatever name or noun stands there, "my" and "the" left out."""
    table = clause.wordings
    while (
        clause.has(place, table.words["articles"])
        or clause.has(place, table.mine)
        or clause.has(place, table.words["former"])
    ):
        place += 1
    if place < len(clause.tokens):
        yield from _phrase(clause, place)


def _phrase(clause: Clause, place: int) -> Ends:
    """A noun with what stands before and, in Romance languages, behind it, up to the next small word."""
    table = clause.wordings
    stops, joins = table.words["stops"] | table.words["prepositions"], table.words["phrase_joins"]
    end = place
    while end < len(clause.tokens) and end < place + _LONGEST_PHRASE:
        token = clause.tokens[end]
        if not token.is_word and token.text not in ("&", "+"):
            break
        joined = token.low in joins and end > place
        if not joined and (
            token.low in stops or token.low in table.words["joints"] or token.low in table.persons
        ):
            break
        end += 1
    for stop in range(end, place, -1):
        last = clause.tokens[stop - 1]
        if last.low in joins or last.low in table.words["articles"]:
            continue
        if table.nouns_capital and not last.capital and not last.text[0].isdigit():
            continue
        yield stop, clause.part(place, stop)


def _behind_articles(clause: Clause, place: int) -> int:
    table = clause.wordings
    while clause.has(place, table.words["articles"]) or (
        clause.has(place, table.words["adjectives"]) and clause.has(place - 1, table.words["articles"])
    ):
        place += 1
    return place


def _matching(pattern: re.Pattern[str]) -> Callable[[Clause, int], Ends]:
    def read(clause: Clause, place: int) -> Ends:
        place = _behind_articles(clause, place)
        if place < len(clause.tokens) and pattern.fullmatch(clause.tokens[place].text):
            yield place + 1, clause.tokens[place].text

    return read


def _number(clause: Clause, place: int) -> Ends:
    token = clause.tokens[place]
    if _NUMBER.fullmatch(token.text.rstrip(".")):
        yield place + 1, token.text.rstrip(".")
    else:
        yield from _listed(clause, "number_word", place)


def _phone(clause: Clause, place: int) -> Ends:
    place = _behind_articles(clause, place)
    if place >= len(clause.tokens):
        return
    token = clause.tokens[place]
    if _PHONE.fullmatch(token.text) and sum(char.isdigit() for char in token.text) >= 6:
        yield place + 1, token.text


def _when(clause: Clause, place: int) -> Ends:
    """A day, date or time of day, without the preposition before it."""
    table = clause.wordings
    small = table.words["when_small"]
    while clause.has(place, small) or clause.has(place, table.words["articles"]):
        place += 1
    anchored, end, at = False, place, place
    while at < len(clause.tokens) and at < place + 9:
        token = clause.tokens[at]
        if (
            token.low in table.words["when"]
            or _TIME.fullmatch(token.text.rstrip("."))
            or re.fullmatch(
                r"\d{1,2}[./-]\d{1,2}(?:[./-]\d{2,4})?\.?|\d{4}-\d\d-\d\d|20\d\d|\d{1,2}er", token.text
            )
        ):
            anchored, end = True, at + 1
        elif token.low in table.words["when_units"] and at > place:
            end = at + 1
        elif token.low not in small:
            break
        at += 1
    if anchored:
        yield end, clause.part(place, end)


def _amount(clause: Clause, place: int) -> Ends:
    """A number with its unit: money, kilograms, percent."""
    at = place
    while clause.has(at, clause.wordings.words["about"]):
        at += 1
    if at >= len(clause.tokens):
        return
    in_words = clause.has(at, frozenset(clause.wordings.choices["number_word"]))
    if _NUMBER.match(clause.tokens[at].text) is None and not (
        in_words and clause.has(at + 1, clause.wordings.words["units"] | clause.wordings.words["work_units"])
    ):
        return
    end = at + 1
    while clause.has(end, clause.wordings.words["units"] | clause.wordings.words["work_units"]) or (
        end < len(clause.tokens) and clause.tokens[end].text in ("€", "$", "£", "%")
    ):
        end += 1
    yield end, _UNIT.sub(lambda unit: _UNITS[unit[0].casefold()], clause.part(at, end))


_UNITS = {
    "kilo": "kg",
    "kilos": "kg",
    "kg": "kg",
    "euro": "euros",
    "euros": "euros",
    "eur": "euros",
    "€": "euros",
}
_UNIT = re.compile(r"\b(?:kilos?|kg|euros?|eur)\b|€", re.IGNORECASE)
"""Spellings of a unit, of which one is kept: 81 Kilo are 81 kg."""


def _amount_of(units: str) -> Callable[[Clause, int], Ends]:
    """An amount in one of the units of a list: hours, kilograms."""

    def read(clause: Clause, place: int) -> Ends:
        for end, value in _amount(clause, place):
            if any(clause.has(at, clause.wordings.words[units]) for at in range(place, end)):
                yield end, value

    return read


def _code(clause: Clause, place: int) -> Ends:
    """A password, key or version: a word with a digit, a sign or a capital letter, which adjectives have not."""
    token = clause.tokens[place]
    if not token.text.islower() or not token.text.isalpha():
        yield place + 1, token.text.rstrip(".")


def _typed(clause: Clause, place: int) -> Ends:
    """A value of an attribute whose kind nobody wrote down: a date, an amount, a name, never an adjective."""
    for reader in (_matching(_MAIL), _phone, _when, _amount):
        values = list(reader(clause, place))
        if values:
            yield from values
            return
    if clause.wordings.nouns_capital:
        named = [(end, name) for end, name in _person(clause, place) if " " in name or _CODE.fullmatch(name)]
        yield from named
    else:
        yield from _person(clause, place)
    if _CODE.fullmatch(clause.tokens[place].text):
        yield place + 1, clause.tokens[place].text


def _job(clause: Clause, place: int) -> Ends:
    """A job of the list, or a compound of one: "Sachbearbeiterin"."""
    word, jobs = clause.tokens[place].low, clause.wordings.choices["job"]
    compound = clause.wordings.nouns_capital and any(word.endswith(job) for job in jobs if len(job) > 4)
    if word in jobs or (compound and clause.tokens[place].capital):
        yield place + 1, clause.tokens[place].text


def _dose(clause: Clause, place: int) -> Ends:
    """A medicine with how much of it: "50 mg Sertralin", "sertralina de 50 mg"."""
    table = clause.wordings
    start, at = place, place
    if _NUMBER.fullmatch(clause.tokens[at].text):
        at += 1
        while clause.has(at, table.words["doses"]) or clause.has(at, table.words["of"]):
            at += 1
    for end, _ in _listed(clause, "medicine", at):
        while clause.has(end, table.words["of"]) or (
            end + 1 < len(clause.tokens)
            and _NUMBER.fullmatch(clause.tokens[end].text)
            and clause.has(end + 1, table.words["doses"])
        ):
            end += 1 if clause.has(end, table.words["of"]) else 2
        yield end, clause.part(start, end)


def _hours(clause: Clause, place: int) -> Ends:
    """From one time of day to another: "von 8 bis 16 Uhr"."""
    table = clause.wordings
    times, end = 0, place
    small = table.words["hours_small"]
    if not clause.has(place, small):
        return
    while end < len(clause.tokens) and end < place + 9:
        if _TIME.fullmatch(clause.tokens[end].text):
            times += 1
        elif not clause.has(end, small) and not clause.has(end, table.words["when_units"]):
            break
        end += 1
    if times == 2:
        yield end, clause.part(place, end)


def _street(clause: Clause, place: int) -> Ends:
    """A street, with its number before or behind."""
    table = clause.wordings
    place = _behind_articles(clause, place)
    at = place + 1 if place < len(clause.tokens) and _CODE.fullmatch(clause.tokens[place].text) else place
    if at >= len(clause.tokens):
        return
    suffixes = tuple(table.words["streets"]) if table.nouns_capital else ()
    if clause.has(at, table.words["street_words"]):
        named = list(_phrase(clause, at))
        if named:
            yield named[0]
    elif suffixes and clause.tokens[at].low.endswith(suffixes):
        end = at + 1
        if end < len(clause.tokens) and _CODE.fullmatch(clause.tokens[end].text):
            end += 1
        yield end, clause.part(place, end)


def _address(clause: Clause, place: int) -> Ends:
    """A house by its street and number, in whatever words: "Am Mühlbach 3", "12 rue de la Loi"."""
    streets = list(_street(clause, place))
    if streets:
        yield from streets
        return
    for end in range(place + 2, min(place + _LONGEST_PHRASE, len(clause.tokens)) + 1):
        words = clause.tokens[place:end]
        if not all(word.is_word for word in words):
            return
        if _CODE.fullmatch(words[-1].text) and any(word.capital for word in words[:-1]):
            yield end, clause.part(place, end)
            return
    yield from _name(clause, place)


def _product(clause: Clause, place: int) -> Ends:
    """A name that is no town: a program, a service, a brand."""
    table = clause.wordings
    start = _behind_articles(clause, place)
    yield from _names(
        clause, start, table.words["no_values"] | table.words["places"] | {*table.choices["bank"]}
    )


def _school_name(clause: Clause, place: int) -> Ends:
    """A school by its name: "Goethe-Schule", "école Jules-Ferry"."""
    table = clause.wordings
    at = _behind_articles(clause, place)
    if at < len(clause.tokens):
        word = clause.tokens[at].low
        if word in table.words["schools"] or any(word.endswith(school) for school in table.words["schools"]):
            named = list(_names(clause, at + 1, table.words["places"]))
            end = named[0][0] if named else at + 1
            if named or "-" in word:
                yield end, clause.part(at, end)


def _field(clause: Clause, place: int) -> Ends:
    """A subject of study."""
    yield from _listed(clause, "field_list", place)


def _listed(clause: Clause, kind: str, place: int) -> Ends:
    """Words and phrases of a list; the value they stand for, or the words as written."""
    table = clause.wordings.choices[kind]
    for length in (4, 3, 2, 1):
        words = clause.tokens[place : place + length]
        phrase = " ".join(word.low for word in words)
        if len(words) == length and phrase in table:
            yield place + length, table[phrase] or clause.part(place, place + length)
            return


READERS: dict[str, Callable[[Clause, int], Ends]] = {
    "address": _address,
    "field": _field,
    "place": _place,
    "known_place": _known_place,
    "name": _name,
    "person": _person,
    "organisation": _organisation,
    "employer": _employer,
    "employer_name": _employer_name,
    "new_employer": _new_employer,
    "job_phrase": _job_phrase,
    "school": _organisation,
    "car": _branded("car"),
    "phone_brand": _branded("phone_brand"),
    "role": _role,
    "thing": _thing,
    "titled": _titled,
    "old": _old,
    "product": _product,
    "school_name": _school_name,
    "job": _job,
    "dose": _dose,
    "hours": _hours,
    "street": _street,
    "mail": _matching(_MAIL),
    "phone": _phone,
    "number": _number,
    "when": _when,
    "amount": _amount,
    "work_amount": _amount_of("work_units"),
    "weight_amount": _amount_of("weight_units"),
    "code": _code,
    "typed": _typed,
}
"""Kind of value -> how one is read; other kinds are lists of the language's file."""
