"""Convert a checked draft to rows, and rows to a memory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pieria.language.index_terms import indexed_terms, labels, stated
from pieria.language.pasted import REPEATS, holds_paste, is_surely_own
from pieria.record.changeset import FOREVER, Content, State, Write
from pieria.record.draft import Draft
from pieria.record.memory import EMPTY, Frozen, Judgement, Labels, Memory, Origin, Standing, Times
from pieria.record.time import moment
from pieria.record.trust import AGENT, HEARSAY, PERSON, TRUST


def written_list(values: Sequence[str]) -> str | None:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":")) if values else None


def first_write(draft: Draft, id: str, now: int, default_place: str) -> Write:
    """Return the write of a memory's first version."""
    new = draft.new
    content = content_of(draft, id, 1)
    via = new.via or AGENT
    state = State(
        row=0,
        id=id,
        version=1,
        kind=new.kind,
        type=type_of(draft.body),
        place=draft.place or default_place,
        scope=new.scope,
        session=new.session,
        sequence=new.sequence,
        channel=new.channel,
        author=new.author,
        author_type=new.author_type,
        source=new.source,
        at=now if draft.at is None else draft.at,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        status="active",
        tier="working",
        importance=new.importance,
        confidence=new.confidence,
        strength=new.strength,
        trust=TRUST[via],
        pinned=int(new.pinned),
        ended="",
        reason=None,
        superseded_by=None,
        via=via,
    )
    return with_index(state, content, draft, fresh=True)


def type_of(body: str | None) -> str | None:
    """Return the subtype that the body gives within the memory's kind."""
    found = json.loads(body).get("type") if body else None
    return found if isinstance(found, str) else None


def content_of(draft: Draft, id: str, version: int) -> Content:
    return Content(
        id=id,
        version=version,
        title=draft.title,
        text=draft.text,
        body=draft.body,
        tags=written_list(draft.tags),
        entities=written_list(draft.entities),
        files=written_list(draft.files),
        flags=written_list(draft.flags),
        context=draft.context,
        meta=draft.meta,
    )


def with_index(state: State, content: Content, draft: Draft, *, fresh: bool) -> Write:
    found = indexed_terms(draft.title, draft.text, draft.body, draft.tags, draft.entities, draft.files)
    standing = stated(draft.text, state.kind, state.via)
    return Write(
        _believed(state, draft),
        content,
        found,
        labels(draft.tags, draft.entities, draft.files, standing),
        fresh,
        draft.vectors,
    )


def first_trust(draft: Draft) -> float:
    """Return the trust of the draft's first version."""
    via = draft.new.via or AGENT
    return TRUST[HEARSAY] if via == PERSON and _has_paste(draft, draft.new.kind) else TRUST[via]


def _believed(state: State, draft: Draft) -> State:
    """Return the state with lower trust if a person's text contains pasted parts.

    Pasted text is hearsay, and so is text that may be pasted.
    """
    if state.via != PERSON or state.trust <= TRUST[HEARSAY]:
        return state
    return state._replace(trust=TRUST[HEARSAY]) if _has_paste(draft, state.kind) else state


def _has_paste(draft: Draft, kind: str) -> bool:
    if kind == "turn" and not is_surely_own(draft.text):
        return True
    repeats = draft.meta is not None and REPEATS in mapping_of(draft.meta)
    return repeats or holds_paste(draft.text)


def terms_of(content: Content) -> list[str]:
    """Return the terms to index for a version, from its content row alone. Used to rebuild the text index."""
    return indexed_terms(
        content.title,
        content.text,
        content.body,
        names_of(content.tags),
        names_of(content.entities),
        names_of(content.files),
    )


def names_of(written: str | None) -> tuple[str, ...]:
    return tuple(json.loads(written)) if written else ()


def mapping_of(written: str | None) -> Mapping[str, Any]:
    return Frozen(json.loads(written)) if written else EMPTY


@lru_cache(1024)
def _labels(tags: str | None, entities: str | None, files: str | None, flags: str | None) -> Labels:
    return Labels(names_of(tags), names_of(entities), names_of(files), names_of(flags))


# Most memories have equal judgements and standings, and immutable values can be shared.
_judgement = lru_cache(1024)(Judgement)
_standing = lru_cache(1024)(Standing)


def memory_of(content: Sequence[Any], state: Sequence[Any], known_from: int, known_until: int = FOREVER) -> Memory:
    """Return the memory of a `Content` and a `State` that belongs to the content."""
    _, _, title, text, body, tags, entities, files, flags, context, meta = content
    (
        row, id, version, kind, _, place, scope, session, sequence, channel, author, author_type, source, at,
        valid_from, valid_until, status, tier, importance, confidence, strength, trust, pinned, ended, reason,
        superseded_by, via,
    ) = state  # fmt: skip
    return Memory(
        row=row,
        id=id,
        version=version,
        kind=kind,
        title=title,
        text=text,
        place=place,
        scope=scope,
        times=Times(
            at=moment(at),
            known_from=moment(known_from),
            known_until=None if known_until == FOREVER else moment(known_until),
            valid_from=None if valid_from is None else moment(valid_from),
            valid_until=None if valid_until is None else moment(valid_until),
        ),
        judgement=_judgement(importance, confidence, strength, trust, bool(pinned)),
        labels=_labels(tags, entities, files, flags),
        origin=Origin(source, context, author, author_type, channel, session, sequence, via),
        standing=_standing(status, tier, ended, reason, superseded_by),
        body=EMPTY if body is None else mapping_of(body),
        meta=EMPTY if meta is None else mapping_of(meta),
    )
