"""Pictures of every view, in both lights and at two widths: `python -m bench.page_shots [--out docs/web] [--views ask fact]`.

They are of the demonstration bank, with the models of the settings; `--quick` leaves the models out.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.page_browser import Watched, find_address, launched, view_names, views_of
from bench.page_demo import BANK, QUICK, fill, served
from perdure import Perdure

LIGHTS = ("light", "dark")
WIDTHS = {1280: 860, 390: 780}
"""Height by width, in pixels."""


def shoot(url: str, folder: Path, names: Sequence[str]) -> list[Path]:
    """Write `VIEW-LIGHT-WIDTH.png` for each view; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with launched() as browser:
        context = browser.new_context(viewport={"width": 1280, "height": WIDTHS[1280]}, reduced_motion="reduce")
        watched = Watched(context.new_page(), url)
        watched.open(f"#/{BANK}/ask")
        views = views_of(watched.page)
        for name in names:
            watched.open(find_address(watched, BANK, name, views))
            watched.page.evaluate("document.activeElement?.blur()")
            for width, height in WIDTHS.items():
                watched.page.set_viewport_size({"width": width, "height": height})
                for light in LIGHTS:
                    watched.page.emulate_media(color_scheme="dark" if light == "dark" else "light")
                    watched.settle()
                    file = folder / f"{name}-{light}-{width}.png"
                    watched.page.screenshot(path=file)
                    written.append(file)
            watched.page.set_viewport_size({"width": 1280, "height": WIDTHS[1280]})
        context.close()
        if watched.problems:
            raise RuntimeError(f"the page complains: {watched.problems}")
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("docs/web"))
    parser.add_argument("--views", nargs="+", default=view_names())
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    options = QUICK if chosen.quick else {"require_keys": False}
    with tempfile.TemporaryDirectory() as folder:
        with Perdure.open(Path(folder) / "memory.db", notes_folder=Path(folder) / "notes", **options) as engine:
            fill(engine)
            with served(engine) as url:
                files = shoot(url, chosen.out, chosen.views)
    largest = max(files, key=lambda file: file.stat().st_size)
    total = sum(file.stat().st_size for file in files)
    print(f"{len(files)} pictures, {total / 1e6:.1f} MB; the largest is {largest.name}, {largest.stat().st_size // 1000} KB")


if __name__ == "__main__":
    main()
