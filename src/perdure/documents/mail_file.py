"""Mails as files (EML), by the standard library."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage

from perdure.documents.document import FileText
from perdure.documents.html import read_html
from perdure.errors import InvalidInput
from perdure.text.mail import own_words, person, read_mail_date


def read_mail_file(data: bytes, name: str) -> FileText:
    """Read the main body, with the sender as speaker."""
    message = message_from_bytes(data, policy=policy.default)
    assert isinstance(message, EmailMessage)
    body = message.get_body(("plain", "html"))
    try:
        content = body.get_content() if body is not None else ""
    except (LookupError, KeyError, ValueError) as error:
        raise InvalidInput(name, "a mail whose text can be read") from error
    if body is not None and body.get_content_subtype() == "html":
        content = read_html(str(content).encode(), name).text
    if not str(content).strip():
        raise InvalidInput(name, "a mail with text")
    return FileText(
        text=own_words(str(content)),
        title=str(message["Subject"] or "").strip(),
        written_at=read_mail_date(str(message["Date"] or "")),
        speaker=person(str(message["From"])) if message["From"] else "",
    )
