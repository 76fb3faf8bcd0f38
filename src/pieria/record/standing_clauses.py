"""How people put a lasting instruction within a sentence, after a lead, a colon or a comma: English, as tables.

A line is matched in lower case at the beginning of a clause. It joins what is directed at the agent with what lasts: a
word such as “always”, a scope such as “in this repo”, or an object that no single job has. The forms of whole sentences
are in `standing_forms`, other languages in `standing_tongues`. Every repetition is bounded.
"""

from __future__ import annotations

import re
from functools import cache

from pieria.record.lettering import spaced
from pieria.record.standing_forms import ACTING, ACTS, FUTURE, NEVER_MEANT

_MORE_ACTS = """
amend bump cast catch clean come delegate deploy explain fill go implement inline install introduce invent isolate
lint lock mock modify monkeypatch move open paraphrase parse pin port prefer pull quote rerun resolve restart revert
scan sign skip squash stage stash stay stick swallow throw truncate turn upload
"""
_OUTPUTS = """
answers? replies responses explanations summaries emails? mails memos letters reports reviews suggestions comments
docstrings docs commits tests functions variables names filenames migrations queries keywords quer(?:y|ies) dates times
timestamps numbers amounts prices units figures plots charts tables prose bullets lists examples citations references
sources footnotes quotes errors logs imports types branches prs pull-requests messages texts headings titles labels
emojis code jargon slides paragraphs sentences strings constants secrets fixtures dependencies libraries
"""
_SCOPES = "repo|repository|codebase|code base|project|monorepo|workspace|team|company|chat|course|class|firm|lab|thread"
_ACT = rf"(?!(?:{NEVER_MEANT})\b)(?:{'|'.join((ACTS + _MORE_ACTS).split())})(?![\w'-])"
_OUTPUT = (
    rf"(?:(?:(?!the |this |that |these |those |we )[a-z-]{{2,14}} ){{0,2}}(?:{'|'.join(_OUTPUTS.split())}"
    rf"|(?:bullet|data|type|commit|variable|file|test"
    r"|user-facing) [a-z]{3,10})(?![\w'-]))"
)
_ALWAYS = (
    r"(?:al+wa?ya?s|alwasy|allways|alwys|nev+e?r|neve|nevr|only ever|(?:don'?t|do not|dont) ever"
    r"|without exception,?)"
)
_NOT = r"(?:don'?t|do not|dont|donot|dnt)"
_PLEASE = r"(?:(?:please|pls|plz|just|simply|also|then|kindly|i want you to|i'd like you to) ){0,3}"
_EACH = r"(?:all|every|each|any|future|my|our|your)"
_IN_SCOPE = (
    rf"(?:(?:in|for|with|on|across|inside|throughout) (?:(?:this|our|my|the|that) (?:whole |entire )?(?:{_SCOPES})"
    rf"|{_EACH} [a-z`-]{{2,20}}(?: [a-z`-]{{2,20}}){{0,2}}|everything|(?!the |this |that )"
    rf"{_OUTPUT})(?! of (?:the|this)\b))"
)
_REST = r"[^.!?\n]{1,200}?"
_DEFINITE = r"(?:it|this|that|these|those|them|him|her|me|us|an?|the(?! words?\b| phrase| term))(?![\w'-])"
_UNDONE = rf"{_NOT} (?:you )?{_ACT} (?!{_DEFINITE})"
_DIRECTED = rf"{_PLEASE}(?:{_ALWAYS} |{_NOT} |only )?{_ACT}"
_MEASURES = (
    r"(?:metric|si|imperial|british|american|canadian|australian|uk|us|iso|celsius|fahrenheit|24-hour|european"
    r"|snake[_ ]case|camel ?case|conventional commits|type hints|oxford)"
)
_MANNER = (
    r"(?:in (?:[a-z]+(?:ese|ish|ian|ean|ench|man|utch|eek|abic|aic)|hindi|plain|simple|lower ?case|upper ?case|bullet"
    r"|full sentences|one (?:line|sentence))|briefly|concisely|without jargon|step by step|as (?:a )?(?:bullet|list)"
    r"|like i'?m|with(?:out)? (?:examples|jargon|sources))"
)
_TEAM_ACT = (
    r"(?:push|force-push|deploy|merge|commit|format|lint|release|ship|rebase|squash|review|mock|log|name|sign|store"
    r"|cite|hard-?code|test|write|document|publish|prefer|indent|support|target|bill|quote|disclose|grade)"
)

