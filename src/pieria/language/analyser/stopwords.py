"""English stop words. A query may drop them if it has other terms; the index holds every word.

Ranking, snippets and highlighting use this list. Do not add another.
"""

from __future__ import annotations

from pieria.language.analyser.stem import stem

_WORDS = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one ones someone somebody something anyone anybody anything everyone everybody everything
am is are was were be been being do does did doing done have has had having
can could may might must shall should will would ought
cant couldnt dont doesnt didnt hadnt hasnt havent isnt arent wasnt werent shouldnt wont wouldnt aint
and or but nor so if then than because while although though unless whether
as at by for from in into of off on onto to with without within about above across after against along among
around before behind below beneath beside besides between beyond during except near over per since through
throughout toward towards under until up upon via
what when where which who whom whose why how
not no yes there here too also just very really only even ever still such both each either neither
any some all most more much many other another own same
get got let lets tell please hey hi
"""

STOP_WORDS = frozenset(stem(word) for word in _WORDS.split())
"""Stemmed, so that they compare with terms."""
