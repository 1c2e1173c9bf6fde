"""Taking marks that carry no meaning out of a text."""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(
    r"</?(?:a|abbr|article|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|form|h[1-6]|head|header|hr|html|i|"
    r"img|input|label|li|link|main|meta|nav|ol|option|p|pre|script|section|select|small|span|strong|style|sub|sup|table|"
    r"tbody|td|tfoot|th|thead|title|tr|u|ul)\b[^<>]{0,300}>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,10});")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,200}?)(?<=[^\s*])\*(?![\w*])")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\(([^()\s]{1,500})\)")
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}|>+|[-*+•◦‣–]|\[[ xX]?\])\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_PIPES = re.compile(r"\s*\|\s*")


def plain(text: str) -> str:
    """The text on one line without Markdown marks and HTML tags, its HTML entities as characters."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    if "](" in text:
        text = _LINK.sub(r"\1 (\2)", text)
    text = _LINE_MARK.sub("", text)
    if "*" in text or "__" in text:
        text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\2", text))
    if text.lstrip().startswith("|"):
        text = _PIPES.sub(" | ", text).strip(" |")
    return _SPACE.sub(" ", text).strip()
