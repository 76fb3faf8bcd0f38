"""Intent: whether a message asks for something to be kept or found again, and what it says that is worth keeping.

Exists so that an agent may decide, before anything is written or looked up, with reasons and no model. How people put
it is in the tables beside this file, one a language (`english.toml`); `phrases` reads them, `signals` finds them in a
text. Reading and writing banks does not belong here.
"""

from pieria.record.intent.keyterms import keyterms
from pieria.record.intent.recall import Recalling, judge_recalling
from pieria.record.intent.save import Saving, judge_saving
from pieria.record.intent.strength import judge_strength

__all__ = ["Recalling", "Saving", "judge_recalling", "judge_saving", "judge_strength", "keyterms"]
