"""A session's notes to itself."""

from tests.contract.making import HandClock
from tests.toolsets.conftest import Ask, Refused
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host


def read(ask: Ask, at: Host) -> list[str]:
    return [entry["content"] for entry in ask("mnemosyne_scratchpad_read", at=at)["entries"]]


@requirement("scratchpad.session")
def test_each_session_has_its_own_scratchpad(ask: Ask, host: Host, clock: HandClock) -> None:
    other = host.having(session="tuesday")
    ask("mnemosyne_scratchpad_write", content="First.")
    clock.move(seconds=1)
    ask("mnemosyne_scratchpad_write", content="Second.")
    ask("mnemosyne_scratchpad_write", at=other, content="Elsewhere.")
    assert read(ask, host) == ["Second.", "First."]
    assert ask("mnemosyne_scratchpad_clear", at=other)["cleared"] == 1
    assert (read(ask, host), read(ask, other)) == (["Second.", "First."], [])


@requirement("scratchpad.apart", "scratchpad.session", "errors.honest", "schema.validated")
def test_scratchpad_is_counted_and_not_remembered(ask: Ask, refused: Refused) -> None:
    assert ask("mnemosyne_scratchpad_clear")["cleared"] == 0
    ask("mnemosyne_scratchpad_write", content="Ask Maya about billing.")
    assert ask("mnemosyne_recall", query="Maya billing")["count"] == 0
    assert ask("mnemosyne_scratchpad_clear")["cleared"] == 1
    assert refused("mnemosyne_scratchpad_write", content=" ")["error"]["parameter"] == "content"
