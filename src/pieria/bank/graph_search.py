"""The search of a bank's graph: what is near a question by meaning and by words, and what is reached from there.

Each look is one read transaction with a fixed number of questions to the store, whatever the graph holds. Nodes are
made only of what is shown in the end, or where a value function of the caller's wants to see them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pieria.bank.graph_reading import GraphReading
from pieria.bank.recalling import QUESTION_SECONDS, embeddable
from pieria.errors import AdapterError, InputError
from pieria.graph.changeset import checked_vector
from pieria.graph.edge import Edge
from pieria.graph.nodes import NODE_TYPES, Node
from pieria.graph.searching import ROUTING, Held, Question, Reached, passed
from pieria.graph.valuing import Values, params_of
from pieria.recall.ranking import Corpus, corpus, coverage
from pieria.recall.reading import looked_for
from pieria.record.certainty import alone
from pieria.record.time import moment
from pieria.record.value import DefaultValueFunction
from pieria.store.parts import Spot
from pieria.store.protocol import Reader
from pieria.store.vectors import alike

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
"""In a bank of so many memories everything is compared with each vector, and of every type the nearest taken."""
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
    """A question as the first look sees it; by row what was met of it already: which share of its words it says, how
    near it is, and how sure it makes an answer.
    """

    vectors: list[Floats]
    terms: Sequence[str]
    known: Corpus
    said: dict[int, float]
    relevances: dict[int, float]
    sure: dict[int, float]


class QuestionVectors:
    """Embeds questions, as the bank embeds what it holds. Raises `AdapterError` where it does not, or not in time.

    It is made for one search, and what goes with a question is embedded as that was.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._ready: Embedder | None = None

    @property
    def is_floor(self) -> bool:
        """Whether words are all that is gone by: no model is there, or one that knows no more than words."""
        embedder = self._bank._embedding.embedder
        return embedder is None or embedder.is_floor

    def query(self, text: str) -> Floats:
        self._bank.graph._catch_up()
        self._ready = self._check()
        return self._bank._embedding.question(embeddable(text), QUESTION_SECONDS)

    def passages(self, texts: Sequence[str]) -> Passages:
        embedder = self._ready or self._check()
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
        self._seen = GraphReading(graph)

    def found(self, question: Question, node_types: Sequence[str], values: Values) -> Reached:
        if not self._asked:
            self._graph._catch_up()
        with self._bank._reading() as reader:
            asked, by_words = self._read(reader, question, node_types)
            looked = (*node_types, "source") if "episodic" in node_types else node_types
            near = self._near(reader, asked, looked, values)
            met = self._seen.spots(reader, [*near, *by_words], looked)
            told = self._told_by_sources(reader, asked, met) if "episodic" in node_types else {}
            return self._valued(reader, asked, [*met, *told], node_types, values, told)

    def reached(
        self,
        question: Question,
        node_ids: Sequence[str],
        through: Sequence[str],
        known: Collection[str],
        values: Values,
    ) -> Reached:
        asked = next(asked for met, asked in self._asked if met is question)
        with self._bank._reading() as reader:
            starts = [self._seen.row_of(id) for id in node_ids]
            leading = self._valued(reader, asked, [*starts, *self._led(reader, node_ids, through)], through, values)
            beyond = self._tied(reader, [each.id for each in leading.valued], ANSWERS)
            new = dict.fromkeys(beyond.rows).keys() - {self._seen.row_of(id) for id in known}
            reached = self._valued(reader, asked, sorted(new), ANSWERS, values)
        return reached._replace(problems=beyond.problems)

    def nodes(self, node_ids: Sequence[str]) -> list[Node]:
        with self._bank._reading() as reader:
            return self._seen.nodes(reader, node_ids)

    def sources(self, node_ids: Sequence[str]) -> list[Node]:
        tied = self._graph.get_linked_nodes(list(node_ids), Edge.PROVENANCE)
        return [node for node in tied if node.node_type == "source"]

    def _read(self, reader: Reader, question: Question, node_types: Sequence[str]) -> tuple[_Asked, list[int]]:
        """The question, and what says its words."""
        asked = next((asked for met, asked in self._asked if met is question), None)
        terms = looked_for(question.text) if asked is None else asked.terms
        match = reader.text(terms, self._seen.filter(node_types), BY_WORDS, min(READ, self._bank._text_budget))
        if asked is None:
            known = corpus(match.documents, match.terms, match.frequencies)
            asked = _Asked(_vectors(question), terms, known, {}, {}, {})
            self._asked.append((question, asked))
        asked.said.update((each.row, coverage(each.held.counts, asked.known)) for each in match.candidates)
        return asked, [each.row for each in match.candidates]

    def _near(self, reader: Reader, asked: _Asked, node_types: Sequence[str], values: Values) -> list[int]:
        """The rows nearest in meaning. In a large bank two looks have to do: at the question, and at what may lead to
        an answer, taken together; what these bring too few of is looked for once more.
        """
        try:
            if reader.head().documents <= FEW:
                kinds = {kind: self._seen.filter((kind,)).kinds or () for kind in node_types}
                wants = [(kinds[kind], self._wanted(values, kind)) for kind in node_types]
                return reader.near_each(asked.vectors, self._seen.filter(node_types), wants)
            looks = [asked.vectors[0], *_together(asked.vectors[1:])] if asked.vectors else []
            filter = self._seen.filter(node_types)
            rows = list(dict.fromkeys(n.row for look in looks for n in reader.near(look, filter, NEAREST).candidates))
            met = self._seen.spots(reader, rows, node_types)
            there = {self._seen.type_of(spot) for spot in met.values()}
            lacking = [kind for kind in node_types if kind not in there]
            return rows + [row for look in looks[:1] for row in self._of_each(reader, look, lacking, values)]
        except InputError as problem:
            raise problem.renamed("query_embedding") from problem

    def _of_each(self, reader: Reader, look: Floats, node_types: Sequence[str], values: Values) -> list[int]:
        return [
            near.row
            for kind in node_types
            for near in reader.near(look, self._seen.filter((kind,)), self._wanted(values, kind)).candidates
        ]

    def _wanted(self, values: Values, kind: str) -> int:
        return SPARE * int(params_of(values, kind)["top_k"])

    def _told_by_sources(self, reader: Reader, asked: _Asked, met: Mapping[int, Spot]) -> dict[int, _Told]:
        """The steps whose sources are near: what was said in a step speaks for it as much as what it was for."""
        relevances = self._relevances(reader, asked, met)
        row_of = {spot.id: row for row, spot in met.items() if self._seen.type_of(spot) == "source"}
        tied = reader.tied(list(row_of), self._seen.filter(("episodic",)), HUB) if row_of else {}
        told: dict[int, _Told] = {}
        for id, steps in tied.items():
            for step in steps:
                held, row = told.get(step, UNTOLD), row_of[id]
                told[step] = _Told(max(held.relevance, relevances[row]), max(held.sure, asked.sure[row]))
        return told

    def _led(self, reader: Reader, ids: Sequence[str], types: Sequence[str]) -> list[int]:
        """The rows of these types that are tied to each of these, if there are many those that were tied last."""
        kinds = self._seen.filter(types).kinds or ()
        found: list[int] = []
        for ties in self._seen.ties(reader, ids).values():
            newest_first = sorted((tie for tie in ties if tie.kind in kinds), key=lambda tie: -tie.entry)
            found += self._seen.ends(newest_first[:HUB])
        return found

    def _tied(self, reader: Reader, ids: Sequence[str], types: Sequence[str]) -> _Tied:
        if not ids:
            return _Tied([])
        tied = reader.tied(list(ids), self._seen.filter(types), HUB)
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
        told: Mapping[int, _Told] = MappingProxyType({}),
    ) -> Reached:
        """The nearest of each type are valued; what is not among these is below them. `told` is how near some are, and
        how sure, by what is tied to them.
        """
        spots = self._seen.spots(reader, rows, node_types)
        own = self._relevances(reader, asked, spots)
        by_tied = {row: told.get(row, UNTOLD) for row in own}
        relevances = {row: max(near, by_tied[row].relevance) for row, near in own.items()}
        sure = {row: max(asked.sure[row], by_tied[row].sure) for row in own}
        by_type: dict[str, list[Spot]] = {kind: [] for kind in node_types}
        for spot in sorted(spots.values(), key=lambda spot: -relevances[spot.row]):
            by_type[self._seen.type_of(spot)].append(spot)
        near = [spot for kind, met in by_type.items() for spot in met[: self._wanted(values, kind)]]
        reached = passed(self._held(reader, near, relevances, sure, values), node_types, values, self._bank.clock)
        return reached._replace(below=reached.below + len(spots) - len(near))

    def _relevances(self, reader: Reader, asked: _Asked, rows: Collection[int]) -> dict[int, float]:
        """Of each row how far its meaning, or its words, are those of the question; 0 for what shares neither."""
        new = [row for row in rows if row not in asked.relevances]
        unread = [row for row in new if row not in asked.said]
        if unread and asked.terms:
            held = reader.holding(unread, asked.terms)
            asked.said.update((row, coverage(terms, asked.known)) for row, terms in held.items())
        meant = self._alike(reader, asked.vectors, new)
        for row in new:
            (near, own), said = meant.get(row, (0.0, 0.0)), asked.said.get(row, 0.0)
            asked.relevances[row] = 1 - (1 - near) * (1 - WORDS * said)
            asked.sure[row] = alone(own if asked.vectors else None, said)
        return {row: asked.relevances[row] for row in rows}

    def _alike(self, reader: Reader, vectors: Sequence[Floats], rows: Sequence[int]) -> dict[int, tuple[float, float]]:
        """The cosine of the best passage to the nearest vector, and to the question itself, at least 0."""
        import numpy as np

        if not rows or not vectors:
            return {}
        owners, lines = self._seen.vectors(reader, rows)
        weights = [1.0, *[OF_TERMS] * (len(vectors) - 1)]
        cosines = np.stack([weight * alike(lines, one) for weight, one in zip(weights, vectors, strict=True)])
        best: dict[int, tuple[float, float]] = {}
        for row, near, own in zip(owners, cosines.max(axis=0).tolist(), cosines[0].tolist(), strict=True):
            held = best.get(row, (0.0, 0.0))
            best[row] = max(held[0], min(1.0, near)), max(held[1], min(1.0, own))
        return best

    def _held(
        self,
        reader: Reader,
        spots: Sequence[Spot],
        relevances: Mapping[int, float],
        sure: Mapping[int, float],
        values: Values,
    ) -> list[Held]:
        metadata = self._seen.metadata(reader, spots)
        nodes: dict[str, Node] = {}
        if values.get("module") is not DefaultValueFunction:
            nodes = {node.id: node for node in self._seen.nodes(reader, [spot.id for spot in spots])}
        return [
            Held(
                spot.id, self._seen.type_of(spot), moment(spot.at), relevances[spot.row],
                metadata[spot.id],
                nodes.get(spot.id), sure[spot.row],
            )
            for spot in spots
        ]  # fmt: skip


class _Told(NamedTuple):
    """How near a node is by what is tied to it, and how sure that makes an answer."""

    relevance: float
    sure: float


UNTOLD = _Told(0.0, 0.0)


class _Tied(NamedTuple):
    rows: list[int]
    problems: tuple[str, ...] = ()


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
