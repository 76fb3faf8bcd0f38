"""A problem with one line of a file: an input error with a line number."""

from __future__ import annotations

from pieria.errors import InputError, Invalid, PrivacyError


class Problem(Invalid):
    """`line` counts from 1. Reports and `TransferError` list problems; they are never raised alone."""

    code = "problem"
    fields = ("line", "parameter", "expected", "received")

    def __init__(self, line: int, parameter: str, expected: str, received: str, hint: str | None = None) -> None:
        """`received` is a description, and never reveals what is remembered."""
        self.line = line
        self.parameter = parameter
        self.expected = expected
        self.received = received
        super().__init__(f"line {line}: {parameter}: expected {expected}, got {received}", hint=hint)

    @classmethod
    def with_value(cls, line: int, parameter: str, expected: str, received: object) -> Problem:
        return cls.of(line, InputError(parameter, expected, received))

    @classmethod
    def of(cls, line: int, error: InputError | PrivacyError) -> Problem:
        """Return the problem for an error of a check."""
        return cls(line, error.parameter, error.expected, error.received, error.hint)
