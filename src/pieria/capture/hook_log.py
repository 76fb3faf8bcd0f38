"""Reads the log that hooks and the drain write beside the spool: one line for each problem, with its time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from pieria.capture.hook import LOG
from pieria.errors import StorageError


@dataclass(frozen=True, slots=True)
class Logged:
    at: str
    text: str

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class HookLog:
    """Yields each line once: `new` returns those written since the last call."""

    def __init__(self, spool: Path) -> None:
        self.file = spool / LOG
        self._read = 0

    def new(self) -> list[Logged]:
        try:
            with self.file.open("rb") as stream:
                if stream.seek(0, 2) < self._read:
                    # A hook has emptied the log, which had grown too large.
                    self._read = 0
                stream.seek(self._read)
                whole, end, _ = stream.read().rpartition(b"\n")
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StorageError("logs", f"{self.file} cannot be read ({problem.strerror})") from problem
        self._read += len(whole) + len(end)
        lines = [line.partition(" ") for line in whole.decode("utf-8", "replace").split("\n") if line]
        return [Logged(at, text) for at, _, text in lines]
