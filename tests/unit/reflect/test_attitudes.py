"""What a fact's words say of likings, preferences and the agent's beliefs."""

from __future__ import annotations

import pytest

from perdure.domain.fact import INSTRUCTION, PLANNED, Fact, FactType
from perdure.domain.opinion import EvidenceLabel
from perdure.reflect.opinions.assess import are_rivals, is_same, label_of, position_of
from perdure.reflect.opinions.attitudes import HEARSAY, LOVED, MOVED, STATED, Attitude, attitudes_of

FOR, WEAK, AGAINST = EvidenceLabel.SUPPORTING, EvidenceLabel.WEAK, EvidenceLabel.CONTRADICTING


def fact(text: str, speaker: str = "Ann", agent: bool = False, flags: tuple[str, ...] = ()) -> Fact:
    return Fact(
        id="f",
        bank="b",
        text=text,
        speaker=speaker,
        type=FactType.EXPERIENCE if agent else FactType.WORLD,
        entities=("Ann", "Bob", "Python", "Alps", "Ann's sister"),
        flags=flags,
        source_text=text.partition(' said: "')[2].rstrip('"') or text,
    )


def attitude(text: str, *, agent: bool = False) -> Attitude:
    (one,) = attitudes_of(fact(text, agent=agent))
    return one


@pytest.mark.parametrize(
    ("text", "statement", "polarity"),
    [
        ("Ann prefers morning meetings.", "Ann prefers morning meetings", "positive"),
        ("Honestly, Ann really enjoys hiking a lot!", "Ann likes hiking", "positive"),
        ("Ann is a big fan of Radiohead.", "Ann likes Radiohead", "positive"),
        ("Ann can't stand loud music.", "Ann dislikes loud music", "negative"),
        ("Ann doesn't like morning meetings any more.", "Ann does not like morning meetings", "negative"),
        ("Ann no longer prefers tea.", "Ann does not prefer tea", "negative"),
        ("Ann used to love sushi.", "Ann does not like sushi", "negative"),
        ("Ann isn't a fan of jazz.", "Ann does not like jazz", "negative"),
        ("Ann likes tea more than coffee.", "Ann prefers tea to coffee", "positive"),
        ("Ann prefers to walk to work.", "Ann prefers to walk to work", "positive"),
        ("Ann's favorite food is now pho, because it is light.", "Ann's favourite food is pho", "positive"),
        ("Ann: I prefer short answers.", "Ann prefers short answers", "positive"),
        ("Ann prefers the tram when it rains.", "Ann prefers the tram when it rains", "positive"),
        ('Ann said: "Yes. I loathe opera."', "Ann dislikes opera", "negative"),
        ("That's why Ann loves being around friends.", "Ann likes being around friends", "positive"),
        ("Please be brief, Ann prefers short answers.", "Ann prefers short answers", "positive"),
        ("Ann has always had a love for horses!", "Ann likes horses", "positive"),
        ("Ann has been into chess since Ann was a child.", "Ann likes chess", "positive"),
        ("Ann has always loved old maps.", "Ann likes old maps", "positive"),
        ("Painting is Ann's favourite hobby.", "Ann likes painting", "positive"),
        ("Chess is one of Ann's biggest passions, and it shows.", "Ann likes Chess", "positive"),
        ("Ann's main hobby is rowing.", "Ann likes rowing", "positive"),
        ("The picture reminded Ann of Ann's love of sailing.", "Ann likes sailing", "positive"),
        ("Ann took the job because Ann loves animals.", "Ann likes animals", "positive"),
        ("Ann can't get enough of crime novels.", "Ann likes crime novels", "positive"),
        ('Ann said: "We love hiking in our valley."', "Ann likes hiking in their valley", "positive"),
        ('Ann said: "I\'m a fan of silent films."', "Ann likes silent films", "positive"),
        ("Ann is keen on gardening - Ann would love a greenhouse.", "Ann likes gardening", "positive"),
    ],
)
def test_likings_and_preferences(text: str, statement: str, polarity: str) -> None:
    read = attitude(text)
    assert (read.statement, read.polarity.value) == (statement, polarity)


