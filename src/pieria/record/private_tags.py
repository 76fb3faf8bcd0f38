"""Find ``<private>…</private>`` blocks in a text, in every spelling of their tags.

Tags are searched in the text as a reader would see it: escapes decoded, look-alikes folded, invisible characters
dropped. `decode` keeps each character's position. Cutting the blocks belongs in ``privacy``.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

ROUNDS = 8
"""Most times that one kind of escape may be wrapped in another. The same kind may nest without limit."""
_KNOWN = 1 << 16
_NAMED = {
    "lt": "<", "gt": ">", "sol": "/", "bsol": "\\", "quot": '"', "apos": "'", "equals": "=", "amp": "&", "num": "#",
    "nbsp": " ", "tab": " ", "newline": " ", "ensp": " ", "emsp": " ", "thinsp": " ", "shy": "", "zwj": "", "zwnj": "",
    "lrm": "", "rlm": "", "lang": "<", "rang": ">", "langle": "<", "rangle": ">", "lsaquo": "<", "rsaquo": ">",
    "laquo": "<", "raquo": ">", "percnt": "%", "semi": ";", "zerowidthspace": "",
}  # fmt: skip
_LOOK_ALIKES = {
    "<": "‹〈⟨❮❬《⟪«˂ᐸ≺❰⧼⦑ᗕ⋖〈", ">": "›〉⟩❯❭》⟫»˃ᐳ≻❱⧽⦒ᗒ⋗〉", "/": "∕⁄╱⧸⟋", "\\": "⧵╲",
    "p": "рⲣρϱᴘ", "r": "гᴦʀꭇⲅ", "i": "іıɪӏιᎥ∣", "v": "νѵᴠʋυ", "a": "аɑαᴀⲁ", "t": "тτᴛⲧ", "e": "еєεᴇҽⲉ℮",
    "P": "РΡⲢ", "R": "ƦᏒ", "I": "ІΙӀ", "V": "ѴᏙᐯ", "A": "АΑⲀ", "T": "ТΤⲦ", "E": "ЕΕⲈ", '"': "“”〝〞", "'": "‘’",
}  # fmt: skip
_ALIKE = {ord(alike): sign for sign, alikes in _LOOK_ALIKES.items() for alike in alikes}
QUOTES = frozenset("‹›«»〈〉《》⟨⟩⟪⟫")
"""Look-alikes of brackets that also serve as quotation marks."""
_ESCAPE = r"""(?ix)
    & (?:amp;?)* (?: \#x0* (?: (?P<hex>[0-9a-f]{1,6}); | (?P<bare_hex>[2-7][0-9a-f]) )
                   | \#0* (?: (?P<decimal>[0-9]{1,7}); | (?P<bare_decimal>1[0-2][0-9]|[3-9][0-9]) )
                   | (?P<named>[a-z]{2,14}); | (?P<bare_named>lt|gt|quot|sol|amp) )
  | % (?:25)* (?: (?P<percent>[0-7][0-9a-f]) | u(?P<percent_u>[0-9a-f]{4})
                | c0%(?:25)*(?P<overlong>[ab][0-9a-f])
                | (?P<bytes>e[0-9a-f]%(?:25)*[89ab][0-9a-f]%(?:25)*[89ab][0-9a-f]|[cd][0-9a-f]%(?:25)*[89ab][0-9a-f]) )
  | (?<!\\) \\++ (?: u\{0*(?P<braced>[0-9a-f]{1,6})\} | x\{0*(?P<braced_x>[0-9a-f]{1,6})\}
          | u(?P<eight>0000[0-9a-f]{4}) | u(?P<four>[0-9a-f]{4})
          | x(?P<two>[0-9a-f]{2}) | 0{0,4}(?P<style>3[ce]|2f)\s? | 0{2,4}(?P<long_style>[2-7][0-9a-f])\s?
          | 0?(?P<octal>74|76|57|1[4-7][0-7]) | N\{(?P<sign>less-than|greater-than)[ ]sign\}
          | N\{u\+(?P<coded>[0-9a-f]{4,6})\}
          | (?P<blank>[nrt]) | (?P<kept>[<>/"'=&%]) )
  | (?<=<) \\++ (?P<wrong_slash>(?=\s*p))
  | = (?P<printable>3[ce]|2f|3d)
  | \+ (?P<seven>ADw|AD4|AC8) -?
  | (?P<odd>[^\t\n\r\x20-\x7e])"""
_MARKS = ("&", "\\", "%", "=3", "+AD")
_SEVEN = {"adw": "<", "ad4": ">", "ac8": "/"}
_SIGNS = {"less-than": "<", "greater-than": ">"}
# What may come between the letters of the name: white space, Markdown, comments and style tags.
_STYLE = r"</?(?:b|i|u|em|strong|span|wbr|code|s|a)\b[^<>]{0,100}>"
_MARK = rf"(?:[\s*_~`|^]|<!--[^<>]{{0,200}}-->|/\*[^*<>]{{0,200}}\*/|{_STYLE})"
_JUNK = _MARK + "{0,6}"
_NAME = _JUNK.join("private")
_TAG = rf"""(?isx)
    < {_JUNK} (?P<comment>!(?:--)?)? {_JUNK} (?: (?P<ending> / ) {_JUNK} )? (?P<name> {_NAME} )
    (?: (?![\w\-.:]) | (?=[_*~`|^-]{{1,3}}\s*>) )
    (?P<attributes> (?: =\s*(?:"[^"]{{0,1000}}"|'[^']{{0,1000}}') | {_MARK} | [^<>] )* )
    (?P<closing> > )?"""
_DECORATION = " \t\r\n/\\*_~`|^-"


class _Folding(dict[int, str]):
    """A table for `str.translate` from characters to their look, filled on first use."""

    def __missing__(self, code: int) -> str:
        if len(self) > _KNOWN:
            self.clear()
        self[code] = folded = _fold(code)
        return folded


def _fold(code: int) -> str:
    import unicodedata

    sign = chr(code)
    if code < 0x80:
        return sign if sign.isprintable() or sign in "\t\n\r" else ""
    if code in _ALIKE:
        return _ALIKE[code]
    category = unicodedata.category(sign)
    if category in ("Cf", "Mn", "Me", "Cc") or code == 0x2800 or 0x115F <= code <= 0x1160 or code == 0x3164:
        return ""
    if category.startswith("Z"):
        return " "
    plain = unicodedata.normalize("NFKD", sign)
    if plain == sign:
        return sign
    kept = "".join(part.translate(_ALIKE) for part in plain if unicodedata.category(part) != "Mn")
    return kept if len(kept) == 1 else sign


_FOLDED = _Folding()


def is_plain(text: str) -> bool:
    """Return whether a text has no bracket in any form, and so no tag."""
    if not text.isascii():
        text = text.translate(_FOLDED)
    return "<" not in text and not any(mark in text for mark in _MARKS)


class Decoded(tuple[str, "Sequence[int]", "Sequence[int]"]):
    """A decoded text, with the start and end of each character in the original."""

    __slots__ = ()

    @property
    def text(self) -> str:
        return self[0]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the original of a part of the text."""
        return self[1][start], self[2][end - 1]


def decode(text: str) -> Decoded:
    """Return the text with nested escapes decoded. Each round takes linear time."""
    import re

    pattern = re.compile(_ESCAPE)
    starts: Sequence[int] = range(len(text))
    ends: Sequence[int] = range(1, len(text) + 1)
    for _ in range(ROUNDS):
        parts: list[str] = []
        new_starts: list[int] = []
        new_ends: list[int] = []
        resumed = 0
        for match in pattern.finditer(text):
            read = _read(match)
            if read == match[0]:
                continue
            start, end = match.span()
            parts += text[resumed:start], read
            new_starts += starts[resumed:start]
            new_ends += ends[resumed:start]
            new_starts += [starts[start]] * len(read)
            new_ends += [ends[end - 1]] * len(read)
            resumed = end
        if not resumed:
            break
        parts.append(text[resumed:])
        new_starts += starts[resumed:]
        new_ends += ends[resumed:]
        text, starts, ends = "".join(parts), new_starts, new_ends
    return Decoded((text, starts, ends))


def _read(match: re.Match[str]) -> str:
    """Return the character of one escape. An unknown escape stays as written."""
    kind = match.lastgroup or ""
    value = match[kind]
    if kind == "odd":
        return _FOLDED[ord(value)]
    if kind in ("decimal", "bare_decimal"):
        return _character(int(value))
    if kind in ("named", "bare_named"):
        return _NAMED.get(value.lower(), match[0])
    if kind == "bytes":
        return bytes.fromhex(value.replace("%25", "%").replace("%25", "%").replace("%", "")[-6:]).decode(
            "utf-8", "replace"
        )
    if kind == "overlong":
        return chr(int(value, 16) - 0x80)
    if kind == "octal":
        return chr(int(value, 8))
    if kind in ("blank", "wrong_slash"):
        return " " if kind == "blank" else "/"
    if kind in ("kept", "sign", "seven"):
        return value if kind == "kept" else (_SIGNS if kind == "sign" else _SEVEN)[value.lower()]
    return _character(int(value, 16))


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else ""


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
