"""Time words: parse dates and relative times in a text to intervals of instants.

They let "what did she say last Friday?" find memories of that day. `english.toml` is the table of a language,
`language` its format, `stretch` the calendar arithmetic, `search` the search. The clock is a parameter; instants
belong in `record.time`.
"""

from pieria.language.timewords.search import DIRECTIONS, TimeWord, timewords

__all__ = ["DIRECTIONS", "TimeWord", "timewords"]
