"""Let a running server recall: its bank is open and its model loaded. Without one, the command does it itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pieria import Recall
    from pieria.doors.cli.call import Call

RECALL = "recall"
SECONDS = 5.0
HOME = "~/.pieria"


def recalled_by_server(call: Call, question: str, values: Mapping[str, Any]) -> Recall | None:
    """Return what a server found; None without one, or if it refuses: then the command meets the reason itself."""
    from pieria.runtime.local_call import RefusedError, asked

    named = call.data or os.environ.get("PIERIA_DATA") or HOME
    if "://" in named:
        return None
    question_and_filters = {
        "query": question,
        "values": values,
        "data": call.data,
        "bank": call.bank,
        "folder": os.getcwd(),
        "environment": dict(os.environ),
    }
    try:
        answer = asked(os.path.abspath(os.path.expanduser(named)), RECALL, question_and_filters, SECONDS)
    except (RefusedError, TimeoutError, TypeError):
        # A TypeError is of a value that JSON cannot hold.
        return None
    if answer is None:
        return None
    from pieria import Recall

    for note in answer["notes"]:
        call.note(note)
    return Recall.from_dict(answer["found"])
