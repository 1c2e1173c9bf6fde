"""The losses of each task."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from lab.batches import Batch
from lab.encoder import Outputs
from lab.examples import UNKNOWN
from perdure.ports.reader import EFFECTS, MEANINGS

_TEACHER_SCALE = 4.0
_LISTWISE_TEMPERATURE = 2.0


class Losses:
    """Weighs classes by how rare they are in the training data, by the square root."""

    def __init__(self, meanings: Tensor, effects: Tensor) -> None:
        self._meaning = _weights(meanings, len(MEANINGS))
        self._effect = _weights(effects, len(EFFECTS))

    def __call__(self, outputs: Outputs, batch: Batch) -> dict[str, Tensor]:
        """Return the losses of a batch by name; their sum is what training reduces."""
        if batch.task == "question":
            return _question(outputs, batch)
        if batch.task == "statement":
            losses = {
                "meaning": functional.cross_entropy(
                    outputs.meaning, batch.meaning, self._meaning, label_smoothing=0.05
                ),
                "about": 0.5 * functional.cross_entropy(outputs.about, batch.about),
            }
            if (batch.tags != UNKNOWN).any():
                losses["tags"] = functional.cross_entropy(
                    outputs.tags.flatten(0, 1), batch.tags.flatten(), ignore_index=UNKNOWN
                )
            return losses
        return {
            "effect": functional.cross_entropy(
                outputs.effect, batch.effect, self._effect, label_smoothing=0.02
            )
        }


def _question(outputs: Outputs, batch: Batch) -> dict[str, Tensor]:
    losses: dict[str, Tensor] = {}
    answers, relevance = outputs.answers[:, 0], outputs.relevance[:, 0]
    labelled = batch.answers != UNKNOWN
    if labelled.any():
        losses["answers"] = functional.binary_cross_entropy_with_logits(
            answers[labelled], batch.answers[labelled].float()
        )
    taught = ~batch.relevance.isnan()
    if taught.any():
        difference = (relevance[taught] - batch.relevance[taught]) / _TEACHER_SCALE
        losses["relevance"] = 0.5 * difference.square().mean()
    lists: list[Tensor] = []
    orders: list[Tensor] = []
    for number in range(int(batch.group.max()) + 1):
        rows = batch.group == number
        known = rows & taught
        if int(known.sum()) > 1:
            target = (batch.relevance[known] / _LISTWISE_TEMPERATURE).softmax(0)
            lists.append(-(target * (relevance[known] / _LISTWISE_TEMPERATURE).log_softmax(0)).sum())
        right = batch.answers[rows] == 1
        if right.any():
            first = right.float().argmax()
            orders.append(-answers[rows].log_softmax(0)[first] - 0.5 * relevance[rows].log_softmax(0)[first])
    if lists:
        losses["list"] = 0.3 * torch.stack(lists).mean()
    if orders:
        losses["order"] = 0.3 * torch.stack(orders).mean()
    spans = outputs.spans.masked_fill(~batch.text[:, :, None], -1e4)
    with_span = batch.spans[:, 0] != UNKNOWN
    if with_span.any():
        start, end = spans[with_span].unbind(-1)
        losses["span"] = 0.5 * (
            functional.cross_entropy(start, batch.spans[with_span, 0])
            + functional.cross_entropy(end, batch.spans[with_span, 1])
        )
    return losses


def _weights(labels: Tensor, classes: int) -> Tensor:
    counts = torch.bincount(labels, minlength=classes).float().clamp(min=5)
    weights = counts.rsqrt()
    return weights / weights.mean()
