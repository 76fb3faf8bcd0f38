"""`pieria bench`: measures the budgets that the project promises, on anybody's machine."""

from __future__ import annotations

import json
import sys

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parsing import HELP


@click.group(context_settings={"help_option_names": HELP})
def bench() -> None:
    """Measure speed on this machine."""


@bench.command(context_settings={"help_option_names": HELP})
@click.option("--n", "sizes", type=click.IntRange(min=1_000), multiple=True, default=(100_000,), show_default=True,
              help="Memories in the bank that is recalled from; may be given several times.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def speed(ctx: click.Context, /, sizes: tuple[int, ...], as_json: bool) -> None:
    """Time starting, writing and recalling against the budgets. Needs about a minute for each 500,000 memories."""
    from pieria.doors.bench.speed import measure

    result = measure(list(sizes), _say)
    if as_json or ctx.ensure_object(Call).json or not sys.stdout.isatty():
        click.echo(json.dumps(result, ensure_ascii=False, indent=1))
        return
    for row in result["rows"]:
        mark = {True: "ok  ", False: "OVER", None: "    "}[row["met"]]
        click.echo(f"{mark}  {row['name']:<50} {row['value']:>12,} {row['unit']:<12} {row['target']}")


def _say(what: str, done: int, whole: int) -> None:
    """Progress on one line of the terminal; nothing where there is none."""
    if sys.stderr.isatty() and (done == whole or done % max(1, whole // 100) == 0):
        end = "\n" if done == whole else ""
        click.echo(f"\r{what}: {done:,} of {whole:,}{end}", err=True, nl=False)
