"""`pieria upkeep`: the work that keeps a bank in order, its graph, and the lessons from sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from pieria.doors.cli.call import Call
from pieria.doors.cli.commands.sleep import DRY_RUN, sleep
from pieria.doors.cli.console import Parts, counted, line, row, table
from pieria.doors.cli.parser import Command, Group
from pieria.record.lesson import STATES, TYPES

if TYPE_CHECKING:
    from pieria.bank.results.lessons import Decided, Learnt, Proposal, Proposals
    from pieria.bank.results.upkeep import Clusters, Collected, Duplicates, Merged, Promoted, Validated


NODE_TYPES = ("semantic", "procedural", "episodic")
REASON = click.option("--reason", help="The reason, stored with the decision.")
STRATEGIES = ("similarity", "tags", "entities")
COLOURS = {"accepted": "green", "declined": "red", "proposed": "yellow", "superseded": "dim"}


@click.group(cls=Group)
def graph() -> None:
    """Maintain the graph of what sessions learned: facts, procedures, tags and their links.

    These commands archive, and never erase: `pieria list --status archived` shows the result, and `pieria undo`
    reverts it.
    """


@graph.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.85, show_default=True,
              help="Merge nodes that are more similar than this.")  # fmt: skip
@click.pass_obj
def consolidate(call: Call, /, dry_run: bool, threshold: float) -> None:
    """Merge facts and procedures that say nearly the same: keep the best, archive the others.

    Facts must share a tag, and procedures an intent.
    """
    with call.opened(reading=True) as bank, call.progress("consolidating") as report:
        done = bank.graph.consolidate(threshold, dry_run=dry_run, progress=report)
    _shown(call, done, "deleted_ids", dry_run, f"{done['deleted']:,} of {done['checked']:,} archived")


@graph.command("prune")
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.1, show_default=True,
              help="Archive nodes of less value than this.")  # fmt: skip
@click.option("--type", "types", type=click.Choice(NODE_TYPES), multiple=True, default=NODE_TYPES[:2],
              show_default=True, help="The types of nodes to check; may be repeated.")  # fmt: skip
@click.pass_obj
def graph_prune(call: Call, /, dry_run: bool, threshold: float, types: Sequence[str]) -> None:
    """Archive nodes of little value: old, unused, or with bad results."""
    with call.opened(reading=True) as bank, call.progress("archiving") as report:
        done = bank.graph.prune(threshold, types, dry_run=dry_run, progress=report)
    _shown(call, done, "deleted_ids", dry_run, f"{done['deleted']:,} archived, {done['checked']:,} checked")


@graph.command("validate")
@DRY_RUN
@click.pass_obj
def graph_validate(call: Call, /, dry_run: bool) -> None:
    """Lower the rewards of knowledge that has no sources or is far from them, and restore them when this is over."""
    with call.opened(reading=True) as bank, call.progress("validating") as report:
        done = bank.graph.validate(dry_run=dry_run, progress=report)
    told = f"{done['grounded']:,} grounded, {done['penalized']:,} weakly grounded, {done['orphaned']:,} without sources"
    _shown(call, done, None, dry_run, f"{told}; {done['changed']:,} rewards changed")


@graph.command("repair")
@DRY_RUN
@click.pass_obj
def graph_repair(call: Call, /, dry_run: bool) -> None:
    """Remove links to missing nodes, and archive tags and intents without links."""
    with call.opened(reading=True) as bank, call.progress("repairing") as report:
        done = bank.graph.repair(dry_run=dry_run, progress=report)
    told = f"{done['dangling_refs']:,} links removed, {done['orphans_deleted']:,} archived"
    _shown(call, done, "orphan_ids", dry_run, f"{told}, {done['checked']:,} checked")


def _shown(call: Call, done: Mapping[str, Any], ids: str | None, dry_run: bool, told: str) -> None:
    listed: list[str] = [] if ids is None else done[ids]

    def people() -> Parts:
        for id in listed:
            yield line((id, "dim"))
        yield line("dry run, nothing was changed: " if dry_run else "", told)

    call.reply({"dry_run": dry_run, **done}, people(), listed)


@click.command(cls=Command)
@click.option("--state", "states", type=click.Choice(STATES), multiple=True, default=STATES[:1], show_default=True,
              help="Only this state; may be repeated.")  # fmt: skip
@click.option("--type", "types", type=click.Choice(TYPES), multiple=True, help="Only this type; may be repeated.")
@click.option("--limit", type=click.IntRange(1, 2_000), default=100, show_default=True, help="At most this many.")
@click.pass_obj
def proposals(call: Call, /, states: tuple[str, ...], types: tuple[str, ...], limit: int) -> None:
    """Show lessons that wait for a decision, with their evidence, highest confidence first."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.proposals(states, type=types or None, limit=limit)
    call.reply(found.as_dict(), show_proposals(found), [each.id for each in found])


