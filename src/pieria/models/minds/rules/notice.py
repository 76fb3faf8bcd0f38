"""Notes on each task: its decisions, fixes, changes, findings and open problems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pieria.language.entities import entities
from pieria.models.mind import Deed, Noticed, Task
from pieria.models.minds.rules import asked as asking
from pieria.models.minds.rules import deed_words as telling
from pieria.models.minds.rules.pieces import noun_phrases
from pieria.record.clip import clipped

QUOTED = 200
"""Characters of a prompt that are quoted."""
ANSWERED = 420
"""Characters of a reply that are quoted."""
BEFORE = 40
"""Words quoted from the reply before a decision."""

MOST = 6
_READ = 800
_NO_CONCEPTS = frozenset({"email", "path", "host"})
_DULL = frozenset(["init", "index", "main", "mod", "lib", "test", "tests", "readme", "__init__", "package"])

_LABELS = frozenset(["open", "dead-end", "web", "rule", "correction"])
"""Labels of a note's status, which are no search terms."""


def noticed(tasks: Sequence[Task]) -> list[Noticed]:
    """Return the notes in the order of the tasks. The result is deterministic."""
    found: list[Noticed] = []
    said = ""
    for index, task in enumerate(tasks):
        # A mere consent continues the request before it.
        wanted = asking.request(task.asked) or said
        found += [each for each in _One(task, index, wanted).noticed() if each.text.strip() and each.title.strip()]
        said = wanted
    return found


