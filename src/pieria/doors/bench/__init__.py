"""`pieria bench`: measures what the project promises, speed and finding, on anybody's machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parsing import HELP

if TYPE_CHECKING:
    from pieria.doors.bench.datasets import Conversation


@click.group(context_settings={"help_option_names": HELP})
def bench() -> None:
    """Measure speed and finding on this machine."""


@bench.command(context_settings={"help_option_names": HELP})
@click.option("--n", "sizes", type=click.IntRange(min=1_000), multiple=True, default=(100_000,), show_default=True,
              help="Memories in the bank that is recalled from; may be given several times.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def speed(ctx: click.Context, /, sizes: tuple[int, ...], as_json: bool) -> None:
    """Time starting, writing and recalling against the budgets. Needs some minutes for each 1,000,000 memories."""
    from pieria.doors.bench.speed import measure

    result = measure(list(sizes), _say)
    if as_json or ctx.ensure_object(Call).json or not sys.stdout.isatty():
        click.echo(json.dumps(result, ensure_ascii=False, indent=1))
        return
    for row in result["rows"]:
        mark = {True: "ok  ", False: "OVER", None: "    "}[row["met"]]
        click.echo(f"{mark}  {row['name']:<72} {row['value']:>12,} {row['unit']:<12} {row['target']}")
    for note in result["notes"]:
        click.echo(note)


def _retrieval(command: Callable[..., None]) -> Callable[..., None]:
    """The options that every measurement of finding takes."""
    for option in (
        click.option("--policy", default=None, help="The policy that recall ranks by."),
        click.option("--limit", type=click.IntRange(min=1), default=None, help="Only the first so many conversations."),
        click.option("--ablate", is_flag=True, help="Ask everything again with each arm and each feature off in turn."),
        click.option("--questions", type=click.Path(dir_okay=False, path_type=Path), default=None,
                     help="Write what was found for each question to this file, one JSON object a line."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    ):  # fmt: skip
        command = option(command)
    return command


@bench.command(context_settings={"help_option_names": HELP})
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_retrieval
@click.pass_context
def locomo(ctx: click.Context, /, file: Path, **options: Any) -> None:
    """Measure finding on LoCoMo: one bank a conversation, one memory a turn."""
    from pieria.doors.bench import datasets

    _measured(ctx, datasets.locomo(file), **options)


@bench.command(context_settings={"help_option_names": HELP})
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_retrieval
@click.pass_context
def beam(ctx: click.Context, /, folder: Path, **options: Any) -> None:
    """Measure finding on BEAM: one bank a chat, one memory a message."""
    from pieria.doors.bench import datasets

    _measured(ctx, datasets.beam(folder), **options)


def _measured(
    ctx: click.Context,
    conversations: Iterator[Conversation],
    policy: str | None,
    limit: int | None,
    ablate: bool,
    questions: Path | None,
    as_json: bool,
) -> None:
    from itertools import islice

    from pieria.doors.bench.retrieval import answers, summary

    rows = list(answers(islice(conversations, limit), policy=policy, ablate=ablate, say=_say))
    if questions is not None:
        questions.write_text("".join(json.dumps(row.as_dict(), ensure_ascii=False) + "\n" for row in rows))
    result = summary(rows)
    if as_json or ctx.ensure_object(Call).json or not sys.stdout.isatty():
        click.echo(json.dumps(result, ensure_ascii=False, indent=1))
        return
    for kind, told in result["kinds"].items():
        shares = "  ".join(f"{name} {of['mean']:.3f} [{of['from']:.3f}, {of['to']:.3f}]" for name, of in told.items()
                           if name != "questions")  # fmt: skip
        click.echo(f"{kind:<28} {told['questions']:>5}  {shares}")
    click.echo(f"told apart from what has no answer: {result['answerable']}")
    for name, told in result["without"].items():
        click.echo(f"without {name:<28} R@10 {told['R@10']:.3f}  answerable {told['answerable']}")


def _say(what: str, done: int, whole: int) -> None:
    """Progress on one line of the terminal; nothing where there is none."""
    if sys.stderr.isatty() and (done == whole or done % max(1, whole // 100) == 0):
        end = "\n" if done == whole else ""
        click.echo(f"\r{what}: {done:,} of {whole:,}{end}", err=True, nl=False)
