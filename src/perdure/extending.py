"""Functions for packages that extend Perdure with importers, adapters and servers: reading what others wrote, and archives."""

from __future__ import annotations

from perdure.documents.document import LEADS_OUT, leads_out
from perdure.documents.mail_file import read_mail_file
from perdure.documents.reader import read_file
from perdure.domain.fact import RESTATED_AS
from perdure.llm.prompt import load as load_prompt
from perdure.manage.document_history import DocumentEvent
from perdure.manage.transfer import bounded_lines, chosen_lines
from perdure.retain.messages import (
    SILENT_ROLES,
    MessageText,
    as_mapping,
    as_message,
    moment_of,
    read_message,
    role_of,
    speaker_of,
)
from perdure.retain.request import read_content, read_item
from perdure.text.fence import strip_fenced
from perdure.text.mail import person
from perdure.text.moments import read_moment
from perdure.text.stamps import STAMP_PATTERN, DayOrder, decide_day_order, read_stamp
from perdure.text.transcript import SpokenTurn, Transcript, read_transcript

__all__ = [
    "LEADS_OUT",
    "RESTATED_AS",
    "SILENT_ROLES",
    "STAMP_PATTERN",
    "DayOrder",
    "DocumentEvent",
    "MessageText",
    "SpokenTurn",
    "Transcript",
    "as_mapping",
    "as_message",
    "bounded_lines",
    "chosen_lines",
    "decide_day_order",
    "leads_out",
    "load_prompt",
    "moment_of",
    "person",
    "read_content",
    "read_file",
    "read_item",
    "read_mail_file",
    "read_message",
    "read_moment",
    "read_stamp",
    "read_transcript",
    "role_of",
    "speaker_of",
    "strip_fenced",
]
