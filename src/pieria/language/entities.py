"""Find what a text names, by rules: people, places, products, acronyms, identifiers, addresses, titles.

Recall uses entities to match a query with memories, without a model. The rules prefer precision: only a capital makes
a word a name. `names` finds known names in lower case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from pieria.language.commonwords import COMMON, OPENINGS, TIMES
from pieria.language.letters import UNSPACED, lowered
from pieria.language.shapes import LONGEST, has_capital, is_acronym, is_initial, kind_of, without_ending, without_line

KINDS = (*("name", "acronym", "identifier", "path", "email", "host", "version", "ticket", "handle", "tag", "title"),)


class Entity(NamedTuple):
    """What `text[start:end]` names, and its kind."""

    name: str
    kind: str
    start: int
    end: int


_MARKED = re.compile(
    r"""
    (?<!\w) (?: https? | ftp | wss? ) :// (?: [^\s/?\#"'<>@]{1,100} @ )? (?: www\. )? (?P<host> [^\s/?\#"'<>@:]{1,253} )
      [^\s"'<>]*+
  | (?P<ticks> `{1,3} ) (?P<code> [^`\s]{1,100} ) (?P=ticks)
  | ["“«„] (?P<quoted> [^"“”«»„\n]{2,80} ) ["”»“]
  | [『《] (?P<titled> [^『』《》\n]{1,80} ) [』》]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TOKEN = re.compile(rf"""[^\s{UNSPACED}"“”«»„「」『』《》【】()\[\]{{}}<>,;!?|…*`。，、！？：；—]+""")
_PAUSE = re.compile(r"[,;]\s*")
_SMALL = "of de del della der den di da das do dos du des la le van von vom zu zur af al bin ibn y e & the"
_CONNECTORS = frozenset(_SMALL.split())
_HONORIFICS = "mr mrs ms mx dr prof st sr jr sir mt"
_TITLES = frozenset(_HONORIFICS.split())
_NAMELIKE = frozenset({"us", "it", "who"})
_SMALL_IN_TITLES = 3
_LONGEST_NAME = 6
"""Most words of a name. A longer run of capitals is a heading."""
_SHOUT = 3
_ENDINGS = (
    *("ing", "ed", "ly", "tion", "tions", "ness", "ment", "ments", "able", "ful"),
    *("ive", "ous", "less", "ship", "ships", "ical"),
)
_ABOUT = "a an the my your his her its our their these those any some me us him them it"
_BEHIND_VERBS = frozenset(_ABOUT.split())
_OF_SEVERAL = frozenset({"are", "were", "have", "do"})
_NEXT = re.compile(r"[ \t]+([^\W\d_]+)")
_DRAWN_OUT = re.compile(r"(.)\1\1")
"""`mmm`, `awww`: no name repeats a letter three times."""


class _Word(NamedTuple):
    text: str
    start: int
    end: int
    first: bool
    """Whether it begins a sentence."""
    acronym: bool = False


def entities(text: str) -> list[Entity]:
    """Return what the text names, in order. Endings such as `'s` or `'ll` are not part of a name."""
    marked = list(_marked(text))
    reading = _Reading(text, [(start, end) for start, end, _ in marked])
    found = [entity for _, _, entity in marked if entity is not None]
    found += reading.shaped
    found += _names(reading)
    return sorted(found, key=lambda entity: (entity.start, entity.end))


def _marked(text: str) -> Iterator[tuple[int, int, Entity | None]]:
    """Yield (start, end, entity) of each marked part. In a URL only the host is an entity."""
    for found in _MARKED.finditer(text):
        group = found.lastgroup or ""
        if group == "quoted" and not _is_title(found[group]):
            continue
        kinds = {"host": "host", "quoted": "title", "titled": "title"}
        kind = kinds.get(group) or kind_of(found[group].removesuffix("()")) or "identifier"
        start = found.start(group)
        name = found[group].rstrip(".,;:!?)]")
        yield found.start(), found.end(), Entity(name, kind, start, start + len(name)) if name else None


def _is_title(quoted: str) -> bool:
    """Return whether all words have capitals, except the small ones between."""
    words = quoted.split()
    if not words or quoted != quoted.strip() or quoted[-1] in ".,:;":
        return False
    shown = [word for word in words if len(word) > _SMALL_IN_TITLES and word[0].isalpha()]
    return has_capital(words[0]) and all(map(has_capital, shown)) and any(len(word) > 1 for word in words)


class _Reading:
    """One pass over the words of a text. It finds words with a shape of their own and runs of capitalised words."""

    def __init__(self, text: str, taken: list[tuple[int, int]]) -> None:
        self.text = text
        self._starts = [start for start, _ in taken]
        self._ends = [end for _, end in taken]
        self.shaped: list[Entity] = []
        self.runs: list[list[_Word]] = []
        self.small: set[str] = set()
        """Words that occur in the text without a capital."""
        self._run: list[_Word] = []
        self._linking: list[_Word] = []
        self._read()

    def _read(self) -> None:
        behind, first = 0, True
        for token in _TOKEN.finditer(self.text):
            gap = self.text[behind : token.start()]
            if gap.strip(" \t"):
                self._end_run()
                first = first or not _PAUSE.fullmatch(gap)
            behind = token.end()
            if self._is_taken(token.start()):
                self._end_run()
                first = False
            else:
                first = self._token(token[0], token.start(), first)
        self._end_run()

    def _is_taken(self, place: int) -> bool:
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]

    def _token(self, token: str, start: int, first: bool) -> bool:
        """Read one token. Return whether the next one begins a sentence."""
        if len(token) > LONGEST:
            self._end_run()
            return False
        bare = token.lstrip("'‘’-–=+•·:")
        start += len(token) - len(bare)
        word = bare if is_initial(bare) else bare.rstrip(".:'’-–=")
        if not word:
            self._end_run()
            return True
        owned = without_line(without_ending(word))
        kind = kind_of(owned) or ("identifier" if self._is_called(start, owned) else None)
        if kind:
            self._end_run()
            self.shaped.append(Entity(owned, kind, start, start + len(owned)))
        else:
            self._plain(_Word(owned, start, start + len(owned), first, is_acronym(owned)))
        abbreviates = lowered(word).rstrip(".") in _TITLES or (is_initial(bare) and bool(self._run))
        ends = bare[len(word) :].startswith((".", ":")) and not abbreviates
        if ends or len(owned) < len(word) or (bare != word and not abbreviates):
            self._end_run()
        return ends

    def _is_called(self, start: int, word: str) -> bool:
        end = start + len(word)
        return word.isidentifier() and len(word) > 1 and self.text[end : end + 2] == "()"

    def _plain(self, word: _Word) -> None:
        small = lowered(word.text)
        if has_capital(word.text) and small != "i" and not small.startswith("i'"):
            self._run += self._linking
            self._linking = []
            self._run.append(word)
        elif self._run and small in _CONNECTORS and len(self._linking) < 2:
            self._linking.append(word)
            self.small.add(small)
        else:
            self._end_run()
            self.small.add(small)

    def _end_run(self) -> None:
        if self._run:
            self.runs.append(self._run)
        self._run, self._linking = [], []


