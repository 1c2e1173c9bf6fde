"""HTML and SVG as text: headings, paragraphs, lists, tables and code, without scripts, styles and navigation."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

from perdure.documents.document import FileText, decode, fenced, join_blocks
from perdure.errors import InvalidInput
from perdure.text.moments import read_moment

_UNREAD = frozenset({
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "nav", "aside", "footer", "form", "button",
    "select", "dialog", "menu",
})  # fmt: skip
"""Elements whose content nobody wrote to be read, or that stand around what is."""
_UNREAD_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "complementary", "menu", "dialog"}
)
_BLOCKS = frozenset({
    "p", "div", "section", "article", "main", "header", "blockquote", "figure", "figcaption", "ul", "ol", "dl", "dt", "dd", "table",
    "tr", "hr", "address", "details", "summary", "body", "h1", "h2", "h3", "h4", "h5", "h6", "li", "pre",
})  # fmt: skip
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
_MAIN = frozenset({"main", "article"})
_DATES = frozenset(
    {"article:published_time", "datepublished", "date", "dc.date", "dcterms.created", "og:published_time"}
)


def read_html(data: bytes, name: str) -> FileText:
    """Read a page's text; of a page with a main part or articles, those alone."""
    reader = _Reader()
    reader.feed(decode(data, name))
    reader.close()
    return FileText(
        text=reader.text(), title=" ".join(reader.title.split()), written_at=read_moment(reader.written)
    )


class _Reader(HTMLParser):
    """Walks the elements and collects blocks, each with whether it stands in the main part."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.written: str | None = None
        self._blocks: list[tuple[bool, str]] = []
        self._line = ""
        self._prefix = ""
        self._unread: list[str] = []
        self._main = 0
        self._in_title = False
        self._code: str | None = None

    def text(self) -> str:
        """Return the collected blocks as text."""
        self._end_block()
        chosen = [block for in_main, block in self._blocks if in_main] or [block for _, block in self._blocks]
        return join_blocks(chosen)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if self._unread:
            if tag == self._unread[-1] and tag not in _VOID:
                self._unread.append(tag)
            return
        if tag not in _VOID and _is_unread(tag, given):
            self._end_block()
            self._unread = [tag]
        elif tag == "title":
            self._in_title = not self.title
        elif tag == "meta":
            self._meta(given)
        elif tag == "br":
            self._line += "\n"
        elif tag in ("td", "th"):
            self._line += " | " if self._line.strip() else ""
            self._prefix = "| "
        elif tag in _BLOCKS:
            self._start_block(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._unread:
            if tag == self._unread[-1]:
                self._unread.pop()
            return
        if tag == "title":
            self._in_title = False
        elif tag == "pre" and self._code is not None:
            code, self._code = self._code, None
            if code.strip():
                self._blocks.append((self._main > 0, fenced(code)))
        elif tag in _BLOCKS:
            self._end_block()
            if tag in _MAIN:
                self._main = max(self._main - 1, 0)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif self._unread:
            return
        elif self._code is not None:
            self._code += data
        else:
            self._line += data

    def _meta(self, given: Mapping[str, str]) -> None:
        key = (given.get("property") or given.get("name") or given.get("itemprop") or "").lower()
        if key in _DATES and self.written is None:
            self.written = given.get("content") or None

    def _start_block(self, tag: str) -> None:
        self._end_block(keep_prefix=tag not in ("h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "dt"))
        if tag in _MAIN:
            self._main += 1
        if tag == "pre":
            self._code = ""
        elif tag[0] == "h" and tag[1:].isdigit():
            self._prefix = "#" * int(tag[1]) + " "
        elif tag in ("li", "dd"):
            self._prefix = "- "

    def _end_block(self, *, keep_prefix: bool = False) -> None:
        lines = (" ".join(line.split()) for line in self._line.split("\n"))
        text = "\n".join(line for line in lines if line)
        closing = " |" if self._prefix == "| " else ""
        if text:
            self._blocks.append((self._main > 0, f"{self._prefix}{text}{closing}"))
        self._line = ""
        if text or not keep_prefix:
            self._prefix = ""


def _is_unread(tag: str, given: Mapping[str, str]) -> bool:
    return (
        tag in _UNREAD
        or given.get("role", "").lower() in _UNREAD_ROLES
        or given.get("aria-hidden", "").lower() == "true"
        or "hidden" in given
    )


_READ = frozenset({"title", "desc", "text"})


def read_svg(data: bytes, name: str) -> FileText:
    """Read the words of a drawing, one element a line."""
    reader = _SvgReader()
    reader.feed(decode(data, name))
    reader.close()
    texts = [(tag, " ".join(text.split())) for tag, text in reader.texts if text.strip()]
    if not texts:
        raise InvalidInput(name, "an SVG with a title, a description or words")
    title = next((text for tag, text in texts if tag == "title"), "")
    return FileText(text="\n".join(dict.fromkeys(text for _, text in texts)), title=title)


class _SvgReader(HTMLParser):
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
