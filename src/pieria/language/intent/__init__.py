"""Detect whether a message asks to save or to recall something, and what in it to save.

An agent can decide before any read or write, without a model and with reasons. The phrases are in the tables beside
this file, one per language (`english.toml`). `phrases` loads them, `signals` matches them. Reading and writing banks
does not belong here.
"""

from pieria.language.intent.judgement import Recalling, Saving, judge_recalling, judge_saving, judge_strength
from pieria.language.intent.keyterms import keyterms

__all__ = ["Recalling", "Saving", "judge_recalling", "judge_saving", "judge_strength", "keyterms"]
