"""Steps of an episode: the state, the subgoal of an action, and its reward."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pieria.language.grammar.forms import forms
from pieria.language.letters import lowered
from pieria.models.mind import StepSeen
from pieria.models.minds.rules.pieces import begins_with_cue, clipped, cues, has_cue, sentences_of, told
from pieria.models.minds.rules.signs import Embed, is_of_the_matter, turns

_STATE_WORDS, _PART_WORDS, _SUBGOAL_WORDS = 70, 25, 14
_SENTENCES, _EARLY = 5, 2_000
"""Limits in sentences and characters: a subgoal is named after something within them."""
_READ = 20_000
"""Characters read from each end of an outcome, where failures show."""

_OPENING = re.compile(
    r"\A(?:(?:ok|okay|now|next|then|first|so|let me|let's|let us|i will|i'll|i am going to|i'm going to|i need to"
    r"|i should|we will|we should|we need to|going to|try to|trying to|please)\b[\s,:]{0,3}){1,5}",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"\b(?:in order to|so that (?:we|i|it) can|so as to|to) (?P<what>[a-z][\w'-]*(?: \S+){1,12})", re.IGNORECASE
)
_CODE = re.compile(r"\bexit(?:ed)?(?: with)?(?: status| code)*[ :=]{1,2}(?P<code>\d{1,3})\b")
_STATUS = re.compile(r"\b(?:http(?:/[\d.]+)?|status(?: code)?)[ :=]{1,2}(?P<class>[1-5])\d\d\b")
UNCOVERED = 0.7
"""The reward of a look that shows an error."""
_NUMBER = re.compile(r"\d")
_COUNTED = re.compile(r"\b(?P<number>\d{1,6}) (?P<what>passed|failed|errors?|failures?|succeeded)\b")


def state_after(goal: str, observation: str, before: str | None, action: str | None) -> str:
    """Return the last action and the new observation; without an observation, the earlier state or the goal."""
    seen = " ".join(list(sentences_of(observation[:_READ]))[:3])
    done = clipped(next(sentences_of((action or "")[:_READ]), ""), _PART_WORDS)
    if not seen:
        seen = before or (f"Nothing seen yet of: {goal.strip()}" if goal.strip() else "")
    led = f"After: {done} — " if done and seen else ""
    return clipped(f"{led}{seen}", _STATE_WORDS)


def subgoal_of(
    goal: str,
    state: str | None,
    observation: str,
    action: str,
    before: Sequence[StepSeen] = (),
    embed: Embed | None = None,
) -> str:
    """Return the current subgoal while the topic stays the same, otherwise the action's purpose or the action.

    If the action is uninformative, the observation names the subgoal; if both are, the goal does.
    """
    held = (before[-1].subgoal or "") if before else ""
    if held and not turns(observation, action, before, embed):
        return held
    said = next(_telling(observation, action, held), "") or next(sentences_of(action[:_READ]), "")
    if not said:
        said = next((given.strip() for given in (goal, state or "", observation) if given.strip()), "")
        return clipped(said, _SUBGOAL_WORDS)
    bare = _OPENING.sub("", said) or said
    purpose = _PURPOSE.search(bare)
    if purpose and purpose.start() > 0 and _is_done(purpose["what"]):
        bare = purpose["what"]
    return clipped(bare.rstrip(".!,;: "), _SUBGOAL_WORDS)


def _telling(observation: str, action: str, held: str) -> Iterator[str]:
    """Yield the informative sentences that differ from the current subgoal.

    The order is: topical sentences of the action, its other sentences, topical sentences of the observation.
    """
    known = told(held)
    done, observed = (
        [(said, told(said)) for said in islice(sentences_of(text[:_EARLY]), _SENTENCES)]
        for text in (action, observation)
    )
    for sentences, enough in ((done, _of_the_matter), (done, lambda terms: len(terms) > 1), (observed, _of_the_matter)):
        for said, terms in sentences:
            if enough(terms) and 2 * len(terms & known) < len(terms):
                yield said


def _of_the_matter(terms: Iterable[str]) -> bool:
    return any(map(is_of_the_matter, terms))


def _is_done(text: str) -> bool:
    form = forms().get(text.split(maxsplit=1)[0].lower())
    return form is not None and "base" in form.kinds


def reward_of(subgoal: str, observation: str, action: str, outcome: str) -> float:
    """Return the reward by the outcome's cues of success and failure; 0.5 if there are none, or as many of each.

    Cues that the action itself contains do not count: a search for errors prints errors. Nor do the errors that a look
    was meant to show.
    """
    low = lowered(_ends(outcome))
    acted = lowered(_ends(action))
    looks = is_look(action)
    spelt = {found[0] for key in ("outcome.good", "outcome.bad") for found in cues(key, acted)}
    good, bad = _counted(low) if not looks else (0, 0)
    for key, is_good in (("outcome.good", True), ("outcome.blind" if looks else "outcome.bad", False)):
        for found in cues(key, low):
            if found[0] not in spelt:
                fine = is_good != _is_turned(low, found.start())
                good, bad = good + fine, bad + (not fine)
    better, worse = _moved(low)
    good, bad = good + better, bad + worse
    if looks and not bad and any(found[0] not in spelt for found in cues("outcome.bad", low)):
        return UNCOVERED
    if good or bad:
        return round(0.5 + 0.45 * (good - bad) / (good + bad), 2)
    if not low.strip():
        return 0.5
    return _without_cues(subgoal, lowered(_ends(observation)), low)


def is_look(action: str) -> bool:
    """Return whether the action only looks for something."""
    return begins_with_cue("outcome.looks", lowered(_OPENING.sub("", action.strip()[:_EARLY])))


def _moved(low: str) -> tuple[int, int]:
    """Return how many numbers went where they should, and how many did not: `Disk usage fell to 31 %`."""
    better = worse = 0
    for sentence in sentences_of(low):
        for fell, key in ((True, "outcome.fell"), (False, "outcome.rose")):
            for found in cues(key, sentence):
                about = sentence[: found.start()].rpartition(",")[2]
                wanted_low, wanted_high = (has_cue(f"outcome.{side}", about) for side in ("low", "high"))
                if wanted_low != wanted_high and _NUMBER.search(sentence[found.end() :]):
                    fine = wanted_low == fell
                    better, worse = better + fine, worse + (not fine)
    return better, worse


def _without_cues(subgoal: str, before: str, after: str) -> float:
    if before.strip() == after.strip():
        return 0.4
    if cues("outcome.bad", before) and not cues("outcome.bad", after) and told(before) & told(after):
        return 0.7
    wanted = told(subgoal)
    return 0.6 if wanted and wanted <= told(after) and not wanted <= told(before) else 0.5


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"


def _is_turned(low: str, start: int) -> bool:
    """Return whether the cue is negated: `no errors`, `0 failed`, `did not pass`."""
    before = low[max(0, start - 24) : start]
    return any(found.end() >= len(before.rstrip()) - 8 for found in cues("outcome.turning", before))


def _counted(low: str) -> tuple[int, int]:
    """Return the evidence of exit codes, status codes and counts. A count of 0 is left to the words."""
    good = bad = 0
    for found in _CODE.finditer(low):
        good, bad = good + 2 * (found["code"] == "0"), bad + 2 * (found["code"] != "0")
    for found in _STATUS.finditer(low):
        good, bad = good + (found["class"] in "23"), bad + (found["class"] in "45")
    for found in _COUNTED.finditer(low):
        if int(found["number"]):
            fine = found["what"] in ("passed", "succeeded")
            good, bad = good + fine, bad + 4 * (not fine)
    return good, bad
