"""Universal parts of speech and lemmas from Penn tags, at a fraction of the cost of spaCy's own components."""

from __future__ import annotations

from collections.abc import Callable

_POS = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN",
    "VB": "VERB", "VBD": "VERB", "VBG": "VERB", "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB", "MD": "AUX",
    "PRP": "PRON", "PRP$": "PRON", "WP": "PRON", "WP$": "DET", "EX": "PRON", "DT": "DET", "WDT": "DET", "PDT": "DET",
    "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ", "AFX": "ADJ", "RB": "ADV", "RBR": "ADV", "RBS": "ADV", "WRB": "SCONJ",
    "IN": "ADP", "RP": "ADP", "TO": "PART", "POS": "PART", "CC": "CCONJ", "CD": "NUM", "UH": "INTJ",
    "$": "SYM", "#": "SYM", "SYM": "SYM", "_SP": "SPACE", "ADD": "X", "FW": "X", "GW": "X", "LS": "X", "XX": "X",
}  # fmt: skip
_INDEFINITE = frozenset(
    f"{which}{what}" for which in ("some", "any", "every", "no") for what in ("thing", "one", "body")
)
_STANDS_ALONE = ("nsubj", "nsubjpass", "dobj", "pobj", "attr", "ROOT", "conj", "dative", "appos")
_BE = frozenset("be am is are was were been being 'm ’m 're ’re 's ’s m".split())
_IRREGULAR = {
    **dict.fromkeys(_BE, "be"),
    **dict.fromkeys("have has had having 've ’ve".split(), "have"),
    **dict.fromkeys("do does did done doing".split(), "do"),
}
_MODAL = {
    "'ll": "will", "’ll": "will", "wo": "will", "ca": "can", "'d": "would", "’d": "would", "sha": "shall",
}  # fmt: skip
_PRONOUN = {"me": "I", "i": "I", "him": "he", "us": "we", "them": "they", "her": "she"}
_INFLECTED = frozenset({"NNS", "VBD", "VBG", "VBN", "VBZ", "JJR", "JJS", "RBR", "RBS"})


def universal_pos(word: str, tag: str, dep: str) -> str:
    """Return the universal part of speech of a word with this Penn tag in this role."""
    pos = _POS.get(tag, "PUNCT")
    if pos == "VERB":
        return "AUX" if dep in ("aux", "auxpass") or word.lower() in _BE else "VERB"
    if tag == "NN" and word.lower() in _INDEFINITE:
        return "PRON"
    if pos == "DET" and tag in ("DT", "WDT") and dep in _STANDS_ALONE:
        return "PRON"
    if tag == "IN" and dep == "mark":
        return "SCONJ"
    if tag == "RB" and dep == "neg":
        return "PART"
    return pos


def lemma_of(word: str, tag: str, pos: str, inflected: Callable[[str, str], str]) -> str:
    """Return the dictionary form; `inflected` gives it for regular plurals, verb forms and comparatives."""
    lower = word.lower()
    if pos == "PROPN":
        return word
    if tag == "PRP":
        return _PRONOUN.get(lower, lower)
    if tag == "MD":
        return _MODAL.get(lower, lower)
    if lower in ("n't", "n’t"):
        return "not"
    if pos in ("VERB", "AUX"):
        if lower in ("'d", "’d"):
            return "have"
        if lower in _IRREGULAR:
            return _IRREGULAR[lower]
    return inflected(lower, pos) if tag in _INFLECTED else lower
