"""Fact extraction by rules over a tagger's sentences, without a language model."""

from perdure.extract.local.extractor import LocalExtractor

__all__ = ["LocalExtractor"]
