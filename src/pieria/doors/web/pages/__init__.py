"""The pages, in the order of the menu. Each page is a module here, with a folder of templates beside it."""

from __future__ import annotations

from pieria.doors.web.page import Page
from pieria.doors.web.pages import fading, graph, health, memories, quarantine, recall, rules, sessions, time

PAGES: tuple[Page, ...] = (
    recall.PAGE, memories.PAGE, graph.PAGE, time.PAGE, fading.PAGE, sessions.PAGE, rules.PAGE, quarantine.PAGE,
    health.PAGE,
)  # fmt: skip

__all__ = ["PAGES"]
