"""Links of the documentation that leave its folder, such as to a test: on the site they lead to the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(\]\()((?:\.\./)+[^)#\s]*|[^)#:\s]+/?)((?:#[^)\s]*)?\))")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """Return the text of a page with addresses in place of links to what the site does not hold."""
    docs = Path(config["docs_dir"]).resolve()
    here = (docs / page.file.src_uri).parent

    def leading(link: re.Match[str]) -> str:
        before, target, after = link.groups()
        path = (here / target).resolve()
        if path.is_relative_to(docs) and not path.is_dir():
            return link[0]
        root = docs.parent
        kind = "tree" if path.is_dir() else "blob"
        if not path.is_relative_to(root) or not path.exists():
            return link[0]
        return f"{before}{config['repo_url']}/{kind}/main/{path.relative_to(root).as_posix()}{after}"

    return _LINK.sub(leading, markdown)
