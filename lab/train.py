"""Train the reader. Resumable, and determined by the configuration file.

python -m lab.train lab/config/full.toml --work .lab
"""

from __future__ import annotations

import argparse
import json
import math
import time
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import nn

from lab.augment import Rates
from lab.batches import Batch, Blocks, Mix, dev_batches
from lab.encoder import ReaderNetwork, Shape
from lab.examples import labelled_pairs_of, statements_of
from lab.losses import Losses
from lab.scenes import DEV, TRAIN, Scene, read_scenes
from lab.sources import share
from lab.starts import STARTS, load_start, tokenizer_path
from perdure.models.reader_input import InputLayout, Limits
from perdure.ports.reader import EFFECTS, MEANINGS

LIMITS = Limits(question=40, text=80, before=24)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that determines a run, apart from the scenes."""

    name: str
    start: str = "cross-encoder-6"
    after: str = ""
    """A finished run of the same shape whose weights to go on from."""
    blocks: int = 100
    seed: int = 1
    share: float = 1.0
    """The share of our written training conversations to use, for learning curves."""
    encoder_rate: float = 2e-4
    head_rate: float = 1e-3
    word_rate: float = 1e-4
    warmup: float = 0.06
    dropout: float = 0.1
    mix: Mix = field(default_factory=Mix)
    rates: Rates = field(default_factory=Rates)


def read_config(path: Path) -> Config:
    """Read a TOML file; tables `mix` and `rates` change their defaults."""
    data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    mix, rates = Mix(**data.pop("mix", {})), Rates(**data.pop("rates", {}))
    return Config(**{"name": path.stem, **data}, mix=mix, rates=rates)


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer, without padding or truncation."""
    tokenizer = Tokenizer.from_file(str(tokenizer_path()))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