class _One:
    """One task. `wanted` is its request, or an earlier one if this task only consents."""

    def __init__(self, task: Task, index: int, wanted: str) -> None:
        self._task = task
        self._index = index
        self._wanted = wanted
        deeds = list(enumerate(task.deeds))
        self._edits = [(n, deed) for n, deed in deeds if deed.what == "edited" and not deed.failed]
        self._kept = [(n, deed) for n, deed in self._edits if not deed.undone]
        self._runs = [(n, deed) for n, deed in deeds if deed.what == "ran"]
        self._fetched = [(n, deed) for n, deed in deeds if deed.what == "fetched"]
        self._looked = [(n, deed) for n, deed in deeds if deed.what in ("read", "searched")]
        self._work = asking.work_of(task.asked) or asking.work_of(wanted)

    def noticed(self) -> Iterator[Noticed]:
        if not self._task.goes_on:
            yield from self._decisions()
        mended = list(self._mended())
        broken = self._broken()
        if self._kept and self._is_told_by(mended):
            yield self._fix(mended[-1], whole=True)
        else:
            for place in mended:
                yield self._fix(place, whole=False)
            if self._kept and not self._is_vain(broken):
                yield self._change()
        if self._edits and not self._kept:
            yield self._dead_end()
        for command, (place, deed) in broken.items():
            yield self._left_open(command, place, deed)
        if not self._edits and not mended and not broken:
            yield from self._found_out()
        yield from self._pages()

    # --- what the user said

    def _decisions(self) -> Iterator[Noticed]:
        for decision in asking.decisions(self._task.asked):
            text = f"The user: “{clipped(decision.text, 2 * ANSWERED)}”"
            before = asking.closing(self._task.before, BEFORE)
            if before and decision.manner != "rule":
                text += f" The agent had said: “{before}”"
            yield self._made(
                "decision",
                asking.decided(decision.text),
                text,
                labels=(decision.manner,) if decision.manner != "choice" else (),
                named=(decision.text,) if decision.manner == "rule" else (decision.text, before),
            )

    # --- what was done

    def _mended(self) -> Iterator[int]:
        for place, deed in self._runs:
            if deed.mends:
                yield place

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

    def _fix(self, place: int, *, whole: bool) -> Noticed:
        """Return a note from the failure to the run that passed. With `whole`, it covers the whole task."""
        first = self._task.deeds[place].mends[0]
        failure, passed = self._task.deeds[first], self._task.deeds[place]
        between = [(n, deed) for n, deed in self._kept if whole or first < n < place]
        vain = telling.in_vain(self._task.deeds, first, place)
        last = [(n, deed) for n, deed in between if n > vain.until] or between
        error = telling.error_of(failure)
        command = telling.command(failure.target)
        facts = [f"{command} failed: {failure.detail}"]
        text = [f"{command} failed: {failure.detail}."]
        facts += vain.told
        text += vain.told
        if last:
            text.append(f"{'Then mended' if vain.told else 'Mended'} by {telling.edits(last)}.")
            facts.append(f"mended by {telling.edits(last)}")
        else:
            text.append("It went well later without a change of files.")
        text.append(f"{telling.command(passed.target)} then went well{telling.how(passed)}.")
        if whole:
            text += self._rest(passed)
        files = telling.files(between)
        title = telling.fixed(error, files, command)
        return self._made(
            "bugfix",
            title,
            self._led(text),
            deeds=[first, *(n for n, _ in between), place],
            facts=facts,
            named=(error, self._wanted),
            is_outside=whole and self._quotes_outside(),
        )

    def _change(self) -> Noticed:
        type = self._work or "change"
        message = telling.commit_message(self._task.deeds)
        name = self._wanted if asking.work_of(self._wanted) and not asking.is_question(self._wanted) else ""
        title = asking.title(name or message or self._wanted or telling.changed(self._kept))
        text = [telling.sentence(telling.edits(self._kept)), *self._rest()]
        undone = [(n, deed) for n, deed in self._edits if deed.undone]
        if undone:
            text.append(f"Taken back: {telling.edits(undone)}.")
        return self._made(
            type,
            title,
            self._led(text),
            deeds=[n for n, _ in self._edits] + [n for n, deed in self._runs if not deed.failed],
            named=(self._wanted, message, self._task.replied[:ANSWERED]),
            is_outside=self._quotes_outside(),
        )

    def _dead_end(self) -> Noticed:
        failed = [deed for _, deed in self._runs if deed.failed]
        text = [f"Tried and taken back: {telling.edits(self._edits)}."]
        text += [f"{telling.command(deed.target)} failed: {deed.detail}." for deed in failed[-1:]]
        text += self._rest()
        return self._made(
            "discovery",
            asking.title(self._headline() or f"Taken back: {self._wanted or telling.changed(self._edits)}"),
            self._led(text),
            deeds=[n for n, _ in self._edits] + [n for n, deed in self._runs if deed.failed],
            labels=("dead-end",),
            named=(self._wanted, self._task.replied[:ANSWERED]),
            is_outside=self._quotes_outside(),
        )

    def _broken(self) -> dict[str, tuple[int, Deed]]:
        """Return the last failure of each command that still fails.

        Empty if all edits were undone: the note on a dead end covers that.
        """
        if self._edits and not self._kept:
            return {}
        last: dict[str, tuple[int, Deed]] = {}
        mended = {failure for _, deed in self._runs for failure in deed.mends}
        for place, deed in self._runs:
            if deed.failed and place not in mended:
                last[telling.command(deed.target)] = (place, deed)
            elif not deed.failed:
                last.pop(telling.command(deed.target), None)
        return last

    def _left_open(self, command: str, place: int, deed: Deed) -> Noticed:
        text = [f"{command} fails: {deed.detail}."]
        tried = [(n, each) for n, each in self._kept if n < place]
        if tried:
            text.append(f"Changed so far, without success: {telling.edits(tried)}.")
        text += self._rest()
        return self._made(
            "discovery",
            asking.title(f"{command} still fails: {telling.error_of(deed)}"),
            self._led(text),
            deeds=[*(n for n, _ in tried), place],
            labels=("open",),
            named=(telling.error_of(deed), self._wanted),
            is_outside=self._quotes_outside(),
        )

    def _found_out(self) -> Iterator[Noticed]:
        """Yield a note on what was read, searched or run in a task without changes."""
        answer = self._answer(ANSWERED)
        runs = [(n, deed) for n, deed in self._runs if not (deed.failed or telling.is_commit(deed))]
        if not (self._looked or runs or self._fetched):
            yield from self._committed()
            return
        if not self._wanted and not answer:
            return
        text = []
        if runs:
            text.append(f"Ran {telling.listed([telling.ran(deed) for _, deed in runs])}.")
        if message := telling.commit_message(self._task.deeds):
            text.append(f"Committed as “{message}”.")
        if self._looked:
            text.append(telling.looked(self._looked))
        if answer:
            text.append(f"The agent: “{answer}”")
        if not text:
            return
        yield self._made(
            "discovery",
            asking.title(self._headline()),
            self._led(text),
            deeds=[n for n, _ in (*self._looked, *runs)],
            named=(self._wanted, answer),
            is_outside=self._quotes_outside(),
        )

    def _committed(self) -> Iterator[Noticed]:
        """Yield a note on a commit of changes from earlier tasks. Only its message shows their purpose."""
        message = telling.commit_message(self._task.deeds)
        if message:
            places = [n for n, deed in self._runs if telling.is_commit(deed)]
            yield self._made(
                "change", asking.title(message), f"Committed as “{message}”.", deeds=places, named=(message,)
            )

    def _pages(self) -> Iterator[Noticed]:
        for place, deed in self._fetched:
            if deed.failed or not deed.detail:
                continue
            yield self._made(
                "discovery",
                asking.title(f"Read {telling.address(deed.target)}"),
                self._led([f"{deed.target} says: “{deed.detail}”"]),
                deeds=[place],
                labels=("web",),
                named=(self._wanted,),
                is_outside=True,
            )

    # --- parts of notes

    def _rest(self, told: Deed | None = None) -> list[str]:
        """Return the checks, the commit and the final reply. The run `told` is left out: its note has it already."""
        text = []
        good = [deed for _, deed in self._runs if not (deed.failed or deed is told or telling.is_commit(deed))]
        if good:
            text.append(f"Ran {telling.listed([telling.ran(deed) for deed in good[-3:]])}.")
        message = telling.commit_message(self._task.deeds)
        if message:
            text.append(f"Committed as “{message}”.")
        answer = self._answer(ANSWERED)
        if answer:
            text.append(f"The agent: “{answer}”")
        return text

    def _led(self, text: Sequence[str]) -> str:
        asked = clipped(self._task.asked, QUOTED) if asking.request(self._task.asked) else clipped(self._wanted, QUOTED)
        told = " ".join(part for part in text if part)
        return re.sub(r"([.!?…])\.(?=\s|\Z)", r"\1", f"Asked: “{asked}” {told}" if asked else told)

    def _headline(self) -> str:
        """Return the first informative sentence of the reply if it is long enough, otherwise the request."""
        answer = asking.headline(self._task.replied)
        return answer if len(answer.split()) >= 5 or not self._wanted else self._wanted

    def _answer(self, length: int) -> str:
        return asking.opening(self._task.replied, length)

    def _quotes_outside(self) -> bool:
        return bool((self._fetched or self._task.is_outside) and self._task.replied)

    def _made(
        self,
        type: str,
        title: str,
        text: str,
        *,
        named: Sequence[str],
        deeds: Sequence[int] = (),
        facts: Sequence[str] = (),
        labels: Sequence[str] = (),
        is_outside: bool = False,
    ) -> Noticed:
        files = [deed.target for _, deed in self._kept]
        concepts = (*labels, *concepts_of(named, files))
        title = title or asking.title(text)
        return Noticed(type, title, text, self._index, tuple(dict.fromkeys(deeds)), concepts, tuple(facts), is_outside)


def concepts_of(texts: Sequence[str], files: Sequence[str]) -> tuple[str, ...]:
    """Return names first, then stems of files, then short phrases."""
    read = ".\n".join(text for text in texts if text)[:_READ]
    names = [each.name for each in entities(read) if each.kind not in _NO_CONCEPTS]
    stems = [stem for file in files if (stem := file.rpartition("/")[2].partition(".")[0].lower()) not in _DULL]
    phrases = [phrase for phrase in noun_phrases(read) if len(phrase) > 3]
    found: dict[str, str] = {}
    for name in (*names, *stems, *phrases):
        short = " ".join(name.strip("`'\"“”().,:;").split())
        if short.casefold() in _LABELS:
            continue
        if 1 < len(short) <= 40 and short.isprintable() and re.search(r"[^\W\d_]", short):
            found.setdefault(short.casefold(), short)
    return tuple(found.values())[:MOST]
