"""What a dependency parse adds: agreement of joined verbs, relations, dropped subjects."""

from __future__ import annotations

import pytest

from perdure.extract.local.clauses import split_statements
from perdure.extract.local.persons import in_third_person
from perdure.extract.local.relations import find_triples
from perdure.extract.local.relations_parsed import parsed_triples
from perdure.extract.local.units import Unit
from perdure.ports.tagger import Mention, Token
from perdure.text.voice import Voice

CAROLINE = Voice("Caroline")
BOB = Voice("Bob")


def parse(text: str, rows: str) -> tuple[Token, ...]:
    """Tokens from rows of `word lemma pos tag dep head`, one a line."""
    tokens = []
    position = 0
    for line in rows.strip().splitlines():
        word, lemma, pos, tag, dep, head = line.split()
        start = text.index(word, position)
        position = start + len(word)
        tokens.append(Token(word, lemma, pos, tag, dep, int(head), start, position))
    return tuple(tokens)


def unit(text: str, rows: str, *mentions: tuple[str, str]) -> Unit:
    found = tuple(
        Mention(name, kind, text.index(name), text.index(name) + len(name)) for name, kind in mentions
    )
    return Unit(text, 0, len(text), tokens=parse(text, rows), mentions=found)


def test_joined_verbs_agree() -> None:
    text = "I study hard and want more."
    rows = """
        I I PRON PRP nsubj 1
        study study VERB VBP ROOT 1
        hard hard ADV RB advmod 1
        and and CCONJ CC cc 1
        want want VERB VBP conj 1
        more more ADJ JJR dobj 4
        . . PUNCT . punct 1
    """
    assert (
        in_third_person(text, CAROLINE, None, parse(text, rows)).text
        == "Caroline studies hard and wants more."
    )


WORKS = (
    "I work at Google.",
    """
    I I PRON PRP nsubj 1
    work work VERB VBP ROOT 1
    at at ADP IN prep 1
    Google Google PROPN NNP pobj 2
    . . PUNCT . punct 1
    """,
    ("Google", "organisation"),
)


def test_relation_with_a_preposition() -> None:
    (triple,) = parsed_triples(unit(*WORKS), CAROLINE, None)
    assert (triple.subject, triple.relation, triple.object) == ("Caroline", "works_at", "Google")
    assert triple.single_valued


def test_simple_past_is_over_and_has_many_values() -> None:
    text, rows, mention = WORKS
    past = rows.replace("work work VERB VBP", "worked work VERB VBD")
    (triple,) = parsed_triples(unit(text.replace("work", "worked"), past, mention), CAROLINE, None)
    assert (triple.relation, triple.single_valued) == ("worked_at", False)


@pytest.mark.parametrize("hedge", ["might", "would", "could"])
def test_hedged_statements_state_nothing(hedge: str) -> None:
    text = f"I {hedge} work at Google."
    rows = f"""
        I I PRON PRP nsubj 2
        {hedge} {hedge} AUX MD aux 2
        work work VERB VB ROOT 2
        at at ADP IN prep 2
        Google Google PROPN NNP pobj 3
        . . PUNCT . punct 2
    """
    assert parsed_triples(unit(text, rows, ("Google", "organisation")), CAROLINE, None) == []


def test_denied_liking_is_disliking_and_other_denials_state_nothing() -> None:
    text = "I do not like tea."
    rows = """
        I I PRON PRP nsubj 3
        do do AUX VBP aux 3
        not not PART RB neg 3
        like like VERB VB ROOT 3
        tea tea NOUN NN dobj 3
        . . PUNCT . punct 3
    """
    (triple,) = parsed_triples(unit(text, rows), CAROLINE, None)
    assert (triple.relation, triple.object) == ("dislikes", "tea")
    own = rows.replace("like like", "own own")
    assert parsed_triples(unit(text.replace("like", "own"), own), CAROLINE, None) == []


