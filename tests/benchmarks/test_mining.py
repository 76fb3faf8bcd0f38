"""`python -m benchmarks mining` on a few turns: the report and not the speed."""

from tests.cli.conftest import Ask


def test_mining_is_measured_the_first_time_again_and_grown(bench: Ask) -> None:
    told = bench("mining", "--turns", "250", "--json").json
    rows = {row["name"]: row for row in told["rows"]}
    assert rows["mining 250 turns"]["detail"]["turns_a_second"] > 0
    assert rows["the same again, memories added or changed"]["value"] == 0
    assert rows["the same again, memories added or changed"]["met"] is True
    assert rows["the same again, share of that"]["value"] > 0
    assert rows["the same when one turn came in"]["detail"] == {"new": 1}
    assert rows["memory taken at most beyond what was held"]["value"] >= 0


def test_too_few_turns_are_refused(bench: Ask) -> None:
    assert bench("mining", "--turns", "3").code == 2
