"""One request to a chat model: the choice of model, the messages, the metered call, and one repair of a bad reply.

The prompts are in `prompts/`; `mind` interprets replies.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypedDict

from pieria.errors import AdapterError, BudgetError, InputError, PieriaError, PromptError, ReplyUnreadableError
from pieria.models.llm import LLM, Chat, LLMResponse, Message, checked_messages
from pieria.models.meter import Meter
from pieria.models.minds.llm.prompt import GROUPS, STEPS, TOGETHER, Prompt, prompt, shared, unknown
from pieria.models.minds.llm.replies import Reply, quoted, replied, tidy
from pieria.models.minds.llm.truncation import PROMPT, Listed, fitted
from pieria.record.fence import fenced, mark_for

log = logging.getLogger(__name__)

Datum = str | Listed | None
Lacking = Callable[[Mapping[str, Any]], list[str]]

OVERLAY = 8_000
DOMAIN = 2_000
"""Characters of users' additions to a system message."""
_REPAIR = 8_000
"""Characters kept free for a repair message."""
ALLOWED = 60.0
"""Seconds for an answer of a model that does not say how long it may take."""

EXPECTED = "steps and models, such as structuring=gpt-5, get_reward=gpt-5-nano"
KNOWN = (*GROUPS, *STEPS)

METHODS = ("build_messages", "parse_response")


class Override(TypedDict, total=False):
    """Another model for a step, further options of its calls, or both."""

    llm: LLM
    opts: Mapping[str, Any]


class _Route(NamedTuple):
    llm: LLM
    model: str
    opts: Mapping[str, Any]


class Asker:
    """Sends the requests of a mind. Safe in threads if its models and meter are."""

    def __init__(
        self,
        llm: LLM,
        *,
        overrides: Mapping[str, Override],
        overlays: Mapping[str, str],
        domain: str | None,
        prompts: Mapping[str, OwnPrompt],
        meter: Meter | None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        base = _Route(_checked_llm("llm", llm), model_of(llm), {})
        self._routes = _routes(base, overrides)
        self._added = _added(overlays, domain)
        self._prompts = prompts
        self._meter = meter
        self._clock = clock

    @property
    def judges_together(self) -> bool:
        """Whether one request can judge steps: the steps that it does have one model, and no prompt of their own."""
        first, *others = (self._routes[step] for step in TOGETHER)
        return all(route == first for route in others) and not self._prompts.keys() & TOGETHER.keys()

    @property
    def seconds(self) -> float:
        """The longest time that one of the models takes for an answer, as far as they say."""
        told = (getattr(route.llm, "seconds", None) for route in self._routes.values())
        return max((float(each) for each in told if isinstance(each, int | float)), default=ALLOWED)

    def text(self, step: str, data: Mapping[str, Datum]) -> str:
        """Return the text reply of a step. Raises `PromptError` for a blank one."""
        asked = prompt(step)
        own = self._prompts.get(step)
        if own is None:
            content = self._call(step, self._messages(asked, data), None)
        else:
            content = text_in(asked, own, self._called(step, own, data))
        text = tidy(content) if isinstance(content, str) else ""
        if not text:
            raise PromptError(step, asked.nothing)
        return text

    def structured(self, step: str, data: Mapping[str, Datum], lacking: Lacking | None = None) -> Mapping[str, Any]:
        """Return a reply that fits the schema. `lacking` finds further problems in a valid reply.

        Problems lead to one repair request. If it fails or its reply is invalid, a valid first reply is used. A custom
        prompt gets no repair.
        """
        asked = prompt(step)
        own = self._prompts.get(step)
        if own is not None:
            return object_in(asked, own, self._called(step, own, data))
        messages = self._messages(asked, data)
        try:
            content = self._call(step, messages, asked.schema)
        except ReplyUnreadableError:
            content = ""  # the unreadable reply is not quoted
        first = replied(asked, content)
        problems = list(first.problems) or (lacking(first.value) if lacking else [])
        if not problems:
            return first.value
        try:
            again = self._call(step, [*messages, *_repair(content, problems)], asked.schema)
        except (AdapterError, BudgetError) as failure:
            if first.problems:
                raise
            log.warning("%s: a reply with gaps is used, for it could not be repaired: %s", step, failure)
            return first.value
        return _first_fitting(step, replied(asked, again), first).value

    def _called(self, step: str, own: OwnPrompt, data: Mapping[str, Datum]) -> object:
        return self._call(step, messages_of(step, own, data, self._added[step]), schema_of(step, own))

    def _messages(self, asked: Prompt, data: Mapping[str, Datum]) -> list[Message]:
        system = asked.system + self._added[asked.step]
        present = {name: value for name, value in data.items() if not _is_empty(value)}
        for slot in asked.slots:
            if isinstance(data[slot.name], Listed) and slot.name not in present and slot.absent is None:
                raise PromptError(asked.step, asked.nothing)
        taken = sum(len(slot.label) + len(slot.absent or "") + 60 for slot in asked.slots)
        room = PROMPT - _REPAIR - len(system) - len(asked.closing) - taken
        names = [slot.name for slot in asked.slots if slot.name in present]
        shown = fitted([value for name in names if (value := present[name]) is not None], room)
        bodies = {name: tidy(body) for name, body in zip(names, shown, strict=True)}
        mark = mark_for(list(bodies.values()))
        parts = [f"Mark: {mark}"]
        for slot in asked.slots:
            if slot.name in bodies and slot.ours:
                parts.append(f"{slot.label}: {bodies[slot.name]}")
            elif slot.name in bodies:
                parts.append(f"{slot.label}:\n{fenced(bodies[slot.name], mark)}")
            elif slot.absent is not None:
                parts.append(f"{slot.label}: {slot.absent}")
        user = "\n\n".join([*parts, asked.closing])
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]

    def _call(self, step: str, messages: list[Message], schema: Mapping[str, Any] | None) -> object:
        """Return the content of the reply. A failed call is metered, too."""
        route = self._routes[step]
        if self._meter is not None:
            self._meter.allow(step, route.model)
        begun = self._clock()
        response: LLMResponse | None = None
        spent: object = None
        try:
            spent = response = self._asked(route, step, messages, schema)
        except AdapterError as failure:
            spent = failure  # an unusable reply has a cost, too, and its error carries the usage
            raise
        finally:
            self._note(step, route, spent, self._clock() - begun, response is None)
        return _content(route, response)

    def _note(self, step: str, route: _Route, spent: object, seconds: float, failed: bool) -> None:
        if self._meter is None:
            return
        told = getattr(spent, "model", None)
        usage = getattr(spent, "usage", None)
        model = told if isinstance(told, str) and told else route.model
        self._meter.note(step, model, usage if isinstance(usage, Mapping) else {}, seconds, failed)

    def _asked(
        self, route: _Route, step: str, messages: list[Message], schema: Mapping[str, Any] | None
    ) -> LLMResponse:
        """Call the model. A `Chat` takes `step` as an argument; other models get it and `model` as options."""
        told: dict[str, Any] = {"step": step} if isinstance(route.llm, Chat) else {}
        opts = {**route.opts} if told else {"model": route.model, **route.opts, "step": step}
        try:
            if schema is None:
                return route.llm.chat(messages, opts, **told)
            return route.llm.chat_structured(messages, schema, opts, **told)
        except PieriaError:
            raise
        # A user's own model may raise any exception; it is kept as the cause.
        except Exception as problem:
            operation = "chat" if schema is None else "chat_structured"
            reason = f"it failed with {type(problem).__name__}"
            raise AdapterError(route.model, operation, reason, retryable=True) from problem


