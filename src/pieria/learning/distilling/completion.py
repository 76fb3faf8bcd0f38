"""What a session says is done, or no longer wanted, so that what is owed can be closed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pieria.language.note_words import is_same_matter, says_done
from pieria.language.sentences import sentences
from pieria.language.standing_rules import own_sentences
from pieria.learning.distilling.tasks import Span
from pieria.record.event import AgentEvent

_READ = 20_000
"""Characters read of a text."""


class Completion(NamedTuple):
    """A sentence that says that something is done, and when it was said."""

    text: str
    at: datetime


def find_completions(spans: Iterable[Span], done: Iterable[Completion]) -> list[Completion]:
    """Return what the tasks and `done`, the items of a to-do list, say is done."""
    said = [one for span in spans for one in _said(span)]
    return [*(one for one in said if says_done(one.text)), *done]


def find_completion(owed: str, since: datetime, said: Iterable[Completion]) -> datetime | None:
    """Return when what is owed `since` then was said to be done; `None` if it was not."""
    return next((one.at for one in said if one.at > since and is_same_matter(owed, one.text)), None)


def _said(span: Span) -> Iterator[Completion]:
    """Yield the sentences of the person, and those of the agent while it had read nothing from outside."""
    if span.prompt is not None:
        text = span.prompt.text[:_READ]
        yield from (Completion(text[start:end], span.prompt.at) for start, end in own_sentences(text))
    for event, reply in zip(span.replies, span.task.replies, strict=True):
        if not reply.is_outside:
            yield from _sentences(event)


def _sentences(event: AgentEvent) -> Iterator[Completion]:
    text = event.text[:_READ]
    yield from (Completion(text[start:end], event.at) for start, end in sentences(text))
