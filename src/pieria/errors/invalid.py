"""What was asked for cannot be right."""

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
        """The same about a parameter that whoever asked knows by another name."""
        error = InputError(parameter, self.expected, None, hint=self.hint, errors=self.errors)
        error.received = self.received
        error.args = (f"{parameter}: expected {self.expected}, got {self.received}",)
        return error


class UnavailableError(Invalid):
    """A parameter whose effect this bank does not offer; refused rather than ignored."""

    code = "unavailable"
    fields = ("parameter", "reason")

    def __init__(self, parameter: str, reason: str, **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.reason = reason
        more.setdefault("hint", f"Leave {parameter} out.")
        super().__init__(f"{parameter}: not available, {reason}", **more)

    def renamed(self, parameter: str) -> UnavailableError:
        """The same about a parameter that whoever asked knows by another name."""
        own = self.hint if self.hint != f"Leave {self.parameter} out." else f"Leave {parameter} out."
        return UnavailableError(parameter, self.reason, hint=own, errors=self.errors)


class PrivacyError(Invalid):
    """It holds what may not be written; ``found`` names the kinds of secrets, and ``private`` for a marked part."""

    code = "privacy"
    fields = ("parameter", "found")
    advice = "Take the secret out, wrap it in <private>…</private>, or let the bank redact secrets."

    def __init__(self, parameter: str, found: Iterable[str], **more: Unpack[More]) -> None:
        self.parameter = parameter
        self.found = (found,) if isinstance(found, str) else tuple(found)
        kinds = ", ".join(dict.fromkeys(self.found))
        why = "a part of it is marked <private>" if kinds == "private" else f"it seems to hold a secret ({kinds})"
        super().__init__(f"{parameter}: refused, for {why}", **more)

    @property
    def expected(self) -> str:
        return "a text without secrets" if self.found != ("private",) else "a text without a private part"

    @property
    def received(self) -> str:
        """The kinds of what was found, never the value itself."""
        if self.found == ("private",):
            return "a part marked <private>"
        return f"what looks like {', '.join(dict.fromkeys(self.found))}"

    def renamed(self, parameter: str) -> PrivacyError:
        """The same about a parameter that whoever asked knows by another name."""
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
        """The same about the file as whoever asked knows it."""
        return TransferError(path, self.reason, self.problems, hint=self.hint, errors=self.errors)


class ConfigError(Reasoned, Invalid):
    """The configuration is missing or wrong."""

    code = "config"
    about = "configuration"
    reasons: ClassVar[Mapping[str, str]] = {"no_config": "there is none"}


class EpisodeError(Reasoned, Invalid):
    """The episode is in the wrong standing for this step."""

    code = "episode"
    about = "episode"
    reasons: ClassVar[Mapping[str, str]] = {
        "episode_closed": "it is closed and takes no more steps",
        "already_closed": "it was closed before",
        "episode_not_closed": "it must be closed before anything is extracted from it",
    }


class PromptError(Invalid):
    """A model's reply to one prompt could not be read."""

    code = "prompt"
    fields = ("prompt", "reason")
    reasons: ClassVar[Mapping[str, str]] = {
        "empty_response": "it was empty",
        "invalid_schema": "it does not fit the schema",
        "invalid_float": "a number was expected",
        "invalid_mode": "an unknown mode of recall",
        "invalid_tags": "the tags could not be read",
        "invalid_merge_result": "the merged text could not be read",
        "no_facts_extracted": "it named no facts",
        "no_instructions_extracted": "it named no instructions",
        "no_scores_extracted": "it named no scores",
        "no_tags_generated": "it named no tags",
    }

    def __init__(self, prompt: object = None, reason: object = None, **more: Unpack[More]) -> None:
        self.prompt = prompt
        self.reason = reason
        about = "model reply" if prompt is None else f"model reply to {prompt}"
        super().__init__(self._worded(about, reason), **more)
