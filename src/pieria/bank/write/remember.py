"""The verbs that remember: from a caller's values to the first version of a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from pieria.bank.core import Core
from pieria.bank.delete.quarantine_records import hold_to_quarantines
from pieria.bank.facts.extracted import Read, Wanted
from pieria.bank.facts.extraction import draw
from pieria.bank.facts.statements import ids_of_facts
from pieria.bank.write.reversals import hold_to_reversals
from pieria.bank.write.said_again import said_again
from pieria.errors import ConflictError, InputError, PrivacyError, UnavailableError
from pieria.language.analyser import terms
from pieria.language.pasted import REPEATS
from pieria.record import check
from pieria.record.changeset import Changeset, NewVector, Write
from pieria.record.draft import Draft, NewMemory, as_new, checked
from pieria.record.filter import Filter, Viewer
from pieria.record.ids import new_ids
from pieria.record.memory import GIVEN_KINDS, STATEMENT, Memory
from pieria.record.time import micros
from pieria.runtime.garbage import without_collection
from pieria.store.protocol import Pending, Progress, Reader, Writer
from pieria.store.rows import first_trust, first_write, memory_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Faulty = InputError | UnavailableError | PrivacyError
FAULTY = (InputError, UnavailableError, PrivacyError)
"""The errors that refuse one item, independent of the bank's content. Each names a parameter."""
MOST_TOLD = 100
"""The most problems that one error lists."""
ALL = Wanted(True, True)
BATCH = 1_000
"""Memories per transaction: large enough for speed, small enough not to keep other writers waiting."""
EXPECTED = "a list of finite numbers, or a list of such lists"


def remember(core: Core, new: NewMemory) -> Memory:
    return _write_to_owners(core, [drafted(core, new, core.embedding.dimension)])[0]


def remember_many(
    core: Core, items: Iterable[str | Mapping[str, Any] | NewMemory], progress: Progress | None
) -> list[Memory]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError("items", "a list of texts, mappings or NewMemory records", items)
    drafts = _draft_each(core, list(items))
    _check_ids(core, drafts)
    told = progress or _ignore_progress
    with ExitStack() as stack:
        before = {bank: _pause_embedding(bank, stack) for bank in _owners(core, drafts)}
        whole = len(drafts) * (2 if any(bank.embedding.embedder for bank in before) else 1)
        kept: list[Memory] = []
        for start in range(0, len(drafts), BATCH):
            with without_collection():
                kept += _write_to_owners(core, drafts[start : start + BATCH])
            told(len(kept), whole)
        wanted = {bank: _unembedded(bank, drafts, kept, known) for bank, known in before.items()}
        texts = _EmbeddingProgress(told, len(drafts), sum(map(len, wanted.values())))
        for bank, pending in wanted.items():
            bank.embedding.embed(pending, texts.add)
        if whole > len(drafts):
            told(whole, whole)
    for bank in before:
        bank.embedding.wake()
    return kept


def _owners(core: Core, drafts: list[Draft]) -> list[Core]:
    """Return the banks to write to: this one, and `@me` for the user's memories."""
    user = core.user_core(True) if any(_is_for_user(core, draft) for draft in drafts) else None
    return [core] if user is None else [core, user]


def _is_for_user(core: Core, draft: Draft) -> bool:
    """Return whether the user's bank owns the draft, and this is another bank."""
    return draft.new.scope == "user" and not core.is_user_bank


def _pause_embedding(core: Core, stack: ExitStack) -> int:
    """Pause background embedding for this call, and return the known time before its writes."""
    stack.enter_context(core.embedding.aside())
    with core.reading() as reader:
        return reader.head().known


def _unembedded(core: Core, drafts: list[Draft], kept: list[Memory], known: int) -> list[Pending]:
    """Return what is still to be embedded of the new memories in this bank."""
    wanted: dict[Pending, None] = {}
    for draft, memory in zip(drafts, kept, strict=True):
        here = core.is_user_bank == (memory.scope == "user")
        if here and micros(memory.known_from) > known:
            if not draft.vectors:
                wanted[Pending(memory.row, "passage")] = None
            if memory.session is not None:
                wanted[Pending(memory.row, "window")] = None
    return list(wanted)


