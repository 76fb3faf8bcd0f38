"""The key pair with which hooks seal their lines, in the spool's folder; created with the first sealed bank."""

from __future__ import annotations

import os
from pathlib import Path

from pieria.errors import SealedError
from pieria.record import spool_seal
from pieria.store.files import flush, written_aside
from pieria.store.seal import Seal

SPOOL = "spool"
"""Folder of the spool, within the data folder."""


def text_of(data: Path) -> str | None:
    """Return the pair, or None if hooks write plain lines."""
    try:
        return (data / SPOOL / spool_seal.NAME).read_text("ascii")
    except FileNotFoundError:
        return None


def make(data: Path, seal: Seal, holder: Seal | None = None) -> None:
    """Let hooks seal their lines, to be read with this key. `holder` is a key that can read them already."""
    pair = text_of(data)
    try:
        if pair is None:
            _write(data, spool_seal.made(seal.key()))
        elif not spool_seal.opens(pair, seal.key()) and holder is not None and spool_seal.opens(pair, holder.key()):
            _write(data, spool_seal.made(seal.key(), pair, holder.key()))
    except ImportError as problem:
        hint = 'Install it: pip install "pieria[sealed]"'
        raise SealedError("seal", "the extra sealed is not installed", hint=hint) from problem


def drop(data: Path, seal: Seal) -> None:
    """Remove a key from the pair. A key that opens no bank must not open the spool."""
    pair = text_of(data)
    if pair is not None:
        _write(data, spool_seal.without(pair, seal.key()))


def end(data: Path) -> None:
    """Delete the pair when no bank is sealed, unless sealed lines still wait."""
    folder = data / SPOOL
    waiting = [one for ending in ("*.jsonl", "*.taken") for one in folder.glob(ending) if one.stat().st_size]
    if not waiting:
        (folder / spool_seal.NAME).unlink(missing_ok=True)


def opened(data: Path, seal: Seal | None, line: bytes) -> bytes:
    """Return a line of the spool as the hook wrote it. Raise `SealedError` if it cannot be read now."""
    if not spool_seal.is_sealed(line):
        return line
    pair = text_of(data)
    if seal is None or pair is None:
        hint = "Set seal_key to the place of the banks' key. The waiting events are kept until then."
        raise SealedError("drain", "the spool is sealed, and the setting seal_key is missing", hint=hint)
    try:
        return spool_seal.opened(pair, seal.key(), line)
    except ValueError as problem:
        reason = f"the key of {seal.where} does not open the spool ({problem})"
        raise SealedError("drain", reason, hint="Set seal_key to the place of the banks' key.") from problem


def _write(data: Path, pair: str) -> None:
    path = data / SPOOL / spool_seal.NAME
    with written_aside(path, "seal") as aside:
        aside.write_text(pair, "ascii")
        flush(aside)
        os.replace(aside, path)
    flush(path.parent)
