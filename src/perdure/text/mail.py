"""Mails pasted as text: who sent it and when, from the headers at the top."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.utils import parseaddr, parsedate_to_datetime

from perdure.domain.time import aware
from perdure.text.stamps import STAMP_PATTERN, decide_day_order, read_stamp

_FIELDS = {
    "from": "from", "von": "from", "de": "from", "da": "from", "van": "from",
    "to": "to", "an": "to", "para": "to", "à": "to", "a": "to", "aan": "to",
    "date": "date", "sent": "date", "datum": "date", "gesendet": "date", "enviado": "date", "fecha": "date",
    "envoyé": "date", "inviato": "date", "data": "date", "verzonden": "date",
    "subject": "subject", "betreff": "subject", "asunto": "subject", "objet": "subject", "oggetto": "subject",
    "assunto": "subject", "onderwerp": "subject",
}  # fmt: skip
_HEADER = re.compile(r"(?P<name>[A-Za-zÀ-ÿ][\wÀ-ÿ-]{0,40})\s?:[ \t]*(?P<value>.*)")
_STAMP = re.compile(STAMP_PATTERN, re.IGNORECASE)


_QUOTED = re.compile(r"\s?>")
_SIGNATURE = re.compile(r"-- ?")
_DEVICE = re.compile(
    r"\b(?:iphone|ipad|android|samsung|galaxy|pixel|blackberry|outlook|yahoo mail|proton ?mail|gmail)\b",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"(?:sent (?:from|via)|get outlook for|gesendet (?:von|mit|über)|von meinem .{1,40} gesendet|envoyé (?:de|depuis)|"
    r"enviado (?:desde|do|de|con)|inviato da|verzonden (?:vanaf|met|via))\b.{0,80}",
    re.IGNORECASE,
)
"""With `_DEVICE` the line that a phone or a mail program puts below: "Sent from my iPhone"."""
_ATTRIBUTION = re.compile(
    r"(?:On|Am|El|Le|Il|Em|Op)\b.{4,200}(?:wrote|schrieb|escribió|a écrit|ha scritto|escreveu|schreef)\b.{0,80}:",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(
    r"-{2,}\s*(?:original message|ursprüngliche nachricht|mensaje original|message d'origine)\s*-{2,}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail: what its sender wrote in it, without quotations and signature."""

    sender: str
    body: str
    sent_at: datetime | None = None
    subject: str = ""
    to: str = ""


def read_mail(text: str) -> Mail | None:
    """Return the text as a mail: it begins with headers that name a sender's address, or a sender and a subject; else None."""
    head, body = _split(text)
    fields: dict[str, str] = {}
    for name, value in head:
        field = _FIELDS.get(name.casefold())
        if field:
            fields.setdefault(field, value)
    sender = fields.get("from", "")
    if not sender or len(fields) < 2 or not body.strip():
        return None
    if "@" not in sender and "subject" not in fields:
        return None
    return Mail(
        sender=person(sender),
        body=own_words(body),
        sent_at=read_mail_date(fields.get("date", "")),
        subject=decoded(fields.get("subject", "")),
        to=", ".join(person(one) for one in re.split(r"[;,]\s*", fields.get("to", "")) if one.strip()),
    )


def _split(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the headers at the top, folded lines joined, and what follows them."""
    lines = text.lstrip("\ufeff\n\r ").splitlines()
    head: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        match = _HEADER.fullmatch(line.strip()) if line[:1] not in (" ", "\t") else None
        if match:
            head.append((match["name"], match["value"].strip()))
        elif head and line.strip() and line[:1] in (" ", "\t"):
            head[-1] = (head[-1][0], f"{head[-1][1]} {line.strip()}")
        else:
            return head, "\n".join(lines[number:])
    return head, ""


def own_words(body: str) -> str:
    """Return the body without what the sender did not say in it: quoted mails, the lines that announce them, the signature.

    A body that is nothing else stays as it is.
    """
    kept: list[str] = []
    lines = body.splitlines()
    for number, line in enumerate(lines):
        if _SIGNATURE.fullmatch(line) or _ORIGINAL.fullmatch(line.strip()):
            break
        if not _QUOTED.match(line) and not _announces(lines, number) and not _by_device(line.strip()):
            kept.append(line)
    return "\n".join(kept).strip() or body.strip()


def _by_device(line: str) -> bool:
    return bool(_SENT.fullmatch(line) and _DEVICE.search(line))


def _announces(lines: list[str], number: int) -> bool:
    """Return whether the line, perhaps with one beside it, announces a quotation: "On 4 March Ann wrote:"."""
    around = (
        lines[number],
        " ".join(lines[number : number + 2]),
        " ".join(lines[max(number - 1, 0) : number + 1]),
    )
    ends = (number + 1, number + 2, number + 1)
    return any(
        _ATTRIBUTION.fullmatch(text.strip()) and any(_QUOTED.match(line) for line in lines[end : end + 3])
        for text, end in zip(around, ends, strict=True)
    )


def person(address: str) -> str:
    """Return the name in an address (`Ann Smith <ann@x.org>`), or the address where there is none."""
    plain = decoded(address)
    if "@" not in plain:
        return plain.strip(" '\"<>")
    name, mailbox = parseaddr(plain)
    return name.strip(" '\"") or mailbox or address.strip()


def decoded(value: str) -> str:
    """Return a header's text, also of one in encoded words (`=?utf-8?q?...?=`)."""
    try:
        return str(make_header(decode_header(value))).strip()
    except (HeaderParseError, LookupError, ValueError):
        return value.strip()


def read_mail_date(value: str) -> datetime | None:
    """Return a date as mail programs write it: RFC 5322, or as Outlook shows it; None if it cannot be read, or in two ways."""
    try:
        return aware(parsedate_to_datetime(value))
    except (ValueError, TypeError, IndexError):
        match = _STAMP.search(value)
    stamp = read_stamp(match[0]) if match else None
    if stamp is None or not stamp.has_date:
        return None
    return stamp.moment(decide_day_order([stamp]))
