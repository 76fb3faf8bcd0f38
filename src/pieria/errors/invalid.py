"""Errors of requests that cannot be right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import ClassVar, Unpack

from pieria.errors.description import counted, described
from pieria.errors.root import Invalid, More, Reasoned


class InputError(Invalid):
    """A parameter is out of its bounds; ``received`` is a short description, never the value itself."""

    code = "invalid_input"
    fields = ("parameter", "expected", "received")

    def __init__(self, parameter: str, expected: str, received: object, **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.expected = expected
        self.received = described(received, parameter)
        super().__init__(f"{parameter}: expected {expected}, got {self.received}", **more)

    def renamed(self, parameter: str) -> InputError:
        """Return the error under the name that the caller uses for the parameter."""
        error = InputError(parameter, self.expected, None, hint=self.hint, errors=self.errors)
        error.received = self.received
        error.args = (f"{parameter}: expected {self.expected}, got {self.received}",)
        return error


class UnavailableError(Invalid):
    """This bank does not support the parameter, so it was refused."""

    code = "unavailable"
    fields = ("parameter", "reason")

    def __init__(self, parameter: str, reason: str, **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.reason = reason
        more.setdefault("hint", f"Leave {parameter} out.")
        super().__init__(f"{parameter}: not available, {reason}", **more)

    def renamed(self, parameter: str) -> UnavailableError:
        """Return the error under the name that the caller uses for the parameter."""
        own = self.hint if self.hint != f"Leave {self.parameter} out." else f"Leave {parameter} out."
        return UnavailableError(parameter, self.reason, hint=own, errors=self.errors)


class PrivacyError(Invalid):
    """The text contains a secret or a private part; ``found`` names the kinds, ``private`` for a marked part."""

    code = "privacy"
    fields = ("parameter", "found")
    advice = "Take the secret out, wrap it in <private>…</private>, or let the bank redact secrets."

    def __init__(self, parameter: str, found: Iterable[str], **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.found = (found,) if isinstance(found, str) else tuple(found)
        kinds = ", ".join(dict.fromkeys(self.found))
        why = "a part of it is marked <private>" if kinds == "private" else f"it seems to contain a secret ({kinds})"
        super().__init__(f"{parameter}: refused, since {why}", **more)

    @property
    def expected(self) -> str:
        return "a text without secrets" if self.found != ("private",) else "a text without a private part"

    @property
    def received(self) -> str:
        """Return the kinds of secrets found, never the value itself."""
        if self.found == ("private",):
            return "a part marked <private>"
        return f"what looks like {', '.join(dict.fromkeys(self.found))}"

    def renamed(self, parameter: str) -> PrivacyError:
        """Return the error under the name that the caller uses for the parameter."""
        return PrivacyError(parameter, self.found, hint=self.hint, errors=self.errors)


class TransferError(Invalid):
    """A file to import, export or restore is not as expected; ``problems`` lists them record by record."""

    code = "transfer"
    fields = ("path", "reason", "problems")

    def __init__(
        self, path: str | PurePath, reason: str, problems: Iterable[object] = (), **more: Unpack[More]
    ) -> None:
        self.path = path
        self.reason = reason
        self.problems = tuple(problems)
        listed = f" ({counted(len(self.problems), 'problem')})" if self.problems else ""
        super().__init__(f"{path}: {reason}{listed}", **more)

    def of(self, path: str) -> TransferError:
        """Return the error under the path that the caller uses for the file."""
        return TransferError(path, self.reason, self.problems, hint=self.hint, errors=self.errors)


class ConfigError(Reasoned, Invalid):
    """The configuration is missing or wrong."""

    code = "config"
    about = "configuration"
    reasons: ClassVar[Mapping[str, str]] = {"no_config": "no configuration was found"}


class EpisodeError(Reasoned, Invalid):
    """The episode's state does not allow this step."""

    code = "episode"
    about = "episode"
    reasons: ClassVar[Mapping[str, str]] = {
        "episode_closed": "the episode is closed and accepts no more steps",
        "already_closed": "the episode is closed already",
        "episode_not_closed": "the episode must be closed before extraction",
    }


class PromptError(Invalid):
    """A model's reply to one prompt could not be read."""

    code = "prompt"
    fields = ("prompt", "reason")
    reasons: ClassVar[Mapping[str, str]] = {
        "empty_response": "the reply was empty",
        "invalid_schema": "the reply does not match the schema",
        "invalid_float": "a number was expected",
        "invalid_mode": "the recall mode is unknown",
        "invalid_tags": "the tags could not be read",
        "invalid_merge_result": "the merged text could not be read",
        "no_facts_extracted": "the reply has no facts",
        "no_instructions_extracted": "the reply has no instructions",
        "no_scores_extracted": "the reply has no scores",
        "no_tags_generated": "the reply has no tags",
    }

    def __init__(self, prompt: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.prompt = prompt
        self.reason = reason
        about = "model reply" if prompt is None else f"model reply to {prompt}"
        super().__init__(self._worded(about, reason), **more)
