"""Check arguments against a tool's schema and report every violation at once, in words a model can act on.

`understand` first reads what clients write in another form, if nothing is lost. The engine checks what a schema cannot
express, such as times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from pieria.errors import InputError, PieriaError, PrivacyError
from pieria.record.json_text import parsed
from pieria.toolsets.registry import Access, Guesses, Tool, meant

if TYPE_CHECKING:
    from jsonschema import ValidationError  # type: ignore[import-untyped]

_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
Arguments = dict[str, Any]

_NESTED = (float, Mapping, list)
"""Values that hold or may be numbers to look at one by one."""
MOST = 50
"""How many violations are listed one by one."""


_WHOLE = re.compile(r"[+-]?\d{1,15}")
_FRACTION = re.compile(r"[+-]?(\d{1,15}(\.\d{0,20})?|\.\d{1,20})([eE][+-]?\d{1,3})?")
_TRUTHS = {"true": True, "false": False}


def understand(tool: Tool, arguments: object) -> tuple[Arguments, list[str]]:
    """Return the checked arguments, and a warning for each that was left out or moved. Raise as `validated` does.

    A text is read as a number, true or false, a list or an object where the schema takes no text. An unknown option is
    left out if the tool ignores it, or if its name resembles no known one and it cannot change what is stored: the
    tool only reads, or the value asks for nothing. The reply must be able to carry the warning.
    """
    if not isinstance(arguments, Mapping):
        return validated(tool, arguments), []
    read = {name: _read(_schema_of(tool, name) or {}, value) for name, value in arguments.items()}
    moved = _moved(tool, read)
    read |= moved
    left = _left_out(tool, read)
    try:
        given = validated(tool, {name: value for name, value in read.items() if name not in left})
    except InputError:
        # The error of a call that fails anyway names all of its unknown options.
        validated(tool, read)
        raise
    warnings = [f"{name[:100]}: {tool.name} has no such option, and left it out." for name in left]
    return given, warnings + [f"{name}: {arguments[name]} is out of range, {moved[name]} was taken." for name in moved]


def _schema_of(tool: Tool, name: object) -> Mapping[str, Any] | None:
    return tool.parameters.get(tool.accepts.get(name, name)) if isinstance(name, str) else None


def _moved(tool: Tool, arguments: Mapping[Any, Any]) -> dict[str, int]:
    """Return the nearest number in range for each whole number out of it, such as a limit, if the tool takes that."""
    if not tool.takes_nearest or tool.access is not Access.read or not _can_warn(tool):
        return {}
    nearest = {name: _nearest(_schema_of(tool, name) or {}, value) for name, value in arguments.items()}
    return {name: number for name, number in nearest.items() if number not in (None, arguments[name])}


def _nearest(schema: Mapping[str, Any], value: object) -> int | None:
    if type(value) is not int or schema.get("type") != "integer":
        return None
    least: int = schema.get("minimum", value)
    most: int = schema.get("maximum", value)
    return max(least, min(value, most))


def _can_warn(tool: Tool) -> bool:
    return (tool.reply_schema or {}).get("type") != "array"


def _left_out(tool: Tool, arguments: Mapping[Any, Any]) -> list[str]:
    unknown = [name for name in arguments if isinstance(name, str) and _schema_of(tool, name) is None]
    if len(unknown) > MOST or not _can_warn(tool):
        return []
    guesses, known = Guesses(MOST), [*tool.parameters, *tool.accepts]
    return [name for name in unknown if _may_leave_out(tool, name, arguments[name], guesses, known)]


def _may_leave_out(tool: Tool, name: str, value: object, guesses: Guesses, known: list[str]) -> bool:
    if name in tool.ignores:
        return True
    asks_nothing = value is None or value is False or value in ("", [], {})
    return (tool.access is Access.read or asks_nothing) and guesses.nearest(name, known) is None


def _read(schema: Mapping[str, Any], value: Any) -> Any:
    """Return the value, with texts read as what the schema takes at that place."""
    if isinstance(value, str):
        kinds = set(_kinds_of(schema))
        if "string" in kinds:
            return value
        found = (reader(value.strip()) for kind, reader in _READERS.items() if kind in kinds)
        value = next((one for one in found if one is not None), value)
    if isinstance(value, list):
        return [_read(schema.get("items", {}), one) for one in value]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {name: _read(known.get(name, {}), one) for name, one in value.items()}
    return value


def _kinds_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the kinds a schema takes. One without a type takes texts, too."""
    kinds = schema.get("type", [] if "anyOf" in schema else "string")
    yield from [kinds] if isinstance(kinds, str) else kinds
    for choice in schema.get("anyOf", ()):
        yield from _kinds_of(choice)


