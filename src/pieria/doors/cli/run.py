"""From an argument list to an exit code: every failure ends here, in words and never in a traceback.

Exit codes: 0 done; 1 refused, not found or not well; 2 wrong usage; 3 the store, a file or a stream failed; 4 try
again; 70 a fault of Pieria's; 130 interrupted; 141 the output's reader has gone.
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
COMPLETE = "_PIERIA_COMPLETE"


def run(command: click.Command, args: Sequence[str] | None = None, name: str = "pieria") -> NoReturn:
    """Run a command with these arguments, or the process's own, and end the process."""
    given = list(sys.argv[1:] if args is None else args)
    _prepare_streams()
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(command, {}, "pieria", COMPLETE, os.environ[COMPLETE]))
    call = Call(json=_asks_for_json(given))
    try:
        code = _invoked(command, given, call, name)
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
    """Return the exit code for a failure."""
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


def _invoked(command: click.Command, args: list[str], call: Call, name: str) -> int:
    """Invoke the command. It prints its answer and returns nothing, or exits early with a code."""
    try:
        with command.make_context(name, args, obj=call) as context:
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
        # stderr is closed: only the exit code is left.
        return code
    return code


def _told(word: str, code: int) -> int:
    try:
        sys.stderr.write(f"{word}\n")
    except OSError:
        return code
    return code


def _asks_for_json(args: list[str]) -> bool | None:
    """Return True if errors are to be JSON as well, even if the line could not be parsed to its end."""
    line = args[: args.index("--")] if "--" in args else args
    return True if "--json" in line else None


def _prepare_streams() -> None:
    """Replace closed streams by the null device, and escape characters that an encoding lacks."""
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
    """Return a buffered stream: without a buffer (PYTHONUNBUFFERED), Python silently drops what a pipe does not take
    at once.
    """
    encoding = stream.encoding
    raw = stream.detach()
    assert isinstance(raw, io.RawIOBase)
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors="backslashreplace", line_buffering=True)


def _silence_closed_streams() -> None:
    """Redirect closed streams to the null device: Python flushes at exit, and would report an error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
