"""Texts that carry their speaker and date, and texts that only look so."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.retain.request import read_content
from perdure.text.mail import read_mail
from perdure.text.transcript import read_transcript

Turns = list[tuple[str, str, str]]


def turns(text: str) -> Turns | None:
    transcript = read_transcript(text)
    if transcript is None:
        return None
    return [
        (turn.speaker, f"{turn.said_at:%Y-%m-%d %H:%M}" if turn.said_at else "", turn.text)
        for turn in transcript.turns
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[8 May 2023] Caroline: Hey Mel!", [("Caroline", "2023-05-08 00:00", "Hey Mel!")]),
        ("Caroline (2023-05-08 13:56): The group was good.", [("Caroline", "2023-05-08 13:56", "The group was good.")]),
        ("1:56 pm on 8 May, 2023 - Caroline: I went.", [("Caroline", "2023-05-08 13:56", "I went.")]),
        ("[2023-05-08T13:56:00Z] Ann: I moved to Oslo.", [("Ann", "2023-05-08 13:56", "I moved to Oslo.")]),
        ("[08.05.23, 14:12:33] Zoë Brandt: Ich komme.", [("Zoë Brandt", "2023-05-08 14:12", "Ich komme.")]),
        ("[2023-05-08 13:56] +49 171 1234567: ich komme", [("+49 171 1234567", "2023-05-08 13:56", "ich komme")]),
        ("2023-05-08 14:12:33 <ann> I moved", [("ann", "2023-05-08 14:12", "I moved")]),
        ("[14:12] <ann> I moved", [("ann", "", "I moved")]),
        ("14:12:33 From Ann Smith to Everyone : I can't hear you", [("Ann Smith", "", "I can't hear you")]),
        ("Ann, [08.05.23 14:12]\nI moved to Oslo.", [("Ann", "2023-05-08 14:12", "I moved to Oslo.")]),
        ("Caroline: Hey Mel!", [("Caroline", "", "Hey Mel!")]),
    ],
)  # fmt: skip
def test_one_turn_with_its_speaker_and_date(text: str, expected: Turns) -> None:
    assert turns(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[user]\nI am allergic to peanuts.\n\n[assistant]\nNoted:\n\n- no peanuts",
            [("user", "", "I am allergic to peanuts."), ("assistant", "", "Noted:\n\n- no peanuts")],
        ),
        ("[user] I like figs.\n[assistant] Noted.", [("user", "", "I like figs."), ("assistant", "", "Noted.")]),
        ("[Human]: Hi there.\n[AI]: Hello!", [("user", "", "Hi there."), ("assistant", "", "Hello!")]),
        ("[user]\nI like figs.", [("user", "", "I like figs.")]),
        ("[system]\nBe brief.\n\n[user]\nWhere?", [("system", "", "Be brief."), ("user", "", "Where?")]),
    ],
)  # fmt: skip
def test_messages_under_their_roles_in_brackets(text: str, expected: Turns) -> None:
    assert turns(text) == expected


def test_a_whatsapp_export_keeps_lines_together_and_names_what_has_no_words() -> None:
    transcript = read_transcript(
        "08.05.23, 14:12 - Messages and calls are end-to-end encrypted. Learn more.\n"
        "08.05.23, 14:12 - Ann: I moved to Oslo\nand bought a bicycle\n"
        "08.05.23, 14:13 - Ben: \u200ecool\n"
        "09.05.23, 10:00 - Ann: <Media omitted>\n"
        "09.05.23, 10:01 - Ann added Carl"
    )
    assert transcript is not None
    assert [(turn.speaker, turn.text) for turn in transcript.turns] == [
        ("Ann", "I moved to Oslo\nand bought a bicycle"),
        ("Ben", "cool"),
        ("", "Ann added Carl"),
    ]
    assert [line for line, _ in transcript.omitted] == [1, 5]


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("Caroline: Hey Mel!\nMelanie: Hey Caroline! I'm swamped.", ["Caroline", "Melanie"]),
        ("Ann  2:14 PM\nI moved to Oslo.\nBen  2:15 PM\nNice!\nAnn  2:16 PM\nYes", ["Ann", "Ben", "Ann"]),
        ("Ann — 2023-05-08 14:14\nI moved to Oslo.\nBen — 2023-05-08 14:16\nOh, nice!", ["Ann", "Ben"]),
        ("<ann> I moved to Oslo\n<ben> cool", ["ann", "ben"]),
        ("User: I live in Oslo.\nAssistant: Noted!\nUser: And I have a dog.", ["user", "assistant", "user"]),
        ("You said:\nI live in Oslo.\nChatGPT said:\nNoted!", ["user", "ChatGPT"]),
        ("Me: can you come?\nTom: sure, I'll be there\nMe: thanks", ["user", "Tom", "user"]),
        ("ANN: I'm leaving.\nBEN: You can't.\nANN: Watch me.", ["ANN", "BEN", "ANN"]),
        ("Anna: Kommst du morgen?\nBernd: Ja, ich komme.", ["Anna", "Bernd"]),
        ("张伟: 我昨天去了北京\n李娜: 真的吗？\n张伟: 是的", ["张伟", "李娜", "张伟"]),
        (
            "Speaker 1: I agree.\nSpeaker 2: Me too!\nSpeaker 1: Good.",
            ["Speaker 1", "Speaker 2", "Speaker 1"],
        ),
        ("Host: Welcome! How are you?\nGuest: I'm fine.\nHost: Great!", ["Host", "Guest", "Host"]),
        ("**Ann:** I moved.\n**Ben:** Really?\n**Ann:** Yes.", ["Ann", "Ben", "Ann"]),
    ],
)
def test_transcripts_of_several_turns(text: str, speakers: list[str]) -> None:
    assert [speaker for speaker, _, _ in turns(text) or []] == speakers


@pytest.mark.parametrize(
    "text",
    [
        "Note: buy milk",
        "Dentist: Dr. Osei",
        "Warning: do not open!",
        "TODO: call mom",
        "Reminder: I have to call Mom!",
        "Summary: I did it",
        "Q: Where do I live?\nA: You live in Oslo.",
        "https://example.org: yes",
        "[8 May 2023] Note: buy milk",
        "[8 May 2023] Dentist: Dr. Osei",
        "[2023-05-08] Backup: done in 14 minutes flat",
        "2023-05-08 14:12:33 ERROR: I failed!",
        "2026-05-12 14:00 Dentist: Dr. Osei, bring the card you got",
        "2026-05-12: dentist appointment",
        "Name: Ann\nAge: 30\nCity: Oslo",
        "host: a\nport: b\nhost: c",
        "Ann: vegetarian\nBen: no nuts\nCarla: fish",
        "Einstein: physicist\nCurie: chemist\nEinstein: violinist",
        "Albert Einstein: Albert Einstein was a German-born physicist.",
        "Caroline: I must call her back",
        "8:00 Breakfast\n9:00 Gym\n10:00 Meet Ann: talk about you",
        "Photo (8 May 2023): me and Ann at the lake",
        "[done] Ann: I paid the rent",
        "8 May 2023: I went to the dentist.",
        "Python: I love it",
        "Acme: we signed the contract",
        "Berlin, 8 May 2023\nDear Ann, I hope you are well.",
        "Lunch  2:14 PM\nat Joe's\nDentist  4:00 PM\nbring card",
        "<p> Hello you </p>",
        "Dear Ann: I hope you're well.",
        "Pros: I like it!\nCons: you pay!\nPros: cheap",
        "def f():\n    x: int = 3",
        "At 2:14 PM Ann called me.",
        "May 8 14:12:33 myhost sshd: I accept",
    ],
)
def test_what_only_looks_like_a_speaker_is_left_alone(text: str) -> None:
    assert turns(text) is None


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("[08/05/2023, 14:12] Ann: I see.\n[23/05/2023, 14:12] Ann: Bye!", ["2023-05-08", "2023-05-23"]),
        ("[05/08/2023, 14:12] Ann: I see.\n[05/23/2023, 14:12] Ann: Bye!", ["2023-05-08", "2023-05-23"]),
        ("[01/02/2023, 14:12] Ann: I see.\n[12/01/2023, 9:00] Ann: Bye!", ["2023-01-02", "2023-12-01"]),
        ("[11/02/2023] Ann: I see.\n[03/03/2023] Ann: Bye!", ["2023-02-11", "2023-03-03"]),
        ("[08.05.2023] Ann: I see you.", ["2023-05-08"]),
        ("[5/8/23, 2:14 PM] Ann: I see you.", ["2023-05-08"]),
        ("[05/08/23, 14:14] Ann: I see you.", ["2023-08-05"]),
    ],
)
def test_day_or_month_first_is_decided_by_what_the_text_shows(text: str, days: list[str]) -> None:
    assert [when[:10] for _, when, _ in turns(text) or []] == days


def test_a_date_that_could_be_read_in_two_ways_is_named_and_not_read() -> None:
    reading = read_content("[05/08/2023] Ann: I moved to Oslo.", {})
    assert (reading.items[0].speaker, reading.items[0].timestamp) == ("Ann", None)
    assert "05/08/2023" in reading.passed_over[0].reason
    assert reading.passed_over[0].path == "content, line 1"


def test_a_mail_is_said_by_its_sender_on_its_date() -> None:
    text = (
        "From: =?utf-8?q?Zo=C3=AB?= Brandt <zoe@example.org>\nTo: Ben <ben@example.org>\n"
        "Date: Mon, 8 May 2023 13:56:00 +0200\nSubject: Oslo\n\nI moved to Oslo.\n> Where do you live?\n-- \nZoë"
    )
    (item,) = read_content(text, {}).items
    assert (item.speaker, item.title, item.context) == ("Zoë Brandt", "Oslo", "mail to Ben")
    assert item.timestamp == datetime(2023, 5, 8, 11, 56, tzinfo=UTC)
    assert item.content == "I moved to Oslo."


def test_a_mail_says_what_its_sender_wrote_without_quotations_and_signature() -> None:
    mail = read_mail(
        "From: Zoe Marsh <zoe@example.org>\nSubject: New flat\nDate: Tue, 5 Mar 2024 18:20:00 +0100\n\n"
        "I signed the lease.\n\nOn Mon, 4 Mar 2024 at 09:00, Ann Lind\n<ann@example.org> wrote:\n> Did you sign?\n"
        "> I live in Berlin now.\n\nI am moving in on 1 April.\n-- \nZoe Marsh | Senior Analyst\n"
    )
    assert mail is not None
    assert mail.body.split("\n\n") == ["I signed the lease.", "\nI am moving in on 1 April."]
