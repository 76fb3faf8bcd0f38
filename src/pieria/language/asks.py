"""Classify what a question asks for: an order, a summary, a count, a time, a person, a choice, an action.

Recall diversifies hits if the question asks for many, and adds standing rules if it asks for an action. It prefers
new memories if the question asks about the present. One question may have several kinds. The topic of a question
belongs in the analyser and in `entities`.
"""

from __future__ import annotations

import re

from pieria.language.letters import lowered, spaced
from pieria.language.packs import words

KINDS = (*("order", "summary", "count", "when", "where", "who", "which", "why", "how", "yes-no", "request", "update"),)

_OPENING = r"(?:(?:and|so|but|ok|okay|hey|hi|hello|please|well|also|now|then)\b[ ,]{1,3}){0,3}"
_PLEASE = (
    r"(?:(?:can|could|would|will) you (?:please |kindly |just |maybe |also )?|(?:i'd|i would) like (?:you to |an? "
    r"|some )?"
    r"|i (?:want|need) (?:you to |an? |some )|please |kindly |let's |help me (?:to )?)?"
)
_MADE = (
    "write|draft|compose|create|make|build|generate|design|code|implement|develop|suggest|recommend|propose|plan"
    "|book|schedule"
    "|translate|rewrite|rephrase|edit|improve|fix|debug|refactor|review|format|convert|calculate|compute|prepare"
    "|give me|show me how"
    "|help|send|set up|brainstorm|come up with|advise|outline|find me|pick|choose|explain|teach|remind me|walk me"
    " through|solve"
    "|proofread|optimi[sz]e|add|update|organi[sz]e|order|reserve|tell me a|continue|respond|reply|answer"
)
_ASKED_OF = "(?:do|did|have|had|has|was|were|is|are|am|should|can|could|will|would|does)"

_FORMS: dict[str, tuple[str, ...]] = {
    "order": (
        r"\b(?:in (?:what|which) (?:order|sequence)|what (?:is|was) the (?:order|sequence)|chronolog\w{0,8}|sequence of"
        r"|(?:in|the) order (?:in which|of events|that)|in order\b(?! to| that| for)|timeline|step by step|order of "
        r"(?:the )?events)",
        r"\bfirst\b.{0,200}\b(?:then|next|last|second|after that)\b",
        r"\b(?:which|what|who)\b.{0,120}\b(?:came|happened|went|did|was|started|bought|arrived)\b.{0,80}\b(?:first"
        r"|last|earlier|later)\b",
        r"\b(?:sort|arrange|rank|put|list)\b.{0,120}\b(?:by date|by time|from (?:earliest|oldest|first|latest"
        r"|newest)|in order)\b",
        r"\bfrom (?:earliest|oldest|first) to (?:latest|newest|last)\b",
    ),
    "summary": (
        r"\b(?:summari[sz]e|summary|overview|recap|sum up|gist|rundown|tl;?dr|round-?up|synopsis|in a nutshell)\b",
        r"\bwhat do (?:you|we) know about\b|\btell me (?:everything|all|more|about)\b|\b(?:everything|anything) "
        r"(?:about|you know)\b",
        r"\b(?:all (?:of )?(?:the|my|our|his|her|their)|every one of|list (?:every|all|the|of|my)|what are (?:all"
        r"|the))\b",
        r"\bhow (?:has|have|had|did)\b.{1,200}\b(?:change|changed|evolve|evolved|develop|developed|progress"
        r"|progressed|grow|grown|improved?)\b",
        r"\b(?:comprehensive|throughout|over the course of|across (?:all|our|my|the)|key (?:points|themes"
        r"|takeaways))\b",
        r"\bwhat (?:kinds?|types?|sorts?) of\b|\bwhat (?:activities|hobbies|books|places|events|things|topics|items"
        r"|steps|features)\b",
        r"\bevery (?:\w+ ){1,3}(?:i|we|you|he|she|they)\b",
    ),
    "count": (
        r"\b(?:how many|how often|number of|count (?:of|the|all|how)|total (?:number|amount|of)|in total|altogether)\b",
        r"\bhow much\b|\bhow long\b|\bhow old\b",
    ),
    "when": (r"\b(?:when|what (?:time|date|day|month|year)|which (?:date|day|month|year)|how long ago|since when)\b",),
    "where": (r"\b(?:where|(?:what|which) (?:place|city|country|town|state|location|room|folder|file|street))\b",),
    "who": (r"\b(?:who|whom|whose|(?:what|which) (?:person|people|friend|colleague))\b",),
    "which": (r"(?<!\bin\s)\bwhich\b",),
    "why": (r"\b(?:why|for what reason|what (?:is|was|made|caused|led|prompted)\b.{0,40}\breason|how come)\b",),
    "how": (r"\bhow (?!many|much|often|long|old|come)\w",),
    "yes-no": (
        rf"\A\W{{0,8}}{_OPENING}{_ASKED_OF}(?:n't)? (?!you (?:please |kindly |just |maybe |also )?(?:{_MADE})\b)\w",
    ),
    "request": (
        rf"(?:\A|[.!?\n:]\s{{0,4}})\W{{0,8}}{_OPENING}{_PLEASE}(?:{_MADE})\b(?! (?:was|is|were)\b)",
        r"\b(?:help me|can you help|could you help|i need help|i'm looking for|any (?:ideas|suggestions"
        r"|recommendations|tips|advice))\b",
        r"\bwhat (?:should|could|would you|can) (?:i|we|recommend|suggest)\b|\bhow (?:should|can|do|could|would) "
        r"(?:i|we)\b",
    ),
    "update": (
        r"\b(?:current(?:ly)?|latest|newest|most recent(?:ly)?|still|nowadays|these days|at the moment|as of (?:now"
        r"|today)"
        r"|up[- ]to[- ]date|any ?more|right now|at present|so far|to date|no longer)\b",
        r"\bnow\b(?! and then)|\bhas\b.{1,120}\bchanged\b|\b(?:changed?|updates?|updated) (?:my|our|his|her|the|to"
        r"|since|about)\b",
    ),
}
_ASKS = [(kind, re.compile(spaced(form))) for kind, forms in _FORMS.items() for form in forms]
_LONGEST = 2_000
"""Characters read at each end of a long question. The middle holds the topic, not the request."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SURE = words("questions", "summing")
"""One of these words is enough to mark a request for an overview."""
FORMS = words("questions", "forming")
"""`LEAST` of these words mark such a request. A single one may be the subject."""
LEAST = 2
IDLE = SURE | FORMS | words("questions", "asking")


def asks(question: str) -> frozenset[str]:
    """Return the kinds of a question, out of `KINDS`. Empty if none matches."""
    low = lowered(question)
    if len(low) > 2 * _LONGEST:
        low = f"{low[:_LONGEST]}\n{low[-_LONGEST:]}"
    found = set()
    for kind, form in _ASKS:
        if kind not in found and form.search(low):
            found.add(kind)
    return frozenset(found)


def subject(text: str) -> str | None:
    """Return the remaining words. None if it asks for no overview, or if no words remain."""
    words = [word[0] for word in _WORD.finditer(text)]
    folded = [word.casefold() for word in words]
    if SURE.isdisjoint(folded) and sum(word in FORMS for word in folded) < LEAST:
        return None
    left = [word for word in words if word.casefold().replace("’", "'") not in IDLE]
    return " ".join(left) or None