class Training:
    """A run in a folder of its own, with its checkpoint and its log."""

    def __init__(self, config: Config, scenes: Sequence[Scene], folder: Path) -> None:
        torch.manual_seed(config.seed)
        self.config, self.folder = config, folder
        folder.mkdir(parents=True, exist_ok=True)
        written = {
            scene.id
            for scene in scenes
            if scene.source == "changes" or (scene.effects and share(f"curve {scene.id}") < config.share)
        }
        train = [
            scene for scene in scenes if scene.split == TRAIN and (scene.id in written or not scene.effects)
        ]
        layout = InputLayout(load_tokenizer(), LIMITS)
        self.blocks = Blocks(train, layout, config.mix, config.rates, config.seed)
        self._dev = dev_batches([scene for scene in scenes if scene.split == DEV], layout)
        self.network = ReaderNetwork(Shape(layers=len(STARTS[config.start][1]), dropout=config.dropout))
        load_start(self.network, config.start)
        if config.after:
            state = torch.load(folder.parent / config.after / "checkpoint.pt", weights_only=True)
            self.network.load_state_dict(state["network"])
        self._losses = _losses(train, config)
        self._optimisers = _optimisers(self.network, config)
        self._bases = [[group["lr"] for group in each.param_groups] for each in self._optimisers]
        self._next = 0

    def run(self) -> None:
        """Train to the end, from the checkpoint if there is one."""
        self._resume()
        self._log({"config": asdict(self.config), "sizes": self.blocks.sizes, "from": self._next})
        begun = time.monotonic()
        for number in range(self._next, self.config.blocks):
            self.network.train()
            totals: dict[str, list[float]] = defaultdict(list)
            for place, batch in enumerate(self.blocks.block(number)):
                self._set_rate((number + place / len(self.blocks)) / self.config.blocks)
                for name, loss in self._step(batch).items():
                    totals[name].append(loss)
            self._next = number + 1
            if number % 5 == 4 or self._next == self.config.blocks:
                self._log({"block": number, "seconds": time.monotonic() - begun, "train": _means(totals)})
            if number % 40 == 39 or self._next == self.config.blocks:
                self._log({"block": number, "dev": self.dev_losses()})
                self._save()

    def dev_losses(self) -> dict[str, float]:
        """Return the mean losses on the development set."""
        self.network.eval()
        totals: dict[str, list[float]] = defaultdict(list)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            for batch in self._dev:
                outputs = self.network(batch.ids, batch.mask, batch.types)
                for name, loss in self._losses(outputs, batch).items():
                    totals[name].append(float(loss))
        return _means(totals)

    def _step(self, batch: Batch) -> dict[str, float]:
        with torch.autocast("cpu", torch.bfloat16):
            outputs = self.network(batch.ids, batch.mask, batch.types)
        losses = self._losses(type(outputs)(*(each.float() for each in outputs)), batch)
        torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(
            [each for each in self.network.parameters() if each is not self.network.words.weight], 1.0
        )
        for optimiser in self._optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def _set_rate(self, progress: float) -> None:
        """Warm up, then fall to zero along a cosine."""
        warmup = self.config.warmup
        factor = (
            progress / warmup
            if progress < warmup
            else 0.5 + 0.5 * math.cos(math.pi * (progress - warmup) / (1 - warmup))
        )
        for optimiser, bases in zip(self._optimisers, self._bases, strict=True):
            for group, base in zip(optimiser.param_groups, bases, strict=True):
                group["lr"] = base * max(factor, 1e-3)

    @property
    def _checkpoint(self) -> Path:
        return self.folder / "checkpoint.pt"

    def _save(self) -> None:
        state = {
            "next": self._next,
            "network": self.network.state_dict(),
            "optimisers": [each.state_dict() for each in self._optimisers],
            "torch": torch.get_rng_state(),
            "config": asdict(self.config),
        }
        partial = self._checkpoint.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(self._checkpoint)

    def _resume(self) -> None:
        if not self._checkpoint.exists():
            return
        state = torch.load(self._checkpoint, weights_only=True)
        self._next = state["next"]
        self.network.load_state_dict(state["network"])
        for optimiser, each in zip(self._optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(each)
        torch.set_rng_state(state["torch"])

    def _log(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps(entry)
        print(line, flush=True)
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _losses(scenes: Sequence[Scene], config: Config) -> Losses:
    mix = config.mix
    meanings = [MEANINGS.index(scene.statements[index].meaning) for scene, index in statements_of(scenes)]
    pairs = labelled_pairs_of([scene for scene in scenes if scene.source != "changes"])
    effects = [EFFECTS.index(pair.effect) for pair in pairs]
    # Drawn pairs per labelled pair, as the mix has them.
    unrelated = len(effects) * (mix.other_pairs + mix.chat_pairs) // max(1, mix.pairs)
    return Losses(torch.tensor(meanings), torch.tensor(effects + [EFFECTS.index("unrelated")] * unrelated))


def _optimisers(network: ReaderNetwork, config: Config) -> list[torch.optim.Optimizer]:
    heads = ("relevance", "answers", "spans", "meaning", "about", "tags", "effect")
    groups: dict[str, list[nn.Parameter]] = defaultdict(list)
    for name, parameter in network.named_parameters():
        if name != "words.weight":
            # The relevance head begins trained where the start is a cross-encoder.
            is_new = name.startswith(heads) and not name.startswith("relevance")
            groups["heads" if is_new else "encoder"].append(parameter)
    dense = torch.optim.AdamW(
        [
            {"params": groups["encoder"], "lr": config.encoder_rate},
            {"params": groups["heads"], "lr": config.head_rate},
        ],
        weight_decay=0.01,
    )
    return [dense, torch.optim.SparseAdam([network.words.weight], lr=config.word_rate)]


def _means(totals: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: round(sum(values) / len(values), 4) for name, values in totals.items()}


def main() -> None:
    """Train what the configuration describes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("config", type=Path)
    arguments.add_argument("--work", type=Path, default=Path(".lab"))
    arguments.add_argument("--blocks", type=int, default=0)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    config = read_config(options.config)
    if options.blocks:
        config = replace(config, blocks=options.blocks)
    scenes = list(read_scenes(options.work / "scenes.jsonl"))
    Training(config, scenes, options.work / config.name).run()


if __name__ == "__main__":
    main()
