"""Notes on each task: what was decided, planned, owed and learned, its fixes, changes, findings and open problems.

Each note begins with what to do or know the next time. The evidence follows, and last the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pieria.language.remarks import READ, remarks
from pieria.models.mind import Deed, Noticed, Task
from pieria.models.minds.rules import asked as asking
from pieria.models.minds.rules import deed_words as telling
from pieria.models.minds.rules.concepts import concepts_of
from pieria.models.minds.rules.pieces import bare, sentences_of, told
from pieria.models.minds.rules.remarked import TELLING, Said, agent_notes, person_notes
from pieria.record.clip import clipped

QUOTED = 240
"""Characters of a prompt that are quoted."""
MATTER = 5
"""The fewest terms of a prompt that says what the work is about."""
ANSWERED = 300
"""Characters of a reply that are quoted."""
PLANNED, STEPS = 600, 8
"""Characters and steps of a plan."""
PAGE_SENTENCES = 3
ABOUT, WORDS = 2, 5
"""The fewest terms about a change, and words, of a sentence that names it."""
REPEATED = 0.6
"""A note is left out if an earlier one has this share of its terms."""
USED = 0.5
"""A sentence of a page was used if a reply has this share of its terms."""

_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?=\S)")
_ASKS = re.compile(
    r"(?:what|how|why|where|when|which|who|is|are|do|does|did|was|wie|warum|wieso|wo|wann|wer|welche\w?|quoi|comment"
    r"|pourquoi|où|quand|qué|cómo|por qué|dónde|cuándo|como|porque|onde|quando)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")


def noticed(tasks: Sequence[Task]) -> list[Noticed]:
    """Return the notes in the order of the tasks. The result is deterministic."""
    found: list[Noticed] = []
    known: list[frozenset[str]] = []
    said = matter = ""
    for index, task in enumerate(tasks):
        # A mere consent continues the request before it.
        wanted = asking.request(task.asked) or said
        says_enough = len(told(task.asked)) >= MATTER
        one = _One(task, index, wanted, "" if says_enough else matter, known)
        found += [each for each in one.noticed() if each.text.strip() and each.title.strip()]
        said, matter = wanted, task.asked if says_enough else matter
    return found


@dataclass(slots=True)
class _Reported:
    """Notes from a reply, or from the report of another agent, after the first `after` deeds."""

    after: int
    said: list[Said]
    is_outside: bool
    reply: int | None = None
    deed: int | None = None
    used: set[int] = field(default_factory=set)


class _One:
    """One task. `wanted` is its request, or an earlier one if this task only consents. `matter` is an earlier prompt
    that says what the work is about, if this one does not: "that looks worse". What notes with the terms `known` say is
    not noted again."""

    def __init__(self, task: Task, index: int, wanted: str, matter: str, known: list[frozenset[str]]) -> None:
        self._task = task
        self._index = index
        self._wanted = wanted
        self._matter = matter
        self._known = known
        deeds = list(enumerate(task.deeds))
        self._edits = [(n, deed) for n, deed in deeds if deed.what == "edited" and not deed.failed]
        self._kept = [(n, deed) for n, deed in self._edits if not deed.undone]
        self._runs = [(n, deed) for n, deed in deeds if deed.what == "ran"]
        self._work = asking.work_of(task.asked) or asking.work_of(wanted)
        self._reported = [
            _Reported(reply.after, agent_notes(reply.text), reply.is_outside, reply=n)
            for n, reply in enumerate(task.replies)
        ]
        self._reported += [
            _Reported(n, agent_notes(deed.detail), task.is_outside, deed=n)
            for n, deed in deeds
            if deed.what == "reported"
        ]

    def noticed(self) -> Iterator[Noticed]:
        if not self._task.goes_on:
            yield from self._person_said()
        yield from self._stated()
        mended = [place for place, deed in self._runs if deed.mends]
        broken = self._broken()
        if self._kept and self._is_told_by(mended):
            yield from self._fix(mended[-1], whole=True)
        else:
            for place in mended:
                yield from self._fix(place, whole=False)
            if self._kept and not self._is_vain(broken):
                yield self._change()
        if self._edits and not self._kept:
            yield self._dead_end()
        for command, (place, deed) in broken.items():
            yield self._left_open(command, place, deed)
        if not self._edits and not mended:
            yield from self._committed()
        yield from self._agent_said()
        yield from self._pages()
        yield from self._left()

    # --- what was said

    def _person_said(self) -> Iterator[Noticed]:
        question = asking.last_question(self._task.before)
        for note in person_notes(self._task.asked, self._task.before):
            if not note.is_sure and self._is_request(note):
                continue
            asked = f", asked “{clipped(question, QUOTED)}”" if question and note.opens else ""
            end = f"Said by the user{asked}."
            named = (note.text, question) if asked and note.label != "rule" else (note.text,)
            yield from self._said(note, f"{telling.stopped(note.text)} {end}", named=named, replies=())

    def _is_request(self, note: Said) -> bool:
        """Return whether a note only repeats the request for the work of the task, which its own note names."""
        wanted = asking.request(self._task.asked)
        is_one = len(list(sentences_of(note.text))) == 1
        return is_one and asking.work_of(wanted) is not None and told(note.title) <= told(wanted)

    def _agent_said(self) -> Iterator[Noticed]:
        has_failed = any(deed.failed for _, deed in self._runs) or self._work == "bugfix"
        for reported in self._reported:
            for place, note in enumerate(reported.said):
                if place in reported.used:
                    continue
                type = "bugfix" if has_failed else "discovery"
                yield from self._said(
                    note._replace(type=type) if note.label == "cause" else note,
                    telling.stopped(note.text),
                    named=(note.text,),
                    replies=() if reported.reply is None else (reported.reply,),
                    deeds=() if reported.deed is None else (reported.deed,),
                    is_outside=reported.is_outside,
                    asks=True,
                )

    def _said(
        self,
        note: Said,
        text: str,
        *,
        named: Sequence[str],
        replies: Sequence[int],
        deeds: Sequence[int] = (),
        is_outside: bool = False,
        asks: bool = False,
    ) -> Iterator[Noticed]:
        terms = told(note.text)
        needed = len(terms) * (1 if note.is_sure else REPEATED)
        if any(len(terms & known) >= needed for known in self._known):
            return
        made = self._made(
            note.type,
            note.title,
            [text],
            deeds=deeds,
            labels=(note.label,) if note.label else (),
            named=named,
            is_outside=is_outside,
            replies=replies,
            asks=asks,
        )
        yield replace(made, worth=note.worth)

    def _stated(self) -> Iterator[Noticed]:
        """Yield notes on the user's choices between options, and on plans that the user approved."""
        for place, deed in enumerate(self._task.deeds):
            if deed.what == "chosen":
                yield self._made(
                    "decision",
                    asking.title(f"{deed.detail} ({deed.target})"),
                    [telling.stopped(asking.capitalised(deed.detail)), f"Chosen by the user, asked “{deed.target}”."],
                    deeds=(place,),
                    named=(deed.detail, deed.target),
                    replies=(),
                )
            elif deed.what == "planned":
                name, steps = _plan(deed.detail)
                yield self._made(
                    "plan",
                    asking.title(name),
                    [telling.stopped(name), clipped("; ".join(steps[:STEPS]), PLANNED), "Approved by the user."],
                    deeds=(place,),
                    named=(name, *steps),
                    replies=(),
                )

    def _left(self) -> Iterator[Noticed]:
        for item in self._task.left:
            text = [telling.stopped(item), "Left open when the session ended."]
            is_outside = self._task.is_outside
            yield self._made("debt", asking.title(item), text, named=(item,), replies=(), is_outside=is_outside)

    # --- what was done

    def _is_told_by(self, mended: Sequence[int]) -> bool:
        """Return whether one fixed failure is all that the task was about."""
        failures = {self._task.deeds[place].mends[0] for place in mended}
        if len(failures) != 1:
            return False
        return self._work == "bugfix" or (self._work is None and min(failures) < self._kept[0][0])

    def _is_vain(self, broken: Mapping[str, tuple[int, Deed]]) -> bool:
        """Return whether all changes tried to fix a command that still fails. Its own note covers them."""
        first = self._kept[0][0]
        for command, (place, _) in broken.items():
            before = [n for n, deed in self._runs if deed.failed and telling.command(deed.target) == command]
            if (before[0] < first or self._work == "bugfix") and first < place:
                return True
        return False

    def _fix(self, place: int, *, whole: bool) -> Iterator[Noticed]:
        """Yield a note from the failure to the run that passed. With `whole`, it covers the whole task."""
        first = self._task.deeds[place].mends[0]
        failure, passed = self._task.deeds[first], self._task.deeds[place]
        between = [(n, deed) for n, deed in self._kept if whole or first < n < place]
        vain = telling.in_vain(self._task.deeds, first, place)
        last = [(n, deed) for n, deed in between if n > vain.until] or between
        ran = [] if last else self._steps(first, place)
        because = self._cause(first, place)
        if (
            because is None
            and self._work != "bugfix"
            and telling.is_new_test(failure, [deed for n, deed in self._edits if n < first])
        ):
            return
        again = {telling.command(deed.target).split()[0] for _, deed in ran} <= {
            telling.command(failure.target).split()[0]
        }
        if not (last or because) and again:
            return
        error, command = telling.error_of(failure), telling.command(failure.target)
        how = telling.edits(last) or telling.listed([telling.command(deed.target) for _, deed in ran])
        lead = because.text if because else telling.fixed(how, error, command)
        mended = f"{'Then mended' if vain.told else 'Mended'} by {how}." if how and (because or vain.told) else ""
        yield self._made(
            "bugfix",
            because.title if because else telling.fixed_title(how, error, command),
            [
                telling.stopped(lead),
                f"{command} failed: {failure.detail}.",
                *vain.told,
                mended,
                f"{telling.command(passed.target)} then went well{telling.how(passed)}.",
                *(self._rest(passed) if whole else ()),
            ],
            deeds=[first, *(n for n, _ in between), *(n for n, _ in ran), place],
            facts=[each for each in (f"{command} failed: {failure.detail}", *vain.told, f"mended by {how}") if how],
            named=(because.text if because else "", error, self._wanted),
            replies=None if because else (),
            asks=True,
        )

    def _steps(self, first: int, place: int) -> list[tuple[int, Deed]]:
        """Return the commands that went well between a failure and its end, without the failed command itself."""
        same = {telling.command(self._task.deeds[n].target) for n in (first, place)}
        return [
            (n, deed)
            for n, deed in self._runs
            if first < n < place
            and deed.acts
            and not deed.failed
            and not telling.is_commit(deed)
            and telling.command(deed.target) not in same
        ]

    def _cause(self, first: int, place: int) -> Said | None:
        """Return the agent's explanation of a fix: the first after the run that passed, or the last before it."""
        near = [one for one in self._reported if one.after > first and not one.is_outside]
        near.sort(key=lambda one: (one.after <= place, abs(one.after - place)))
        for reported in near:
            for number, note in enumerate(reported.said):
                if number not in reported.used and note.label == "cause":
                    reported.used.add(number)
                    return note
        return None

    def _change(self) -> Noticed:
        message = telling.commit_message(self._task.deeds)
        name = self._plain_request() if asking.work_of(self._wanted) else ""
        result, where = self._result() if not (name or message) else ("", ())
        title = asking.title(name or message or result or self._plain_request() or telling.changed(self._kept))
        undone = [(n, deed) for n, deed in self._edits if deed.undone]
        return self._made(
            self._work or "change",
            title,
            [
                self._answer(),
                telling.sentence(telling.edits(self._kept)),
                *self._rest(),
                f"Taken back: {telling.edits(undone)}." if undone else "",
            ],
            deeds=[n for n, _ in self._edits] + [n for n, deed in self._runs if not deed.failed],
            named=(self._wanted, message, self._task.replied[:ANSWERED]),
            is_outside=self._quotes_outside(),
            replies=sorted({*where, *self._last_reply}),
            asks=True,
        )

    def _dead_end(self) -> Noticed:
        failed = [deed for _, deed in self._runs if deed.failed]
        return self._made(
            "discovery",
            asking.title(self._answer() or f"Taken back: {self._wanted or telling.changed(self._edits)}"),
            [
                self._answer(),
                f"Tried and taken back: {telling.edits(self._edits)}.",
                *(f"{telling.command(deed.target)} failed: {deed.detail}." for deed in failed[-1:]),
                *self._rest(),
            ],
            deeds=[n for n, _ in self._edits] + [n for n, deed in self._runs if deed.failed],
            labels=("dead-end",),
            named=(self._wanted, self._task.replied[:ANSWERED]),
            is_outside=self._quotes_outside(),
            replies=self._last_reply,
            asks=True,
        )

    def _broken(self) -> dict[str, tuple[int, Deed]]:
        """Return the last failure of each command that still fails.

        Empty if all edits were undone: the note on a dead end covers that.
        """
        if self._edits and not self._kept:
            return {}
        last: dict[str, tuple[int, Deed]] = {}
        for place, deed in self._runs:
            if place in self._task.open:
                last[telling.command(deed.target)] = (place, deed)
            elif not deed.failed:
                last.pop(telling.command(deed.target), None)
        return last

    def _left_open(self, command: str, place: int, deed: Deed) -> Noticed:
        tried = [(n, each) for n, each in self._kept if n < place]
        return self._made(
            "discovery",
            asking.title(f"{command} still fails: {telling.error_of(deed)}"),
            [
                f"{command} fails: {deed.detail}.",
                f"Changed so far, without success: {telling.edits(tried)}." if tried else "",
                *self._rest(),
                self._answer(),
            ],
            deeds=[*(n for n, _ in tried), place],
            labels=("open",),
            named=(telling.error_of(deed), self._wanted),
            is_outside=self._quotes_outside(),
            replies=self._last_reply,
            asks=True,
        )

    def _committed(self) -> Iterator[Noticed]:
        """Yield a note on a commit of changes from earlier tasks. Only its message shows their purpose."""
        message = telling.commit_message(self._task.deeds)
        if message:
            places = [n for n, deed in self._runs if telling.is_commit(deed)]
            text = [f"Committed as “{message}”."]
            yield self._made("change", asking.title(message), text, deeds=places, named=(message,), replies=())

    def _pages(self) -> Iterator[Noticed]:
        """Yield the sentences of fetched pages that are worth keeping, or that a later reply used."""
        for place, deed in enumerate(self._task.deeds):
            if deed.what != "fetched" or deed.failed:
                continue
            replies = [told(reply.text) for reply in self._task.replies if reply.after > place]
            said = list(_telling(deed.detail, replies, told(self._wanted).union(*replies)))[:PAGE_SENTENCES]
            if said:
                yield self._made(
                    "discovery",
                    asking.title(said[0]),
                    [*map(telling.stopped, said), f"Read at {telling.address(deed.target)}."],
                    deeds=[place],
                    labels=("web",),
                    named=(*said, self._wanted),
                    is_outside=True,
                    replies=(),
                )

    # --- parts of notes

    def _rest(self, seen: Deed | None = None) -> list[str]:
        """Return the checks and the commit. The run `seen` is left out: its note has it already."""
        text = []
        good = [deed for _, deed in self._runs if not (deed.failed or deed is seen or telling.is_commit(deed))]
        if good:
            text.append(f"Ran {telling.listed([telling.ran(deed) for deed in good[-3:]])}.")
        message = telling.commit_message(self._task.deeds)
        if message:
            text.append(f"Committed as “{message}”.")
        return text

    def _plain_request(self) -> str:
        return "" if asking.is_question(self._wanted) or _ASKS.match(self._wanted) else self._wanted

    def _result(self) -> tuple[str, tuple[int, ...]]:
        """Return the sentence of the replies that says most about the changes and the request, and its reply.

        `""` if none says enough.
        """
        about = told(" ".join([self._wanted, *(f"{deed.target} {deed.detail}" for _, deed in self._edits)]))
        first = self._edits[0][0]
        best, most = "", ABOUT - 1
        where: tuple[int, ...] = ()
        for place, reply in enumerate(self._task.replies):
            for sentence in asking.statements(reply.text) if reply.after > first else ():
                shared = len(told(sentence) & about)
                if shared > most and len(sentence.split()) >= WORDS:
                    best, where, most = sentence, (place,), shared
        return best, where

    def _answer(self) -> str:
        """Return the beginning of the last reply."""
        answer = asking.opening(self._task.replied, ANSWERED)
        return telling.stopped(answer) if len(told(answer)) >= 2 else ""

    @property
    def _last_reply(self) -> tuple[int, ...]:
        return (len(self._task.replies) - 1,) if self._task.replies else ()

    def _quotes_outside(self) -> bool:
        return any(reply.is_outside for reply in self._task.replies)

    def _made(
        self,
        type: str,
        title: str,
        text: Sequence[str],
        *,
        named: Sequence[str],
        deeds: Sequence[int] = (),
        facts: Sequence[str] = (),
        labels: Sequence[str] = (),
        is_outside: bool = False,
        replies: Sequence[int] | None = None,
        asks: bool = False,
    ) -> Noticed:
        """Return a note. With `asks`, it ends with the request, unless it says that already."""
        whole = " ".join(part for part in text if part)
        asked = self._task.asked if asking.request(self._task.asked) else self._wanted
        terms = told(f"{title} {whole}")
        if asks and asked and not told(asking.request(asked)) <= terms:
            before = f", after “{clipped(self._matter, QUOTED)}”" if self._matter else ""
            whole = f"{whole} Asked: “{clipped(asked, QUOTED)}”{before}"
        self._known.append(terms)
        files = [deed.target for _, deed in self._kept]
        concepts = (*labels, *concepts_of(named, files))
        whole = re.sub(r"([.!?…])\.(?=\s|\Z)", r"\1", whole)
        return Noticed(
            type,
            title or asking.title(whole),
            whole,
            self._index,
            tuple(dict.fromkeys(deeds)),
            concepts,
            tuple(facts),
            is_outside,
            None if replies is None else tuple(replies),
        )


def _telling(page: str, replies: Sequence[frozenset[str]], matter: frozenset[str]) -> Iterator[str]:
    """Yield the sentences of a page that are remarks on the matter, and those whose terms are in a reply."""
    worth = {bare(" ".join(page[one.start : one.end].split())) for one in remarks(page, READ)}
    for sentence in sentences_of(page):
        terms = told(sentence)
        is_used = any(len(terms & words) >= USED * len(terms) for words in replies)
        is_remark = sentence in worth and len(terms & matter) >= ABOUT
        is_prose = sum(map(str.isalpha, sentence)) > len(sentence) / 2
        if is_prose and len(terms) >= TELLING and (is_used or is_remark):
            yield sentence


def _plan(text: str) -> tuple[str, list[str]]:
    """Return a plan's name and its steps."""
    lines = [line for line in text.splitlines() if line.strip()]
    name = next((line for line in lines if _HEADING.match(line)), lines[0])
    steps = [_ITEM.sub("", line).strip() for line in lines if _ITEM.match(line)]
    return _HEADING.sub("", name).strip(), steps or [line.strip() for line in lines if line != name]
