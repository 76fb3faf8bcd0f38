"""The verb `context`: the text for an agent at the start of a session or with a prompt.

It is built from the bank at one moment; the same moment gives the same text despite later writes. A session may keep
its moment in a record (collection `contexts`, one key per session). Building a context counts no use; the shown
memories are recorded later, off the read path, for `trace`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pieria.bank.core import Core
from pieria.bank.filters import Names, deadline_seconds, question_text
from pieria.bank.read.recall import MOST_TOKENS
from pieria.errors import InputError
from pieria.record import check
from pieria.record.changeset import Changeset, Record
from pieria.record.decay import DAY
from pieria.record.draft import Instant, Problems
from pieria.record.filter import Viewer
from pieria.record.memory import End
from pieria.store.protocol import Writer

if TYPE_CHECKING:
    from pieria.bank.read.context_answer import Moment, Telling
    from pieria.recall.answer import Context

KEPT = "contexts"
KEPT_DAYS = 30
"""After so many days a kept moment is deleted when another is kept."""
TOKENS = 2_000
MOST_FILES = 100


def context(
    core: Core,
    query: str | None,
    *,
    files: Names,
    place: str | End | None,
    session: str | None,
    budget_tokens: int,
    known_at: Instant | None,
    keep: bool,
    anew: bool,
    deadline_ms: int | None,
) -> Context:
    from pieria.bank.read.context_answer import Telling

    problems = Problems()
    filter = problems.of(core.filter, {"place": place, "known_at": known_at})
    speaking = core.viewer.session if session is None else problems.of(check.name, session, "session")
    named = problems.of(_files, files)
    problems.of(check.whole, budget_tokens, "budget_tokens", 1, MOST_TOKENS)
    asked = None if query is None else problems.of(question_text, query)
    problems.of(check.flag, anew, "anew")
    if problems.of(check.flag, keep, "keep"):
        problems.of(_check_keeping, speaking, query is None and not named and known_at is None)
    seconds = math.inf if deadline_ms is None else problems.of(deadline_seconds, deadline_ms)
    if deadline_ms is not None and query is None:
        hint = "Without a query there is no recall."
        problems.found.append(InputError("deadline_ms", "a query to answer in that time", None, hint=hint))
    problems.settle()
    viewer = Viewer(speaking, core.viewer.channel, core.viewer.everything)
    telling = Telling(core, filter.having(viewer=viewer), named, budget_tokens, seconds)
    about = (asked or "").strip()
    made = _made(core, telling, about, filter.known_at, bool(named), speaking, keep=keep, anew=anew)
    if speaking is not None and core.count_uses:
        core.uses.note_told([item.id for item in made.items], speaking)
    return made


def _made(
    core: Core,
    telling: Telling,
    about: str,
    known_at: int | None,
    has_files: bool,
    speaking: str | None,
    *,
    keep: bool,
    anew: bool,
) -> Context:
    from pieria.bank.read.context_answer import Moment

    if known_at is not None:
        return telling.told(about, Moment(known_at, {}, with_own=anew))
    kept = None if speaking is None else _kept_moment(core, speaking)
    if about or has_files:
        return telling.told(about, None, () if kept is None or anew else kept.told)
    while kept is None or anew:
        made, now = telling.begun(anew=anew)
        if not keep or speaking is None or _keep_moment(core, speaking, now, anew):
            return made
        # Another process kept a moment first.
        kept = _kept_moment(core, speaking)
    return telling.told("", kept)


def _kept_moment(core: Core, session: str) -> Moment | None:
    with core.reading() as reader:
        held = reader.records(KEPT, session).get(session)
    if held is None:
        return None
    from pieria.bank.read.context_answer import moment_of

    return moment_of(held)


def _keep_moment(core: Core, session: str, now: Moment, anew: bool) -> bool:
    """Keep the moment, and return False if one is kept already."""

    def plan(writer: Writer) -> tuple[Changeset, bool]:
        held = writer.records(KEPT)
        if not anew and session in held:
            return Changeset("context"), False
        old = [key for key, value in held.items() if value["now"] < now.now - KEPT_DAYS * DAY and key != session]
        records = [*(Record(KEPT, key, None) for key in old), Record(KEPT, session, now.as_record())]
        # Do not name the session in the journal: it is private.
        return Changeset("context", records=records, ids=(KEPT,)), True

    return core.apply_with(plan)[0]


def _files(files: object) -> tuple[str, ...]:
    named = check.names([files] if isinstance(files, str) else files, "files")
    if len(named) > MOST_FILES:
        raise InputError("files", f"at most {MOST_FILES}", len(named))
    return named


def _check_keeping(session: str | None, unasked: bool) -> None:
    if session is None:
        raise InputError("keep", "a session whose moment to keep", True, hint="Name it as `session`.")
    if not unasked:
        raise InputError(
            "keep", "neither query nor files nor known_at", True, hint="Only a context without a request can be kept."
        )