def _number(text: str) -> int | float | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _FRACTION.fullmatch(text) else None


def _parsed(text: str, kind: type) -> Any:
    try:
        value = parsed(text) if text.startswith(("[", "{")) else None
    except ValueError:
        return None
    return value if isinstance(value, kind) else None


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": _number,
    "number": _number,
    "boolean": lambda text: _TRUTHS.get(text.casefold()),
    "array": lambda text: _parsed(text, list),
    "object": lambda text: _parsed(text, dict),
}
"""What a text is read as, by the kind that the schema takes."""


def validated(tool: Tool, arguments: object, known_as: str | None = None) -> Arguments:
    """Return the arguments under their listed names, with defaults filled in. Raise `InputError` with all violations.

    `known_as` is the caller's name for the tool, if that differs from its own.
    """
    if not isinstance(arguments, Mapping):
        raise InputError("arguments", "an object of the tool's parameters", arguments)
    guesses, parameters = Guesses(MOST), tool.parameters
    given, problems = _by_listed_names(tool, arguments, guesses, known_as or tool.name)
    if tool.takes_null:
        given = {name: value for name, value in given.items() if value is not None or _is_needed(tool, name)}
    problems += _violations(tool, given, guesses)
    for name, value in given.items():
        if isinstance(value, _NESTED):
            problems += _not_finite(value, name)
    if problems:
        raise _all_of(problems)
    defaults: Arguments = {
        name: schema["default"]
        for name, schema in parameters.items()
        if "default" in schema and name not in tool.settled
    }
    for name, value in given.items():
        defaults[name] = _whole(parameters[name], value) if isinstance(value, _NESTED) else value
    return defaults


def _all_of(problems: list[InputError]) -> InputError:
    first, *rest = problems[:MOST]
    if len(problems) > MOST:
        hint = f"{len(problems) - MOST:,} further violations are not listed."
        rest.append(InputError("arguments", "only parameters of the tool", None, hint=hint))
    first.errors = tuple(rest)
    return first


def violations(error: PieriaError) -> list[dict[str, Any]]:
    """Return the wrong parameters for an envelope: the error itself, then those in its `errors`."""
    found = [one for one in error.all_errors() if isinstance(one, InputError | PrivacyError)]
    return [
        {"parameter": one.parameter, "expected": one.expected, "received": one.received, "hint": one.hint}
        for one in found
    ]


def _by_listed_names(
    tool: Tool, arguments: Mapping[str, Any], guesses: Guesses, known_as: str
) -> tuple[Arguments, list[InputError]]:
    """Return the known arguments, and an error for each unknown one with a guess at its name."""
    given: Arguments = {}
    problems = []
    known = [*tool.parameters, *tool.accepts]
    otherwise = f"The parameters of {known_as}: {', '.join(tool.parameters) or 'none'}."
    for name, value in arguments.items():
        if not isinstance(name, str):
            problems.append(InputError("arguments", "names of parameters", name))
            continue
        listed = tool.accepts.get(name, name)
        if listed not in tool.parameters:
            hint = meant(guesses.nearest(name, known)) or otherwise
            problems.append(InputError(name[:100], f"a parameter of {known_as}", value, hint=hint))
        elif listed in given:
            problems.append(InputError(name, f"{listed} once, which goes by this name, too", value))
        else:
            given[listed] = _as_text(value) if listed in tool.objects else value
    return given, problems


