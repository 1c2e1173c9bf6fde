"""The reader: one small ONNX model that finds answers, and reads meaning, names and effects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perdure.errors import ModelError, ModelMissing
from perdure.models.manifest import ModelSpec
from perdure.models.reader_input import InputLayout, Limits, ReaderInput
from perdure.models.run_limiter import ModelRunLimiter, shared_run_limiter
from perdure.models.weights import Places, Weights, find_weights
from perdure.ports.embedder import Vector
from perdure.ports.reader import (
    ABOUTS,
    EFFECTS,
    MEANINGS,
    NAME_TYPES,
    AnswerReading,
    EffectReading,
    MeaningReading,
    Name,
    PlacedStatement,
    Reader,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SHIPPED = Path(__file__).parent / "weights"
"""The folder of the weights in the package."""
_CARD, _GRAPH, _TOKENIZER = "reader.toml", "reader.onnx", "tokenizer.json"
_HEADS = {"meanings": MEANINGS, "abouts": ABOUTS, "effects": EFFECTS, "name_types": NAME_TYPES}
_LONGEST_SPAN = 40
_UNREADABLE = EffectReading({**dict.fromkeys(EFFECTS, 0.0), "unrelated": 1.0})
Logits = NDArray[np.float32]


class _Calibration(NamedTuple):
    """Turns the logits of a quantised head into probabilities."""

    scale: float
    bias: NDArray[np.float64]

    def probabilities(self, logits: Logits) -> NDArray[np.float64]:
        """Return the softmax over the last axis."""
        scaled = logits.astype(np.float64) * self.scale + self.bias
        exponents = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
        shares: NDArray[np.float64] = exponents / exponents.sum(axis=-1, keepdims=True)
        return shares


class OnnxReader:
    """The reader that comes with the package, or the one in `folder`.

    Weights are read and checked on first use; missing ones raise `ModelMissing`, changed ones `ModelTampered`. Each
    input is run alone, so that no reading depends on the others of a call (dynamic int8 scales activations over the
    whole batch); inputs run in parallel, the longest first, as far as the process's limit on model runs allows.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limiter: ModelRunLimiter | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._folder = folder or SHIPPED
        self._limiter = limiter or shared_run_limiter()
        self._limits = limits

    @property
    def name(self) -> str:
        """Name and version of the model."""
        return f"{self._card['name']}-{self._card['version']}"

    def answers(
        self, question: str, asker: str, statements: Sequence[PlacedStatement]
    ) -> Sequence[AnswerReading]:
        """Return one reading per statement; a long statement counts as its best window of 128 tokens.

        A question in a script that the model cannot read raises `ModelError`: every statement of that script would
        answer it.
        """
        if not statements:
            return []
        if not self._model.layout.can_read(question):
            raise ModelError(f"{self.name} does not read the script of this question")
        windows = [
            (row, window)
            for row, each in enumerate(self._model.layout.question(question, asker, statements))
            for window in each
        ]
        readings = zip(windows, self._run([window for _, window in windows], "question"), strict=True)
        return [
            self._answer([(window, outputs) for (_, window), outputs in each])
            for _, each in groupby(readings, key=lambda reading: reading[0][0])
        ]

    def meanings(self, statements: Sequence[PlacedStatement]) -> Sequence[MeaningReading]:
        """Return one reading per statement; of long ones the first 160 tokens are read."""
        inputs = [self._model.layout.statement(statement) for statement in statements]
        return [
            MeaningReading(
                self._shares("meaning", outputs["meaning"], MEANINGS),
                self._shares("about", outputs["about"], ABOUTS),
                _names(read, outputs["tags"], statement.text),
            )
            for statement, read, outputs in zip(
                statements, inputs, self._run(inputs, "statement"), strict=True
            )
        ]

    def effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> Sequence[EffectReading]:
        """Return one reading per pair of an earlier and a later statement.

        Statements in a script that the model cannot read have no effect on each other.
        """
        can_read = self._model.layout.can_read
        readable = [pair for pair in pairs if all(can_read(statement.text) for statement in pair)]
        inputs = [self._model.layout.pair(earlier, later) for earlier, later in readable]
        readings = {
            pair: EffectReading(self._shares("effect", outputs["effect"], EFFECTS))
            for pair, outputs in zip(readable, self._run(inputs, "pair"), strict=True)
        }
        return [readings.get(pair, _UNREADABLE) for pair in pairs]

    def _answer(self, windows: Sequence[tuple[ReaderInput, Mapping[str, Logits]]]) -> AnswerReading:
        relevance = max(float(outputs["relevance"][0]) for _, outputs in windows)
        read, best = max(windows, key=lambda window: float(window[1]["answers"][0]))
        probability = self._model.calibrations["answers"].probabilities(
            np.array([0.0, best["answers"][0]], np.float32)
        )
        return AnswerReading(relevance, float(probability[1]), best_span(read, best["spans"]))

    def _shares(self, head: str, logits: Logits, labels: Sequence[str]) -> dict[str, float]:
        shares = self._model.calibrations[head].probabilities(logits)
        return dict(zip(labels, shares.tolist(), strict=True))

    def _run(self, inputs: Sequence[ReaderInput], task: str) -> list[Mapping[str, Logits]]:
        model = self._model
        order = sorted(range(len(inputs)), key=lambda row: -len(inputs[row].ids))
        outputs: list[Mapping[str, Logits]] = [{}] * len(inputs)
        results = self._limiter.map(lambda row: model.run(inputs[row], task), order)
        for row, result in zip(order, results, strict=True):
            outputs[row] = result
        return outputs

    @cached_property
    def _card(self) -> dict[str, Any]:
        path = self._folder / _CARD
        try:
            card = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ModelMissing(f"reader: {path} cannot be read: {error}") from error
        for head, labels in _HEADS.items():
            if tuple(card.get("labels", {}).get(head, ())) != labels:
                raise ModelError(f"reader: {path} was made for other {head} than this version reads")
        return card

    @cached_property
    def spec(self) -> ModelSpec:
        """The model as a manifest describes it."""
        return ModelSpec(
            name=self.name, kind="reranker", family="reader", max_tokens=512, model_file=_GRAPH,
            tokenizer_file=_TOKENIZER, licence=self._card["licence"], sha256=self._card["sha256"],
        )  # fmt: skip

    @cached_property
    def weights(self) -> Weights:
        """The files of the model."""
        return find_weights(self.spec, Places(folder=self._folder))

    @cached_property
    def _model(self) -> _Model:
        calibrations = {
            head: _Calibration(values["scale"], np.array(values["bias"]))
            for head, values in self._card["calibration"].items()
        }
        return _Model(self.weights, calibrations, self._limits)