_RULES = (
    # A word that lasts, and what is to be done.
    rf"{_PLEASE}{_ALWAYS} (?:please |just |simply |ever )?{_ACT}",
    rf"(?:you|u) (?:should|must|may|can|need to|have to|are to|ought to|shall) (?:{_ALWAYS}|only|not) "
    r"(?!forget|worry|be\b|have\b|miss)[a-z]",
    r"(?:you|u) (?:mustn't|may not|shouldn't ever|are not allowed to|are never to) [a-z]",
    rf"(?:{FUTURE}|until i (?:say|tell|ask)[^,.!?\n]{{0,40}}|unless i (?:say|tell|ask)[^,.!?\n]{{0,40}}"
    r"|in general|generally|every time|as always with me|as usual with me|remember|for me|house style|for the future)"
    rf"[,:]{{0,1}} (?:{_DIRECTED}|{_NOT} |no |only |i (?:want|need|prefer|expect|like) (?!to )|{_OUTPUT} (?:in"
    rf"|as|with|should|must|are to)\b)",
    rf"{_DIRECTED}{_REST} (?:unless|until) (?:i|we) (?:say|tell|ask|explicitly|specify|approve|want)\b",
    r"remember (?:that )?(?:all|every|any|no) (?:our |my |your )?[a-z`-]{2,20} (?:are|is|must|should|have|has) ",
    r"it(?:'s| is) (?:very |really )?(?:important|essential|crucial) (?:to|for) me that you (?!come|are|were)[a-z]",
    # A scope, and what is to be done there; or the other way round.
    rf"{_IN_SCOPE}[,:]{{0,1}} (?:{_DIRECTED}|no |only )",
    rf"for (?:this|our|my) (?:{_SCOPES}): [a-z]",
    rf"(?:{_PLEASE}(?:use|write|prefer|keep|name|put|stick to|follow|format|add|run|cite|include)|no) (?!{_DEFINITE})"
    rf"{_REST} {_IN_SCOPE}",
    rf"(?:when(?:ever)?|(?:every|each|any) ?time) you (?!call|talk|see|meet){_ACT}{_REST}(?:,|:| -) ?"
    rf"(?:{_DIRECTED}|{_NOT}|no |{_OUTPUT})",
    rf"(?:whenever|(?:every|each|any) ?time) (?:you|i|we) {_REST}(?:,|:| -) ?{_DIRECTED}",
    rf"{_DIRECTED}{_REST} (?:before|after|on|with|for|at the end of) (?:each|every|any)\b",
    # What is forbidden, or said of all of a kind: no single job.
    rf"{_PLEASE}{_UNDONE}",
    rf"{_PLEASE}{_NOT} {_ACT}{_REST} without (?:asking|permission|my|showing|checking|telling)\b",
    rf"(?:no|zero) (?!one|more|longer|such|need|luck|idea){_OUTPUT},? (?:in|on|ever|please|pls|inside)\b",
    r"no (?!one\b|more\b|longer\b|such\b|need\b|luck\b|idea\b|news\b)[a-z`_-]{2,20}(?: [a-z`_-]{2,20}){0,2} in"
    rf" (?:{_OUTPUT}|my |your |our |typescript|python|javascript|rust|go|sql|java|css|html)",
    rf"(?:please )?stop (?:{ACTING}|apologi[sz]ing) (?!the |this |that |it |my |for (?:the|now))[a-z]",
    rf"(?:please )?only (?:use|cite|write|add|commit|answer|quote|change|edit) (?!{_DEFINITE}|one |two )",
    rf"{_PLEASE}use (?!{_DEFINITE}){_REST}(?: instead of| rather than| over|,? (?:and )?(?:not|never"
    rf"|no)) (?!{_DEFINITE})",
    rf"{_PLEASE}(?:use|stick to|stick with|follow) (?:only )?(?:the )?{_MEASURES}(?![\w'-])",
    rf"{_PLEASE}use (?!{_DEFINITE}){_REST} (?:everywhere|throughout|exclusively|for everything)\b",
    rf"{_PLEASE}(?:write|cite|put|format|name|keep|prefix|sort|group) (?:all |my |the )?{_OUTPUT} "
    r"(?:in|as|with|before|after|to|under|at|alphabetically|short)\b",
    rf"{_PLEASE}(?:answer|reply|respond|talk|speak|explain)(?: to)?(?: me)?(?: things| everything)? {_MANNER}",
    rf"{_PLEASE}ask (?:me )?(?:first )?before (?:you )?[a-z]+(?:ing)?\b",
    rf"{_PLEASE}prefer \w{_REST} (?:over|to|instead of|rather than) ",
    r"(?:you can |please )?assume (?:that )?(?:i|my|we) ",
    r"(?:all|every|any) (?:of )?(?:our |my |your |the )?[^.!?,\n]{2,60}? (?:must|should|are to|have to"
    r"|has to|need to)\b",
    rf"(?:our |my )?{_OUTPUT} (?:should|must|are to|have to|need to) (?:always |never |only |be )",
    rf"{_OUTPUT} (?:in|as) [a-z0-9 -]{{2,40}}? only\b",
    rf"{_OUTPUT}[^.!?\n]{{2,60}} only,? (?:please|pls)",
    # What “we” do is how things are done here.
    rf"we (?:all |here )?(?:always|never|only|only ever|don'?t|do not|dont) (?:ever )?{_TEAM_ACT}(?![\w'-])",
    rf"we (?:only |always |don'?t |do not |never )?(?:use|{_TEAM_ACT}) (?!{_DEFINITE}){_REST}"
    rf"(?: here\b| {_IN_SCOPE}|, ?(?:not|never|no) | instead of| rather than)",
    rf"we (?:format|lint|test|build|deploy|manage [a-z]+|write [a-z]+|name [a-z]+) (?:with|using|in"
    rf"|to) (?!{_DEFINITE})",
)
_PREFERENCES = (
    r"i(?: really| generally| usually| always| strongly| do)? ?(?:prefer|'d prefer|would prefer) (?!not to"
    r"|to (?:look|see"
    r"|go|wait|stop|do)\b|nothing|the (?:first|second|third|other)|this|that|it )\w",
    rf"i (?:really |just |generally |always |only )?(?:like|want|hate|love|dislike|expect|detest|can't stand"
    rf"|need|appreciate) (?:my |all |your |long |short ){{0,2}}(?!the |an? |some |this ){_OUTPUT}(?! (?:of"
    rf"|from) the)",
    rf"i (?:don'?t|do not|dont|never) (?:ever )?want (?:you to (?:{_ACT})|to see (?:any|a)|any|{_OUTPUT})",
    r"i only (?:want|accept|read|need) (?!to |the |an? |this |that |you )\w",
    r"i (?:work|think|calculate|cook) in (?:fahrenheit|celsius|metric|imperial|inches|centimet|pounds|euros|dollars)",
    r"i'?d rather (?:you|have|get|see|read) ",
)
_PROFILES = (r"(?:(?:please |just |you can |but ){0,2})call me (?P<called>)",)