def _draft_each(core: Core, items: Sequence[str | Mapping[str, Any] | NewMemory]) -> list[Draft]:
    """Return a draft of every item, or raise all problems as one error."""
    drafts: list[Draft] = []
    dimension = cache(core.embedding.dimension)
    wrong: list[Faulty] = []
    with without_collection():
        for number, item in enumerate(items):
            try:
                drafts.append(drafted(core, as_new(item), dimension))
            except FAULTY as problem:
                if len(wrong) < MOST_TOLD:
                    wrong += _numbered(problem, number)
    if wrong:
        _raise_together(wrong[:MOST_TOLD], len(items) - len(drafts))
    return drafts


def _check_ids(core: Core, drafts: list[Draft]) -> None:
    """Check every given id against both banks before the first batch is written."""
    if all(draft.new.id is None for draft in drafts):
        return
    theirs = [draft for draft in drafts if _is_for_user(core, draft)]
    ours = [draft for draft in drafts if not _is_for_user(core, draft)]
    user = core.user_core(False) if theirs else None
    for bank, part in ((core, ours), (user, theirs)):
        if bank is not None and part:
            with bank.reading() as reader:
                _find_ids(bank, reader, part)


def drafted(core: Core, new: NewMemory, dimension: Callable[[], int | None]) -> Draft:
    """Return a checked and screened draft, with the defaults of this bank."""
    check.flag(new.extract, "extract")
    if new.kind == STATEMENT:
        expected = f"one of {', '.join(GIVEN_KINDS)}"
        raise InputError("kind", expected, new.kind, hint="State a fact with facts.add, which writes its memory.")
    if new.unless_exists == "id" and new.id is None:
        raise InputError("unless_exists", "an id to look for", new.unless_exists, hint="Give id as well.")
    draft = core.screening.draft(checked(_with_defaults(core, _without_repeats(new))))
    if new.vectors is not None:
        # The user's bank has its own dimension.
        theirs = new.scope == "user" and not core.is_user_bank
        draft.vectors = supplied(new.vectors, draft.text, None if theirs else dimension())
    return draft


def _with_defaults(core: Core, new: NewMemory) -> NewMemory:
    """Return the memory with the bank's session, channel and author where the caller gave none."""
    defaults: dict[str, Any] = {
        name: value
        for name, value in (
            ("session", core.viewer.session),
            ("channel", core.viewer.channel),
            ("author", core.author),
            ("author_type", core.author_type),
            ("via", core.via),
        )
        if value is not None and getattr(new, name) is None
    }
    if core.is_user_bank and new.scope == "bank":
        defaults["scope"] = "user"
    return replace(new, **defaults) if defaults else new


def _write_to_owners(core: Core, drafts: list[Draft]) -> list[Memory]:
    """Write each draft to the bank that owns it, in one transaction a bank: the user's memories go to `@me`."""
    theirs = [n for n, draft in enumerate(drafts) if _is_for_user(core, draft)]
    if not theirs:
        return _write_to_bank(core, drafts)
    user = core.user_core(True)
    if user is None:
        raise UnavailableError("scope", "this workspace keeps no user bank; use scope bank")
    kept: list[Memory | None] = [None] * len(drafts)
    for n, memory in zip(theirs, _write_to_bank(user, [drafts[n] for n in theirs]), strict=True):
        kept[n] = memory
    ours = [n for n in range(len(drafts)) if kept[n] is None]
    for n, memory in zip(ours, _write_to_bank(core, [drafts[n] for n in ours]) if ours else (), strict=True):
        kept[n] = memory
    return [memory for memory in kept if memory is not None]


def _write_to_bank(core: Core, drafts: list[Draft]) -> list[Memory]:
    """Write the drafts to this bank in one transaction, with the facts extracted from them."""
    # A model may be slow, so it reads the texts before the transaction.
    read = Read(core)
    for draft in drafts:
        if draft.new.extract:
            read.ahead(draft.text, ALL)
    with core.writing() as writer:
        kept = write_drafts(core, writer, drafts)
        drawn = {memory.id: memory for draft, memory in zip(drafts, kept, strict=True) if draft.new.extract}
        for memory in drawn.values():
            draw(core, writer, memory, ALL, read)
        return kept


