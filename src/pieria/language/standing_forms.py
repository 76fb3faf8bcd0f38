"""How people state a lasting instruction, a preference, or a fact about themselves: tables of English phrases.

A new phrase is one more line. Every form is matched at the beginning of a sentence in lower case, and a space matches
white space. `standing_rules` decides what counts as a sentence. Every repetition must be bounded.
"""

from __future__ import annotations

import re
from functools import cache

from pieria.language.letters import spaced

ACTS = """
abbreviate act add address annotate answer apologise apologize append ask assign assume attach avoid back base begin
bold book bypass calculate call cancel capitalise capitalize cc check choose cite close code comment commit compare
compute confirm consider consult contact convert copy create cut default define delete deploy describe design disable
disclose display do document double-check draft drop edit email emphasise emphasize enable encrypt end escape estimate
exclude explain export express fetch finish fix flag focus follow force force-push format forward generate give greet
group handle hard-code hardcode hash highlight ignore implement import include indent inform install interrupt invite
keep label leave let limit link list log make mark measure mention merge message modify name narrate notify number offer
omit open order output paraphrase pay phone pick plan plot prefer prefix prepend present print prioritise prioritize
proofread propose provide push put quote read rebase recommend refactor refer remind remove rename render repeat reply
report request require respond return reveal review rewrite role-play round run sanitise sanitize save schedule search
select send separate set share shorten show sign simplify skip sort speak spell split squash start state stick store
structure suggest summarise summarize switch tag talk tell test text thank touch translate treat type use validate
verify visualise visualize wait warn wrap write
"""
_MANNERLY = """
accurate blunt brief careful clear concise consistent courteous direct formal frank friendly honest informal neutral
objective patient polite precise professional punctual respectful serious short specific succinct terse thorough
transparent explicit
"""
_REPLIES = (
    "answers|responses|replies|messages|explanations|summaries|emails|commits|commit messages|reports|suggestions|"
    "comments|code reviews|drafts|outputs|recommendations"
)

_DOUBLING = "put cut set run begin split skip drop tag log plot omit wrap let"
_DOUBLED = frozenset(_DOUBLING.split())


def _going(act: str) -> str:
    """Return the act as a gerund: using, putting, asking."""
    if act in _DOUBLED:
        return act + act[-1] + "ing"
    return (act[:-1] if act.endswith("e") else act) + "ing"


NEVER_MEANT = (
    "give (?:up|in)|keep (?:going|smiling|trying|calm|fighting|moving|dreaming|pushing|your (?:head|chin)|the faith)"
    "|follow your|make (?:excuses|(?:the )?best|me (?:laugh|smile|cry)|the same)|put (?:off|all)|tell (?:a )?lies?"
    "|leave (?:home|a friend|anyone|no)|end up|pick (?:a fight|yourself)|start a"
    "|wait (?:for|too|until it)"
    "|call it quits"
    "|let (?:go|them|anyone|anything|fear|it|your|yourself|someone)|set foot|ask why|run (?:out|from|away|into)"
    "|read (?:that|it|the book)|stick (?:together|to your guns)|open (?:your heart|to)|treat (?:others|people|yourself)"
    "|back down|show (?:up|fear|weakness)|repeat the same|speak (?:ill|your (?:truth|mind))|share your heart|check out"
)
"""Proverbs and good wishes that begin like instructions."""
_ACT = rf"(?!(?:{NEVER_MEANT})\b)(?:{'|'.join(ACTS.split())})(?![\w'-])"
ACTING = f"(?:{'|'.join(map(_going, ACTS.split()))})(?![\\w'-])"
_MANNER = f"be (?:more |very |as )?(?:{'|'.join(_MANNERLY.split())})"
_DO = rf"(?:{_ACT}|{_MANNER}\b|look up)"
_NOT = r"(?:don't|do not)"
_WANT = r"i(?: want| need| expect| ask|'d like| would like|'d ask| would ask|'d expect) (?:that )?you"
_MUST = r"you (?:should|must|need to|have to|are to|ought to|shall)"
_ALWAYS_YOU = (
    rf"(?:{_MUST}|{_WANT} to|it(?:'s| is) (?:important|essential|vital) that you|i ask that you) (?:always|never)"
)
_ANYTHING = r"[^.!?\n]{1,200}?"

