"""Fact extraction by a language model: it words the facts, the code checks them."""

from perdure.extract.llm.extractor import LlmExtractor

__all__ = ["LlmExtractor"]
