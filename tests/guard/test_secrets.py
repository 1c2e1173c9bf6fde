"""Secrets are recognised by their format and masked; everything else stays as it was written."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.guard import mask_secrets

UPPER, LOWER, DIGITS, HEX = string.ascii_uppercase, string.ascii_lowercase, string.digits, "0123456789abcdef"
WORD = string.ascii_letters + DIGITS


def _make(pattern: str, random: random.Random) -> str:
    """Return a secret: `{alphabet*length}` stands for that number of random characters."""
    alphabets = {"w": WORD, "h": HEX, "U": UPPER + DIGITS, "l": LOWER + DIGITS, "d": DIGITS, "b": WORD + "+/"}
    parts = []
    for part in pattern.split("{"):
        spec, _, rest = part.rpartition("}")
        if spec:
            alphabet, _, length = spec.partition("*")
            parts.append("".join(random.choice(alphabets[alphabet]) for _ in range(int(length))))
        parts.append(rest)
    return "".join(parts)


FORMATS = {
    "aws access key": "AKIA{U*16}",
    "github token": "ghp_{w*36}",
    "github fine-grained token": "github_pat_{w*22}_{w*59}",
    "gitlab token": "glpat-{w*20}",
    "openai key": "sk-{w*20}T3BlbkFJ{w*20}",
    "openai project key": "sk-proj-{w*60}7a",
    "anthropic key": "sk-ant-api03-{w*90}AA",
    "google key": "AIza{w*35}",
    "hugging face token": "hf_{w*34}",
    "slack bot token": "xoxb-{d*12}-{d*12}-{w*24}",
    "stripe key": "sk_live_{w*24}",
    "sendgrid key": "SG.{w*22}.{w*43}",
    "npm token": "npm_{w*36}",
    "pypi token": "pypi-AgEIcHlwaS5vcmc{w*80}",
    "json web token": "eyJ{w*30}.eyJ{w*60}.{w*43}",
    "telegram token": "{d*9}:AA{w*33}",
    "digitalocean token": "dop_v1_{h*64}",
    "databricks token": "dapi{h*32}",
    "discord webhook": "https://discord.com/api/webhooks/{d*18}/{w*68}",
    "vault token": "hvs.{w*90}",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n{b*64}\n{b*64}\n-----END RSA PRIVATE KEY-----",
}
VALUES = {
    "password in an assignment": ("DB_PASSWORD={}", "{w*6}7x{w*4}"),
    "password in a sentence with a colon": ("the wifi password: {}", "{w*5}9z{w*3}!"),
    "password in a URL": ("postgres://app:{}@db.internal:5432/main", "{w*12}"),
    "api key in YAML": ("api_key: '{}'", "{w*24}3d"),
    "secret in Python": ('client_secret = "{}"', "{w*32}4f"),
    "aws secret": ("aws_secret_access_key = {}", "{b*40}"),
    "authorization header": ('curl -H "Authorization: Bearer {}"', "{w*40}"),
}
MESSAGES = (
    "{}",
    "here you go: {}",
    "why does this fail?\n\n    {}\n\nthanks",
    "I put {} into the .env file, is that ok?",
    "log line 14:03:22 {} rejected",
)


def test_planted_secrets_are_masked() -> None:
    generator = random.Random(20)
    planted = missed = 0
    for number in range(12):
        for pattern in FORMATS.values():
            secret = _make(pattern, generator)
            masked = mask_secrets(MESSAGES[number % len(MESSAGES)].format(secret))
            planted, missed = planted + 1, missed + (secret in masked.text or not masked.secrets)
        for around, pattern in VALUES.values():
            secret = _make(pattern, generator)
            masked = mask_secrets(MESSAGES[number % len(MESSAGES)].format(around.format(secret)))
            planted, missed = planted + 1, missed + (secret in masked.text)
    assert planted >= 300
    assert missed <= 0.05 * planted


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("pay with 4111 1111 1111 1111 please", "pay with [secret: card number] please"),
        ("amex 378282246310005", "amex [secret: card number]"),
        ("IBAN DE89 3704 0044 0532 0130 00, thanks", "IBAN [secret: iban], thanks"),
        ("GB82WEST12345698765432", "[secret: iban]"),
    ],
)
def test_card_numbers_and_ibans_are_recognised_by_their_checksum(text: str, masked: str) -> None:
    assert mask_secrets(text).text == masked


@pytest.mark.parametrize(
    "text",
    [
        "order 4111 1111 1111 1112 has arrived",
        "tracking number 123456789012345",
        "DE89 3704 0044 0532 0130 01 is mistyped",
        "my password is on a sticky note",
        "password: the one we always use",
        "token = tokenizer.next()",
        "api_key=os.environ['API_KEY']",
        "api_key: YOUR_API_KEY",
        "password=${DB_PASSWORD}",
        "POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?set one}",
        "secret: str = ''",
        "commit 12953b82c0ffee0123456789abcdef0123456789",
        "uuid 123e4567-e89b-12d3-a456-426614174000",
        "call me at +49 170 1234567",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert mask_secrets(text).text == text


def test_every_secret_of_a_text_is_named_in_order() -> None:
    text = f"key AKIA{'Q7' * 8} and token ghp_{'aB3' * 12}"
    assert mask_secrets(text).secrets == ("aws access key", "github token")


@given(st.text(max_size=200))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    once = mask_secrets(text).text
    assert mask_secrets(once).text == once


def test_the_source_and_docs_of_the_project_have_no_secrets() -> None:
    root = Path(__file__).parents[2]
    files = [*root.glob("src/perdure/**/*.py"), *root.glob("docs/**/*.md"), *root.glob("*.md")]
    masked = {path.name: mask_secrets(path.read_text(encoding="utf-8")).secrets for path in files}
    assert not {name: secrets for name, secrets in masked.items() if secrets}
