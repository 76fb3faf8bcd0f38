"""The same history in a file and on a server: every primitive that a bank calls on its store answers alike.

The histories come from the other machines here, which do not know of a second store. Their oracles still check them.
"""

import math
import os
from collections.abc import Iterator
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from tests.properties.test_bank_machine import BankMachine
from tests.properties.test_facts_machine import FactsMachine
from tests.properties.test_jobs_machine import Queue
from tests.properties.twins import twins

pytestmark = pytest.mark.timeout(3_600)
MACHINES = {"bank": BankMachine, "facts": FactsMachine, "jobs": Queue}
SHORT = {"bank": 2, "facts": 2, "jobs": 4}
HISTORIES = int(os.environ.get("PIERIA_TEST_HISTORIES", "100"))
"""For all machines and plans together. A release runs a thousand."""
LONG = {"bank": 0.7, "facts": 0.15, "jobs": 0.15}
STEPS = 50
ASKED = {"bank": {"apply", "select", "dump"}, "facts": {"apply", "facts"}, "jobs": {"enqueue", "jobs"}}
"""Primitives that each machine must have called on both stores."""
PLANS = {
    "as it plans": "",
    "by indexes": "-c enable_seqscan=off -c enable_hashagg=off",
    "by scans": "-c enable_indexscan=off -c enable_bitmapscan=off -c enable_indexonlyscan=off -c enable_nestloop=off",
}
"""A server chooses its plan by table statistics. No answer may depend on the plan."""


@pytest.fixture
def calls(request: pytest.FixtureRequest, database: str) -> Iterator[dict[str, int]]:
    """Count the compared calls. The fixture's parameter names a plan."""
    address, plan = urlsplit(database), PLANS[getattr(request, "param", "as it plans")]
    query = filter(None, (address.query, plan and f"options={quote(plan)}"))
    with twins(urlunsplit(address._replace(query="&".join(query)))) as counted:
        yield counted


def drive(machine: type[RuleBasedStateMachine], histories: int, *, again: bool) -> None:
    """Run random histories. With `again`, every run draws the same ones."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=histories,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            derandomize=again,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_a_history_is_the_same_in_a_file_and_on_a_server(machine: str, calls: dict[str, int]) -> None:
    drive(MACHINES[machine], SHORT[machine], again=True)
    assert calls.keys() >= ASKED[machine]


@pytest.mark.slow
@pytest.mark.parametrize("calls", PLANS, indirect=True)
@pytest.mark.parametrize("machine", MACHINES)
def test_long_histories_are_the_same_in_a_file_and_on_a_server(machine: str, calls: dict[str, int]) -> None:
    drive(MACHINES[machine], math.ceil(HISTORIES * LONG[machine] / len(PLANS)), again=False)
    assert calls.keys() >= ASKED[machine]
