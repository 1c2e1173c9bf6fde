"""Choosing a tagger by what is installed."""

from __future__ import annotations

import logging

from perdure.errors import InvalidInput
from perdure.models.rule_tagger import RuleTagger
from perdure.models.spacy_tagger import SpacyTagger, find_pipeline
from perdure.ports.tagger import Tagger

_LOG = logging.getLogger(__name__)


def choose_tagger(name: str = "auto") -> Tagger:
    """`spacy`, `rules`, or with `auto` spaCy where it and an English model are installed, else the rules."""
    if name == "rules":
        return RuleTagger()
    if name == "spacy":
        return SpacyTagger()
    if name != "auto":
        raise InvalidInput("tagger", "auto, spacy or rules", name)
    if find_pipeline() is None:
        _LOG.info(
            "no English spaCy pipeline is installed: tagging by rules (pip install 'perdure[nlp]' for better facts)"
        )
        return RuleTagger()
    return SpacyTagger()
