"""Rules: the standing rules that agents get, those that wait, and a person's decisions on them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from pieria.doors.http.schemas import several, text, whole
from pieria.doors.web.page import Answer, Asked, Moved, Page, Shown, View
from pieria.record.time import moment
from pieria.record.trust import GIVEN, PERSON
from pieria.toolsets import Access

STATES = ("told", "waiting")
DECLINED = "declined"
LISTED = 100
"""Most rules of each state that the page shows."""
MOST = 500
_LIST = {
    "state": text("Only rules in this state.", enum=[*STATES, DECLINED]),
    "via": several("For waiting rules: how they came in; agent by default.", *GIVEN),
}
_DECISION = {
    "id": text("The memory to decide on."),
    "seen": whole("The known_from of the rule that was shown, in microseconds.", 0, 2**53),
    "reason": text("Why."),
}


def count_waiting(asked: Asked) -> int:
    """Return how many rules wait for a person's decision."""
    found = asked.bank.rules.list("waiting", limit=1)
    return len(found) + found.left


def _list_rules(asked: Asked) -> Shown:
    state, ways = asked.given.get("state"), asked.given.get("via")
    states = STATES if state is None else (state,)
    found = asked.bank.rules.list(states, limit=MOST, **({"via": ways} if ways else {}))
    rules = {name: [rule for rule in found if rule.state == name] for name in states}
    values: dict[str, Any] = {
        "rules": {name: listed[:LISTED] for name, listed in rules.items()},
        "left": found.left + sum(len(listed[LISTED:]) for listed in rules.values()),
        "ways": ways,
        "all_ways": GIVEN,
        "is_person": asked.caller.via == PERSON,
        "decides": asked.caller.via == PERSON and asked.may("write") and not asked.bank.is_foreign,
        "typed": {},
    }
    return Shown("rules/rules.html", values)


def _list_again(asked: Asked) -> Shown:
    """Return the current rules, with the reason that was typed."""
    shown = _list_rules(replace(asked, given={}))
    return replace(shown, values={**shown.values, "typed": asked.given})


def _decide(verb: str, asked: Asked) -> Answer:
    given = asked.given
    decide = getattr(asked.bank.rules, verb)
    decide(given["id"], reason=given.get("reason"), unless_changed_since=moment(given["seen"]))
    return Moved(asked.path("rules"))


def _decision(verb: str) -> View:
    return View(
        f"POST rules/{verb}", partial(_decide, verb), _DECISION, ("id", "seen"), Access.write, again=_list_again
    )


PAGE = Page(
    name="rules",
    title="Rules",
    key="u",
    about="the rules that agents get, and those that wait for your decision",
    views=(View("GET rules", _list_rules, _LIST), _decision("accept"), _decision("decline")),
)
