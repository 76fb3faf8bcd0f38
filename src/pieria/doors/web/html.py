"""From a template and its values to HTML. Everything is escaped; templates format text with filters only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from pieria.doors.web import words
from pieria.doors.web.assets import PAGES, Assets
from pieria.doors.web.forms import listed
from pieria.doors.web.page import path_of
from pieria.record.lesson import purpose
from pieria.record.time import micros

TEMPLATES = Path(__file__).parent / "templates"
TIMES: tuple[Callable[..., Markup], ...] = (
    words.moment,
    words.whole_moment,
    words.clock,
    words.day,
    words.since,
    words.until,
    words.timed,
)
"""Filters of times: they write each time in the page's zone."""


class Templates:
    def __init__(self, assets: Assets) -> None:
        self.assets = assets
        self._made = Environment(
            loader=FileSystemLoader([TEMPLATES, PAGES]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._made.filters.update(
            words=words.words,
            one_line=words.one_line,
            listed=listed,
            purpose=purpose,
            **{told.__name__: _in_its_zone(told) for told in TIMES},
            share=words.share,
            number=words.number,
            ms=words.milliseconds,
            size=words.size,
            micros=micros,
        )
        self._made.globals.update(assets=assets, counted=words.counted, path_of=path_of)

    def whole(self, name: str, values: Mapping[str, Any]) -> str:
        return self._made.get_template(name).render(values, is_part=False)

    def part(self, name: str, block: str, values: Mapping[str, Any]) -> str:
        """Return one block of a template, rendered as on the whole page."""
        template = self._made.get_template(name)
        context = template.new_context({**values, "is_part": True})
        # The first step runs the template's imports; the text around the block is not rendered.
        next(iter(template.root_render_func(context)), None)
        return "".join(template.blocks[block](context))


@cache
def shipped() -> Templates:
    """Return the shipped templates. All servers of this process share the compiled ones."""
    return Templates(Assets())


def _in_its_zone(told: Callable[..., Markup]) -> Callable[..., Markup]:
    @pass_context
    def filter(page: Context, at: datetime | None, *more: Any, **named: Any) -> Markup:
        return told(at, page["zone"], *more, **named)

    return filter