def _as_text(value: object) -> object:
    """Return an object as JSON text. Other values stay: the schema check reports those that JSON cannot hold."""
    if not isinstance(value, Mapping):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return value


def _violations(tool: Tool, given: Arguments, guesses: Guesses) -> Iterator[InputError]:
    told = set()
    for error in tool.validator.iter_errors(given):
        for problem in _worded(tool, error, guesses):
            if problem.parameter not in told:
                told.add(problem.parameter)
                yield problem


def _worded(tool: Tool, error: ValidationError, guesses: Guesses) -> Iterator[InputError]:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    known = error.schema.get("properties", {})
    if error.validator == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield InputError(f"{path}.{name}".lstrip("."), in_words(known.get(name, {})), None)
    elif error.validator == "additionalProperties":
        for name in error.instance:
            if name not in known:
                hint = meant(guesses.nearest(name, known))
                parameter = f"{path}.{name}".lstrip(".")[:200]
                yield InputError(parameter, f"one of {', '.join(known)}", error.instance[name], hint=hint)
    else:
        hint = _hint(error, guesses, is_needed=_is_needed(tool, path))
        yield InputError(path or "arguments", in_words(error.schema), error.instance, hint=hint)


def _is_needed(tool: Tool, name: str) -> bool:
    return name in tool.input_schema.get("required", ())


def _hint(error: ValidationError, guesses: Guesses, *, is_needed: bool) -> str | None:
    if error.instance is None:
        return None if is_needed else "Leave it out."
    if error.validator == "type" and error.schema.get("type") == "array" and isinstance(error.instance, str):
        return "Put it into a list, even if it is the only one."
    choices = error.schema.get("enum")
    if choices and isinstance(error.instance, str):
        return meant(guesses.nearest(error.instance, map(str, choices)))
    return None


def in_words(schema: Mapping[str, Any]) -> str:
    """Return what a parameter accepts, in words."""
    if "enum" in schema:
        choices = ", ".join(map(str, schema["enum"]))
        return choices if len(schema["enum"]) == 1 else f"one of {choices}"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(in_words(choice) for choice in schema["anyOf"]))
    kinds = schema.get("type", "object")
    if kinds == "string" and schema.get("minLength") == 1 and "maxLength" not in schema:
        return "a non-empty text"
    words = " or ".join(_KINDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))
    return words + "".join(_bounds(schema))


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        yield f" from {least} to {most}"
    elif least is not None:
        yield f" from {least}"
    elif most is not None:
        yield f" up to {most}"
    for what, words in (("Length", "characters"), ("Items", "items")):
        least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
        if least and most is not None:
            yield f" of {least} to {most:,} {words}"
        elif least:
            yield f" of at least {least} {words if least > 1 else words[:-1]}"
        elif most is not None:
            yield f" of at most {most:,} {words}"


def _not_finite(value: object, path: str) -> list[InputError]:
    """Return errors for NaN and infinity: JSON forbids them, but parsers accept them and bounds miss them."""
    if isinstance(value, float):
        return [] if isfinite(value) else [InputError(path, "a finite number", value)]
    within: Iterable[tuple[str, object]] = ()
    if isinstance(value, Mapping):
        within = ((f"{path}.{name}".lstrip("."), one) for name, one in value.items())
    elif isinstance(value, list):
        within = ((f"{path}[{place}]", one) for place, one in enumerate(value))
    return [problem for where, one in within for problem in _not_finite(one, where)]


def _whole(schema: Mapping[str, Any], value: Any) -> Any:
    """Return the value with integral floats as integers: for JSON Schema 5.0 is an integer."""
    kinds = schema.get("type", ())
    if isinstance(value, float) and "integer" in kinds and "number" not in kinds:
        return int(value)
    if isinstance(value, list):
        return [_whole(schema.get("items", {}), one) for one in value]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {name: _whole(known.get(name, {}), one) for name, one in value.items()}
    return value
