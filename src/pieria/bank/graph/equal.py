"""The nodes of a bank with the text of new knowledge that has the same readers, validity and trust.

New knowledge must not narrow a stored node: its sources become sources of that node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from typing import TYPE_CHECKING

from pieria.bank.graph.care import apart
from pieria.bank.write.derived import narrowed
from pieria.bank.write.remember import drafted
from pieria.graph.changeset import Changeset
from pieria.graph.edge import Edge
from pieria.graph.memories import drawn, memory_of
from pieria.graph.nodes import Node, Source
from pieria.language.analyser import terms
from pieria.store.rows import first_write

if TYPE_CHECKING:
    from pieria.bank.graph.verbs import BankGraph


def equal_nodes(graph: BankGraph, changeset: Changeset, node_ids: Sequence[str]) -> dict[str, list[Node]]:
    bank, nodes, sources = graph._bank, changeset.nodes(), _sources(changeset)
    dimension = cache(bank.core.embedding.dimension)
    found: dict[str, list[Node]] = {}
    with bank.core.reading() as reader:
        for id in node_ids:
            evidence = _evidence(sources, id)
            drafts = {
                each: drafted(bank.core, memory_of(nodes[each]), dimension) for each in (id, *evidence & {*nodes})
            }
            states = [first_write(draft, each, bank.core.now(), "").state for each, draft in drafts.items()]
            states += [held.state for held in reader.states(evidence - nodes.keys()).values()]
            wanted = apart(reduce(narrowed, states))
            twins = reader.twins(drafts[id].text, terms(drafts[id].text), graph._filter(types=(nodes[id].node_type,)))
            held = reader.states([twin.id for twin in twins])
            found[id] = graph._nodes(reader, [twin for twin in twins if apart(held[twin.id].state) == wanted])
    return found


def _sources(changeset: Changeset) -> dict[str, set[str]]:
    """Return what each node of the changeset is drawn from."""
    nodes = changeset.nodes()
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other, edge in changeset.ties():
        if edge == Edge.PROVENANCE:
            kinds = [nodes[id].node_type if id in nodes else Source.node_type for id in (one, other)]
            derived, evidence = (one, other) if drawn(*kinds) else (other, one)
            found[derived].add(evidence)
    return found


def _evidence(sources: Mapping[str, set[str]], id: str) -> set[str]:
    """Return all that a node is drawn from, directly or through other nodes."""
    found: set[str] = set()
    left = [id]
    while left:
        new = sources.get(left.pop(), set()) - found - {id}
        found |= new
        left += new
    return found
