"""What a question looks up: its terms without the idle ones, and the phrases it puts in quotes.

Exists because a question is read with more care than a document: documents index everything, a question chooses.
Weights and ranking do not belong here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pieria.record.analyser.stopwords import STOP_WORDS
from pieria.record.analyser.tokenizer import placed, terms

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
    """A term of a question; `stop` says it tells little and can be left out where others are."""

    term: str
    stop: bool


def query_terms(text: str) -> list[QueryTerm]:
    """Each term of a question once, in its order. Where all are stop words, they are all there is to look for."""
    shouted = text.isupper()
    stops: dict[str, bool] = {}
    for term, start, end in placed(text, asked=True):
        is_acronym = end - start > 1 and not shouted and text[start:end].isupper()
        stops[term] = stops.get(term, True) and term in STOP_WORDS and not is_acronym
    return [QueryTerm(term, stop) for term, stop in stops.items()]


def phrases(text: str) -> list[list[str]]:
    """The terms of each quoted passage, which stand in the same order, with none between, in the terms of a text that
    holds the passage."""
    found = [terms(match[match.lastindex or 0]) for match in _PHRASE.finditer(text)]
    return [phrase for phrase in found if phrase]
