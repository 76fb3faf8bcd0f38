"""Random histories on a server give the answers that the machines expect, as those in a file do."""

import os
from urllib.parse import quote, urlsplit, urlunsplit

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.properties.test_bank_machine import BankMachine
from tests.properties.test_facts_machine import FactsMachine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3_600)]

HISTORIES = int(os.environ.get("PIERIA_TEST_HISTORIES", "40"))
"""For all machines and plans together: one takes two seconds. A release runs a thousand."""
PLANS = {
    "as it plans": "",
    "by indexes": "-c enable_seqscan=off -c enable_hashagg=off",
    "by scans": "-c enable_indexscan=off -c enable_bitmapscan=off -c enable_indexonlyscan=off -c enable_nestloop=off",
}
"""A server chooses its plan by table statistics. No answer may depend on the plan."""


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("machine", [BankMachine, FactsMachine])
def test_histories_on_a_server_are_as_expected(
    machine: type[BankMachine | FactsMachine], plan: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = urlsplit(database)
    query = filter(None, (address.query, PLANS[plan] and f"options={quote(PLANS[plan])}"))
    monkeypatch.setattr(machine, "server", urlunsplit(address._replace(query="&".join(query))))
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=HISTORIES // (2 * len(PLANS)),
            stateful_step_count=50,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        ),
    )
