"""SVG: its title, descriptions and words."""

from __future__ import annotations

from html.parser import HTMLParser

from perdure.documents.document import FileText, decode
from perdure.errors import InvalidInput

_READ = frozenset({"title", "desc", "text"})


def read_svg(data: bytes, name: str) -> FileText:
    """Read the words of a drawing, one element a line."""
    reader = _Reader()
    reader.feed(decode(data, name))
    reader.close()
    texts = [(tag, " ".join(text.split())) for tag, text in reader.texts if text.strip()]
    if not texts:
        raise InvalidInput(name, "an SVG with a title, a description or words")
    title = next((text for tag, text in texts if tag == "title"), "")
    return FileText(text="\n".join(dict.fromkeys(text for _, text in texts)), title=title)


class _Reader(HTMLParser):
    """Collects the text of the elements that hold words; `tspan` and the like stand inside them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _READ:
            self._open.append(tag)
            self.texts.append((tag, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Ignore an empty element, which has no words."""

    def handle_endtag(self, tag: str) -> None:
        if tag in _READ and self._open:
            self._open.pop()
        elif self._open:
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, text = self.texts[-1]
            self.texts[-1] = (tag, text + data)
