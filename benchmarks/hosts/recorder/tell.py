"""The hook while a host is recorded: append the payload to a file. Hosts start it as `python tell.py FILE`."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    payload = sys.stdin.buffer.read().strip()
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, payload + b"\n")
