"""The text of a piece of HTML, as exports hold answers. Links, pictures and styles do not belong here."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    ("p", "div", "br", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "tr", "table", "pre", "blockquote", "hr")
)
_SILENT = frozenset(("script", "style", "head", "template"))
_BLANKS = re.compile(r"[^\S\n]+")


def text_of(html: str) -> str:
    """Return the words with a line for each block, `- ` before items of lists, and code unchanged."""
    reading = _Reading()
    reading.feed(html)
    reading.close()
    lines = "".join(reading.parts).split("\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip()


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        self._code += tag == "pre"
        self._break(tag)
        if tag == "li":
            self.parts.append("- ")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0
        self._code -= tag == "pre" and self._code > 0
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        text = data if self._code else _BLANKS.sub(" ", data.replace("\n", " "))
        at_begin = not self.parts or self.parts[-1].endswith("\n")
        self.parts.append(text if self._code or not at_begin else text.lstrip())

    def _break(self, tag: str) -> None:
        written = self.parts[-1] if self.parts else "\n"
        if tag == "p" or (tag in _BLOCKS and not written.endswith("\n") and written != "- "):
            self.parts.append("\n")