FUTURE = (
    r"(?:from (?:now on(?:wards?)?|here on(?: out)?|today(?: on(?:wards?)?)?)"
    r"|from this (?:point|moment|day) (?:on|forward|onwards?)|(?:going|moving) forward|henceforth|in (?:the )?future"
    r"|(?:in|for) (?:all |any )?future [a-z]{2,20}|starting (?:today|now|tomorrow)|as of (?:today|now)|by default"
    r"|until further notice|at all times|as a (?:general )?rule|without exception|no matter what(?: i say)?"
    r"|under no circumstances|unless i (?:say|tell|ask|specify)[^,.!?\n]{0,60})"
)
_EVER = (
    "(?:from now on|from here on|going forward|moving forward|in (?:the )?future|henceforth|every (?:single )?time"
    "|each time|whenever (?:i|you|we)|at all times|without exception|by default|until further notice|as a rule"
    "|unless i (?:say|tell|ask|specify))"
)
_NO_MORE = (
    "(?:any ?more|any longer|ever again|again|ever|in (?:the )?future|from now on|going forward"
    "|without (?:asking|permission))"
)
_TAIL = (
    rf"(?:(?:then|please|just|only|also|simply) ){{0,3}}(?:{_DO}|always|never|{_NOT} (?!know|think|worry)"
    rf"|stop (?:{ACTING})|{_MUST}|{_WANT} to|i (?:mean|expect (?:an?|the|your))"
    r"|i(?:'d| would)? (?:much |really )?prefer|call me|no [a-z]+ing\b)"
)
_I_ASK = (
    r"(?:(?:when(?:ever)?|(?:every|each|any) ?time) (?:i|we) (?:ask|say|mention|request|tell|send|share|paste|give"
    r"|upload|type|write|want|need|refer|use|quote|post|report)|if i (?:ask|say|mention|request|type|write))\b"
)
_YOU_DO = (
    r"(?:when(?:ever)?|(?:every|each|any) ?time) you (?:write|answer|reply|respond|summari[sz]e|explain|format"
    r"|generate|create|draft|code|refer|address|translate|review|suggest|recommend|propose|cite|quote|send|commit|edit"
    r"|change|rename|plan|book|give me|show me|talk to me|speak to me|name|list|present|describe"
    r"|are (?:unsure|not sure|done|finished|in doubt))\b"
)
_DOING = (
    r"(?:when|while|before|after) (?:writing|answering|replying|responding|summari[sz]ing|coding|generating|creating"
    r"|explaining|reviewing|drafting|formatting|naming|citing|giving|suggesting|recommending|planning|booking"
    r"|translating|committing|merging|deploying|deleting|editing|changing|talking to me|speaking to me|addressing me"
    r"|listing|presenting|refactoring)\b"
)
_EACH = r"(?:for|in|with|on|before|after) (?:all|every|each|any)\b"