def model_of(llm: LLM) -> str:
    """Return the model's name, or the name of its class."""
    told = getattr(llm, "model", None)
    return told if isinstance(told, str) and told else f"custom:{type(llm).__qualname__}"


def _is_empty(value: Datum) -> bool:
    return value is None or (not value.strip() if isinstance(value, str) else not value.entries)


def _repair(content: object, problems: list[str]) -> list[Message]:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return [
        {"role": "assistant", "content": tidy(quoted(content))},
        {"role": "user", "content": f"{shared().repair}\n\n{listed}"},
    ]


def _first_fitting(step: str, again: Reply, first: Reply) -> Reply:
    for reply in (again, first):
        if not reply.problems:
            return reply
    raise PromptError(step, again.reason)


def _content(route: _Route, response: LLMResponse | None) -> object:
    if response is None or not hasattr(response, "content"):
        raise AdapterError(route.model, "chat", "expected a response with content, model and usage")
    return response.content


def _checked_llm(parameter: str, llm: object) -> Any:
    if not all(callable(getattr(llm, name, None)) for name in ("chat", "chat_structured")):
        raise InputError(parameter, "a model with the methods chat and chat_structured", llm)
    return llm


def _routes(base: _Route, overrides: Mapping[str, Override]) -> dict[str, _Route]:
    """Return the model and options of each step. A step's own override wins over its group's."""
    for name, override in overrides.items():
        if name not in STEPS and name not in GROUPS:
            raise unknown("overrides", name, (*GROUPS, *STEPS))
        for key in override:
            if key not in Override.__annotations__:
                raise unknown(f"overrides.{name}", key, tuple(Override.__annotations__))
    routes = {}
    for group, steps in GROUPS.items():
        for step in steps:
            routes[step] = _overridden(_overridden(base, group, overrides), step, overrides)
    if "judge_steps" not in overrides:
        routes["judge_steps"] = routes["get_state"]
    return routes


def _overridden(route: _Route, name: str, overrides: Mapping[str, Override]) -> _Route:
    override = overrides.get(name, {})
    llm = _checked_llm(f"overrides.{name}.llm", override.get("llm", route.llm))
    inherited = {name: value for name, value in route.opts.items() if name != "model" or "llm" not in override}
    opts = {**inherited, **override.get("opts", {})}
    told = opts.get("model")
    return _Route(llm, told if isinstance(told, str) and told else model_of(llm), MappingProxyType(opts))


