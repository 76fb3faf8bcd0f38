"""Notes on one subject are found by their words among thousands, in any block of the search."""

import numpy as np

from pieria.upkeep.subjects import Note, subjects

COUNT, EVERY = 3_000, 250
KILN = frozenset({"kiln", "glaze", "firing"})


def test_subject_is_found_across_blocks_of_notes() -> None:
    notes = [Note(frozenset({f"own{n}", "today"}), frozenset()) for n in range(COUNT)]
    expected = list(range(7, COUNT, EVERY))
    for number in expected:
        notes[number] = Note(notes[number].words | KILN, frozenset({"kiln"}))
    vectors = np.zeros((COUNT, 1), np.float32)
    assert subjects(notes, vectors) == [expected]
    assert subjects(notes, vectors, before=[expected[:3], expected[3:5]]) == [expected[:3], expected[3:]]


def test_sitting_makes_notes_of_few_words_alike() -> None:
    words = [frozenset({f"own{n}"}) for n in range(48)]
    together = [Note(each, frozenset(), 1 if n < 8 else None) for n, each in enumerate(words)]
    apart = [Note(each, frozenset()) for each in words]
    vectors = np.zeros((len(words), 1), np.float32)
    assert (subjects(together, vectors), subjects(apart, vectors)) == ([list(range(8))], [])
