"""What else in a bank says the same as a fact, for the receipt of its erasure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pieria.facts.aliases import Aliases
from pieria.facts.predicates import declared_name
from pieria.facts.validity import as_written
from pieria.record.fact import Fact, FactQuery, folded, folded_predicate, predicate_keys
from pieria.record.filter import Filter
from pieria.record.memory import STATEMENT
from pieria.store.protocol import Reader


def restatements(reader: Reader, versions: Sequence[Fact], going: Collection[str], filter: Filter) -> Iterator[str]:
    """Yield what else says the same as these versions of facts, if visible: memories, other facts, names.

    `going` are the ids of memories and facts that are erased as well.
    """
    for id, held in reader.states([fact.id for fact in versions]).items():
        if held.state.kind != STATEMENT:
            yield f"the memory {id}, whose older versions state it: `pieria forget --purge` erases it"
    for memory in dict.fromkeys(fact.source_memory for fact in versions):
        if memory is not None and memory not in going:
            yield f"the memory {memory}, its source: `pieria forget --purge` erases it"
    aliases = Aliases(reader)
    for fact in versions:
        keys = FactQuery(
            subject_keys=(folded(fact.subject),),
            predicate_keys=predicate_keys(fact.predicate),
            object_keys=(folded(fact.object),),
            include_ended=True,
            every_version=True,
        )
        for other in reader.facts(keys, as_written(filter)):
            if other.id not in going:
                yield f"the fact {other.id}, which says the same"
        for name in (fact.subject, fact.object):
            if aliases.is_alias(name) or aliases.names(folded(name)):
                yield f"the aliases of {name}: `pieria facts unalias` removes them"
        if declared_name(reader, folded_predicate(fact.predicate)) is not None:
            yield f"that {fact.predicate} was declared: `pieria facts declare` changes it"