def _names(reading: _Reading) -> Iterator[Entity]:
    inside = {word.text for run in reading.runs for word in run if not word.first}
    for whole in reading.runs:
        run = _without_opening(whole, reading.small, inside)
        if not run or len(run) > _LONGEST_NAME or _is_heading(run):
            continue
        if all(word.acronym for word in run):
            yield from _acronyms(run)
            continue
        if all(lowered(word.text) in TIMES for word in run):
            continue
        if len(run) > 1 or _names_something(run[0], reading, inside):
            start, end = run[0].start, run[-1].end
            yield Entity(" ".join(reading.text[start:end].split()), "name", start, end)


def _without_opening(run: list[_Word], small: set[str], inside: set[str]) -> list[_Word]:
    """Drop leading connectors, and leading words that have a capital only because they open the sentence."""
    named = (at for at, word in enumerate(run) if has_capital(word.text) and not _only_opens(word, small, inside))
    return run[next(named, len(run)) :]


def _only_opens(word: _Word, small: set[str], inside: set[str]) -> bool:
    plain = lowered(word.text)
    if plain in OPENINGS and (word.first or plain != "the"):
        return not word.acronym or plain not in _NAMELIKE
    return word.first and word.text not in inside and plain in small and plain in COMMON


def _is_heading(run: list[_Word]) -> bool:
    return any(lowered(word.text) in OPENINGS and has_capital(word.text) for word in run[1:])


def _acronyms(run: list[_Word]) -> Iterator[Entity]:
    """Yield words in capitals, unless the run is shouting."""
    if len(run) >= _SHOUT:
        return
    for word in run:
        plain = lowered(word.text)
        if plain in _NAMELIKE or plain not in COMMON or not word.text.isupper():
            yield Entity(word.text, "acronym", word.start, word.end)


def _names_something(word: _Word, reading: _Reading, inside: set[str]) -> bool:
    plain = lowered(word.text)
    if len(plain) == 1 or plain in OPENINGS or plain in TIMES or plain in _TITLES:
        return False
    if not word.first or word.text in inside:
        return True
    if plain in COMMON or plain in reading.small or _is_derived(plain) or _DRAWN_OUT.search(plain):
        return False
    return not _is_told_otherwise(plain, reading.text, word.end)


def _is_derived(word: str) -> bool:
    """Return whether the word has an ending typical of nouns, adjectives, adverbs and verb forms."""
    return len(word) > 5 and word.endswith(_ENDINGS)


def _is_told_otherwise(word: str, text: str, end: int) -> bool:
    """Return whether the next word shows that this is not a name, but a verb before its object or a plural."""
    found = _NEXT.match(text, end)
    then = "" if found is None else lowered(found[1])
    return then in _BEHIND_VERBS or (then in _OF_SEVERAL and word.endswith("s"))
