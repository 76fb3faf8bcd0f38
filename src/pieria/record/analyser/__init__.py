"""The analyser: from any text to terms, the one vocabulary of index and question.

Exists so that both stores index the same terms verbatim and a question asks for them in the same form. A term holds no
white space, no ASCII capital, no quote, nothing invisible, and at most 64 characters. Pure functions, safe in
threads; any string is legal, and the time taken grows with its length alone. Ranking does not belong here.

`ANALYSER_VERSION` rises with every change that gives some text other terms, or finds other standing rules in it: a bank
whose index was built with another number builds it anew.
"""

from pieria.record.analyser.question import QueryTerm, phrases, query_terms
from pieria.record.analyser.stopwords import STOP_WORDS
from pieria.record.analyser.tokenizer import Span, marks, spans, terms

__all__ = ["ANALYSER_VERSION", "STOP_WORDS", "QueryTerm", "Span", "marks", "phrases", "query_terms", "spans", "terms"]

ANALYSER_VERSION = 6
