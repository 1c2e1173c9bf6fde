"""Language of a text, by script and by its most frequent small words."""

from __future__ import annotations

import re
from collections import Counter

from perdure.text.wordlist import word_set

_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE = 1000

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("uk", re.compile(r"[іїєґІЇЄҐ]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("fa", re.compile(r"[پچژگ]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_SMALL_WORDS = {
    "en": word_set(
        "the and is are was were you i it that this of to in for with on have has my me we they not but be at what your do "
        "so just as from about can will would it's i'm there he she his her"
    ),
    "de": word_set(
        "der die das und ist sind war ich du er sie es wir ihr nicht ein eine einen mit auf für von zu im den dem des auch "
        "aber habe hat haben wie noch nach bei mein meine wird kann dass sich oder wenn gestern heute in am an so was als um "
        "vom zum zur"
    ),
    "fr": word_set(
        "le la les et est sont était je tu il elle nous vous ne pas un une des du de que qui dans pour avec sur au aux mon ma "
        "mes ce cette mais ou où plus très suis avons hier en à a on me se sa son ses l d c n s qu y par"
    ),
    "es": word_set(
        "el la los las y es son era yo tú él ella nosotros no un una unos de del que en por para con su sus mi mis se lo al "
        "pero muy más como está estoy tengo fue ayer hoy a me nos ni sin sobre"
    ),
    "it": word_set(
        "il lo la gli le e è sono era io tu lui lei noi non un una di del della che in per con su mio mia ma molto più come "
        "ho hai ha abbiamo questo questa anche ieri oggi a"
    ),
    "pt": word_set(
        "o a os as e é são era eu tu ele ela nós não um uma de do da dos das que em por para com seu sua meu minha mas muito "
        "mais como está estou tenho foi ontem hoje você no na"
    ),
    "nl": word_set(
        "de het een en is zijn was ik jij je hij zij wij niet van op in met voor aan ook maar heb heeft hebben dat die dit er "
        "te om naar bij mijn gisteren vandaag"
    ),
    "pl": word_set("i w na z do nie to jest się że ja ty on ona my są był była jak ale mój moja wczoraj dzisiaj dla po za o"),
    "tr": word_set("ve bir bu da de ile için çok ben sen o biz ama var yok gibi daha ne dün bugün benim olarak"),
    "sv": word_set("och att det är en ett som på av för jag du han hon vi inte med har till den om men min igår idag var"),
}  # fmt: skip
_TELLING_WORDS = {
    "de": word_set(
        "ich wir mein meine meinen meiner meinem unser unsere unseren bin wohne wohnt wohnen arbeite arbeitet seit jetzt nicht "
        "kein keine keinen habe hab haben hatte heißt heiße heisst wurde geworden gezogen gewechselt gekündigt getrennt sondern "
        "montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz oktober dezember uhr "
        "inzwischen mittlerweile mehr neue neuer neues esse trinke fahre lerne gerade immer schon wieder sind und"
    ),
    "fr": word_set(
        "j je suis habite habitons vis vit bosse travaille travaillons chez mon notre nous maintenant désormais désormais ai "
        "sommes avons avez mes toujours depuis déménagé quitté n'est aujourd'hui frère sœur soeur père mère préféré préférée "
        "lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet août septembre matin "
        "sous tourne ans serveur n'ai est une ans plus mais parle mange bois conduis"
    ),
    "es": word_set(
        "vivo vivimos vive soy estoy tengo tenemos trabajo trabaja trabajamos ahora nuestro nuestra nuestros hermano hermana "
        "mudé mude mudamos mudado he hemos ha ya hace mis novia novio marido mujer dejé deje llamo llama años anos también "
        "señor señora lunes martes miércoles jueves viernes sábado domingo enero febrero abril mayo junio julio agosto septiembre "
        "tambien pero desde cumplí cumpli empecé empece favorito favorita estudio voy trabajar tiene tienen llevo viviendo meses semana pasada pasado hago acabo vuelvo han gato perro kilos lugar quería fin estudia hijo hija vendí vendi coche vivía vivia quiero queremos estamos está fui somos mudarme quería como bebo conduzco"
    ),
    "it": word_set("abito abitiamo lavoro lavora vivo viviamo sono siamo ho mio mia nostro nostra adesso fratello sorella anni"),
    "pt": word_set("moro moramos trabalho trabalha vivo vivemos sou estou tenho temos meu minha nosso nossa agora irmão irmã anos em"),
    "nl": word_set("ik wij woon werk wonen mijn onze nu sinds ben heb geen niet jaar"),
}  # fmt: skip
"""Words that hardly stand in a text of another language: one of them tells as much as two small words."""

_LETTERS = {
    "de": frozenset("äöüß"),
    "es": frozenset("ñ¿¡áíóú"),
    "fr": frozenset("çêëîœûùèà"),
    "pt": frozenset("ãõáíóú"),
    "it": frozenset("àèìòù"),
}
"""Letters and signs that tell as much as a small word."""

_ENDINGS = {"es": ("aron", "ieron", "amos", "imos", "ción")}
"""Endings of long words that tell as much as a small word."""
_LONG = 7


def language_of(text: str, default: str = "en") -> str:
    """ISO 639-1 code of the most likely language; `default` when nothing tells."""
    sample = text[:_SAMPLE]
    if sample.isascii():
        return _by_words(sample, default)
    letters = sum(char.isalpha() for char in sample)
    for code, script in _SCRIPTS:
        if len(script.findall(sample)) * 3 > letters > 0 or (code in ("uk", "fa") and script.search(sample)):
            return code
    return _by_words(sample, default)


def _by_words(sample: str, default: str) -> str:
    words = _WORD.findall(sample.casefold())
    counts: Counter[str] = Counter()
    for code, small in _SMALL_WORDS.items():
        telling = _TELLING_WORDS.get(code, frozenset())
        letters = _LETTERS.get(code, frozenset()).intersection(sample.casefold())
        endings = (
            sum(len(word) >= _LONG and word.endswith(_ENDINGS[code]) for word in words)
            if code in _ENDINGS
            else 0
        )
        counts[code] = sum(2 if word in telling else word in small for word in words) + len(letters) + endings
    code, best = max(counts.items(), key=lambda item: (item[1], item[0] == default))
    # A few shared small words ("no", "de", "me") in an English text must not turn it over.
    if best >= 2 and best > counts[default] + (len(words) > 8):
        return code
    return default