_RULES = (
    rf"(?:please )?(?:always|never|{_NOT} ever|don't you ever|{_ALWAYS_YOU}) (?:please )?{_DO}",
    rf"(?:{FUTURE},?|(?:{_I_ASK}|{_YOU_DO}|{_DOING})[^.!?\n]{{0,200}}?,|{_EACH}[^,.!?\n]{{1,80}},) {_TAIL}",
    rf"{FUTURE},? i (?:want|need|'d like) (?:all|every|your|answers|replies|responses|code)\b",
    rf"(?:{_I_ASK}|{_YOU_DO}){_ANYTHING} (?:please|always|never|{_NOT}) {_DO}",
    # An act at every request of the speaker is addressed to the assistant, so its verb may be any word.
    rf"(?:please )?(?:always|never) (?![a-z]*(?:ed|ing|[^s]s)\b)[a-z][a-z-]{{1,20}} {_ANYTHING} {_I_ASK}",
    rf"(?:{_NOT} (?:you )?)?{_DO}{_ANYTHING} {_EVER}\b",
    rf"(?:stop [a-z]+ing|(?:make|be) sure(?: to)?|remember to|call me|address me)\b{_ANYTHING} {_EVER}\b",
    rf"{_NOT} (?:you )?{_ACT}{_ANYTHING}[ ,]{_NO_MORE}\b",
    rf"(?:stop|quit|no more|no) {ACTING}{_ANYTHING}(?:[ ,]{_NO_MORE}\b|your (?:{_REPLIES})\b)",
    r"(?:make sure|be sure|ensure|remember|take care)(?: that)?(?: to| you)? (?:always|never)\b (?!say never)",
    r"(?:my|our|house) (?:own |standing |general |golden |only |first |number one |strict |hard |personal )?rules?"
    r"(?: here| for you| of thumb)? (?:is|are)\b",
    r"(?:my|our) (?:standing |general |strict )?(?:policy|instructions?|requirement|convention)s?(?: here| for you)?"
    r" (?:is|are) ?(?:to|that|:|no|never|always)\b",
    r"(?:house|standing|permanent|ground) (?:rule|instruction|order|request)s?: ",
    rf"i never want (?:you to {_ACT}|to (?:get|receive|be (?:asked|reminded|called|told)))\b",
    r"i always (?:want|need|expect) (?:you to|your|an? (?:source|summary|example|test|explanation)|answers|replies"
    r"|sources|code)\b",
    rf"keep (?:your|all(?: of)?(?: your| my| the)?) (?:{_REPLIES})\b",
    rf"(?:all )?your (?:{_REPLIES}) (?:should|must|need to|have to|are to)\b",
    r"no (?!one|wonder|doubt|matter)[a-z]{3,20}(?: [a-z]{2,20}){0,3},? (?:ever|from now on|in your [a-z]{3,20})\b",
)
_PREFERENCES = (
    r"(?:when it comes to [^,.!?\n]{1,60}, |for [^,.!?\n]{1,40}, |between [^,.!?\n]{1,60}, )?"
    r"i(?:'d| would| do)?(?: (?:really|much|strongly|generally|usually|definitely|always|still|personally|actually"
    r"|also|far)){0,2}"
    r" prefer(?! not to (?:say|answer|discuss|talk|disclose|comment)| nothing| you stop)\b \w",
    r"i(?:'d| would) (?:much |really |always )?rather (?:you |not (?:be|have|get|receive|see|use)|have|get|use|see"
    r"|read|receive"
    r"|be (?:called|addressed|told)|avoid|keep)\b",
    r"i (?:[a-z']{2,12} ){0,2}(?:like|love|hate|dislike|appreciate|stand|enjoy|mind) it (?:when|if) (?:you|your"
    r"|people|someone"
    r"|answers|responses|replies|emails|messages|code|meetings)\b",
    r"my (?:strong |general |personal |clear )?preferences? (?:is|are)\b",
    r"my preferred [a-z][a-z -]{1,40}? (?:is|are)\b",
    r"my (?:all-time )?(?:least )?favou?rite (?!part|memory|moment|thing)[a-z][a-z -]{1,40}? (?:is|are)\b",
    r"i(?:'m| am) (?:really )?not (?:really )?an? (?:big |huge |real )?fan of\b",
    rf"i (?:don't|do not) (?:want|like) (?:you to {_ACT}|(?:to be|being) (?:called|asked|reminded|interrupted"
    rf"|contacted|told)|your (?:{_REPLIES}))\b",
    r"i (?:like|take|want) my (?:answers?|coffee|tea|code|steak|eggs|reports?|summaries|emails?|meetings?|replies"
    r"|drinks?|food) \w",
    r"i only (?:eat|drink|use|buy|wear)\b",
)
_PROFILES = (
    r"(?:remember|note|keep in mind|bear in mind|don't forget|do not forget|be aware|take note|make a note|memori[sz]e)"
    r"(?:,? (?:please ))?(?: that|:|,)? (?:i(?! (?:told|said|asked|mentioned|went|was|had|met|saw|did|came|thought"
    r"|wanted|used"
    r"|love you|loved|am here|once))|i'm(?! (?:here|sorry|proud|always here))|i've|my|we(?! (?:were|went|had|met"
    r"|talked|said|used|all|did))"
    r"|our)(?!\w) \w",
    r"(?:remember|note)(?: that)? (?:i'm|my)\b",
    r"for future reference[,:]? (?:i|i'm|my|we|our)\b",
    r"(?:you (?:can|may|should) |just |everyone |people |(?:my )?friends |all my friends )?calls? me (?P<called>)",
    r"(?:always )?(?:address|refer to|greet) me (?:as|by|with)\b",
    r"my (?:full |first |last |real |middle )?(?:name|nickname|pronouns|birthday|time ?zone|email(?: address)?|phone"
    r" number"
    r"|native language|mother tongue|home address|job title|shoe size|blood type) (?:is|are)\b",
    r"i go by (?!the|bus|train|car|plane|bike|myself|foot)\b",
    r"i(?:'m| am)(?: (?:a|an|very|severely|strictly|mildly|highly|also|lactose|gluten|strict)){0,2} (?:allergic"
    r"|intolerant|coeliac|celiac"
    r"|diabetic|vegan|vegetarian|pescatarian|colou?r-?blind|left-handed|deaf|dyslexic|teetotal(?:er)?)\b",
    r"i have (?:an? )?(?:[a-z]{3,12} ){0,2}(?:allergy|allergies|intolerance)\b",
    r"i (?:don't|do not|can't|cannot|never) (?:eat|drink|smoke|consume) (?!another|any ?more|it|this|that|much|like"
    r"|with|and|alone)[a-z]",
)

