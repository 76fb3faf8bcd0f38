"""How people say that something no longer holds: tables of English phrases.

A new phrase is one more line; `reversal` interprets matches. Patterns are searched in one sentence in lower case, and
a space matches white space. Every repetition must be bounded.
"""

from __future__ import annotations

import re

from pieria.language.letters import spaced

DROPPED, CHANGED, BACK = "dropped", "changed", "back"

_SIGN = r"(?:[^,;:.!?()\n]|[.,:](?=[0-9a-z]))"
"""A character within a phrase. A full stop or colon counts only before a letter or digit: node.js, 10:30."""
_CUES = {
    "MOVED": "switched/moved/migrated/changed/shifted/relocated/transitioned/ported/pushed/postponed/rescheduled"
    "/renamed/raised/lowered/increased/decreased/reduced/bumped/extended/shortened/delayed/handed/upgraded/downgraded"
    "/brought forward/put off/put back",
    "ENDED": "deprecated/retired/decommissioned/discontinued/cancelled/canceled/scrapped/abandoned/shut down"
    "/switched off/deleted/phased out/obsolete",
    "LET_GO": "ditched/abandoned/scrapped/retired/deprecated/discontinued/decommissioned/phased out/got rid of/gave up"
    "/given up/kicked out/cancelled/canceled/sold/moved from/moved away from/moved off from/moved off"
    "/migrated away from/migrated off/switched away from/shut down/called off/unsubscribed from/parted ways with"
    "/pulled the plug on/dropped support for",
    "LOST": "cancelled on us/cancelled on me/canceled on us/canceled on me/fell through/fallen through/called off"
    "/resigned/stepped down/retired/closed down/went bankrupt",
    "AM_NOT": "don't/doesn't/do not/does not/isn't/aren't/is not/are not/am not/i'm not/we're not/won't/can't/cannot",
    "INSTEAD": "instead of/rather than/in place of",
    "STARTS": "from now on/from here on/as of /from this/from today/from tomorrow/from jan/from feb/from mar/from apr"
    "/from may/from jun/from jul/from aug/from sep/from oct/from nov/from dec/from mon/from tue/from wed/from thu"
    "/from fri/from sat/from sun",
    "PICKED": "settled on/decided on/opted for/chose/picked",
}
"""Alternatives that several forms share. They are also the cues that find the forms."""
_PARTS = {
    "BE": "(?:is|are|was|were|has been|have been|got|gets|is now|are now)",
    "HOLDS": "(?:is|are|runs?|lives?|sits?|happens?|starts?|begins?|meets?|opens?|closes?|costs?|takes place|works?"
    "|goes|leaves|uses?)",
    "FROM_NOW": "(?:from now on|from here on|as of (?:now|today|this (?:week|sprint|month|quarter|year))"
    "|from (?:this (?:week|sprint|month|quarter|year)|today|tomorrow|(?!then )[a-z]{3,9}) on(?:wards?)?)",
    "DOUBT": r"if|whether|unless|imagin\w{1,4}|would|could|might|maybe|perhaps|should|consider\w{0,6}|almost|by mistake"
    r"|(?:think|talk|dream)\w{0,4} (?:of|about)|propos\w{1,5}|suggest\w{0,5}|hop(?:e|es|ing)|rumou?rs?|wonder\w{0,4}",
    "REST": r"(?P<rest>[^;:.!?\n]{1,160}?)",
    **{name: f"(?:{cues.replace('/', '|')})" for name, cues in _CUES.items()},
    **{name.upper(): rf"(?P<{name}>{_SIGN}{{1,80}}?)" for name in ("old", "new", "about", "doing")},
}


def _spelt(form: str) -> str:
    """Return the pattern of a form. A phrase at its end matches greedily, any other lazily."""
    found = re.sub(r"[A-Z_]{2,}", lambda part: _PARTS[part[0]], form)
    return spaced(found.removesuffix("?)") + ")" if found.endswith("}?)") else found)