def test_owner_of_a_noun_is_named() -> None:
    text = "My sister lives in Paris."
    rows = """
        My my PRON PRP$ poss 1
        sister sister NOUN NN nsubj 2
        lives live VERB VBZ ROOT 2
        in in ADP IN prep 2
        Paris Paris PROPN NNP pobj 3
        . . PUNCT . punct 2
    """
    (triple,) = parsed_triples(unit(text, rows, ("Paris", "place")), CAROLINE, None)
    assert (triple.subject, triple.relation, triple.object) == ("Caroline's sister", "lives_in", "Paris")


def test_a_kind_of_object_that_does_not_fit_is_no_relation() -> None:
    _, rows, _ = WORKS
    living = (
        rows.replace("work work", "live live").replace("at at", "in in").replace("Google Google", "Acme Acme")
    )
    sentence = unit("I live in Acme.", living, ("Acme", "organisation"))
    assert parsed_triples(sentence, CAROLINE, None) == []
    month = unit("I live in May.", living.replace("Acme Acme", "May May"))
    assert parsed_triples(month, CAROLINE, None) == []


def test_joined_subjects_state_nothing_of_one_of_them() -> None:
    text = "Bob and I live in Paris."
    rows = """
        Bob Bob PROPN NNP nsubj 3
        and and CCONJ CC cc 0
        I I PRON PRP conj 0
        live live VERB VBP ROOT 3
        in in ADP IN prep 3
        Paris Paris PROPN NNP pobj 4
        . . PUNCT . punct 3
    """
    assert parsed_triples(unit(text, rows, ("Paris", "place")), CAROLINE, BOB) == []


UNTRUE = {
    "I almost moved to Paris.": """
        I I PRON PRP nsubj 2
        almost almost ADV RB advmod 2
        moved move VERB VBD ROOT 2
        to to ADP IN prep 2
        Paris Paris PROPN NNP pobj 3
    """,
    "I am moving to Paris.": """
        I I PRON PRP nsubj 2
        am be AUX VBP aux 2
        moving move VERB VBG ROOT 2
        to to ADP IN prep 2
        Paris Paris PROPN NNP pobj 3
    """,
    "I wish I lived in Paris.": """
        I I PRON PRP nsubj 1
        wish wish VERB VBP ROOT 1
        I I PRON PRP nsubj 3
        lived live VERB VBD ccomp 1
        in in ADP IN prep 3
        Paris Paris PROPN NNP pobj 4
    """,
    "Bob thinks I live in Paris.": """
        Bob Bob PROPN NNP nsubj 1
        thinks think VERB VBZ ROOT 1
        I I PRON PRP nsubj 3
        live live VERB VBP ccomp 1
        in in ADP IN prep 3
        Paris Paris PROPN NNP pobj 4
    """,
    "Nobody in my family likes jazz.": """
        Nobody nobody PRON NN nsubj 4
        in in ADP IN prep 0
        my my PRON PRP$ poss 3
        family family NOUN NN pobj 1
        likes like VERB VBZ ROOT 4
        jazz jazz NOUN NN dobj 4
    """,
    '"I love opera", said my aunt.': """
        I I PRON PRP nsubj 1
        love love VERB VBP ccomp 3
        opera opera NOUN NN dobj 1
        said say VERB VBD ROOT 3
        my my PRON PRP$ poss 5
        aunt aunt NOUN NN nsubj 3
    """,
}


@pytest.mark.parametrize("text", sorted(UNTRUE))
def test_what_is_not_so_or_is_another_ones_words_states_nothing(text: str) -> None:
    sentence = unit(text, UNTRUE[text], *([("Paris", "place")] if "Paris" in text else []))
    told = in_third_person(text, CAROLINE, None, sentence.tokens).text
    assert find_triples(sentence, told, CAROLINE, None) == []


def test_what_is_no_longer_so_is_an_end() -> None:
    rows = """
        I I PRON PRP nsubj 3
        no no ADV RB neg 2
        longer long ADV RBR advmod 3
        work work VERB VBP ROOT 3
        at at ADP IN prep 3
        Google Google PROPN NNP pobj 4
    """
    mention = ("Google", "organisation")
    (triple,) = parsed_triples(unit("I no longer work at Google.", rows, mention), CAROLINE, None) or ()
    assert (triple.relation, triple.object, triple.single_valued) == ("left", "Google", False)
    swapped = rows.replace("no no ADV RB neg 2", "do do AUX VBP aux 3").replace(
        "longer long ADV RBR advmod", "not not PART RB neg"
    )
    anymore = f"{swapped.rstrip()}\n        anymore anymore ADV RB advmod 3"
    (triple,) = (
        parsed_triples(unit("I do not work at Google anymore.", anymore, mention), CAROLINE, None) or ()
    )
    assert triple.relation == "left"
    assert parsed_triples(unit("I do not work at Google.", swapped, mention), CAROLINE, None) == []


