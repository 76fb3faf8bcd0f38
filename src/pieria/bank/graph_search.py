"""The search of a bank's graph: what is near a question by meaning and by words, and what is reached from there.

Each look is one read transaction with a fixed number of questions to the store, whatever the graph holds. Nodes are
made only of what is shown in the end, or where a value function of the caller's wants to see them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pieria.bank.recalling import QUESTION_SECONDS, embeddable
from pieria.errors import AdapterError, InputError
from pieria.graph.changeset import checked_vector
from pieria.graph.edge import Edge
from pieria.graph.metadata import NodeMetadata
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.graph.searching import ROUTING, Held, Question, Reached, passed
from pieria.graph.valuing import Values, params_of
from pieria.recall.ranking import Corpus, corpus, coverage
from pieria.recall.reading import reading
from pieria.record.time import moment
from pieria.record.value import DefaultValueFunction
from pieria.store.protocol import Outline, Reader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pieria.bank import Bank
    from pieria.bank.graph import BankGraph
    from pieria.models import Embedder, Passages

    Floats = NDArray[np.float32]

NEAREST, BY_WORDS = 80, 40
"""Candidates of all types by meaning, for each of the two looks there are, and by words."""
FEW = 10_000
"""In a bank of so many memories every type is looked through for each vector by itself."""
READ = 1_500
"""Rows of the text index that are looked through, where the bank's own budget is not smaller."""
SPARE = 3
"""Times as many as are wanted of a type are valued, the nearest."""
HUB = 60
"""From each node that leads on no more are looked at, those that were tied last."""
WORDS = 0.7
"""How far words that say what the question says close the gap that its meaning leaves."""
OF_TERMS = 0.8
"""What is near a term is so much as near to the question, of which that is only a part."""
ANSWERS = tuple(kind for kind in NODE_TYPES if kind not in ROUTING)


class _Asked(NamedTuple):
    """A question as the first look sees it, and how near to it is what was met."""

    vectors: list[Floats]
    terms: Sequence[str]
    known: Corpus
    relevances: dict[int, float]


