"""The same history on a file and on a server: every primitive that a bank asks of its store answers alike.

The histories are those of the other machines here, which know nothing of a second store: memories, links, facts, jobs,
undo, exports and copies, with the clock moved both ways, still held against their oracles.
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
"""Of all machines and plans together; a release is held to a thousand."""
LONG = {"bank": 0.7, "facts": 0.15, "jobs": 0.15}
STEPS = 50
ASKED = {"bank": {"apply", "select", "dump"}, "facts": {"apply", "facts"}, "jobs": {"enqueue", "jobs"}}
"""What a history that was driven at all has asked of both."""
PLANS = {
    "as it plans": "",
    "by indexes": "-c enable_seqscan=off -c enable_hashagg=off",
    "by scans": "-c enable_indexscan=off -c enable_bitmapscan=off -c enable_indexonlyscan=off -c enable_nestloop=off",
}
"""What a server has counted of its tables decides which way it takes: no answer may hang on that."""


@pytest.fixture
def calls(request: pytest.FixtureRequest, database: str) -> Iterator[dict[str, int]]:
    """May be told the name of a plan."""
    address, plan = urlsplit(database), PLANS[getattr(request, "param", "as it plans")]
    query = filter(None, (address.query, plan and f"options={quote(plan)}"))
    with twins(urlunsplit(address._replace(query="&".join(query)))) as counted:
        yield counted


def drive(machine: type[RuleBasedStateMachine], histories: int, *, again: bool) -> None:
    """`again`: the same ones whenever it is run."""
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
