"""Typed readers: each reads recalled facts for one kind of answer and gives it in a few words, with its facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from perdure.reflect.asked import Asked, AskedKind
from perdure.reflect.passages import Passage
from perdure.reflect.readers.choice import read_choice
from perdure.reflect.readers.conclusion import read_conclusion
from perdure.reflect.readers.how_long import read_how_long
from perdure.reflect.readers.how_many import read_how_many
from perdure.reflect.readers.listing import read_list
from perdure.reflect.readers.reading import Reader, Reading
from perdure.reflect.readers.slot import read_slot
from perdure.reflect.readers.what import read_what
from perdure.reflect.readers.when import read_when
from perdure.reflect.readers.where import read_where
from perdure.reflect.readers.who import read_who
from perdure.reflect.readers.why import read_how, read_why
from perdure.reflect.readers.yes_no import read_yes_no

READERS: Mapping[AskedKind, tuple[Reader, ...]] = {
    AskedKind.WHO: (read_slot, read_who),
    AskedKind.WHERE: (read_slot, read_where, read_what),
    AskedKind.WHEN: (read_when,),
    AskedKind.HOW_LONG: (read_how_long,),
    AskedKind.HOW_MANY: (read_how_many,),
    AskedKind.CHOICE: (read_choice,),
    AskedKind.YES_NO: (read_yes_no, read_conclusion),
    AskedKind.LATEST: (read_slot, read_what),
    AskedKind.LIST: (read_list,),
    AskedKind.WHY: (read_why, read_what),
    AskedKind.HOW: (read_how,),
    AskedKind.WHAT: (read_what,),
}
"""Kind of question -> its readers; the first that gives an answer ends it."""


def read_answer(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """The short answer to a question, None when its readers find none."""
    for reader in READERS[asked.kind]:
        reading = reader(asked, passages)
        if reading is not None and reading.answer.strip():
            return reading
    return None
