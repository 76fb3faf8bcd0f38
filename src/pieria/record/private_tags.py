"""Find ``<private>…</private>`` blocks in a text, in every spelling of their tags.

Tags are searched in the text as ``plain_marks`` decodes it. Cutting the blocks belongs in ``privacy``.
"""

from __future__ import annotations

from pieria.record.plain_marks import QUOTES, decode, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# What may come between the letters of the name: white space, Markdown, comments and style tags.
_STYLE = r"</?(?:b|i|u|em|strong|span|wbr|code|s|a)\b[^<>]{0,100}>"
_MARK = rf"(?:[\s*_~`|^]|<!--[^<>]{{0,200}}-->|/\*[^*<>]{{0,200}}\*/|{_STYLE})"
_JUNK = _MARK + "{0,6}"
_NAME = _JUNK.join("private")
_TAG = rf"""(?isx)
    < {_JUNK} (?P<comment>!(?:--)?)? {_JUNK} (?: (?P<ending> / ) {_JUNK} )? (?P<name> {_NAME} )
    (?: (?![\w\-.:]) | (?=[_*~`|^-]{{1,3}}\s*>) )
    (?P<attributes> (?: =\s*(?:"[^"]{{0,1000}}"|'[^']{{0,1000}}') | {_MARK} | [^<>] )*+ )
    (?P<closing> > )?"""
_DECORATION = " \t\r\n/\\*_~`|^-"


def find_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each outermost block in order, tags included."""
    if is_plain(text):
        return
    seen = decode(text)
    if "<" not in seen.text:
        return
    import re

    tags = list(re.compile(_TAG).finditer(seen.text))
    last_ending = max((tag.start() for tag in tags if tag["ending"]), default=-1)
    depth = begun = 0
    for tag in tags:
        start, end = seen.place(*tag.span())
        if tag["ending"]:
            if depth == 1:
                yield begun, end
            depth = max(depth - 1, 0)
        elif depth or tag.start() < last_ending or _opens_for_certain(tag, text[start]):
            begun = begun if depth else start
            depth += 1
    if depth:
        yield begun, len(text)


def _opens_for_certain(tag: re.Match[str], bracket: str) -> bool:
    """Return whether an opening tag without a closing tag is meant as one.

    Otherwise it is a placeholder, a comparison, a comment or a quotation.
    """
    if tag["comment"] or bracket in QUOTES:
        return False
    attributes = tag["attributes"].strip(_DECORATION)
    if tag["closing"] is None:
        return not attributes and tag.start("name") == tag.start() + 1
    return not attributes or "=" in attributes or "<" in attributes
