"""What tools cost an agent: the size of a search's reply, and of the list of tools."""

from benchmarks.replies import LARGEST, LONGEST, TEXTS, list_tokens, reply_ratio
from pieria.toolsets import Host


def test_replies_and_lists_of_tools_are_small(host: Host) -> None:
    host.bank.remember_many([{"text": text} for text in TEXTS])
    assert {name: ratio for name in LONGEST if (ratio := reply_ratio(host, name)) > LONGEST[name]} == {}
    assert {name: tokens for name in LARGEST if (tokens := list_tokens(name)) > LARGEST[name]} == {}