def write_drafts(core: Core, writer: Writer, drafts: list[Draft]) -> list[Memory]:
    """Write what is not there yet, as one change. Return the memory of each draft."""
    existing = _find_existing(core, writer, drafts)
    now = core.now()
    writes: list[Write] = []
    memories: list[Memory | int] = []
    """Of each draft: the existing memory, or the position of its write. Repeats share a position."""
    by_text: dict[tuple[Any, ...], int] = {}
    for number, (draft, id) in enumerate(zip(drafts, new_ids(len(drafts)), strict=True)):
        position = len(writes)
        if draft.new.unless_exists == "text" and number not in existing:
            same = _identity(draft)
            twin = by_text.get(same)
            if twin is not None and writes[twin].state.trust >= first_trust(draft):
                position = twin
            else:
                by_text[same] = position
        memories.append(existing.get(number, position))
        if number not in existing and position == len(writes):
            writes.append(first_write(draft, draft.new.id or id, now, f"{core.name}/{draft.new.kind}"))
    again = said_again(writer, drafts, existing, core.now())
    if not writes:
        if again:
            writer.apply(Changeset("remember", core.who, records=again))
        return [memory for memory in memories if isinstance(memory, Memory)]
    changeset = Changeset("remember", core.who, writes=writes, records=again, space=space_of(core, writer, writes))
    # New memories state no facts and correct nothing, so of the rules in `Core.write_changes` these two can apply.
    hold_to_reversals(writer, changeset, now)
    hold_to_quarantines(writer, changeset)
    applied = writer.apply(changeset)
    known = micros(applied.change.at)
    made = [
        memory_of(write.content or (), (row, *write.state[1:]), known)
        for write, row in zip(writes, applied.rows, strict=True)
    ]
    return [made[memory] if isinstance(memory, int) else memory for memory in memories]


def space_of(core: Core, writer: Writer, writes: list[Write]) -> int | None:
    """Return the number of the space of the supplied vectors, or None if there are none."""
    lengths = {len(each.vector) for write in writes for each in write.vectors}
    if not lengths:
        return None
    space = core.embedding.enter(writer)
    if space is None:
        raise UnavailableError("vectors", "this bank has no vector space yet, and no embedder is set to create one")
    for length in lengths - {space.dimension}:
        raise wrong_length(space.dimension, length)
    return space.number


def _find_existing(core: Core, reader: Reader, drafts: list[Draft]) -> dict[int, Memory]:
    """Return by position the existing memories of drafts with `unless_exists`.

    Raise `ConflictError` if any other draft's id is taken.
    """
    found = _find_ids(core, reader, drafts) if any(draft.new.id is not None for draft in drafts) else {}
    for number, draft in enumerate(drafts):
        if draft.new.unless_exists == "text" and number not in found:
            twins = reader.twins(draft.text, terms(draft.text), _twins_of(core, draft))
            # A less trusted twin must not take the place of the speaker's own words.
            trusted = next((twin for twin in twins if twin.trust >= first_trust(draft)), None)
            if trusted is not None:
                found[number] = trusted
    return found


def _twins_of(core: Core, draft: Draft) -> Filter:
    """Return a filter for memories of the same kind with the same readers."""
    new = draft.new
    asked = core.filter(kinds=new.kind, scope=new.scope, **_audience(new))
    return asked.having(viewer=Viewer(new.session, new.channel))


def _find_ids(core: Core, reader: Reader, drafts: list[Draft]) -> dict[int, Memory]:
    """Return by position the memories that exist under given ids. Raise `ConflictError` for an id that is taken."""
    found: dict[int, Memory] = {}
    given = [draft.new.id for draft in drafts if draft.new.id is not None]
    standing = reader.states(given)
    purged = reader.purged(given)
    facts = ids_of_facts(reader, given)
    seen: set[str] = set()
    for number, draft in enumerate(drafts):
        id = draft.new.id
        if id is None:
            continue
        if id in purged:
            raise ConflictError("this id was purged", ids=(id,), hint="Use another id.")
        if id in seen:
            raise ConflictError("the id is given twice", ids=(id,), hint="Give each memory an id of its own.")
        seen.add(id)
        held = standing.get(id)
        if held is None:
            if id in facts:
                raise ConflictError("the id is taken", ids=(id,), hint="A fact has it; use another id.")
            continue
        if reader.quarantines([id]):
            raise core.missing(reader, id)
        if held.state.ended:
            raise ConflictError(f"the id was {held.state.ended}", ids=(id,), hint="Restore it or use another id.")
        if draft.new.unless_exists != "id":
            raise ConflictError("the id is taken", ids=(id,), hint='Use update, or unless_exists="id".')
        visible = reader.memories([held.state.row], core.filter())
        if held.state.row not in visible:
            raise ConflictError("the id is taken", ids=(id,), hint="Another session uses it; choose another id.")
        found[number] = visible[held.state.row]
    return found


