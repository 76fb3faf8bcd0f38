"""The terms a query looks up: stop words are marked, and quoted phrases are returned apart.

The index holds every term of a document; a query selects. Weights and ranking do not belong here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.language.analyser.stopwords import STOP_WORDS
from pieria.language.analyser.tokenizer import placed, terms

_PHRASE = re.compile(
    r"""
    (?<![A-Za-z0-9]) ["＂] ([^"＂]*) ["＂]
  | [“„] ([^“”„]+) [”“]
  | « ([^«»]+) »
  | 「 ([^「」]+) 」
  | 『 ([^『』]+) 』
    """,
    re.VERBOSE,
)


class QueryTerm(NamedTuple):
    """A term of a query. `stop` marks a stop word, which a query with other terms can drop."""

    term: str
    stop: bool


def query_terms(text: str) -> list[QueryTerm]:
    """Return each term of a query once, in order. If all are stop words, the caller must search for them."""
    shouted = text.isupper()
    stops: dict[str, bool] = {}
    for term, start, end in placed(text, asked=True):
        is_acronym = end - start > 1 and not shouted and text[start:end].isupper()
        stops[term] = stops.get(term, True) and term in STOP_WORDS and not is_acronym
    return [QueryTerm(term, stop) for term, stop in stops.items()]


def phrases(text: str) -> list[list[str]]:
    """Return the terms of each quoted passage.

    A text that contains the passage has these terms in the same order, next to each other.
    """
    found = [terms(match[match.lastindex or 0]) for match in _PHRASE.finditer(text)]
    return [phrase for phrase in found if phrase]
