"""Only a tool that files makes a missing palace: its name may be misspelt."""

from typing import Any

import pytest
from tests.toolsets.conftest import answered
from tests.toolsets.mempalace.cases import REPLIES
from tests.toolsets.requirements import requirement

from pieria.toolsets import Host, registry

BEGINNING = ("mempalace_add_drawer", "mempalace_diary_write", "mempalace_kg_add")
TOOLS = [name for name in registry().only("mempalace").names if name != "mempalace_get_aaak_spec"]


def filled(value: Any) -> Any:
    """Replace a value that an earlier call would have given."""
    return "x" if isinstance(value, str) and value.startswith("$") else value


@requirement("schema.validated")
@pytest.mark.parametrize("tool", TOOLS)
def test_only_what_files_something_makes_a_palace(host: Host, tool: str) -> None:
    host.bank.remember("Something.")
    mistyped = host.having(bank_name="noets", is_named=True)
    reply = answered(mistyped, tool, {name: filled(value) for name, value in REPLIES[tool][1].items()})
    assert mistyped.banks.names() == (["noets", "notes"] if tool in BEGINNING else ["notes"])
    assert reply.is_error is (tool not in BEGINNING)
    if reply.error is not None:
        assert (reply.value["error_class"], reply.value["hint"].split("?")[0]) == ("not_found", "Did you mean notes")
