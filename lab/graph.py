"""The network as an ONNX graph of fused operators, written node by node: half the time of a traced graph.

Inputs are run one at a time, so there is no padding and no mask.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from lab.encoder import Layer, Outputs, ReaderNetwork

_FUSED = "com.microsoft"
_TOKEN_OUTPUTS = ("spans", "tags")


@dataclass(slots=True)
class _Builder:
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    weights: list[onnx.TensorProto] = field(default_factory=list)

    def weight(self, name: str, value: Tensor | NDArray[np.generic]) -> str:
        array = value.detach().numpy() if isinstance(value, Tensor) else value
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def node(
        self, operator: str, name: str, inputs: list[str], *, domain: str = "", **attributes: Any
    ) -> str:
        self.nodes.append(
            helper.make_node(operator, inputs, [name], f"{name}/{operator}", domain=domain, **attributes)
        )
        return name

    def linear(self, name: str, states: str, module: nn.Linear, *, to: str = "") -> str:
        product = self.node(
            "MatMul", f"{name}/product", [states, self.weight(f"{name}.weight", module.weight.T)]
        )
        return self.node("Add", to or f"{name}/sum", [product, self.weight(f"{name}.bias", module.bias)])

    def skip_norm(self, name: str, states: str, skipped: str, norm: nn.LayerNorm, bias: Tensor) -> str:
        weights = [
            self.weight(f"{name}.gamma", norm.weight),
            self.weight(f"{name}.beta", norm.bias),
            self.weight(f"{name}.bias", bias),
        ]
        inputs = [states, skipped, *weights]
        return self.node("SkipLayerNormalization", f"{name}/out", inputs, domain=_FUSED, epsilon=1e-12)


def build_graph(network: ReaderNetwork) -> onnx.ModelProto:
    """Return the network in floats, with inputs `ids` and `types` and one output per head."""
    build = _Builder()
    states = _embedded(build, network)
    for number, layer in enumerate(network.layers):
        assert isinstance(layer, Layer)
        states = _layer(build, f"layer{number}", states, layer)
    zero = build.weight("zero", np.array(0, np.int64))
    first = build.node("Gather", "first", [states, zero], axis=1)
    pooled = build.node("Tanh", "pooled", [build.linear("heads/pooler", first, network.pooler)])
    build.linear("heads/relevance", pooled, network.relevance, to="relevance")
    mean = build.node("ReduceMean", "mean", [states], axes=[1], keepdims=0)
    both = build.node("Concat", "both", [first, mean], axis=1)
    for name in ("answers", "meaning", "about", "effect"):
        head = getattr(network, name)
        inner = build.node(
            "Gelu", f"heads/{name}/gelu", [build.linear(f"heads/{name}/inner", both, head[0])], domain=_FUSED
        )
        build.linear(f"heads/{name}", inner, head[2], to=name)
    for name in _TOKEN_OUTPUTS:
        build.linear(f"heads/{name}", states, getattr(network, name), to=name)
    outputs = [
        helper.make_tensor_value_info(
            name, TensorProto.FLOAT, ["rows", "tokens", None] if name in _TOKEN_OUTPUTS else ["rows", None]
        )
        for name in Outputs._fields
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["rows", "tokens"])
        for name in ("ids", "types")
    ]
    graph = helper.make_graph(build.nodes, "reader", inputs, outputs, build.weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _embedded(build: _Builder, network: ReaderNetwork) -> str:
    """Sum words, positions and types, and normalise."""
    words = build.node("Gather", "words", [build.weight("words.weight", network.words.weight), "ids"])
    types = build.node("Gather", "typed", [build.weight("types.weight", network.types.weight), "types"])
    shape = build.node("Shape", "shape", ["ids"], start=1, end=2)
    starts = build.weight("start", np.array([0], np.int64))
    table = build.weight("positions.weight", network.positions.weight)
    positions = build.node("Slice", "positions", [table, starts, shape, starts])
    placed = build.node("Add", "placed", [words, positions])
    norm = network.norm
    weights = [build.weight("norm.gamma", norm.weight), build.weight("norm.beta", norm.bias)]
    return build.node(
        "SkipLayerNormalization", "embedded", [placed, types, *weights], domain=_FUSED, epsilon=1e-12
    )


def _layer(build: _Builder, name: str, states: str, layer: Layer) -> str:
    qkv = [
        build.weight(f"{name}.qkv.weight", layer.qkv.weight.T),
        build.weight(f"{name}.qkv.bias", layer.qkv.bias),
    ]
    attended = build.node(
        "Attention", f"{name}/attended", [states, *qkv], domain=_FUSED, num_heads=layer.heads
    )
    product = build.node(
        "MatMul", f"{name}/mixed", [attended, build.weight(f"{name}.out.weight", layer.out.weight.T)]
    )
    states = build.skip_norm(f"{name}/attention_norm", product, states, layer.attention_norm, layer.out.bias)
    up = build.node("MatMul", f"{name}/up", [states, build.weight(f"{name}.up.weight", layer.up.weight.T)])
    inner = build.node(
        "BiasGelu", f"{name}/inner", [up, build.weight(f"{name}.up.bias", layer.up.bias)], domain=_FUSED
    )
    down = build.node(
        "MatMul", f"{name}/down", [inner, build.weight(f"{name}.down.weight", layer.down.weight.T)]
    )
    return build.skip_norm(f"{name}/norm", down, states, layer.norm, layer.down.bias)