class ReaderReranker:
    """The reader as a plain reranker: passages without their place, scored by its logit of relevance."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def name(self) -> str:
        """Name and version of the model."""
        return self._reader.name

    def score(self, query: str, passages: Sequence[str]) -> Vector:
        """Return one logit per passage, in order."""
        readings = self._reader.answers(query, "", [PlacedStatement(passage) for passage in passages])
        return np.array([reading.relevance for reading in readings], np.float32)


class _Model:
    """The loaded session, the layout of its input, and the calibration of its heads."""

    _OUTPUTS = {
        "question": ["relevance", "answers", "spans"],
        "statement": ["meaning", "about", "tags"],
        "pair": ["effect"],
    }

    def __init__(
        self, weights: Weights, calibrations: Mapping[str, _Calibration], limits: Limits | None
    ) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        graph, vocabulary = weights.read_model(), weights.read_tokenizer()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: InferenceSession = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
            tokenizer = Tokenizer.from_buffer(vocabulary)
        except Exception as error:  # both libraries raise bare exceptions of their own
            raise ModelError(f"reader from {weights.source} cannot be loaded: {error}") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.layout = InputLayout(tokenizer, limits)
        self.calibrations = calibrations

    def run(self, read: ReaderInput, task: str) -> Mapping[str, Logits]:
        """Return the outputs of one input, without the batch axis."""
        names = self._OUTPUTS[task]
        feeds = {"ids": np.array([read.ids], np.int64), "types": np.array([read.types], np.int64)}
        return {name: output[0] for name, output in zip(names, self._session.run(names, feeds), strict=True)}


def best_span(read: ReaderInput, logits: Logits) -> tuple[int, int]:
    """Return the character offsets of the most probable span of at most 40 tokens."""
    if not read.offsets:
        return 0, 0
    own = logits[read.first : read.first + len(read.offsets)]
    scores = own[:, 0][:, None] + own[:, 1][None, :]  # (start, end)
    allowed = np.triu(np.ones_like(scores, bool)) & ~np.triu(np.ones_like(scores, bool), _LONGEST_SPAN)
    start, end = divmod(int(np.where(allowed, scores, -np.inf).argmax()), len(own))
    return read.offsets[start][0], read.offsets[end][1]


def _names(read: ReaderInput, logits: Logits, text: str) -> list[Name]:
    """Return the names that the tags mark; tag 0 is none, then `B` and `I` of each type."""
    names: list[Name] = []
    tags = logits[read.first : read.first + len(read.offsets)].argmax(axis=-1)
    for (start, end), tag in zip(read.offsets, tags.tolist(), strict=True):
        if not tag:
            continue
        kind, inside = NAME_TYPES[(tag - 1) // 2], tag % 2 == 0
        joins = bool(names) and names[-1].type == kind and not text[names[-1].end : start].strip()
        if joins and (inside or start == names[-1].end):
            names[-1] = Name(names[-1].start, end, kind)
        else:
            names.append(Name(start, end, kind))
    return names
