"""Screen every write: cut private parts; flag, redact or refuse secrets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pieria.errors import InputError, PrivacyError
from pieria.record.draft import Draft
from pieria.record.privacy import cut_private, find_secrets, redact

CUT = "private:cut"
SHORT = 200
FIXED = ("id", "session", "channel", "place")
"""Names that identify something: a cut would identify something else."""


class Screened(NamedTuple):
    text: str
    flags: tuple[str, ...] = ()


class Screen:
    """Screens texts by the setting `secrets`: flag, redact or refuse."""

    def __init__(self, secrets: str) -> None:
        self._secrets = secrets

    def text(self, text: str, parameter: str) -> Screened:
        kept, cuts, kinds = _looked_at(text) if len(text) <= SHORT else _look(text)
        if cuts and not kept.strip():
            # Leave the text out of the error, because errors may be logged.
            raise InputError(parameter, "some text outside <private>", None)
        flags = (CUT,) if cuts else ()
        if not kinds:
            return Screened(kept, flags)
        if self._secrets == "refuse":
            raise PrivacyError(parameter, kinds, hint="Take the secret out, or set secrets to redact.")
        if self._secrets == "redact":
            kept, _ = redact(kept)
        return Screened(kept, (*flags, *(f"secret:{kind}" for kind in kinds)))

    def name(self, name: str, parameter: str) -> Screened:
        """Return a name with its flags. Names cannot be changed, so raise where a text would be cut or redacted."""
        _, cuts, kinds = _looked_at(name)
        if cuts or (kinds and self._secrets != "flag"):
            raise PrivacyError(parameter, kinds or ["private"], hint="Use a name without private parts.")
        return self.text(name, parameter)

    def labels(self, labels: Sequence[str], parameter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the labels and their flags. Entirely private labels are dropped."""
        kept: dict[str, None] = {}
        flags: list[str] = []
        for label in labels:
            try:
                screened = self.text(label, parameter)
            except InputError:
                flags.append(CUT)
                continue
            kept[screened.text.strip()] = None
            flags += screened.flags
        return tuple(kept), tuple(flags)

    def mapping(self, written: str | None, parameter: str) -> tuple[str | None, tuple[str, ...]]:
        """Screen every text in a mapping given as JSON, together with its key."""
        if written is None:
            return None, ()
        _, cuts, kinds = _look(written)
        if not cuts and not kinds and "private" not in written.lower():
            return written, ()
        flags: list[str] = []
        kept = json.dumps(
            self._within(json.loads(written), "", parameter, flags),
            ensure_ascii=False,
            sort_keys=True,
            separators=(",", ":"),
        )
        if kinds and not any(flag.startswith("secret:") for flag in flags):
            # The secret shows only in the whole text, so it cannot be redacted.
            if self._secrets != "flag":
                raise PrivacyError(parameter, kinds, hint="Take the secret out.")
            flags += [f"secret:{kind}" for kind in kinds]
        return kept, tuple(dict.fromkeys(flags))

    def _within(self, value: Any, key: str, parameter: str, flags: list[str]) -> Any:
        if isinstance(value, dict):
            return {
                self._part(name, "", parameter, flags): self._within(item, name, parameter, flags)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self._within(item, key, parameter, flags) for item in value]
        return self._part(value, key, parameter, flags) if isinstance(value, str) else value

    def _part(self, text: str, key: str, parameter: str, flags: list[str]) -> str:
        if not text.strip():
            return text
        lead = f"{key}: " if key else ""
        try:
            kept = self.text(lead + text, parameter)
        except InputError:
            flags.append(CUT)
            return ""
        flags += kept.flags
        if kept.text.rstrip() == lead.rstrip():
            return ""
        return kept.text.removeprefix(lead) if kept.text.startswith(lead) else kept.text

    def draft(self, draft: Draft) -> Draft:
        """Return the draft with every text and name screened."""
        new = draft.new
        draft.text, flags = self.text(draft.text, "text")
        for parameter in ("title", "context"):
            if getattr(draft, parameter) is not None:
                kept, more = self.text(getattr(draft, parameter), parameter)
                setattr(draft, parameter, kept)
                flags += more
        for parameter in ("body", "meta"):
            if getattr(draft, parameter) is not None:
                written, more = self.mapping(getattr(draft, parameter), parameter)
                setattr(draft, parameter, written)
                flags += more
        for parameter in ("tags", "entities", "files"):
            if getattr(draft, parameter):
                labels, more = self.labels(getattr(draft, parameter), parameter)
                setattr(draft, parameter, labels)
                flags += more
        for parameter in (*FIXED, "source", "author"):
            value = getattr(new, parameter)
            if value is not None:
                flags += self.name(value, parameter).flags
        draft.flags = tuple(dict.fromkeys(flags)) if flags else ()
        return draft


def _look(text: str) -> tuple[str, int, tuple[str, ...]]:
    """Return the text without private parts, their number, and the kinds of secrets in the rest."""
    kept, cuts = cut_private(text)
    return kept, cuts, tuple(dict.fromkeys(secret.kind for secret in find_secrets(kept)))


# Cached, because sources, authors, sessions and tags repeat.
_looked_at = lru_cache(4096)(_look)