class QuestionVectors:
    """Embeds questions, as the bank embeds what it holds. Raises `AdapterError` where it does not, or not in time."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank

    def query(self, text: str) -> Floats:
        self._bank.graph._catch_up()
        self._check()
        return self._bank._embedding.question(embeddable(text), QUESTION_SECONDS)

    def passages(self, texts: Sequence[str]) -> Passages:
        embedder = self._check()
        return embedder.passages([embeddable(text) for text in texts], self._bank.meter.of_readers)

    def _check(self) -> Embedder:
        embedding = self._bank._embedding
        with self._bank._reading() as reader:
            standing = embedding.readiness(reader)
        if not standing.usable or embedding.embedder is None:
            raise AdapterError(standing.model or "embedder", "embed", standing.reason or "nothing was embedded yet")
        return embedding.embedder


class GraphSearch:
    """It is made for one search: what one look has read of a memory, no other reads again."""

    reads_words = True

    def __init__(self, graph: BankGraph) -> None:
        self._graph = graph
        self._bank = graph._bank
        self._asked: list[tuple[Question, _Asked]] = []
        self._rows: dict[str, int] = {}
        self._metadata: dict[str, NodeMetadata] = {}

    def found(self, question: Question, node_types: Sequence[str], values: Values) -> Reached:
        self._graph._catch_up()
        with self._bank._reading() as reader:
            asked = self._read(reader, question)
            filter = self._graph._filter(types=node_types)
            match = reader.text(asked.terms, filter, BY_WORDS, min(READ, self._bank._text_budget))
            looked = (*node_types, "source") if "episodic" in node_types else node_types
            near = self._near(reader, asked, looked, values)
            told = self._told_by_sources(reader, asked, near) if "episodic" in node_types else {}
            rows = dict.fromkeys([*near, *(candidate.row for candidate in match.candidates), *told])
            return self._valued(reader, asked, rows, node_types, values, told)

    def reached(
        self,
        question: Question,
        node_ids: Sequence[str],
        through: Sequence[str],
        known: Collection[str],
        values: Values,
    ) -> Reached:
        with self._bank._reading() as reader:
            asked = self._read(reader, question)
            tied = self._tied(reader, node_ids, through)
            starts = [self._rows[id] for id in node_ids]
            leading = self._valued(reader, asked, [*starts, *tied.rows], through, values).valued
            beyond = self._tied(reader, [each.id for each in leading], ANSWERS)
            new = dict.fromkeys(beyond.rows).keys() - {self._rows[id] for id in known}
            reached = self._valued(reader, asked, sorted(new), (), values)
        return reached._replace(problems=beyond.problems)

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        return self._graph._held(list(node_ids))

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        tied = self._graph.get_linked_nodes(list(node_ids), Edge.PROVENANCE)
        return [node for node in tied if node.node_type == "source"]

    def _read(self, reader: Reader, question: Question) -> _Asked:
        for known, asked in self._asked:
            if known is question:
                return asked
        head, terms = reader.head(), reading(question.text, moment(self._bank._now())).considered
        asked = _Asked(_vectors(question), terms, corpus(head.documents, head.terms, reader.frequencies(terms)), {})
        self._asked.append((question, asked))
        return asked

    def _near(self, reader: Reader, asked: _Asked, node_types: Sequence[str], values: Values) -> list[int]:
        """The rows nearest in meaning. In a large bank two looks have to do: at the question, and at what may lead to
        an answer, taken together; what these bring too few of is looked for once more.
        """
        try:
            if reader.head().documents <= FEW:
                return self._of_each(reader, asked.vectors, node_types, values)
            looks = [asked.vectors[0], *_together(asked.vectors[1:])] if asked.vectors else []
            filter = self._graph._filter(types=node_types)
            rows = list(dict.fromkeys(n.row for look in looks for n in reader.near(look, filter, NEAREST).candidates))
            there = {self._type_of(line) for line in reader.outlines(rows, filter).values()}
            lacking = [kind for kind in node_types if kind not in there]
            return rows + self._of_each(reader, looks[:1], lacking, values)
        except InputError as problem:
            raise problem.renamed("query_embedding") from problem

    def _of_each(self, reader: Reader, looks: Sequence[Floats], node_types: Sequence[str], values: Values) -> list[int]:
        found = []
        for kind in node_types:
            filter, want = self._graph._filter(types=(kind,)), SPARE * int(params_of(values, kind)["top_k"])
            found += [near.row for look in looks for near in reader.near(look, filter, want).candidates]
        return found

    def _told_by_sources(self, reader: Reader, asked: _Asked, rows: Sequence[int]) -> dict[int, float]:
        """The steps whose sources are near: what was said in a step speaks for it as much as what it was for."""
        sources = reader.outlines(rows, self._graph._filter(types=("source",)))
        relevances = self._relevances(reader, asked, sources)
        row_of = {line.id: line.row for line in sources.values()}
        tied = reader.tied(list(row_of), self._graph._filter(types=("episodic",)), HUB) if row_of else {}
        told: dict[int, float] = {}
        for id, steps in tied.items():
            for step in steps:
                told[step] = max(told.get(step, 0.0), relevances[row_of[id]])
        return told

    def _tied(self, reader: Reader, ids: Sequence[str], types: Sequence[str]) -> _Tied:
        if not ids:
            return _Tied([])
        tied = reader.tied(list(ids), self._graph._filter(types=types), HUB)
        hubs = sum(len(rows) >= HUB for rows in tied.values())
        problems = (f"{hubs} nodes lead to more than {HUB} others: of each the last {HUB} were looked at",) * bool(hubs)
        return _Tied(list(dict.fromkeys(row for rows in tied.values() for row in rows)), problems)

    def _valued(
        self,
        reader: Reader,
        asked: _Asked,
        rows: Iterable[int],
        node_types: Sequence[str],
        values: Values,
        told: Mapping[int, float] | None = None,
    ) -> Reached:
        """The nearest of each type are valued; what is not among these is below them. `told` is how near some are by
        what is tied to them.
        """
        outlines = reader.outlines(list(rows), self._graph._filter(types=node_types or ANSWERS))
        self._rows |= {line.id: row for row, line in outlines.items()}
        own = self._relevances(reader, asked, outlines)
        relevances = {row: max(near, (told or {}).get(row, 0.0)) for row, near in own.items()}
        by_type: dict[str, list[Outline]] = {}
        for line in sorted(outlines.values(), key=lambda line: -relevances[line.row]):
            by_type.setdefault(self._type_of(line), []).append(line)
        near = [
            line for kind, lines in by_type.items() for line in lines[: SPARE * int(params_of(values, kind)["top_k"])]
        ]
        reached = passed(self._held(reader, near, relevances, values), node_types, values, self._bank.clock)
        return reached._replace(below=reached.below + len(outlines) - len(near))

    def _relevances(self, reader: Reader, asked: _Asked, outlines: Mapping[int, Outline]) -> dict[int, float]:
        """Of each row how far its meaning, or its words, are those of the question; 0 for what shares neither."""
        rows = [row for row in outlines if row not in asked.relevances]
        counts = reader.counts(rows, asked.terms) if rows and asked.terms else {}
        alike = self._alike(reader, asked.vectors, rows)
        for row in rows:
            said = coverage(_held_terms(counts, row), asked.known)
            asked.relevances[row] = 1 - (1 - alike.get(row, 0.0)) * (1 - WORDS * said)
        return {row: asked.relevances[row] for row in outlines}

    def _alike(self, reader: Reader, vectors: Sequence[Floats], rows: Sequence[int]) -> dict[int, float]:
        """The cosine of the best passage to the nearest vector, at least 0."""
        import numpy as np

        held = reader.vectors(rows) if rows and vectors else {}
        lines = [(row, vector) for row, passages in held.items() for _, vector in passages]
        if not lines:
            return {}
        stacked = np.stack([vector for _, vector in lines])
        stacked = stacked / np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-12)
        best: dict[int, float] = {}
        weights = np.array([1.0, *[OF_TERMS] * (len(vectors) - 1)], dtype=np.float32)
        nearest = (stacked @ np.stack(vectors).T * weights).max(axis=1)
        for (row, _), cosine in zip(lines, nearest.tolist(), strict=True):
            best[row] = max(best.get(row, 0.0), min(1.0, cosine))
        return best

    def _held(
        self, reader: Reader, lines: Sequence[Outline], relevances: Mapping[int, float], values: Values
    ) -> list[Held]:
        ids = [line.id for line in lines]
        new = [id for id in ids if id not in self._metadata]
        self._metadata |= self._graph._metadata(reader, new, self._graph._noted(new))
        nodes: dict[str, Node] = {}
        if values.get("module") is not DefaultValueFunction:
            nodes = {node.id: node for node in self._graph._nodes(reader, self._graph._memories(reader, ids))}
        return [
            Held(
                line.id, self._type_of(line), moment(line.at), relevances[line.row],
                self._metadata.get(line.id),
                nodes.get(line.id),
            )
            for line in lines
        ]  # fmt: skip

    def _type_of(self, line: Outline) -> str:
        return self._graph._seen.get(line.kind, line.kind)


class _Tied(NamedTuple):
    rows: list[int]
    problems: tuple[str, ...] = ()


def _held_terms(counts: Mapping[int, object], row: int) -> Iterable[str]:
    held = counts.get(row)
    return () if held is None else held.counts  # type: ignore[attr-defined]


def _vectors(question: Question) -> list[Floats]:
    """Of length one, each once."""
    import numpy as np

    made = []
    for number, vector in enumerate(question.vectors):
        line = np.asarray(checked_vector(vector, f"vectors[{number}]"), dtype=np.float32)
        made.append(line / (np.linalg.norm(line) or 1.0))
    return made


def _together(vectors: Sequence[Floats]) -> list[Floats]:
    """Their middle, if there are any."""
    return [sum(vectors[1:], vectors[0])] if vectors else []
