"""The same history in a file and on a server: every primitive that a bank calls on its store answers alike.

The histories come from the other machines here, which do not know of a second store. Their oracles still check them.
"""

import os
from collections.abc import Iterator
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.properties.test_bank_machine import BankMachine
from tests.properties.test_facts_machine import FactsMachine
from tests.properties.twins import twins

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_600)]
MACHINES = {"bank": BankMachine, "facts": FactsMachine}
HISTORIES = int(os.environ.get("PIERIA_TEST_HISTORIES", "20"))
"""For all machines and plans together: one on two stores takes seconds. A release runs a thousand."""
SHARE = {"bank": 0.6, "facts": 0.4}
ASKED = {"bank": {"apply", "select", "dump"}, "facts": {"apply", "facts"}}
"""Primitives that each machine must have called on both stores."""
PLANS = (
    "",
    "-c enable_seqscan=off -c enable_hashagg=off",
    "-c enable_indexscan=off -c enable_bitmapscan=off -c enable_indexonlyscan=off -c enable_nestloop=off",
)
"""Plan methods that a server must not use. Otherwise it chooses by table statistics, and no answer may change."""


@pytest.fixture(params=PLANS, ids=["as it plans", "by indexes", "by scans"])
def calls(request: pytest.FixtureRequest, database: str) -> Iterator[dict[str, int]]:
    """Count the compared calls."""
    address = urlsplit(database)
    query = filter(None, (address.query, request.param and f"options={quote(request.param)}"))
    with twins(urlunsplit(address._replace(query="&".join(query)))) as counted:
        yield counted


@pytest.mark.parametrize("machine", MACHINES)
def test_history_is_the_same_in_a_file_and_on_a_server(machine: str, calls: dict[str, int]) -> None:
    run_state_machine_as_test(
        MACHINES[machine],
        settings=settings(
            max_examples=1 + int(HISTORIES * SHARE[machine] / len(PLANS)),
            stateful_step_count=50,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert calls.keys() >= ASKED[machine]
