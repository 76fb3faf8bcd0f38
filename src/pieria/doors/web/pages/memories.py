"""Memories: all there are, one of them opened, and everything that can be done with it."""

from __future__ import annotations

from pieria.doors.http.schemas import several, text
from pieria.doors.web.page import Answer, Asked, Page, Shown, View
from pieria.record.memory import KINDS

SHOWN = 30
ORDERS = ("newest", "oldest", "changed", "important")
LIST = {
    "order": text("Which comes first.", enum=list(ORDERS)),
    "kinds": several("Of these kinds.", *KINDS),
    "tags": {**several("With any of these tags."), "commas": True},
    "cursor": text("Where the page before ended."),
}


def _listed(asked: Asked) -> Answer:
    given = dict(asked.given)
    cursor = given.pop("cursor", None)
    found = asked.bank.list(limit=SHOWN, cursor=cursor, **given)
    more = found.cursor and asked.path("memories", cursor=found.cursor, **given)
    values = {
        "found": found,
        "given": given,
        "more": more,
        "goes_on": cursor is not None,
    }
    return Shown("memories/list.html", values, part="list")


PAGE = Page(
    name="memories",
    title="Memories",
    key="m",
    about="browse, open, correct and forget",
    views=(View("GET memories", _listed, LIST),),
)