_CUES = """
id everytime eachtime
always alwyas alwasy allways alwys alway never nevr neve ever don dont donot dnt not no zero only use using
prefer i we you u all every any each stop call whenever when unless until remember assume ask answer reply
respond explain talk speak write cite put format name keep stick follow in for across throughout general
generally it our my from going moving by starting as at under without henceforth
"""
CLAUSE = re.compile(
    r"(?:[:;,(]|\s[-~]{1,2}(?=\s)|\s(?:and|so|but|because)(?=\s)|\b\d{1,2}[.)](?=\s)|[*•]|\.\.\.|…)\s{1,3}"
)
"""What stands before a clause that is not the first one."""
CLAUSES = 12
"""The clauses of a sentence that are looked at."""
LEAD = re.compile(
    spaced(
        r"(?:(?:and|oh|ok|okay|so|but|also|please|pls|plz|hey|hi|hello|morning|by the way|btw|again|remember"
        r"|note|rule"
        r"|in general|generally|as a rule|thx|thanks|one more thing)[,:!]{0,2} (?![,:])){1,4}"
    )
)
ONCE = re.compile(
    r"\b(?:yet|for the moment|until then|for this (?:one|version|figure|task|experiment|time|pr|file|test|page)"
    r"|in (?:this|that) (?:version|line|file|case|one|paragraph|function|figure)|before you (?:push|send"
    r"|commit) th(?:is|e)"
    r"|just (?:fix|do|change|this)|only the|this once|never mind|the (?:first|second|third|other|last) (?:one"
    r"|approach))\b"
    r"|\b(?:according to|he|she|they|people|docs?|boss|teacher|prof|colleague|customer|client) (?:always "
    r"|never |just )?"
    r"(?:say|says|said|wants?|told|claims?|wrote)\b"
)


@cache
def clause_forms() -> re.Pattern[str]:
    kinds = (("profile", _PROFILES), ("rule", _RULES), ("preference", _PREFERENCES))
    return re.compile("|".join(f"(?P<{kind}>{spaced('|'.join(f'(?:{p})' for p in forms))})" for kind, forms in kinds))


CUES = frozenset(_CUES.split())
"""A text without any of these words has no such clause."""
CLAUSE_HEADS = frozenset(
    re.findall(
        r"[a-z]+",
        f"""{ACTS} {_MORE_ACTS} {_OUTPUTS} please pls plz just simply also then kindly i u it our my house but
        me mustn on data bullet commit variable file test user as inside throughout unsure whole""",
    )
).union(CUES, ACTS.split())
"""The words that a clause may begin with: told far sooner than by the forms."""
