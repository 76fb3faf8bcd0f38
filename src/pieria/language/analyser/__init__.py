"""The analyser: turn text into terms, the vocabulary that the index and queries share.

Both stores index the same terms verbatim, and queries use the same form. A term has no white space, no ASCII capital,
no quote, no invisible character, and at most 64 characters. The functions are pure and thread-safe. They accept any
string, in time proportional to its length. Ranking does not belong here.

Raise `ANALYSER_VERSION` with every change that gives a text other terms or finds other standing rules in it. A bank
rebuilds an index of another version.
"""

from pieria.language.analyser.tokenizer import STOP_WORDS, QueryTerm, Span, marks, phrases, query_terms, spans, terms

__all__ = ["ANALYSER_VERSION", "STOP_WORDS", "QueryTerm", "Span", "marks", "phrases", "query_terms", "spans", "terms"]

ANALYSER_VERSION = 7
