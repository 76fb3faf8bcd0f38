"""Storage for a graph in memory: a file of JSON lines, or an object of the caller.

A line is one change, flushed to disk before readers see it. An unfinished last line after a crash is cut off. When the
file is opened with many outdated lines, it is rewritten aside and then renamed.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pieria.errors import BusyError, ForeignFileError, PieriaError
from pieria.graph.changeset import Changeset, damaged, metadata_written, read, written
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import Node
from pieria.store.files import PRIVATE_FILE, PRIVATE_FOLDER, flush, storage_error, written_aside

HEADER = {"pieria_graph": 1}
BEGINNING = b'{"pieria_graph":1}'
"""The first line of every such file."""
SPARE_LINES = 1_000
"""Changes in a file before a rewrite is considered."""


@runtime_checkable
class Persistence(Protocol):
    """Each call is one change, durable when it returns; a call that raises stores nothing.

    An optional method `close` releases all resources.
    """

    def load(self) -> tuple[Graph, Mapping[str, NodeMetadata]]: ...

    def save(self, changeset: Changeset) -> None:
        """Save nodes, links and metadata. Both ends of every link exist."""

    def delete(self, node_ids: Sequence[str]) -> None:
        """Delete nodes with their metadata and every link to them."""

    def save_metadata(self, entries: Mapping[str, NodeMetadata]) -> None: ...

    def delete_metadata(self, node_ids: Sequence[str]) -> None: ...


class JsonLines:
    """A file of JSON lines. One process has it locked from `load` to `close`."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._file: int | None = None

    def load(self) -> tuple[Graph, dict[str, NodeMetadata]]:
        self.close()
        try:
            self._file = self._taken()
            changes = self._changes(self._file)
            graph, metadata = _folded(changes)
            if len(changes) > SPARE_LINES and len(changes) > len(graph.nodes):
                self._write_anew(graph, metadata)
        except OSError as problem:
            self.close()
            raise storage_error("load", self.path, problem) from problem
        except PieriaError:
            self.close()
            raise
        return graph, metadata

    def save(self, changeset: Changeset) -> None:
        self._append(written(changeset))

    def delete(self, node_ids: Sequence[str]) -> None:
        self._append({"delete": list(node_ids)})

    def save_metadata(self, entries: Mapping[str, NodeMetadata]) -> None:
        self._append({"metadata": metadata_written(entries)})

    def delete_metadata(self, node_ids: Sequence[str]) -> None:
        self._append({"forget": list(node_ids)})

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _append(self, change: Mapping[str, Any]) -> None:
        if self._file is None:
            self.load()
        assert self._file is not None
        end = os.fstat(self._file).st_size
        try:
            _write(self._file, change)
            os.fsync(self._file)
        except OSError as problem:
            os.ftruncate(self._file, end)
            raise storage_error("persist", self.path, problem) from problem

    def _taken(self) -> int:
        """Return the locked file, created if missing. Raise `BusyError` if another process has it."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            try:
                _lock(file, self.path)
                # The former owner may have replaced the file.
                if os.path.samestat(os.fstat(file), os.stat(self.path)):
                    return file
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def _changes(self, file: int) -> list[dict[str, Any]]:
        """Return the complete changes, and cut off an unfinished one."""
        *lines, unfinished = self.path.read_bytes().split(b"\n")
        if lines[:1] != [BEGINNING] and (lines or not BEGINNING.startswith(unfinished)):
            hint = "Name another file; this one was not changed."
            raise ForeignFileError("load", f"{self.path} is not a graph of Pieria", hint=hint)
        if unfinished:
            os.ftruncate(file, sum(len(line) + 1 for line in lines))
        if not lines:
            _write(file, HEADER)
            os.fsync(file)
            flush(self.path.parent)
        return [self._read(line, number) for number, line in enumerate(lines[1:], start=2)]

    def _read(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError as problem:
            raise damaged(f"line {number} of {self.path} cannot be read") from problem
        if not isinstance(found, dict):
            raise damaged(f"line {number} of {self.path} is no change")
        return found

    def _write_anew(self, graph: Graph, metadata: Mapping[str, NodeMetadata]) -> None:
        with written_aside(self.path, "load") as aside:
            file = os.open(aside, os.O_RDWR | os.O_APPEND)
            try:
                _lock(file, self.path)
                _write(file, HEADER)
                _write(file, written(Changeset(list(graph.nodes.values()), [], dict(metadata))))
                os.fsync(file)
                os.replace(aside, self.path)
                flush(self.path.parent)
            except BaseException:
                os.close(file)
                raise
        self.close()
        self._file = file


def _folded(changes: Sequence[Mapping[str, Any]]) -> tuple[Graph, dict[str, NodeMetadata]]:
    """Return the graph after all changes. Changes between two deletions are applied at once, to save time."""
    graph, metadata = Graph(), dict[str, NodeMetadata]()
    nodes: list[Node] = []
    ties: list[tuple[str, str, Edge]] = []
    for change in changes:
        put = read(change)
        nodes += put.additions
        ties += put.links
        metadata |= put.metadata
        for id in (*change.get("delete", ()), *change.get("forget", ())):
            metadata.pop(id, None)
        if "delete" in change:
            graph = graph.apply_changeset(Changeset(nodes, ties)).without(change["delete"])
            nodes, ties = [], []
    return graph.apply_changeset(Changeset(nodes, ties)), metadata


def _write(file: int, change: Mapping[str, Any]) -> None:
    left = memoryview(json.dumps(change, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    while left:
        left = left[os.write(file, left) :]


def _lock(file: int, path: Path) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise BusyError("load", f"{path} is in use", hint="Close it where it is open first.") from problem
        raise
