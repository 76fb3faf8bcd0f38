"""The hook of a plug-in, whose files name no folder of this machine: `pieria hooks run HOST capture`, or `context`.

It runs the hook file in this process. It imports no more than the hook files do: an agent waits for it.
"""

from __future__ import annotations

import os

from pieria.capture import context_hook, hook

DATA = "~/.pieria"
"""The default data folder. The hook files themselves read `PIERIA_DATA`."""
CAPTURE, CONTEXT = WHATS = ("capture", "context")
HOSTS = tuple(hook.READERS)


def run(host: str, what: str) -> None:
    """Capture the event on stdin, or print the context for it. Then end the process with exit code 0."""
    data = os.path.expanduser(DATA)
    if what == CAPTURE:
        hook.run([host, os.path.join(data, "spool")])
    context_hook.run([host, data, "", str(context_hook.SECONDS)])
