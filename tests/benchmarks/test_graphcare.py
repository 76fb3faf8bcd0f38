"""`python -m benchmarks graphcare` on a small graph: the report and not the speed."""

import pytest
from tests.cli.conftest import Ask


@pytest.mark.slow
def test_each_way_of_keeping_a_graph_in_order_is_timed_and_finds_its_work(bench: Ask) -> None:
    told = bench("graphcare", "--n", "1000", "--json").json
    rows = {row["name"]: row for row in told["rows"]}
    assert rows["validate, 1,000 nodes"]["detail"]["checked"] > 300
    assert rows["consolidate, 1,000 nodes"]["detail"]["deleted"] > 10
    assert rows["prune, 1,000 nodes"]["detail"]["deleted"] > 300
    assert rows["repair, 1,000 nodes"]["target"] == "" and rows["prune, 1,000 nodes"]["target"] == "< 20"
    assert rows["memory at most, the process"]["value"] > 0
