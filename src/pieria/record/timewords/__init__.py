"""Time words: dates and relative times in a question or a text, as intervals of instants.

Exists so that "what did she say last Friday?" finds what was said on that day. `english` holds a language as a table,
`language` what such a table consists of, `stretch` the arithmetic of calendars, `finding` the search. The clock is a
parameter; what a moment is to the record is told in `record.time`.
"""

from pieria.record.timewords.search import DIRECTIONS, TimeWord, timewords

__all__ = ["DIRECTIONS", "TimeWord", "timewords"]
