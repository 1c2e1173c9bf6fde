"""Pictures of views, in both lights and at two widths: `python -m bench.page_shots [--out docs/web] [--views ask models-one]`.

They are of the demonstration bank, with the models of the settings; `--quick` leaves the models out.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import numpy as np
from PIL import Image

from bench.page_browser import QUESTION, Watched, address, launched, views_of
from bench.page_demo import BANK, QUICK, fill, served, showpieces
from perdure import Perdure

LIGHTS = ("light", "dark")
WIDTHS = {1280: 860, 390: 780}
"""Height by width, in pixels."""
SHOWN = ("home", "ask", "activity", "facts", "fact", "people", "review", "settings", "opinions-one")
"""Names of the pictures of docs/web.md."""
COLOURS = 256


def places(views: Sequence[tuple[str, str]], things: Mapping[str, str]) -> dict[str, str]:
    """The addresses to photograph by the names of the pictures; `NAME-one` is one thing of a list."""
    shown = {"ask": f"{address(BANK, 'ask')}?q={quote(QUESTION)}"}
    for name, group in views:
        if group:
            shown.setdefault(name, address(BANK, name))
        if name in things:
            shown[f"{name}-one" if group else name] = address(BANK, name, things[name])
    return shown


def write(picture: bytes, file: Path) -> None:
    """A picture of its most frequent colours, which stay as they are, at a third of its size."""
    pixels = np.asarray(Image.open(BytesIO(picture)).convert("RGB"))
    packed = pixels.astype(np.int32) @ np.array([65536, 256, 1], dtype=np.int32)
    colours, place, count = np.unique(packed, return_inverse=True, return_counts=True)
    channels = np.stack([colours >> 16, (colours >> 8) & 255, colours & 255], axis=1)
    palette = channels[np.argsort(-count, kind="stable")[:COLOURS]]
    distances = ((channels[:, None, :] - palette[None, :, :]) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1).astype(np.uint8)
    image = Image.fromarray(nearest[place].reshape(packed.shape))
    image.putpalette(palette.astype(np.uint8).tobytes())
    image.save(file, optimize=True)


def shoot(url: str, things: Mapping[str, str], folder: Path, names: Sequence[str]) -> list[Path]:
    """Write `NAME-LIGHT-WIDTH.png` of the named views, and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with launched() as browser:
        context = browser.new_context(reduced_motion="reduce")
        watched = Watched(context.new_page(), url)
        watched.open(address(BANK, "ask"))
        for name, place in places(views_of(watched.page), things).items():
            if name not in names:
                continue
            for width, height in WIDTHS.items():
                watched.page.set_viewport_size({"width": width, "height": height})
                watched.open(place)
                watched.page.reload()
                watched.settle()
                watched.page.evaluate("document.activeElement?.blur()")
                for light in LIGHTS:
                    watched.page.emulate_media(color_scheme="dark" if light == "dark" else "light")
                    file = folder / f"{name}-{light}-{width}.png"
                    write(watched.page.screenshot(), file)
                    written.append(file)
        context.close()
        if watched.problems:
            raise RuntimeError(f"the page complains: {watched.problems}")
    return written


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("docs/web"))
    parser.add_argument("--views", nargs="+", default=SHOWN, help="names of pictures")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    options = QUICK if chosen.quick else {"require_keys": False}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engine = stack.enter_context(Perdure.open(folder / "memory.db", **options))
        fill(engine)
        url = stack.enter_context(served(engine))
        files = shoot(url, showpieces(engine), chosen.out, chosen.views)
    largest = max(files, key=lambda file: file.stat().st_size)
    total = sum(file.stat().st_size for file in files) / 1e6
    print(
        f"{len(files)} pictures, {total:.1f} MB; the largest: {largest.name}, {largest.stat().st_size // 1000} KB"
    )


if __name__ == "__main__":
    main()