_FORMS = (
    (DROPPED, "INSTEAD", r"REST,? INSTEAD (?![a-z]+ing\b)OLD"),
    (DROPPED, "no longer", r"\bno longer (?!and\b|or\b|than\b)DOING"),
    (DROPPED, "any more/anymore/any longer", r"\bAM_NOT DOING (?:any ?more|any longer)\b"),
    (DROPPED, "no more ", r"(?:\A|[,;:.-] ?|\b(?:and|but|so|have|has|got|is|are|there's) )no more (?!of\b|than\b)OLD"),
    (DROPPED, " for me/ for us", r"(?:\A|[,;:.-] ?)(?:so )?no OLD for (?:me|us)\b"),
    (DROPPED, "stop/quit ", r"\b(?:stopped|stop|quit) (?=[a-z]{2,20}ing )DOING"),
    (DROPPED, "replace", r"\breplac(?:ed|es) OLD (?:with|by) NEW"),
    (DROPPED, "replaced", r"OLD BE replaced (?:with|by) NEW"),
    (DROPPED, "swapped", r"\bswapped (?:out )?OLD (?:for|with) NEW"),
    (DROPPED, "MOVED", r"\bMOVED (?:over )?(?:ABOUT )?from OLD (?:over )?to NEW"),
    (DROPPED, "MOVED", r"\bMOVED (?:over )?(?:ABOUT )?to NEW from OLD"),
    (DROPPED, "dropped/abandoned/ditched", r"\b(?:dropped|abandoned|ditched) OLD (?:for|in favou?r of) NEW"),
    (DROPPED, "LET_GO", r"\bLET_GO (?!on\b)(?:on )?OLD"),
    (DROPPED, "ENDED", r"OLD BE (?:now |finally |officially )?ENDED\b"),
    (DROPPED, "LOST/ is off", r"OLD (?:(?:has |have |was |were )?LOST|is off(?= ?[.!,;]|\Z))"),
    (DROPPED, "took over /takes over /taken over ", r"NEW (?:took|takes|has taken) over ABOUT from OLD"),
    (
        *(DROPPED, "is not /are not /'s not /'re not "),
        r"(?:\bis|\bare|'s|'re) not (?!(?:only|just|that|so|very|always|all|sure)\b)OLD,?"
        r" but (?!(?:it|we|i|they|you|that|this|there|he|she|not|still|also)\b)NEW",
    ),
    (DROPPED, "went from /gone from ", r"\b(?:went|gone) from OLD to NEW"),
    (
        *(DROPPED, "forget /scrap /ignore /disregard /never mind /strike "),
        r"\b(?:forget|scrap|ignore|disregard|never mind|strike) (?:what (?:i|we) (?:said|told you|wrote) about"
        r"|the (?:plan|idea|part|note|bit) (?:to|of|about|with|for)|the plan,?|about) OLD",
    ),
    (DROPPED, "used to ", r"\bused to DOING,? (?:but |and )?now\b"),
    (
        *(DROPPED, ", not / and not "),
        r"REST(?:,| and) not (?!(?:just|only|always|even|because|that|to|all|sure|really|so|very|yet|at all|much|many"
        r"|necessarily|too|until|one|every|everyone|meant|intended|[a-z]+ing)\b)OLD",
    ),
    (BACK, "back to ", r"\b(?:went|gone|go|going|moved|switched|changed|are|am|is) back to NEW"),
    (BACK, "reverted to /returned to ", r"\b(?:reverted|returned) to NEW"),
    (CHANGED, "MOVED", r"\bMOVED (?:over )?(?:to|on to|onto|until|till) NEW"),
    (CHANGED, "MOVED", r"\bMOVED (?!(?:to|from|back|over to|on|or|and)\b)ABOUT(?: over)? (?:to|until|till) NEW"),
    (CHANGED, "PICKED", r"\bPICKED NEW (?:as|for) ABOUT"),
    (CHANGED, "rewrote/ported", r"\b(?:rewrote|ported) ABOUT (?:in|to) NEW"),
    (CHANGED, " now ", r"ABOUT HOLDS now NEW"),
    (CHANGED, "now ", r"ABOUT now HOLDS NEW"),
    (CHANGED, "STARTS", r"ABOUT HOLDS NEW FROM_NOW"),
    (CHANGED, "STARTS", r"FROM_NOW,? ABOUT HOLDS NEW"),
    (CHANGED, "new ", r"(?:\A|\b(?:the|my|our|their|[a-z]{2,20}'s) )new ABOUT (?:is|are) NEW"),
    (
        *(CHANGED, "correction/wrong"),
        r"\b(?:correction|wrong) (?:to|on|about|of) (?:what (?:i|we) (?:said|wrote) (?:about|on) )?ABOUT[:,;-]{1,2}"
        r" (?:it|they|that)(?:'s| is|'re| are) NEW",
    ),
    (
        *(CHANGED, "correction/scratch that/scrap that"),
        r"\b(?:correction|scratch that|scrap that)[:,;-]{1,2} (?!it\b|it's\b|that\b|we\b|i\b)ABOUT (?:is|are) NEW",
    ),
)
FORMS = tuple(
    (kind, tuple(part for cue in cues.split("/") for part in _CUES.get(cue, cue).split("/")), _spelt(form))
    for kind, cues, form in _FORMS
)
"""The kind of each form, its cues, and its pattern. A form is searched only if the sentence has one of the cues.

A form may have these groups. `old` is what is dropped, `new` the replacement, `about` the thing that changes its
value. `doing` is a clause that is no longer true, `rest` the words before a contrast. A sentence may match several
forms.
"""


