"""The baseline extractor: a turn is one fact, as it was said."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.fact import FactType
from perdure.ports.extractor import ExtractedFact, Turn
from perdure.ports.tagger import Mention, Tagger


class VerbatimExtractor:
    """Makes each turn one fact, with the speaker in front."""

    def __init__(self, tagger: Tagger | None = None) -> None:
        self._tagger = tagger

    @property
    def name(self) -> str:
        """Name of the extractor."""
        return "verbatim"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """One fact per turn, none of instructions to the agent; mentions only with a tagger."""
        kept = [index for index, turn in enumerate(turns) if _is_read(turn)]
        mentions = self._mentions([turns[index] for index in kept])
        return [_verbatim(turns[index], index, named) for index, named in zip(kept, mentions, strict=True)]

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """`extract` for several documents."""
        return [self.extract(turns) for turns in documents]

    def _mentions(self, turns: Sequence[Turn]) -> list[tuple[Mention, ...]]:
        if self._tagger is None:
            return [()] * len(turns)
        names = sorted({turn.speaker for turn in turns if turn.speaker})
        return [tuple(mentions) for mentions in self._tagger.tag([turn.text for turn in turns], names)]


def _is_read(turn: Turn) -> bool:
    return turn.fresh and bool(turn.text.strip()) and not turn.is_instruction


def _verbatim(turn: Turn, index: int, mentions: tuple[Mention, ...]) -> ExtractedFact:
    text = turn.text.strip()
    label = f"{turn.speaker}: " if turn.speaker else ""
    start = turn.text.index(text)
    shift = len(label) - start
    return ExtractedFact(
        text=label + text,
        turn=index,
        source_text=text,
        start=start,
        type=FactType.EXPERIENCE if turn.is_agent or turn.is_data else FactType.WORLD,
        mentions=tuple(Mention(m.text, m.type, m.start + shift, m.end + shift) for m in mentions),
    )