@pytest.mark.parametrize(
    "text",
    [
        'Ann asked: "Do I like tea?"',
        "Does Ann like tea?",
        "If Ann was rich Ann would love golf.",
        "Ann would like to visit Japan.",
        'Bob said: "I love wine".',
        'Ann said: Bob wrote "I love wine".',
        "Ann's sister thinks Ann likes opera.",
        "Ann loved the concert.",
        "Ann likes it.",
        "Ann loves how it looks.",
        "Ann and Bob love camping.",
        "When it rains, Ann prefers trams.",
        "Maybe Ann likes tea.",
        "Nobody named here likes tea.",
        "Ann lost Ann's love of sailing.",
        "Ann loves seeing them eat.",
        "Ann's love really carries everybody.",
        "Ann is passionate about making a warm, open house for all.",
        "If it is cheap, Ann buys it because Ann loves bargains.",
        "Bob hopes that Ann loves chess.",
    ],
)
def test_what_asserts_no_liking_of_somebody_is_none(text: str) -> None:
    assert attitudes_of(fact(text)) == []


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Ann also enjoys reading, watching films, and chess.", ["reading", "watching films", "chess"]),
        ("Ann is passionate about dance and fashion, so Ann opened a shop.", ["dance", "fashion"]),
        ("Ann loves action and adventure films.", ["action and adventure films"]),
        ("Ann loves yoga, it is a great way to rest and breathe.", ["yoga"]),
        ("Rowing and sailing are Ann's hobbies.", ["Rowing", "sailing"]),
    ],
)
def test_a_list_of_likings_is_read_thing_by_thing(text: str, topics: list[str]) -> None:
    assert [one.topic for one in attitudes_of(fact(text))] == topics


def test_a_love_of_a_kind_stands_alone_and_one_of_a_thing_at_hand_does_not() -> None:
    assert [attitude(f"Ann loves {topic}.").strength for topic in ("maps", "the map", "Bob's maps")] == [
        LOVED, MOVED, MOVED,
    ]  # fmt: skip


@pytest.mark.parametrize("flag", [INSTRUCTION, PLANNED])
def test_instructions_and_plans_state_none(flag: str) -> None:
    assert attitudes_of(fact("Ann prefers tea.", flags=(flag,))) == []


def test_what_another_says_is_weaker() -> None:
    (own,) = attitudes_of(fact("Ann prefers tea.", speaker="Ann"))
    (told,) = attitudes_of(fact("Bob said: Ann prefers tea.", speaker="Bob"))
    assert (own.strength, told.strength) == (STATED, round(STATED + HEARSAY, 2))


@pytest.mark.parametrize(
    ("text", "statement", "strength"),
    [
        ("I think that Python is easy to learn.", "Python is easy to learn", 0.65),
        ("In my view, the Alps are best in June.", "The Alps are best in June", 0.65),
        ("I am sure that Ann is a careful planner.", "Ann is a careful planner", 0.75),
        ("I guess Python is slow.", "Python is slow", 0.45),
        ("I no longer think that Python is easy to learn.", "Python is not easy to learn", 0.65),
    ],
)
def test_beliefs_of_the_agent(text: str, statement: str, strength: float) -> None:
    read = attitude(text, agent=True)
    assert (read.statement, read.strength) == (statement, strength)


@pytest.mark.parametrize(
    "text",
    [
        "I think you should rest more, Ann.",
        "I think that this is fine.",
        "I think Ann might like opera.",
        "I like Python.",
        'I wrote "I think Python is easy".',
    ],
)
def test_advice_and_what_names_nothing_are_no_beliefs(text: str) -> None:
    assert attitudes_of(fact(text, speaker="assistant", agent=True)) == []


def test_beliefs_of_people_are_no_beliefs_of_the_bank() -> None:
    assert attitudes_of(fact("Bob thinks that Python is easy to learn.", speaker="Bob")) == []


@pytest.mark.parametrize(
    ("belief", "statement", "label"),
    [
        ("Ann likes hiking.", "Ann likes hiking in the Alps.", FOR),
        ("Ann likes hiking.", "Ann sometimes likes hiking.", WEAK),
        ("Ann likes hiking.", "Ann hates hiking in the rain.", WEAK),
        ("Ann likes hiking.", "Ann doesn't like hiking any more.", AGAINST),
        ("Ann likes hiking in the Alps.", "Ann hates hiking.", AGAINST),
        ("Ann likes hiking in the Alps.", "Ann likes hiking.", None),
        ("Ann likes hiking.", "Ann likes tea.", None),
        ("Ann prefers morning meetings.", "Ann prefers meetings in the morning.", FOR),
        ("Ann prefers morning meetings.", "Ann prefers afternoon meetings.", AGAINST),
        ("Ann prefers tea to coffee.", "Ann prefers coffee.", AGAINST),
        ("Ann's favourite food is ramen.", "Ann's favourite food is pho.", AGAINST),
        ("Ann's favourite food is ramen.", "Ann's favourite film is Alien.", None),
    ],
)
def test_what_a_statement_says_of_a_belief(belief: str, statement: str, label: EvidenceLabel | None) -> None:
    assert label_of(position_of(attitude(statement)), position_of(attitude(belief))) is label


def test_an_exception_and_the_rule_are_no_rivals() -> None:
    rule, exception = (
        position_of(attitude("Ann likes hiking.")),
        position_of(attitude("Ann hates hiking in rain.")),
    )
    assert not are_rivals(rule, exception)
    assert are_rivals(rule, position_of(attitude("Ann hates hiking.")))


def test_a_preference_is_the_same_belief_as_a_liking_of_the_same() -> None:
    assert is_same(position_of(attitude("Ann prefers tea.")), position_of(attitude("Ann loves tea.")))