JOINED = {
    ("I live in Paris and work at Google.", ("Caroline lives in Paris.", "Caroline works at Google.")): """
        I I PRON PRP nsubj 1
        live live VERB VBP ROOT 1
        in in ADP IN prep 1
        Paris Paris PROPN NNP pobj 2
        and and CCONJ CC cc 1
        work work VERB VB conj 1
        at at ADP IN prep 5
        Google Google PROPN NNP pobj 6
    """,
    ("I live in Paris, and now Bob works at Google.", ("Caroline lives in Paris.", "Now Bob works at Google.")): """
        I I PRON PRP nsubj 1
        live live VERB VBP ROOT 1
        in in ADP IN prep 1
        Paris Paris PROPN NNP pobj 2
        and and CCONJ CC cc 1
        now now ADV RB advmod 7
        Bob Bob PROPN NNP nsubj 7
        works work VERB VBZ conj 1
        at at ADP IN prep 7
        Google Google PROPN NNP pobj 8
    """,
    ("I live in Paris and love jazz.", ("Caroline lives in Paris and love jazz.",)): """
        I I PRON PRP nsubj 1
        live live VERB VBP ROOT 1
        in in ADP IN prep 1
        Paris Paris PROPN NNP pobj 2
        and and CCONJ CC cc 1
        love love VERB VB conj 1
        jazz jazz NOUN NN dobj 5
    """,
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), sorted(JOINED))
def test_two_replaceable_statements_are_two_facts(text: str, told: tuple[str, ...]) -> None:
    names = [(name, kind) for name, kind in (("Paris", "place"), ("Google", "organisation")) if name in text]
    sentence = unit(text, JOINED[text, told], *names)

    def rewritten(part: Unit) -> str:
        return in_third_person(part.text, CAROLINE, None, part.tokens, part.origin).text

    def replaceable(part: Unit) -> bool:
        return any(t.single_valued for t in find_triples(part, rewritten(part), CAROLINE, None))

    parts = split_statements(sentence, replaceable)
    assert tuple(rewritten(part) for part in parts) == told
    assert (parts[0].start, parts[-1].end) == (0, len(text))
    assert all(replaceable(part) for part in parts)


def test_own_belief_and_past_progress_are_still_stated() -> None:
    thinking = UNTRUE["Bob thinks I live in Paris."].replace("Bob Bob PROPN NNP", "I I PRON PRP")
    own = unit("I thinks I live in Paris.", thinking, ("Paris", "place"))
    assert [t.relation for t in parsed_triples(own, CAROLINE, None) or ()] == ["lives_in"]
    moving = UNTRUE["I am moving to Paris."].replace("am be AUX VBP", "was be AUX VBD")
    past = unit("I was moving to Paris.", moving, ("Paris", "place"))
    assert [t.object for t in parsed_triples(past, CAROLINE, None) or ()] == ["Paris"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I read Dune last year.", "Caroline read Dune last year."),
        ("I read Dune every year.", "Caroline reads Dune every year."),
        ("I bet Dune last year.", "Caroline bets Dune last year."),
    ],
)
def test_a_verb_with_one_form_is_past_beside_a_past_time(text: str, told: str) -> None:
    _, verb, _, when, _ = text.rstrip(".").split()
    rows = f"""
        I I PRON PRP nsubj 1
        {verb} {verb} VERB VBP ROOT 1
        Dune Dune PROPN NNP dobj 1
        {when} {when} ADJ JJ amod 4
        year year NOUN NN npadvmod 1
    """
    assert in_third_person(text, CAROLINE, None, parse(text, rows)).text == told
