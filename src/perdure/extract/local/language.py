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
        "aber habe hat haben wie noch nach bei mein meine wird kann dass sich oder wenn gestern heute"
    ),
    "fr": word_set(
        "le la les et est sont était je tu il elle nous vous ne pas un une des du de que qui dans pour avec sur au aux mon ma "
        "mes ce cette j'ai c'est mais ou où plus très suis avons hier"
    ),
    "es": word_set(
        "el la los las y es son era yo tú él ella nosotros no un una unos de del que en por para con su sus mi mis se lo al "
        "pero muy más como está estoy tengo fue ayer hoy"
    ),
    "it": word_set(
        "il lo la gli le e è sono era io tu lui lei noi non un una di del della che in per con su mio mia ma molto più come "
        "ho hai ha abbiamo questo questa anche ieri oggi"
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
        counts[code] = sum(word in small for word in words)
    code, best = max(counts.items(), key=lambda item: (item[1], item[0] == default))
    # A few shared small words ("no", "de", "me") in an English text must not turn it over.
    return code if best >= 2 and best > counts[default] + (len(words) > 8) else default