@click.command(cls=Command)
@click.option("--dry-run", is_flag=True, help="Show what would be proposed, and do nothing.")
@click.option("--of", "session", metavar="SESSION", help="Only lessons from this session.")
@click.pass_obj
def propose(call: Call, /, dry_run: bool, session: str | None) -> None:
    """Draw lessons from captured sessions now. This also happens in the background."""
    with call.opened(reading=True) as bank:
        learnt = bank.upkeep.propose(session, dry_run=dry_run)
    call.reply(learnt.as_dict(), show_learnt(learnt), [each.id for each in learnt.proposals])


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def accept(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Accept proposals as normal memories: agents then get the rules, and find the procedures."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.upkeep.accept(ids, reason=reason))


@click.command(cls=Command)
@click.argument("ids", nargs=-1, required=True)
@REASON
@click.pass_obj
def decline(call: Call, /, ids: tuple[str, ...], reason: str | None) -> None:
    """Decline proposals, or revoke accepted ones."""
    with call.opened(reading=True) as bank:
        _reply(call, bank.upkeep.decline(ids, reason=reason))


def _reply(call: Call, decided: Decided) -> None:
    call.reply(decided.as_dict(), show_decided(decided), [each.id for each in decided.proposals])


@click.group(cls=Group)
def upkeep() -> None:
    """Summarize, archive, merge and check memories.

    These commands never change original texts.
    """


for command in (graph, proposals, propose, accept, decline, sleep):
    upkeep.add_command(command)


@upkeep.command()
@click.option("--dry-run/--no-dry-run", default=True, show_default=True, help="Only show what would be done.")
@click.option("--archive", is_flag=True, help="Archive memories instead of removing them.")
@click.option("--threshold", type=click.FloatRange(0, 1),
              help="Remove memories with less retention; by default the setting forget_threshold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="At most this many, those with the least retention first.")
@click.pass_obj
def gc(call: Call, /, dry_run: bool, archive: bool, threshold: float | None, limit: int | None) -> None:
    """Remove faded memories. `pieria unforget` restores them."""
    with call.opened(reading=True) as bank, call.progress("collecting") as report:
        collected = bank.upkeep.gc(dry_run=dry_run, archive=archive, threshold=threshold, limit=limit, progress=report)
    call.reply(collected.as_dict(), show_collected(collected), [one.memory.id for one in collected.faded])


@upkeep.command()
@DRY_RUN
@click.option("--threshold", type=click.FloatRange(0, 1),
              help="Archive memories with less retention; by default twice the setting forget_threshold.")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="At most this many, those with the least retention first.")
@click.pass_obj
def archive(call: Call, /, dry_run: bool, threshold: float | None, limit: int | None) -> None:
    """Archive memories that are about to fade. `--status archived` finds them."""
    with call.opened(reading=True) as bank, call.progress("archiving") as report:
        collected = bank.upkeep.archive(dry_run=dry_run, threshold=threshold, limit=limit, progress=report)
    call.reply(collected.as_dict(), show_collected(collected), [one.memory.id for one in collected.faded])


@upkeep.command()
@click.argument("ids", nargs=-1)
@DRY_RUN
@click.pass_obj
def promote(call: Call, /, ids: tuple[str, ...], dry_run: bool) -> None:
    """Promote memories to lasting ones: the given ones or, without IDS, all that were used enough."""
    with call.opened(reading=True) as bank:
        promoted = bank.upkeep.promote(ids or None, dry_run=dry_run)
    call.reply(promoted.as_dict(), show_promoted(promoted), [promotion.memory.id for promotion in promoted.promoted])


@upkeep.command()
@click.option("--by", type=click.Choice(STRATEGIES), default=STRATEGIES[0], show_default=True,
              help="What the members have in common.")  # fmt: skip
@click.option("--least", type=click.FloatRange(0, 1), help="The least similarity; by default the setting.")
@click.option("--most", type=click.IntRange(2, 1_000), help="The most members of a cluster; by default the setting.")
@click.pass_obj
def clusters(call: Call, /, by: str, least: float | None, most: int | None) -> None:
    """Show clusters of memories that say the same. `pieria upkeep merge` takes the id of a cluster."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.clusters(by=by, least=least, most=most, keep=True)
    call.reply(found.as_dict(), show_clusters(found), [cluster.id for cluster in found])


@upkeep.command()
@click.option("--least", type=click.FloatRange(0, 1), help="The least similarity; by default the setting.")
@click.option("--most", type=click.IntRange(1, 10_000), default=100, show_default=True, help="The most pairs to show.")
@click.pass_obj
def duplicates(call: Call, /, least: float | None, most: int) -> None:
    """Show pairs of memories that say nearly the same, most similar first."""
    with call.opened(reading=True) as bank:
        found = bank.upkeep.duplicates(least=least, most=most)
    call.reply(found.as_dict(), show_duplicates(found), [id for pair in found for id in (pair.one.id, pair.other.id)])


@upkeep.command()
@click.argument("ids", nargs=-1, required=True)
@click.option("--text", help="The text of the merged memory; by default the mind writes it.")
@DRY_RUN
@click.pass_obj
def merge(call: Call, /, ids: tuple[str, ...], text: str | None, dry_run: bool) -> None:
    """Merge memories into one, by their IDS or by the id of a cluster.

    The originals are archived, and the new memory links to them. `pieria undo` reverts the merge.
    """
    with call.opened(reading=True) as bank:
        members = bank.upkeep.members(ids[0]) if len(ids) == 1 else ids
        merged = bank.upkeep.merge(members, text=text, dry_run=dry_run)
    call.reply(merged.as_dict(), show_merged(merged), [merged.id])


@upkeep.command()
@click.pass_context
def validate(ctx: click.Context, /) -> None:
    """Check the store, the targets of links, and the sources of derived memories. Exits with 1 if a check fails."""
    call: Call = ctx.obj
    with call.opened(reading=True) as bank:
        validated = bank.upkeep.validate()
    call.reply(validated.as_dict(), show_validated(validated), [problem.id for problem in validated.problems])
    if not validated.ok:
        ctx.exit(1)


@upkeep.command()
@DRY_RUN
@click.pass_context
def repair(ctx: click.Context, /, dry_run: bool) -> None:
    """Remove broken links, archive derived memories without sources, and rebuild projections.

    Exits with 1 if a check still fails.
    """
    call: Call = ctx.obj
    with call.opened(reading=True) as bank:
        validated = bank.upkeep.repair(dry_run=dry_run)
    call.reply(validated.as_dict(), show_validated(validated), list(validated.repaired))
    if not validated.ok:
        ctx.exit(1)


def show_collected(reply: Collected) -> Parts:
    if reply.faded:
        made = table("retained", "id", "text", wide=("text",), right=("retained",))
        for one in reply.faded:
            row(made, f"{one.retained:.3f}", (one.memory.id, "dim"), one.memory.text)
        yield made
    done = ("would be " if reply.dry_run else "") + ("archived" if reply.archived else "removed")
    yield line(f"{counted(len(reply.faded), 'memory', 'memories')} {done}")
    if reply.left:
        yield line(f"{reply.left:,} more have faded")


def show_promoted(reply: Promoted) -> Parts:
    if reply.promoted:
        made = table("why", "id", "text", wide=("text",))
        for promotion in reply.promoted:
            row(made, promotion.why, (promotion.memory.id, "dim"), promotion.memory.text)
        yield made
    done = "would be promoted" if reply.dry_run else "promoted"
    yield line(f"{counted(len(reply.promoted), 'memory', 'memories')} {done}")


def show_clusters(reply: Clusters) -> Parts:
    for cluster in reply:
        yield line((cluster.id, "dim"), f" {len(cluster.memories)} memories, similarity {cluster.cohesion:.2f}")
        for memory in cluster.memories:
            yield line("  ", (memory.id, "dim"), f" {memory.text}")
    yield line(f"{counted(len(reply), 'cluster')} among {counted(reply.examined, 'memory', 'memories')}")
    if reply.left:
        yield line(f"{reply.left:,} older ones were not compared")


def show_duplicates(reply: Duplicates) -> Parts:
    if len(reply):
        made = table("similarity", "id", "text", wide=("text",), right=("similarity",))
        for pair in reply:
            row(made, f"{pair.similarity:.2f}", (pair.one.id, "dim"), pair.one.text)
            row(made, "", (pair.other.id, "dim"), pair.other.text)
        yield made
    yield line(f"{counted(reply.whole, 'pair')} among {counted(reply.examined, 'memory', 'memories')}")
    if reply.left:
        yield line(f"{reply.left:,} older ones were not compared")


def show_merged(reply: Merged) -> Parts:
    yield line(reply.text)
    sources = counted(len(reply.made.sources), "memory", "memories")
    if reply.change is None:
        yield line(f"would replace {sources}")
    else:
        yield line(f"replaces {sources} as ", (reply.id, "dim"), f"; pieria undo {reply.change} reverts this")


def show_validated(reply: Validated) -> Parts:
    for finding in reply.findings:
        if not finding.well:
            yield line((f"{finding.check}: ", "bold red"), finding.detail)
            yield line(("  what to do: ", "cyan"), finding.remedy or "pieria upkeep repair")
    for problem in reply.problems:
        yield line((f"{problem.kind}: ", "bold red"), (problem.id, "dim"), f" {problem.detail}")
    for name in reply.repaired:
        yield line(("repaired ", "green"), name)
    yield line(("all checks passed", "green") if reply.ok else ("some checks failed", "bold red"))


def show_proposals(reply: Proposals) -> Parts:
    for each in reply:
        yield from show_proposal(each)
    yield line(counted(len(reply), "lesson"))
    if reply.left:
        yield line(f"{reply.left:,} more")


def show_learnt(reply: Learnt) -> Parts:
    for each in reply.proposals:
        yield from show_proposal(each)
    if reply.problem:
        yield line(("rules did this instead of the model: ", "yellow"), reply.problem)
    would = "would come from" if reply.dry_run else "came from"
    yield line(f"{counted(len(reply.proposals), 'lesson')} {would} {counted(reply.sessions, 'session')}")


def show_decided(reply: Decided) -> Parts:
    for each in reply.proposals:
        yield line((f"{each.state} ", COLOURS[each.state]), each.text, " ", (each.id, "dim"))
    for id in reply.superseded:
        yield line("no longer valid: ", (id, "dim"))
    yield line(f"pieria undo {reply.change} reverts this")


def show_proposal(each: Proposal) -> Parts:
    yield line((f"{each.state} ", COLOURS[each.state]), each.text)
    told = [f"{each.type}, confidence {each.confidence:.2f}, seen in {counted(each.seen, 'session')}"]
    if each.failed:
        told.append(f"did not help in {each.failed}")
    if each.held_back:
        told.append(f"held back: {each.held_back}")
    if each.decided_by:
        told.append(f"decided by {each.decided_by}")
    yield line("  ", (each.id, "dim"), f"  {', '.join(told)}")
    for one in each.evidence:
        yield line("  ", (f"{str(one.get('at', ''))[:10]} ", "dim"), _evidence(one))
    for id in each.contradicts:
        yield line("  would end ", (id, "dim"))


def _evidence(one: object) -> str:
    """Return a line of evidence: a failure, its fix and the success, or a quote and the action before it."""
    if not isinstance(one, dict):
        return ""
    did = "; ".join(map(str, one.get("did", ())))
    if "said" in one:
        return f"“{one['said']}”" + (f", after the agent {did}" if did else "")
    return f"{one.get('failed', '')} → {did} → {one.get('passed', '')} went well"
