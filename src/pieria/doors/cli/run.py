"""From an argument list to an exit code: the one place where every failure ends, in words and never in a traceback.

Exit codes: 0 done; 1 refused, not found or not well; 2 asked wrongly; 3 the store, a file or a stream failed; 4 try
again; 70 a fault of Pieria's; 130 interrupted; 141 nobody reads the output any more.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from pieria.doors.cli.call import Call

DONE, REFUSED, ASKED_WRONGLY, FAILED, TRY_AGAIN = 0, 1, 2, 3, 4
OUR_FAULT, INTERRUPTED, CLOSED_PIPE = 70, 130, 141
_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_COMPLETE = "_PIERIA_COMPLETE"


def run(command: click.Command, args: Sequence[str] | None = None) -> NoReturn:
    """Runs a command with these arguments, or the process's own, and ends the process."""
    given = list(sys.argv[1:] if args is None else args)
    _prepare_streams()
    if _COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(command, {}, "pieria", _COMPLETE, os.environ[_COMPLETE]))
    call = Call(json=_asks_for_json(given))
    try:
        code = _invoked(command, given, call)
        sys.stdout.flush()
    except BrokenPipeError:
        code = CLOSED_PIPE
    except (KeyboardInterrupt, click.Abort):
        code = _told("interrupted", INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the last handler there is
        code = _failed(error, call)
    _silence_closed_streams()
    sys.exit(code)


def exit_code(error: BaseException) -> int:
    """The exit code that says what kind of failure this is."""
    from pieria import errors

    if isinstance(error, click.ClickException):
        return error.exit_code
    if not isinstance(error, errors.PieriaError):
        return FAILED if isinstance(error, OSError) else OUR_FAULT
    if isinstance(error, errors.Unknown):
        return OUR_FAULT
    if error.retryable:
        return TRY_AGAIN
    unreadable = isinstance(error, errors.TransferError) and isinstance(error.__cause__, OSError)
    if unreadable or isinstance(error, errors.StorageError):
        return FAILED
    wrongly = (errors.InputError, errors.UnavailableError, errors.ConfigError)
    return ASKED_WRONGLY if isinstance(error, wrongly) or type(error) is errors.Invalid else REFUSED


def _invoked(command: click.Command, args: list[str], call: Call) -> int:
    """A command answers by printing; it returns nothing, or leaves early with an exit code."""
    try:
        with command.make_context("pieria", args, obj=call) as context:
            command.invoke(context)
    except click.exceptions.NoArgsIsHelpError as bare:
        click.echo(bare.format_message())
    except click.exceptions.Exit as left:
        return left.exit_code
    return DONE


def _failed(error: Exception, call: Call) -> int:
    from pieria.doors.cli.failures import tell

    code = exit_code(error)
    try:
        tell(error, call)
    except OSError:
        # Nobody can be told: the code alone is left to say so.
        return code
    return code


def _told(word: str, code: int) -> int:
    try:
        sys.stderr.write(f"{word}\n")
    except OSError:
        return code
    return code


def _asks_for_json(args: list[str]) -> bool | None:
    """Whether an error is to be told as JSON, too, even when the line could not be read to its end."""
    line = args[: args.index("--")] if "--" in args else args
    return True if "--json" in line else None


def _prepare_streams() -> None:
    """A stream that was closed by the caller is nothing to write to; what an encoding lacks is spelt out."""
    for name, mode in _STREAMS:
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for the whole process
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            if isinstance(stream.buffer, io.RawIOBase):
                setattr(sys, name, _buffered(stream))
            else:
                stream.reconfigure(errors="backslashreplace")


def _buffered(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Without a buffer (PYTHONUNBUFFERED), Python drops what a pipe does not take at once, and tells nobody."""
    encoding = stream.encoding
    raw = stream.detach()
    assert isinstance(raw, io.RawIOBase)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors="backslashreplace", line_buffering=True)


def _silence_closed_streams() -> None:
    """Python writes what is left when it ends, and would complain where nobody listens."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
