"""What a person typed of what a host hands over as a prompt: hosts put words of their own around it, and send notices
of theirs, and what other agents said, by the same way. What an agent says must never be kept as said by a person.

Loaded by hooks of agents, like ``privacy``: it imports what it needs where it needs it.
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
    """Nothing, where somebody else wrote all of it."""
    if text.lstrip().startswith(_IDE):
        import re

        request = re.search(_REQUEST, text, re.MULTILINE)
        text = text if request is None else text[request.end() :]
    return _without_blocks(text) if any(f"<{tag}" in text for tag in TAGS) else text


def _without_blocks(text: str) -> str:
    """A tag that nothing closes is one that somebody wrote about, and stays."""
    import re

    kept, at = [], 0
    open_ended: set[str] = set()
    for opening in re.finditer(rf"<({'|'.join(TAGS)})(?:\s[^<>]*)?>", text):
        tag = opening[1]
        # One look for each kind: a text may be made of tags that nothing closes.
        if opening.start() < at or tag in open_ended:
            continue
        end = text.find(f"</{tag}>", opening.end())
        if end < 0:
            open_ended.add(tag)
            continue
        kept.append(text[at : opening.start()])
        at = end + len(tag) + 3
    return "".join((*kept, text[at:]))
