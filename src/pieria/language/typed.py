"""Extract a person's own words from a prompt that a host passes on.

Hosts wrap prompts in their own text, and send notices and messages of other agents the same way. Text of an agent
must never be kept as said by a person. Agent hooks load this module, like ``privacy``: import inside functions.
"""

from __future__ import annotations

TAGS = (
    "system-reminder", "command-message", "command-contents", "local-command-stdout", "local-command-stderr",
    "local-command-caveat", "user-prompt-submit-hook", "post-tool-use-hook", "ide_opened_file", "ide_selection",
    "ide_diagnostics", "bash-stdout", "bash-stderr", "task-notification", "monitor-notification", "agent-message",
    "teammate-message", "fork-boilerplate", "subagent_notification",
)  # fmt: skip
_IDE = "# Context from my IDE setup:"
_REQUEST = r"^#+ My request for Codex:[^\S\n]*\n?"


def typed(text: str) -> str:
    """Return the person's text. Empty if others wrote all of it."""
    if text.lstrip().startswith(_IDE):
        import re

        request = re.search(_REQUEST, text, re.MULTILINE)
        text = text if request is None else text[request.end() :]
    return _without_blocks(text) if any(f"<{tag}" in text for tag in TAGS) else text


def _without_blocks(text: str) -> str:
    """Drop the hosts' blocks. An opening tag without a closing tag is part of the text and stays."""
    import re

    kept, at = [], 0
    open_ended: set[str] = set()
    for opening in re.finditer(rf"<({'|'.join(TAGS)})(?:\s[^<>]*)?>", text):
        tag = opening[1]
        # Search once per tag: a text may consist of tags that are never closed.
        if opening.start() < at or tag in open_ended:
            continue
        end = text.find(f"</{tag}>", opening.end())
        if end < 0:
            open_ended.add(tag)
            continue
        kept.append(text[at : opening.start()])
        at = end + len(tag) + 3
    return "".join((*kept, text[at:]))
