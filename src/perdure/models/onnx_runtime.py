"""Loaded ONNX models: one session per file and process, created on first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perdure.errors import ModelError
from perdure.models.weights import Weights
from perdure.text.surrogates import without_surrogates

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

Ids = NDArray[np.int64]
States = NDArray[np.float32]

_CHARACTERS_PER_TOKEN = 32
_REQUIRED_INPUTS = {"input_ids", "attention_mask"}


class Encoded(NamedTuple):
    """Token ids of one text or pair, without padding."""

    ids: Ids
    types: Ids


class OnnxModel:
    """A session and its tokenizer."""

    def __init__(self, session: InferenceSession, tokenizer: Tokenizer, output: str) -> None:
        self.tokenizer = tokenizer
        self._session = session
        self._output = [output]
        self._inputs = {node.name for node in session.get_inputs()}

    def run(self, batch: Sequence[Encoded]) -> States:
        """Return the model's first output, one row per item; shorter items are padded to the longest."""
        width = max(len(item.ids) for item in batch)
        feeds = {name: np.zeros((len(batch), width), np.int64) for name in self._inputs}
        for row, item in enumerate(batch):
            end = len(item.ids)
            feeds["input_ids"][row, :end] = item.ids
            feeds["attention_mask"][row, :end] = 1
            if "token_type_ids" in feeds:
                feeds["token_type_ids"][row, :end] = item.types
        result: States = self._session.run(self._output, feeds)[0]
        return result


_loaded: dict[tuple[str, str], OnnxModel] = {}
_lock = threading.Lock()


def load(weights: Weights) -> OnnxModel:
    """Return the model of these weights, verified and loaded at most once per process."""
    key = (str(weights.model_path.resolve()), weights.spec.name)
    with _lock:
        if key not in _loaded:
            _loaded[key] = _load(weights)
        return _loaded[key]


def _load(weights: Weights) -> OnnxModel:
    import onnxruntime
    from tokenizers import Tokenizer

    graph, vocabulary = weights.read_model(), weights.read_tokenizer()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_buffer(vocabulary)
    except Exception as error:  # both libraries raise bare exceptions of their own
        raise ModelError(
            f"model {weights.spec.name} from {weights.source} cannot be loaded: {error}"
        ) from error
    inputs = {node.name for node in session.get_inputs()}
    if not _REQUIRED_INPUTS <= inputs <= _REQUIRED_INPUTS | {"token_type_ids"}:
        raise ModelError(
            f"model {weights.spec.name} from {weights.source} takes {sorted(inputs)}: not a text encoder"
        )
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return OnnxModel(session, tokenizer, session.get_outputs()[0].name)


def cut_characters(text: str, tokens: int) -> str:
    """Return a beginning long enough for that many tokens of ordinary text, so that megabytes are not read to keep 512."""
    return without_surrogates(text[: tokens * _CHARACTERS_PER_TOKEN])


def encode(tokenizer: Tokenizer, text: str, limit: int) -> Encoded:
    """Return a text's tokens, cut to the model's window of `limit` tokens."""
    text = cut_characters(text, limit)
    encoding = tokenizer.encode(text)
    if len(encoding.ids) > limit:
        encoding = tokenizer.encode(text, add_special_tokens=False)
        encoding.truncate(limit - tokenizer.num_special_tokens_to_add(False))
        encoding = tokenizer.post_process(encoding)
    return to_encoded(encoding)


def to_encoded(encoding: Encoding) -> Encoded:
    """Convert a tokenizer's encoding to arrays."""
    return Encoded(np.array(encoding.ids, np.int64), np.array(encoding.type_ids, np.int64))


def longest_first(lengths: Sequence[int], size: int) -> list[list[int]]:
    """Return row numbers in batches of `size`, long items first: batches have similar lengths, and no core idles at the end."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    return [order[at : at + size] for at in range(0, len(order), size)]