def _added(overlays: Mapping[str, str], domain: str | None) -> dict[str, str]:
    """Return the additions to each step's system message."""
    for step, text in overlays.items():
        if step not in STEPS:
            raise unknown("overlays", step, STEPS)
        _check_length(f"overlays.{step}", text, OVERLAY)
    if domain is not None:
        _check_length("domain", domain, DOMAIN)
    about = f"\n\n{shared().domain.format(domain=tidy(domain))}" if domain and tidy(domain) else ""
    added = {step: about + (f"\n\n{text}" if (text := tidy(overlays.get(step, ""))) else "") for step in STEPS}
    for step, word in TOGETHER.items():
        if text := tidy(overlays.get(step, "")):
            added["judge_steps"] += f"\n\nOn the {word}: {text}"
    return added


def _check_length(parameter: str, text: object, most: int) -> None:
    if not isinstance(text, str) or len(text) > most:
        raise InputError(parameter, f"a text of at most {most:,} characters", text)


def chosen(line: str, parameter: str = "llm_steps") -> dict[str, str]:
    """Return the model of each step or group. All models are of the same server."""
    found: dict[str, str] = {}
    for entry in line.split(","):
        step, equals, model = (part.strip() for part in entry.partition("="))
        if not entry.strip():
            continue
        if not (equals and model):
            raise InputError(parameter, EXPECTED, line)
        if step not in KNOWN:
            near = get_close_matches(step, KNOWN, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            raise InputError(parameter, f"steps of {', '.join(KNOWN)}", step, hint=hint)
        if step in found:
            raise InputError(parameter, "each step once", step)
        found[step] = model
    return found


def overrides_of(line: str) -> dict[str, Override]:
    return {step: Override(opts={"model": model}) for step, model in chosen(line).items()}


class OwnPrompt(Protocol):
    """A custom prompt. It may have a `schema`, a mapping or a method that returns one, for the model's reply.

    Its exceptions are reported as errors of the step.
    """

    def build_messages(self, variables: Mapping[str, Any]) -> Sequence[Message]:
        """Return the messages to send. `variables` has the data of the step by name; unknown data is None."""

    def parse_response(self, response: Any) -> Any:
        """Return the reply in the form of the step's own reply: a text, or a JSON value if there is a schema."""


def checked_prompts(prompts: object) -> dict[str, OwnPrompt]:
    """Return the prompts by step. Raises `InputError` for an unknown step or an unsuitable object."""
    if not isinstance(prompts, Mapping):
        raise InputError("prompts", "a mapping of steps to prompts", prompts)
    for step, own in prompts.items():
        if step not in STEPS:
            raise unknown("prompts", step, STEPS)
        if not all(callable(getattr(own, name, None)) for name in METHODS):
            raise InputError(f"prompts.{step}", "an object with the methods " + " and ".join(METHODS), own)
        schema_of(step, own)
    return dict(prompts)


def schema_of(step: str, own: OwnPrompt) -> Mapping[str, Any] | None:
    told = getattr(own, "schema", None)
    schema = _ran(step, "schema", told) if callable(told) else told
    if schema is not None and (not isinstance(schema, Mapping) or not schema):
        raise InputError(f"prompts.{step}.schema", "a JSON Schema, as a mapping, or None", schema)
    return schema


def messages_of(step: str, own: OwnPrompt, data: Mapping[str, Any], added: str) -> list[Message]:
    """Return the prompt's messages, with the text `added` behind the first system message."""
    variables = {name: list(value.entries) if isinstance(value, Listed) else value for name, value in data.items()}
    built = _ran(step, "build_messages", own.build_messages, variables)
    try:
        messages = checked_messages(built)
    except InputError as problem:
        raise problem.renamed(f"prompts.{step}.build_messages") from problem
    if not added:
        return list(messages)
    system = next((place for place, message in enumerate(messages) if message["role"] == "system"), None)
    if system is None:
        return [{"role": "system", "content": added.strip()}, *messages]
    told = {"role": "system", "content": messages[system]["content"] + added}
    return [*messages[:system], told, *messages[system + 1 :]]


def text_in(asked: Prompt, own: OwnPrompt, content: object) -> str:
    """Return the result of a text step: a text, a number as text, or a list of lines."""
    value = _ran(asked.step, "parse_response", own.parse_response, content)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise PromptError(asked.step, asked.malformed)
    return value


def object_in(asked: Prompt, own: OwnPrompt, content: object) -> Mapping[str, Any]:
    """Return the result of a JSON step: the object, or an object with the value under the step's key."""
    value = _ran(asked.step, "parse_response", own.parse_response, content)
    reply = replied(asked, value if isinstance(value, dict) else {asked.key: value})
    if reply.problems:
        raise PromptError(asked.step, reply.reason)
    return reply.value


def _ran(step: str, name: str, method: Any, *given: Any) -> Any:
    try:
        return method(*given)
    except PieriaError:
        raise
    # A user's prompt may raise any exception; it is kept as the cause.
    except Exception as problem:
        raise PromptError(step, f"{name} of its prompt failed with {type(problem).__name__}") from problem
