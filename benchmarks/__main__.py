"""The command line of the benchmarks: `python -m benchmarks speed`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.parser import ApartGroup
from pieria.doors.cli.run import run

if TYPE_CHECKING:
    from benchmarks.datasets import Conversation

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_ON_A_SERVER = click.option(
    "--data", metavar="URL", default=None, help="Measure on this server, in a bank of its own, which stays."
)
_LIMIT = click.option("--limit", type=click.IntRange(min=1), default=None, help="Only the first so many conversations.")


def _sized(usual: int, of_what: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    size = click.IntRange(min=1_000)
    return click.option("--n", "size", type=size, default=usual, show_default=True, help=of_what)


class Benchmarks(ApartGroup):
    """Ends every failure with a message and an exit code, as `pieria` does."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        run(self, args, "python -m benchmarks")


@click.group(cls=Benchmarks)
def bench() -> None:
    """Measure speed and retrieval on this machine."""


@bench.command
@click.option("--n", "sizes", type=click.IntRange(min=1_000), multiple=True, default=(100_000,), show_default=True,
              help="Memories in the bank that is recalled from; may be given several times.")  # fmt: skip
@click.option(
    "--data",
    metavar="URL",
    default=None,
    help="Measure writing and recalling on this server, in banks of their own, which stay there.",
)
@click.option("--sealed", is_flag=True, help="Measure a sealed bank beside a plain one instead, in turn.")
@_AS_JSON
@click.pass_context
def speed(ctx: click.Context, /, sizes: tuple[int, ...], data: str | None, sealed: bool, as_json: bool) -> None:
    """Time starting, writing and recalling against the budgets. Needs some minutes for each 1,000,000 memories."""
    if sealed:
        from benchmarks.sealed import measure_sealed

        if data is not None:
            raise click.UsageError("a server's banks are not sealed: leave out --data or --sealed", ctx)
        result = measure_sealed(list(sizes), _say)
    elif data is None:
        from benchmarks.speed import measure

        result = measure(list(sizes), _say)
    else:
        from benchmarks.server import measure_server

        result = measure_server(data, list(sizes), _say)
    _told(ctx, result, as_json=as_json)


@bench.command
@click.option("--turns", type=click.IntRange(min=200), default=5_000, show_default=True,
              help="Turns of the conversations that are mined.")  # fmt: skip
@_AS_JSON
@click.pass_context
def mining(ctx: click.Context, /, turns: int, as_json: bool) -> None:
    """Time mining conversations, and mining them again when nothing, or one thing, has changed."""
    from benchmarks.mine import measure_mining

    _told(ctx, measure_mining(turns), as_json=as_json)


@bench.command
@click.option("--items", type=click.IntRange(min=100), default=50_000, show_default=True, help="Items in each store.")
@click.option("--system", "systems", multiple=True, help="Only this system; may be given several times.")
@_AS_JSON
@click.pass_context
def imports(ctx: click.Context, /, items: int, systems: tuple[str, ...], as_json: bool) -> None:
    """Time importing other systems' stores, and importing them again, and the memory it takes."""
    from benchmarks.import_stores import STORES
    from benchmarks.imports import measure

    if unknown := set(systems) - STORES.keys():
        raise click.UsageError(f"no store is written for {', '.join(sorted(unknown))}; known: {', '.join(STORES)}", ctx)
    _told(ctx, measure(systems, items, _say), as_json=as_json)


@bench.command
@_sized(5_000, "Notes in the vault.")
@_AS_JSON
@click.pass_context
def vault(ctx: click.Context, /, size: int, as_json: bool) -> None:
    """Time a look into a vault in which nothing changed, and search for notes that did change."""
    from benchmarks.vault_looks import measure

    _told(ctx, measure(size), as_json=as_json)


@bench.command
@_sized(100_000, "Memories in the bank beside which the hooks run.")
@click.option("--events", type=click.IntRange(min=100), default=1_000, show_default=True,
              help="Events that are distilled, to tell what they leave on the disk.")  # fmt: skip
