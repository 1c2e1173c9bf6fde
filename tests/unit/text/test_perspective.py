"""Whose words a question is about."""

from __future__ import annotations

import pytest

from perdure.domain.item import AGENT_ROLES
from perdure.text.perspective import USER_ROLES, asked_roles


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend for my back pain?",
        "Can you remind me of the hotel you suggested?",
        "In our previous conversation there was a recipe. What was in it?",
        "Which book had you already mentioned?",
    ],
)
def test_what_the_agent_said(question: str) -> None:
    assert asked_roles(question) == AGENT_ROLES


@pytest.mark.parametrize(
    "question",
    [
        "Can you recommend some podcasts for my commute?",
        "When did I buy the bike?",
        "What would help me sleep?",
    ],
)
def test_what_the_user_said_of_themselves(question: str) -> None:
    assert asked_roles(question) == USER_ROLES


@pytest.mark.parametrize("question", ["Where does Ann live?", "Who won in 1998?", ""])
def test_nobody_in_particular(question: str) -> None:
    assert asked_roles(question) == frozenset()