def _part(form: str) -> re.Pattern[str]:
    return re.compile(_spelt(form))


def _any(words: str) -> re.Pattern[str]:
    return _part(rf"\b(?:{words})\b")


UNSTATED = _any(
    r"DOUBT|not|never|no longer|without|instead of|rather than|neither|nor|cannot|[a-z]{2,6}n't|any ?more|used to"
    r"|stopped|avoid\w{0,3}|against"
)
"""In a sentence that affirms nothing."""
UNDECIDED = _any(
    r"DOUBT|suppos\w{1,6}|wouldn't|couldn't|shouldn't|can(?! no longer|')|discuss\w{0,5}|idea|dream\w{0,4}"
    r"|may (?:be|not|also|switch|move|use|replace|drop|stop|change|go)|(?<!user[ ])(?<!user[ ]now[ ])wants?|wanted"
    r"|wish\w{0,4}|likes? to|plan(?:s|ned|ning)? (?:to|on)|asked|asking|asks|vot(?:e|es|ed|ing)|opinions?|someday"
    r"|one day|eventually|lets?|let's|try|tried|trying|had [a-z.]{2,20} [a-z]{0,12} ?not|nearly|tempted|about to"
    r"|going to|gonna|will|'ll|refus\w{1,5}|still|debat\w{1,4}|evaluat\w{1,4}|options?|in case|not (?:yet|sure)"
    r"|pretend\w{0,4}"
)
"""Before a form or within it: nothing was decided, or it is denied."""
LASTS = _any("FROM_NOW|decided|for good|permanently|going forward")
"""With one of these, a change in the future counts as decided."""
FUTURE = ("will", "going to", "gonna", "'ll")
TOLD_BY_OTHERS = _any(
    "said|says|say|told|tells|heard|hear|claims?|claimed|according|wrote|writes|reckons?|thinks?|believes?|read"
    "|apparently|supposedly|reportedly|allegedly|probably|seems?|guess|looks like|sounds like|quoted?|mentioned"
    "|announced|insists?|argued|argues"
)
TOLD_AFTERWARDS = _part(r"[,\"] ?(?:said|says|according to|claims|report(?:s|ed by)|i (?:heard|hear)) ?\b")
TOLD_BY_SPEAKER = _any("user (?:has )?(?:said|says|told me|asked)|(?:i|we) (?:said|wrote|told you|announced)")
"""Words of the user that an agent quotes, and the speaker's own words, are not hearsay."""
BEFORE_DENIED = _part(
    r"(?:(?:\bnot|\bnever|n't|\bnobody|\bno one|\bnothing|\bwithout|\bagainst|\bno (?:plans?|need|reason|way)"
    r"|\bfar from)(?: [a-z]+){0,3}"
    r"|\b(?:since|when|after|before|until|while|once|whenever|by the time|as soon as)(?: [a-z'-]+){0,4}) ?\Z"
)
"""Directly before a form: the change did not happen, or is only mentioned about another time."""
ONE_OFF = _any(
    r"yesterday|today|tonight|tomorrow|last [a-z]{4,9}|this (?:time|morning|afternoon|evening|week|weekend)"
    r"|(?:just |for |this )?once|for now|on [a-z]{3,6}day|that day|for a change|as a one-off|on the way"
    r"|(?!(?:used|decided|agreed|picked|settled|switched|moved|migrated|changed|adopted|opted|replaced)\b)[a-z]{2,20}ed"
    r"|took|had|got|made|was|were|did|ate|drank|bought|ran|came|saw|gave|met|drove|wrote|read|spent|left|put|sat|slept"
    r"|flew|rode|wore|sent|paid|felt|kept|found|brought|cost|went(?! with\b)"
)
"""Signs of a single event, which changes nothing for later."""
_GENERIC = """
use be do have get go rely take make put keep let need want like now choose pick decide agree settle adopt opt instead
longer anymore actual correct wrong thing stuff version way everything anything something part new old switch move
migrate change team user today week month year time good pls please
"""
GENERIC = frozenset(_GENERIC.split())
"""Terms without a topic."""
ANYBODY = _part(
    r"(?:(?:and|but|so|then|also|okay|ok|well|actually|turns out|update|fyi|btw|please|finally|sorry) )*"
    r"(?:(?:(?:the )?user (?:has )?(?:said|says|asked(?: me)?(?: to)?|told me(?: to)?)(?: please)?"
    r"|we|they|you|it|i|he|she|that|this|there|everyone|everybody|people|(?:the |our )?(?:whole )?(?:team|company"
    r"|group|family|office)|(?:the )?user|let's)\b)?(?:'ve|'re|'s|'m|'d|'ll)?"
    r"(?: ?(?:ha[ds]|have|having|been|was|were|is|are|am|now|just|finally|also|since|already|all|both|only|then"
    r"|really|really do|will|officially|recently|completely|fully|do|does))*"
)
"""A subject without a name."""
_VERBS = "(?:uses?|using|prefers?|likes?|wants?|drinks?|eats?|takes?|drives?|keeps?|HOLDS)"
BEFORE_OBJECT = _part(
    rf"(?:.*(?:\b(?:to|with|on|in|at|for|by|{_VERBS}|choose|chose|chosen|picked|adopted|called|named)|'s)"
    r"|(?:we|i|they|you|he|she|it) (?:now )?[a-z]{2,20}) (?:now )?(?:a |an |the |our |my )?"
)
"""A clause up to its object."""
PLAIN_SUBJECT = _part(rf" ?((?:[\w'-]{{1,30}} ){{1,4}}?){_VERBS}\b")
NO_THING = re.compile(r"\W*(?:about|like|because|for|to|just|only|more|less|not|very|so|too|all)\b")
"""A replacement that begins with one of these is not a thing: “it's about people”."""
IS = _part(r"(?:(?:\b(?:is|are|am|be)|'m|'re|'s)(?: not| no longer)?|\b(?:isn't|aren't)) ?\Z")
"""Before a description of something rather than its action."""
TO_DO = _part(r"(?!(?:go|goes|listen|send|write|talk|fly)\b)[a-z']{1,20} to [a-z]")
"""“no longer need to wait”: the clause names no thing."""
NOUN_BEFORE = _part(r"\b(?:the|an?|this|that|these|each|any|bus|full|or) \Z")
"""“the stop sign”, “cancelled jobs”: the cue is not a verb."""
NAMED = re.compile(r"[A-Z0-9]|[a-z][./-][a-z]")
ANY_OF_THEM = _part(
    r"\W{0,3}(?:an?|any|each|every|no|all|one|some|what(?:ever)?|whoever|which|such|th(?:is|at|[eo]se)) "
)
"""A subject that can be any of its kind: “a call that is cancelled”."""
NEWLY = _any("now|actually|correction|turns out|sorry|as it happens|wrong")
"""With one of these, a contrast is news."""
SPEAKER = _any("i|i'[a-z]{1,2}|we|we'[a-z]{1,2}|us|me|our|my|user|pls|please|let's")
"""The sentence is personal; documentation is not."""
OWN, MINE = _any("i|i'm|i've|my|me"), _any("my|mine")
CLAUSE_END = _part(r"[;()] ?|[,:](?![0-9a-z]) ?| - |\b(?:and|but|so|because|since) ")
BREAK = _part(
    r"[;()\n]|[,:](?![0-9a-z])| - |\b(?:because|since|so|but|and|as|which|who|that|when|after|before|while|until"
    r"|due|thanks|whatever|from (?:now|here) on|from this|this (?:morning|week|month|year|sprint)|today|yesterday"
    r"|last (?:week|night|month)|any ?more|any longer|for good|altogether|instead|now|again|right away|over)\b"
)
"""The end of a phrase."""
BESIDE = _any("for|in|on|at|during|with|when|by|from|to|via|through|of|near|into")
"""Words between a phrase and its circumstances."""
CODE = re.compile(r"[{(\[][\"']|[\"'][:)\]}]")