@_AS_JSON
@click.pass_context
def capture(ctx: click.Context, /, size: int, events: int, as_json: bool) -> None:
    """Time what hooks cost an agent and what handing over takes, and weigh what events leave behind."""
    from benchmarks.capture_cost import measure

    _told(ctx, measure(size, events, _say), as_json=as_json)


@bench.command
@_sized(200_000, "Nodes of the graph that is kept in order.")
@_AS_JSON
@click.pass_context
def graphcare(ctx: click.Context, /, size: int, as_json: bool) -> None:
    """Time what keeps a graph in order: validation, consolidation, decay and repair, and the memory it takes."""
    from benchmarks.graph_care import measure

    _told(ctx, measure(size, _say), as_json=as_json)


@bench.command
@_sized(100_000, "Notes that the bank sleeps on.")
@_AS_JSON
@click.pass_context
def sleep(ctx: click.Context, /, size: int, as_json: bool) -> None:
    """Time a sleep on notes of three years, an interrupted one and a second one, and the memory they take."""
    from benchmarks.sleep_cost import measure

    _told(ctx, measure(size, _say), as_json=as_json)


@bench.command
@_sized(200_000, "Nodes in the graph that is asked.")
@_ON_A_SERVER
@_AS_JSON
@click.pass_context
def graph(ctx: click.Context, /, size: int, data: str | None, as_json: bool) -> None:
    """Time recall from a graph, node by node, without what models take."""
    from benchmarks.graph_recall import measure_graph, measure_graph_on_server

    result = measure_graph(size, _say) if data is None else measure_graph_on_server(data, size, _say)
    _told(ctx, result, as_json=as_json)


@bench.command
@_sized(50_000, "Drawers in the palace that is looked at.")
@_AS_JSON
@click.pass_context
def palace(ctx: click.Context, /, size: int, as_json: bool) -> None:
    """Time what the tools of MemPalace that read take in a large palace, without what models take."""
    from benchmarks.palace import measure_palace

    _told(ctx, measure_palace(size, _say), as_json=as_json)


@bench.command
@_AS_JSON
@click.pass_context
def replies(ctx: click.Context, /, as_json: bool) -> None:
    """Count the characters of a search's reply, and the tokens of the list of tools, for each toolset."""
    from benchmarks.replies import measure_replies

    _told(ctx, measure_replies(), as_json=as_json)


@bench.command
@_sized(100_000, "Memories in the bank that is shown.")
@_ON_A_SERVER
@_AS_JSON
@click.pass_context
def pages(ctx: click.Context, /, size: int, data: str | None, as_json: bool) -> None:
    """Time what a server takes to show each page of a large bank, and to search as one types, without models."""
    from benchmarks.pages import measure_pages, measure_pages_on_server

    result = measure_pages(size, _say) if data is None else measure_pages_on_server(data, size, _say)
    _told(ctx, result, as_json=as_json)


def _timed(result: dict[str, Any]) -> Iterator[str]:
    for row in result["rows"]:
        mark = {True: "ok  ", False: "OVER", None: "    "}[row["met"]]
        yield f"{mark}  {row['name']:<72} {row['value']:>12,} {row['unit']:<12} {row['target']}"
    yield from result["notes"]


def _told(
    ctx: click.Context,
    result: dict[str, Any],
    lines: Callable[[dict[str, Any]], Iterable[str]] = _timed,
    *,
    as_json: bool,
) -> None:
    if as_json or ctx.ensure_object(Call).json or not sys.stdout.isatty():
        click.echo(json.dumps(result, ensure_ascii=False, indent=1))
        return
    for line in lines(result):
        click.echo(line)


