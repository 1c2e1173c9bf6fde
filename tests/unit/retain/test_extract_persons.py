"""Names put for persons, with and without a parse."""

from __future__ import annotations

import pytest

from perdure.extract.local.persons import in_third_person
from perdure.ports.extractor import Turn
from perdure.text.voice import Voice, addressees, voice_of

CAROLINE = Voice("Caroline")
MELANIE = Voice("Melanie")
USER = Voice("the user")

TOLD = [
    ("I went to a support group.", "Caroline went to a support group."),
    ("I am happy.", "Caroline is happy."),
    ("I'm happy.", "Caroline is happy."),
    ("I’ve been painting.", "Caroline has been painting."),
    ("I have a dog.", "Caroline has a dog."),
    ("I don't eat meat.", "Caroline doesn't eat meat."),
    ("I haven't seen it.", "Caroline hasn't seen it."),
    ("I like jazz.", "Caroline likes jazz."),
    ("I really enjoy it.", "Caroline really enjoys it."),
    ("I try hard.", "Caroline tries hard."),
    ("I go there.", "Caroline goes there."),
    ("I can swim.", "Caroline can swim."),
    ("I put it down.", "Caroline put it down."),
    ("I'd love that.", "Caroline would love that."),
    ("I'd already eaten.", "Caroline had already eaten."),
    ("I'll call.", "Caroline will call."),
    ("My sister called me.", "Caroline's sister called Caroline."),
    ("It was fun and I like it.", "It was fun and Caroline likes it."),
    ("My wife and I have two kids.", "Caroline's wife and Caroline have two kids."),
    ("That is mine.", "That is Caroline's."),
    ("i am tired and i want to sleep", "Caroline is tired and Caroline wants to sleep"),
    ("I wanna dance.", "Caroline wants to dance."),
    ("You've got guts.", "Melanie has got guts."),
    ("You are right about your job.", "Melanie is right about Melanie's job."),
    ("I told you.", "Caroline told Melanie."),
    ("World War I was long.", "World War I was long."),
    ('She said "I love you" to me.', 'She said "I love you" to Caroline.'),
    ("He says 'I'm done with my job' a lot.", "He says 'I'm done with my job' a lot."),
    ("'Cause I like the kids' room.", "'Cause Caroline likes the kids' room."),
    ("It needs some me-time.", "It needs some me-time."),
    ("Use `my_var` as I do.", "Use `my_var` as Caroline does."),
    ("Lost my job yesterday.", "Caroline lost Caroline's job yesterday."),
    ("Dyed my hair red.", "Caroline dyed Caroline's hair red."),
    ("Ran a race this morning.", "Caroline ran a race this morning."),
    ("Can't wait to see it.", "Caroline can't wait to see it."),
]


@pytest.mark.parametrize(("said", "told"), TOLD)
def test_first_and_second_person_become_names(said: str, told: str) -> None:
    rewritten = in_third_person(said, CAROLINE, MELANIE)
    assert rewritten.text == told
    assert rewritten.safe


@pytest.mark.parametrize(
    "said",
    [
        "We went camping.",
        "Our house is big.",
        "Let's go.",
        "I flurb often.",
        "I, on the other hand, think so.",
        "When you write, you learn.",
        "Taking care of yourself is key.",
    ],
)
def test_doubtful_sentences_are_not_safe(said: str) -> None:
    assert not in_third_person(said, CAROLINE, MELANIE).safe


def test_you_is_left_alone_when_nobody_is_known_to_be_meant() -> None:
    assert not in_third_person("You are right.", CAROLINE, None).safe


def test_roles_read_well() -> None:
    assert in_third_person("I think my car is old.", USER).text == "The user thinks the user's car is old."
    assert in_third_person("It suits me.", USER).text == "It suits the user."


def test_named_says_whether_the_speaker_is_in_the_text() -> None:
    assert in_third_person("I went.", CAROLINE, MELANIE).named
    assert not in_third_person("You went.", CAROLINE, MELANIE).named
    assert not in_third_person("It rained.", CAROLINE, MELANIE).named


@pytest.mark.parametrize(
    ("speaker", "name"),
    [("user", "the user"), ("Assistant", "the assistant"), ("Ann", "Ann"), (" Bo  Li ", "Bo Li")],
)
def test_voices(speaker: str, name: str) -> None:
    voice = voice_of(speaker)
    assert voice is not None
    assert voice.name == name


def test_you_means_the_other_of_exactly_two() -> None:
    two = [Turn(text="a", speaker="Ann"), Turn(text="b", speaker="Bob")]
    assert addressees(two) == [Voice("Bob"), Voice("Ann")]
    assert addressees([*two, Turn(text="c", speaker="Cem")]) == [None, None, None]
    assert addressees(two[:1]) == [None]
    assert voice_of("  ") is None