_LEADS = (
    "please|pls|plz|also|and|but|so|then|ok|okay|oh|btw|by the way|just|kindly|again|seriously|honestly|personally|fwiw"
)
_MARKED_LEADS = (
    "actually|well|yes|no|right|sure|great|thanks|thank you|one more thing|another thing|one thing|a reminder"
    "|reminder|important"
    "|note|rule|fyi|to be clear|in general|generally|for the record|quick note|preference|instruction|heads up|as"
    " always|look"
    "|listen|hello|hi|hey"
)
"""These count only with punctuation after them: "no, always …" but not "no emojis"."""
LEAD = re.compile(
    rf"(?:[-*•+]\s{{1,3}}|\d{{1,3}}[.)]\s{{1,3}})?(?:(?:user|human|me)\s?:\s{{1,3}})?"
    rf"(?:(?:hey|hi|hello|dear)\s[a-z]{{2,20}}\s?[,!-]\s{{1,3}})?"
    rf"(?:(?:(?:{spaced(_LEADS)})(?:\s?[,:;!-]{{1,3}})?|(?:{spaced(_MARKED_LEADS)})\s?[,:;!-]{{1,3}})\s{{1,3}}){{0,4}}"
)
_BEGIN = """
please pls plz always never don do you i it from going moving forward henceforth in for starting as by until at without
no under unless when whenever every each any everytime eachtime anytime if while before after with on be look stop quit
make remember call calls address ensure take my our house standing permanent ground keep all your between note bear
memorise memorize just everyone people friends refer greet user human me hey hi hello dear
"""
HEADS = frozenset(re.findall(r"(?<![^\s|])[a-z]+", f"{_BEGIN} {ACTS} {_LEADS}|{_MARKED_LEADS}"))
"""First words of forms and of leads. Checking them is far cheaper than matching the forms."""
ONE_OFF = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|just now|for now|at the moment|that day|last (?:night|week"
    r"|month|year)"
    r"|this (?:time|morning|afternoon|evening|week|weekend|month|year|one|once)|instead of going)\b"
)
REPORTED = re.compile(
    r"\b(?:said|says|used to say|told (?:me|us|him|her|them)|replied|wrote|would say|warned (?:me|us)|as they say"
    r"|the saying goes|ha[sd] a rule)\b"
)


def _form(kind: str, patterns: tuple[str, ...]) -> str:
    spelt = "|".join(f"(?:{pattern})" for pattern in patterns).replace("please", "(?:please|pls|plz)")
    return f"(?P<{kind}>{spaced(spelt)})"


@cache
def forms() -> re.Pattern[str]:
    """Return all forms in one pattern, with a group per kind. Compiled on first use, because it is slow."""
    kinds = (("profile", _PROFILES), ("rule", _RULES), ("preference", _PREFERENCES))
    return re.compile("|".join(_form(kind, patterns) for kind, patterns in kinds))
