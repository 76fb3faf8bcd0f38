"""`bank.graph`: the experience and knowledge of a bank as nodes and edges of a graph.

A node is a memory of one of seven kinds, and an edge is a link. Node metadata is the memory's usage. A graph changeset
is one change of the bank. So every other interface can recall, correct and forget nodes, and memories of these kinds
written elsewhere are nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pieria import telemetry
from pieria.bank.graph.cache import whole
from pieria.bank.graph.care import BankTended
from pieria.bank.graph.grounding import taken
from pieria.bank.graph.write import metadata_of, planned, usage_set
from pieria.bank.read.get import after_in, cursor_after
from pieria.bank.read.usage import Noted, with_noted
from pieria.bank.write.remember import drafted, space_of
from pieria.errors import InputError
from pieria.graph.backend import Found, chosen, known_ids, known_options
from pieria.graph.changeset import Changeset, checked, checked_metadata, checked_vector, rewritten
from pieria.graph.edge import Edge
from pieria.graph.graph import Graph, in_order, same_label
from pieria.graph.memories import SEEN_AS, memory_of, node_of
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Episodic, Node, Tag
from pieria.graph.value_function import checked_types, params_of
from pieria.language.analyser import terms
from pieria.notifier import Tell, fitting, telling
from pieria.record import check
from pieria.record.changeset import Changeset as Change
from pieria.record.changeset import Record, Stored, Write
from pieria.record.cursor import mark_of
from pieria.record.filter import Filter
from pieria.record.link import End
from pieria.record.memory import Memory
from pieria.record.usage import UNUSED
from pieria.store.protocol import Progress, Reader, Writer

if TYPE_CHECKING:
    from pieria.bank import Bank
    from pieria.bank.graph.search import GraphSearch
    from pieria.config import Config
    from pieria.learning.upkeep import GraphCleanup, GraphRepair, GraphValidation

Done = TypeVar("Done", bound=Mapping[str, Any])
EDGES = tuple(Edge)
ALL = 2**53
"""More than a bank holds."""
AT_LEAST, SPARE = 200, 10
"""Nearest nodes of a type to score: at least `AT_LEAST`, or `SPARE` times the requested number."""
CATCHING_UP, SECONDS = 64, 0.25
"""Pending texts to embed before a search, and the seconds allowed for it."""
OLDEST, MOST_PAGED = "oldest", 10_000


class NodePage(NamedTuple):
    """Nodes in order. `cursor` continues after the last one, and is None at the end."""

    nodes: list[Node]
    cursor: str | None


Beside = Callable[[Writer], Iterable[Record]]
"""Returns records to write in the same transaction. It is called before anything else in the transaction."""


Fitted = Callable[[Reader, Changeset], Changeset]
"""Fits a changeset to the current content of the bank."""


More = Mapping[str, Mapping[str, Any]]
"""Additional arguments of `remember`, by node id."""


class BankGraph:
    """The graph backend over a bank. A call that raises changes nothing."""

    def __init__(self, bank: Bank, seen: Mapping[str, str] = MappingProxyType({})) -> None:
        """`seen` maps further kinds of memory to node types; other kinds are no nodes."""
        self._bank = bank
        self._seen = seen

    @property
    def everything(self) -> BankGraph:
        """The graph with every memory of the bank as a node: turns as steps, all others as facts."""
        return BankGraph(self._bank, SEEN_AS)

    def init(self, opts: Mapping[str, Any] | None = None) -> None:
        """Check the options. An open bank needs no setup."""
        known_options(opts, ("repo_id",))

    def apply_changeset(self, changeset: Changeset) -> None:
        """Write nodes, then edges between existing nodes, then metadata, as one change of the bank.

        A node with an existing id becomes its next version. `created_at` in metadata is ignored: the bank has its own
        known times.
        """
        with applying(self._bank.name, self._bank.core.tell, changeset):
            self._apply(checked(changeset))

    def _commit(self, changeset: Changeset, beside: Beside, more: More) -> None:
        """Apply the changeset together with records of the bank, all or nothing.

        A tag that another process added meanwhile is not written again. A step is embedded by its text, like any
        memory, because its subgoal already describes its purpose.
        """
        steps = [id for id, node in changeset.nodes().items() if isinstance(node, Episodic)]
        more = {**more, **{id: {**more.get(id, {}), "vectors": None} for id in steps}}
        with applying(self._bank.name, self._bank.core.tell, changeset):
            self._apply(checked(changeset), beside, more, self._with_tags_of)

    def delete_nodes(self, node_ids: Sequence[str]) -> None:
        """Remove the memories of these nodes; `restore` brings them back."""
        ids = known_ids(node_ids)

        def plan(writer: Writer) -> Change:
            held = writer.states(ids, self._filter(ids))
            removed = [Write(each.state._replace(ended="removed", reason=None)) for each in held.values()]
            return Change("delete_nodes", writes=removed)

        with telling(self._bank.core.tell, "delete_nodes", "nodes_deleted", node_ids=list(ids)):
            self._write(plan)

    def update_metadata(self, metadata: Mapping[str, NodeMetadata]) -> None:
        self._set_usage(checked_metadata(metadata, "metadata"))

    def delete_metadata(self, node_ids: Sequence[str]) -> None:
        self._set_usage(dict.fromkeys(known_ids(node_ids)))

    def find_candidates(
        self,
        node_types: Sequence[str],
        query_embedding: Sequence[float],
        tag_embeddings: Sequence[Sequence[float]] = (),
        value_fn_config: Mapping[str, Any] | None = None,
        opts: Mapping[str, Any] | None = None,
    ) -> list[tuple[Node, float]]:
        """Score the nearest nodes of each type: ten times the requested number, and at least 200."""
        known_options(opts)
        questions = {"query_embedding": checked_vector(query_embedding, "query_embedding")}
        for number, tag in enumerate(tag_embeddings):
            questions[f"tag_embeddings[{number}]"] = checked_vector(tag, f"tag_embeddings[{number}]")
        types = checked_types(node_types)
        self._bank.core.embedding.catch_up(CATCHING_UP, SECONDS)
        candidates: list[tuple[Node, float]] = []
        with self._bank.core.reading() as reader:
            for node_type in types:
                want = max(AT_LEAST, SPARE * int(params_of(value_fn_config, node_type)["top_k"]))
                near = self._near(reader, questions, self._filter(types=(node_type,)), want)
                candidates += chosen(self._found(reader, near), node_type, value_fn_config, self._bank.clock)
        return candidates

    def _searching(self) -> GraphSearch:
        """Return a search that uses the bank's recall instead of these callbacks."""
        from pieria.bank.graph.search import GraphSearch

        return GraphSearch(self)

    def _note_uses(self, node_ids: Iterable[str]) -> None:
        """Count a use of these nodes, in this bank or the user's, if uses are counted. The counts are written later."""
        bank, ids = self._bank, [*node_ids]
        if bank.core.count_uses:
            for holder, theirs in bank.core.holders(ids).items():
                holder.uses.note(theirs, bank.viewer.session)

    def get_node(self, node_id: str) -> Node | None:
        found = self._held([check.identifier(node_id, "node_id")])
        return found[0] if found else None

    def get_linked_nodes(self, node_ids: Sequence[str], edge_type: Edge | None = None) -> list[Node]:
        ids = known_ids(node_ids)
        edges = EDGES if edge_type is None else (check.one_of(edge_type, "edge_type", EDGES),)
        with self._bank.core.reading() as reader:
            starts = set(reader.states(ids, self._filter(ids)))
            tied = {there for _, there, edge in self._steps(reader, starts) if edge in edges}
            return self._nodes(reader, self._memories(reader, list(tied)))

    def get_nodes_by_type(self, node_types: Sequence[str]) -> list[Node]:
        with self._bank.core.reading() as reader:
            return [
                node
                for node_type in checked_types(node_types)
                for node in self._nodes(reader, reader.select(self._filter(types=(node_type,)), "oldest", ALL))
            ]

    def page(self, types: Sequence[str], limit: int = 20, cursor: str | None = None) -> NodePage:
        """Return nodes of these types, oldest first. `cursor` continues after a page of the same types.

        Nodes added meanwhile appear on a later page, and no node is skipped.
        """
        filter = self._filter(types=sorted(checked_types(types, "types")))
        most = check.whole(limit, "limit", 1, MOST_PAGED)
        mark = mark_of(self._bank.name, OLDEST, filter.having(now=0))
        after = None if cursor is None else after_in(cursor, mark, OLDEST)
        with self._bank.core.reading() as reader:
            memories = reader.select(filter, OLDEST, most + 1, after)
            shown = memories[:most]
            nodes = self._nodes(reader, shown)
        return NodePage(nodes, cursor_after(shown[-1], mark, OLDEST) if len(memories) > most else None)

    def find_tags(self, labels: Sequence[str]) -> list[Tag]:
        """Return the tags with the same labels as these, oldest first."""
        with self._bank.core.reading() as reader:
            return self._tags(reader, labels)

    def find_equal(self, changeset: Changeset, node_ids: Sequence[str]) -> dict[str, list[Node]]:
        """Return the nodes of the bank that these new nodes of the changeset would repeat, oldest first.

        They have the same type and text, and the same readers, validity and trust.
        """
        from pieria.bank.graph.equal import equal_nodes

        return equal_nodes(self, checked(changeset), known_ids(node_ids))

    def get_metadata(self, node_ids: Sequence[str]) -> dict[str, NodeMetadata]:
        """Return the metadata of every existing node. A node that was never used has counts of 0."""
        ids = known_ids(node_ids)
        noted = self._bank.core.uses.noted(ids)
        with self._bank.core.reading() as reader:
            return self._metadata(reader, ids, noted)

    def latest(self, top_k: int, types: Sequence[str]) -> list[tuple[Node, NodeMetadata]]:
        """Return the nodes that were added or changed last."""
        wanted = checked_types(types, "types")
        with self._bank.core.reading() as reader:
            memories = reader.select(self._filter(types=wanted), "changed", check.whole(top_k, "top_k", 0, ALL))
            nodes = {node.id: node for node in self._nodes(reader, memories)}
            metadata = self._metadata(reader, list(nodes), self._bank.core.uses.noted(nodes))
            return [(nodes[memory.id], metadata[memory.id]) for memory in memories]

    @property
    def graph(self) -> Graph:
        """The whole current graph."""
        return Graph().apply_changeset(Changeset(self.get_nodes_by_type(NODE_TYPES)))

    @property
    def tended(self) -> BankTended:
        """The maintenance view of the graph: real nodes only, without memories that are merely shown as nodes."""
        return BankTended(self._bank.graph)

    # --- maintenance

    def consolidate(
        self,
        threshold: float = 0.85,
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> GraphCleanup:
        """Merge facts with a common tag, and procedures with a common intent, that say nearly the same.

        The best one stays; the others are archived.
        """
        from pieria.learning.semantic_consolidator import consolidate

        graph, bank = self._bank.graph, self._bank
        done = consolidate(
            graph,
            config or bank.core.config,
            threshold,
            dry_run=dry_run,
            progress=progress,
            repo_id=bank.name,
            clock=bank.clock,
        )
        return self._told("consolidation_completed", done, dry_run)

    def prune(
        self,
        threshold: float = 0.1,
        node_types: Sequence[str] = ("semantic", "procedural"),
        *,
        config: Config | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> GraphCleanup:
        """Archive nodes of little value, and tags and intents without edges."""
        from pieria.learning.decay import decay

        graph, bank = self._bank.graph, self._bank
        done = decay(
            graph,
            config or bank.core.config,
            threshold,
            node_types,
            dry_run=dry_run,
            progress=progress,
            repo_id=bank.name,
            clock=bank.clock,
        )
        return self._told("decay_completed", done, dry_run)

    def validate(
        self, *, config: Config | None = None, dry_run: bool = False, progress: Progress | None = None
    ) -> GraphValidation:
        """Lower the rewards of knowledge without sources or far from them, for as long as this lasts."""
        from pieria.learning.episodic_validation import validate

        graph, bank = self._bank.graph, self._bank
        done = validate(graph, config or bank.core.config, dry_run=dry_run, progress=progress, repo_id=bank.name)
        return self._told("validation_completed", done, dry_run)

    def repair(self, *, dry_run: bool = False, progress: Progress | None = None) -> GraphRepair:
        """Remove edges to missing nodes, and archive tags and intents without edges."""
        from pieria.learning.graph_repair import repair

        done = repair(self._bank.graph, dry_run=dry_run, progress=progress, repo_id=self._bank.name)
        return self._told("repair_completed", done, dry_run)

    def _told(self, event: str, done: Done, dry_run: bool) -> Done:
        """Notify of the result, except for a dry run."""
        if not dry_run:
            self._bank.core.tell(event, **fitting(event, done))
        return done

    # --- reading

    def _filter(self, ids: Sequence[str] | None = None, types: Sequence[str] = NODE_TYPES) -> Filter:
        asked = self._bank.core.filter(kinds=self._kinds(types))
        return asked if ids is None else asked.having(ids=tuple(ids))

    def _kinds(self, types: Sequence[str]) -> tuple[str, ...]:
        """Return the kinds of memory that are shown as nodes of these types."""
        return (*types, *sorted(kind for kind, seen in self._seen.items() if seen in types))

    def _held(self, ids: Sequence[str]) -> list[Node]:
        with self._bank.core.reading() as reader:
            return self._nodes(reader, self._memories(reader, ids))

    def _memories(self, reader: Reader, ids: Sequence[str]) -> list[Memory]:
        return reader.select(self._filter(ids), "oldest", len(ids)) if ids else []

    def _nodes(self, reader: Reader, memories: Sequence[Memory]) -> list[Node]:
        """Return the nodes of these memories, with vectors and with edges to visible nodes."""
        links = self._ties(reader, {memory.id for memory in memories})
        vectors = _by_row(*reader.stacked([memory.row for memory in memories]))
        return [node_of(memory, links[memory.id], whole(vectors.get(memory.row, ()))) for memory in memories]

    def _ties(self, reader: Reader, ids: set[str]) -> dict[str, dict[Edge, frozenset[str]]]:
        found: dict[str, dict[Edge, set[str]]] = {id: Edge.empty_links() for id in ids}
        for tie in reader.ties_of(ids, self._filter()) if ids else ():
            if tie.relation in EDGES:
                found[tie.id][Edge(tie.relation)].add(tie.other)
        return {id: {edge: frozenset(tied) for edge, tied in ties.items()} for id, ties in found.items()}

    def _steps(self, reader: Reader, ids: set[str]) -> Iterator[tuple[str, str, Edge]]:
        """Yield the edges of these memories, including edges to memories that are not visible."""
        for link in reader.links([End("memory", id) for id in ids]) if ids else ():
            if link.relation in EDGES and link.source.what == link.target.what == "memory":
                for here, there in ((link.source.name, link.target.name), (link.target.name, link.source.name)):
                    if here in ids:
                        yield here, there, Edge(link.relation)

    def _metadata(
        self, reader: Reader, ids: Sequence[str], noted: Mapping[str, list[Noted]]
    ) -> dict[str, NodeMetadata]:
        if not ids:
            return {}
        held = reader.states(ids, self._filter(ids))
        return self._used(reader, held, noted)

    def _used(
        self, reader: Reader, held: Mapping[str, Stored], noted: Mapping[str, list[Noted]] = MappingProxyType({})
    ) -> dict[str, NodeMetadata]:
        usage, seq, penalties = reader.usage(list(held)), reader.head().seq, taken(reader, list(held))
        found = {}
        for id, each in held.items():
            used = with_noted(usage.get(id, UNUSED), noted.get(id, ()), seq)
            found[id] = metadata_of(used, each.known_from, penalties.get(id, 0.0))
        return found

    def _near(
        self, reader: Reader, questions: Mapping[str, Sequence[float]], filter: Filter, want: int
    ) -> dict[int, float]:
        """Return the nearest rows to any of the queries, each with its highest cosine."""
        try:
            rows = {near.row for asked in questions.values() for near in reader.near(asked, filter, want).candidates}
        except InputError as problem:
            raise problem.renamed("query_embedding") from problem
        near: dict[int, float] = dict.fromkeys(rows, 0.0)
        for asked in questions.values() if rows else ():
            for row, span in reader.similarities(asked, list(rows)).items():
                near[row] = min(1.0, max(near[row], span.similarity))
        return near

    def _found(self, reader: Reader, near: Mapping[int, float]) -> list[Found]:
        memories = list(reader.memories(list(near), self._filter()).values()) if near else []
        ids = [memory.id for memory in memories]
        metadata = self._metadata(reader, ids, self._bank.core.uses.noted(ids))
        nodes = self._nodes(reader, memories)
        pairs = zip(memories, nodes, strict=True)
        return [Found(node, near[memory.row], metadata.get(node.id)) for memory, node in pairs]

    def _tags(self, reader: Reader, labels: Sequence[str]) -> list[Tag]:
        wanted = {same_label(label): terms(label) for label in labels}
        tags = self._filter(types=(Tag.node_type,))
        found: dict[str, Memory] = {}
        for label, said in wanted.items():
            # A label of punctuation alone has no terms to search by.
            near = reader.namesakes(said, SPARE * len(label) + SPARE, tags) if said else reader.twins(label, [], tags)
            found |= {memory.id: memory for memory in near if same_label(memory.text) in wanted}
        nodes = self._nodes(reader, list(found.values()))
        return [node for node in in_order(nodes) if isinstance(node, Tag)]

    # --- writing

    def _with_tags_of(self, reader: Reader, asked: Changeset) -> Changeset:
        tags = [node for node in asked.nodes().values() if isinstance(node, Tag)]
        newest_first = reversed(self._tags(reader, [tag.label for tag in tags]))
        held = {same_label(tag.label): tag.id for tag in newest_first}
        rewrites = {tag.id: held.get(same_label(tag.label), tag.id) for tag in tags}
        return rewritten(asked, {id: stays for id, stays in rewrites.items() if stays != id})

    def _apply(
        self,
        asked: Changeset,
        beside: Beside = lambda _: (),
        more: More = MappingProxyType({}),
        fitted: Fitted = lambda _, asked: asked,
    ) -> None:
        bank = self._bank
        dimension = cache(bank.core.embedding.dimension)
        wanted = {id: replace(memory_of(node), **more.get(id, {})) for id, node in asked.nodes().items()}
        drafts = {id: drafted(bank.core, new, dimension) for id, new in wanted.items()}

        def plan(writer: Writer) -> Change:
            records = list(beside(writer))
            fitting = fitted(writer, asked)
            kept = {id: drafts[id] for id in fitting.nodes()}
            change = planned(bank, writer, fitting, kept, self._filter())
            # Undo reverts the knowledge only: usage has no versions, and the state of a session is separate.
            known = (*(write.state.id for write in change.writes), *(row.id for row in change.links))
            change.ids = known or change.written_ids()
            change.records += records
            change.space = space_of(bank.core, writer, change.writes)
            return change

        self._write(plan, counted=bool(asked.metadata or asked.gained))

    def _set_usage(self, entries: Mapping[str, NodeMetadata | None]) -> None:
        def plan(writer: Writer) -> Change:
            held = writer.states(list(entries), self._filter(tuple(entries)))
            change = Change("metadata")
            usage_set(writer, change, {id: entry for id, entry in entries.items() if id in held})
            return change

        self._write(plan, counted=True)

    def _write(self, plan: Callable[[Writer], Change], counted: bool = False) -> None:
        """Write the plan. If it sets counts, write the pending counts first."""
        if counted:
            self._bank.core.uses.flush()
        with telemetry.during("storage.persist", repo_id=self._bank.name):
            self._bank.core.apply(plan)


@contextmanager
def applying(repo_id: str, tell: Tell, changeset: Changeset) -> Iterator[None]:
    """Trace the block that applies a changeset, and report its result."""
    with (
        telemetry.during("graph.apply_changeset", repo_id=repo_id) as measured,
        telling(tell, "apply_changeset", "changeset_applied", changeset=changeset),
    ):
        yield
        measured |= {"nodes_added": len(changeset.nodes()), "links_added": len(changeset.links)}


def _by_row(owners: Sequence[int], lines: Iterable[Any]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for row, line in zip(owners, lines, strict=True):
        found.setdefault(row, []).append(line)
    return found
