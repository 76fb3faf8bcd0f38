"""What is wrong with one line of a file: like an input error, but it knows where it stands."""

from __future__ import annotations

from pieria.errors import InputError, Invalid, PrivacyError


class Problem(Invalid):
    """`line` counts from 1. Reports and `TransferError` list problems; none is raised by itself."""

    code = "problem"
    fields = ("line", "parameter", "expected", "received")

    def __init__(self, line: int, parameter: str, expected: str, received: str, hint: str | None = None) -> None:
        """`received` is said in words already, and never gives away what is remembered."""
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
        """The same as the error of a check."""
        return cls(line, error.parameter, error.expected, error.received, error.hint)
