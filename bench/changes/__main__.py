"""Fit the heads that read a sentence's slot and aspect.

    python -m bench.changes [--folds N] [--write]

Prints how well held-out sentences are read, by language; --write fits on all of them and stores the weights.
"""

from __future__ import annotations

import argparse

from bench.changes.fit import cross_validate, fit_heads, load_sentences
from perdure.models.statement_heads import WEIGHTS, save_heads


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folds", type=int, default=4, help="0 leaves the cross-validation out")
    parser.add_argument("--write", action="store_true", help="fit on all sentences and store the weights")
    chosen = parser.parse_args()
    sentences = load_sentences()
    if chosen.folds:
        for line in cross_validate(sentences, chosen.folds):
            print(line, flush=True)
    if chosen.write:
        save_heads(fit_heads(sentences))
        print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