def _retrieval(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of every retrieval benchmark."""
    for option in (
        _AS_JSON,
        click.option("--questions", type=click.Path(dir_okay=False, writable=True, path_type=Path), default=None,
                     help="Write what was found for each question to this file, one JSON object a line."),
        click.option("--leave-one-out", is_flag=True,
                     help="Ask each conversation again by weights that are fitted on all the others."),
        click.option("--sleep", is_flag=True,
                     help="Ask everything again after a sleep, which sums each conversation up."),
        click.option("--ablate", is_flag=True, help="Ask everything again with each arm and each feature off in turn."),
        _LIMIT,
        click.option("--policy", default="hybrid", show_default=True, help="The policy that recall ranks by."),
    ):  # fmt: skip
        command = option(command)
    return command


@bench.command
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@_retrieval
@click.pass_context
def locomo(ctx: click.Context, /, file: Path, **options: Any) -> None:
    """Measure finding on LoCoMo: one bank a conversation, one memory a turn."""
    from benchmarks import datasets

    _measured(ctx, datasets.locomo(file), **options)


@bench.command
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@_retrieval
@click.pass_context
def beam(ctx: click.Context, /, folder: Path, **options: Any) -> None:
    """Measure finding on BEAM: one bank a chat, one memory a message."""
    from benchmarks import datasets

    _measured(ctx, datasets.beam(folder), **options)


@bench.command
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--undated", is_flag=True,
              help="File by mempalace_add_drawer, which takes no time: then every drawer is of today.")  # fmt: skip
@_LIMIT
@click.option("--questions", type=click.Path(dir_okay=False, writable=True, path_type=Path), default=None,
              help="Write the rooms found for each question to this file, one JSON object a line.")  # fmt: skip
@_AS_JSON
@click.pass_context
def rooms(
    ctx: click.Context, /, file: Path, undated: bool, limit: int | None, questions: Path | None, as_json: bool
) -> None:
    """Measure finding rooms by mempalace_search on LoCoMo: a drawer a turn, a room a session, a wing a conversation."""
    from benchmarks import datasets
    from benchmarks.rooms import Found, found, lines, summary

    chosen = _chosen(datasets.locomo(file), limit)
    rows: list[Found] = []
    with _written(questions) as write:
        for row in found(chosen, _say, undated=undated):
            rows.append(row)
            write(row.as_dict())
    _told(ctx, summary(rows), lines, as_json=as_json)


def _chosen(conversations: Iterator[Conversation], limit: int | None) -> list[Conversation]:
    chosen = list(islice(conversations, limit))
    if not any(asked.evidence is not None for one in chosen for asked in one.asked):
        raise click.UsageError("No question there names any evidence: nothing can be counted.")
    return chosen


def _measured(
    ctx: click.Context,
    conversations: Iterator[Conversation],
    policy: str,
    limit: int | None,
    ablate: bool,
    sleep: bool,
    leave_one_out: bool,
    questions: Path | None,
    as_json: bool,
) -> None:
    from benchmarks.findings import lines, summary
    from benchmarks.retrieval import Answer, Wanted, answers

    if sleep and leave_one_out:
        raise click.UsageError("--sleep changes what --leave-one-out would learn from. Ask for one of them at a time.")
    wanted = Wanted(policy, ablate=ablate, sleep=sleep, leave_one_out=leave_one_out)
    wanted.check()
    chosen = _chosen(conversations, limit)
    if leave_one_out and len(chosen) < 2:
        raise click.UsageError("--leave-one-out needs two conversations at least: one to ask, and one to learn from.")
    rows: list[Answer] = []
    with _written(questions) as write:
        for row in answers(chosen, wanted, _say):
            rows.append(row)
            write(row.as_dict())
    _told(ctx, summary(rows), lines, as_json=as_json)


@contextmanager
def _written(path: Path | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Yield a function that writes a line. Lines survive an interruption; the file is opened first, so errors come
    early.
    """
    if path is None:
        yield lambda _: None
        return
    try:
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as problem:
        raise click.BadParameter(
            f"{path} cannot be written ({problem.strerror})", param_hint="--questions"
        ) from problem
    with file:
        yield lambda told: print(json.dumps(told, ensure_ascii=False), file=file)


def _say(what: str, done: int, whole: int) -> None:
    """Show progress on one line of the terminal, if there is one."""
    if sys.stderr.isatty() and (done == whole or done % max(1, whole // 100) == 0):
        end = "\n" if done == whole else ""
        click.echo(f"\r{what}: {done:,} of {whole:,}{end}", err=True, nl=False)


if __name__ == "__main__":
    bench()