def _audience(new: NewMemory) -> dict[str, str | None]:
    return {"session": new.session, "channel": new.channel} if new.scope == "session" else {}


def _identity(draft: Draft) -> tuple[Any, ...]:
    """Return what makes two drafts with `unless_exists="text"` the same."""
    return (draft.new.kind, draft.text, draft.new.scope, *_audience(draft.new).values())


def _ignore_progress(done: int, whole: int) -> None:
    """Ignore progress."""


class _EmbeddingProgress:
    """Reports the second half of a progress: the embeddings that follow the writes."""

    def __init__(self, told: Progress, memories: int, texts: int) -> None:
        self._told, self._memories, self._texts, self._done = told, memories, texts, 0

    def add(self, texts: int) -> None:
        self._done += texts
        self._told(self._memories + self._memories * self._done // self._texts, 2 * self._memories)


def _numbered(problem: Faulty, number: int) -> Iterator[Faulty]:
    """Yield the problem and its further problems, each with the number of its item."""
    for one in (problem, *problem.errors):
        if isinstance(one, FAULTY):
            numbered = copy(one)
            numbered.errors = ()
            numbered.parameter = f"items[{number}]{'.' if one.parameter else ''}{one.parameter}"
            numbered.args = (numbered.parameter + one.message.removeprefix(one.parameter),)
            yield numbered


def _raise_together(wrong: list[Faulty], items: int) -> NoReturn:
    """Raise the problems as one error. If there are too many, say how many items are left out."""
    first, *others = wrong
    first.errors = tuple(others)
    left = items - len({problem.parameter.partition("]")[0] for problem in wrong})
    if left:
        more = f"{left:,} more items are wrong."
        first.hint = f"{first.hint} {more}" if first.hint else more
    raise first


def _without_repeats(new: NewMemory) -> NewMemory:
    """Return the memory without the spans that only the intake of turns may set."""
    if not isinstance(new.meta, Mapping) or REPEATS not in new.meta:
        return new
    return replace(new, meta={name: value for name, value in new.meta.items() if name != REPEATS})


def supplied(given: object, text: str, dimension: int | None) -> tuple[NewVector, ...]:
    """Return the vectors with their spans: one per passage if the numbers agree, otherwise each for the whole text.

    If `dimension` is None, the caller must check the dimension.
    """
    from pieria.language.passages import passages

    vectors = _vectors(given)
    for vector in vectors:
        if dimension is not None and len(vector) != dimension:
            raise wrong_length(dimension, len(vector))
    parts = passages(text)
    spans = parts if len(parts) == len(vectors) else [(0, len(text))] * len(vectors)
    return tuple(NewVector(*span, vector) for span, vector in zip(spans, vectors, strict=True))


def wrong_length(dimension: int, length: int) -> InputError:
    hint = "Embed with the bank's model, which `doctor` names, or leave vectors out."
    return InputError("vectors", f"{dimension} numbers in each, as in the bank's space", f"{length:,}", hint=hint)


def _vectors(given: object) -> NDArray[np.float32]:
    """Return the vectors as rows of an array."""
    import numpy as np

    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str | bytes):
        raise InputError("vectors", EXPECTED, given)
    try:
        read = np.asarray(given)
    except ValueError as problem:
        raise InputError("vectors", "lists of one length", given) from problem
    if not read.size or read.ndim not in (1, 2) or read.dtype.kind not in "iuf":
        raise InputError("vectors", EXPECTED, given)
    if _are_plain(read):
        return np.atleast_2d(read)
    made = np.atleast_2d(read).astype(np.float64)
    # A value beyond float32 is as useless as an infinite one.
    if not np.isfinite(made).all() or np.abs(made).max() > np.finfo(np.float32).max:
        raise InputError("vectors", "finite numbers", "one that is not")
    if not made.any(axis=1).all():
        raise InputError("vectors", "a vector that is not all zeros", "zeros alone")
    return made.astype(np.float32)


def _are_plain(read: NDArray[np.generic]) -> TypeGuard[NDArray[np.float32]]:
    """Return whether the vectors can be stored without conversion, judged by their lengths: fast for many thousands."""
    import numpy as np

    if read.dtype != np.float32:
        return False
    squares = np.vecdot(read, read)
    return bool(np.isfinite(squares).all() and (squares > 0).all())
