"""The network: a BERT encoder with heads for relevance, answers, spans, meaning, names and effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from lab.names import TAGS
from perdure.ports.reader import ABOUTS, EFFECTS, MEANINGS


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the encoder."""

    layers: int = 6
    width: int = 384
    heads: int = 12
    inner: int = 1536
    vocabulary: int = 30522
    positions: int = 512
    dropout: float = 0.1


class Outputs(NamedTuple):
    """Logits of all heads: (batch, classes), and (batch, tokens, classes) for spans and tags."""

    relevance: Tensor
    answers: Tensor
    spans: Tensor
    meaning: Tensor
    about: Tensor
    tags: Tensor
    effect: Tensor


class Layer(nn.Module):
    """One transformer layer, normalised after each half."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.out = nn.Linear(shape.width, shape.width)
        self.attention_norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.up = nn.Linear(shape.width, shape.inner)
        self.down = nn.Linear(shape.inner, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return the next states; `mask` is (batch, 1, 1, tokens), added to the attention scores."""
        batch, tokens, width = states.shape
        query, key, value = (
            part.view(batch, tokens, self.heads, -1).transpose(1, 2)
            for part in self.qkv(states).chunk(3, dim=-1)
        )
        # Written out: the fused kernel for CPUs takes twice as long backwards at these lengths.
        scores = query @ key.transpose(-1, -2) * (width // self.heads) ** -0.5 + mask.to(query.dtype)
        attended = scores.softmax(-1).to(value.dtype) @ value
        attended = attended.transpose(1, 2).reshape(batch, tokens, width)
        states = self.attention_norm(states + self.out(attended))
        inner = self.down(functional.gelu(self.up(states)))
        normed: Tensor = self.norm(states + self.dropout(inner))
        return normed


class ReaderNetwork(nn.Module):
    """The encoder and its heads. Which head is read depends on the layout of the input."""

    def __init__(self, shape: Shape | None = None) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        self.words = nn.Embedding(shape.vocabulary, shape.width, sparse=True)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.types = nn.Embedding(2, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.dropout = nn.Dropout(shape.dropout)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.pooler = nn.Linear(shape.width, shape.width)
        self.relevance = nn.Linear(shape.width, 1)
        self.answers = _head(shape.width, 1)
        self.spans = nn.Linear(shape.width, 2)
        self.meaning = _head(shape.width, len(MEANINGS))
        self.about = _head(shape.width, len(ABOUTS))
        self.tags = nn.Linear(shape.width, len(TAGS))
        self.effect = _head(shape.width, len(EFFECTS))

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> Outputs:
        """Return the logits of all heads for (batch, tokens) of ids, mask and segment types."""
        positions = torch.arange(ids.shape[1], device=ids.device)
        states = self.words(ids) + self.positions(positions) + self.types(types)
        states = self.dropout(self.norm(states))
        added = (1.0 - mask.to(states.dtype))[:, None, None, :] * -10000.0
        for layer in self.layers:
            states = layer(states, added)
        first = states[:, 0]
        shown = mask.to(states.dtype)[:, :, None]
        both = torch.cat([first, (states * shown).sum(1) / shown.sum(1)], dim=-1)
        return Outputs(
            self.relevance(torch.tanh(self.pooler(first))),
            self.answers(both),
            self.spans(states),
            self.meaning(both),
            self.about(both),
            self.tags(states),
            self.effect(both),
        )

    def start_from(self, weights: Mapping[str, Tensor], layers: list[int]) -> None:
        """Take over BERT weights (names of `lab.starts`), of the layers given; the other heads stay as they are."""
        named = {name.removeprefix("bert."): tensor for name, tensor in weights.items()}
        with torch.no_grad():
            self.words.weight.copy_(named["embeddings.word_embeddings.weight"])
            for mark in (2, 3):  # [unused1] and [unused2] begin as another [CLS], which is 101.
                self.words.weight[mark] = self.words.weight[101]
            self.positions.weight.copy_(named["embeddings.position_embeddings.weight"])
            self.types.weight.copy_(named["embeddings.token_type_embeddings.weight"])
            _copy(self.norm, named, "embeddings.LayerNorm")
            for layer, number in zip(self.layers, layers, strict=True):
                assert isinstance(layer, Layer)
                prefix = f"encoder.layer.{number}"
                for kind in ("weight", "bias"):
                    parts = [
                        named[f"{prefix}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")
                    ]
                    getattr(layer.qkv, kind).copy_(torch.cat(parts))
                _copy(layer.out, named, f"{prefix}.attention.output.dense")
                _copy(layer.attention_norm, named, f"{prefix}.attention.output.LayerNorm")
                _copy(layer.up, named, f"{prefix}.intermediate.dense")
                _copy(layer.down, named, f"{prefix}.output.dense")
                _copy(layer.norm, named, f"{prefix}.output.LayerNorm")
            if "classifier.weight" in named:
                _copy(self.pooler, named, "pooler.dense")
                _copy(self.relevance, named, "classifier")


def _head(width: int, classes: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, classes))


def _copy(module: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    module.weight.copy_(weights[f"{name}.weight"])  # type: ignore[operator]
    module.bias.copy_(weights[f"{name}.bias"])  # type: ignore[operator]
