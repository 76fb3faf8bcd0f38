"""Names, numbers and times that a model made up."""

from tests.unit.samples import samples

from pieria.language.inventions import invented

SAMPLES = samples("inventions")


def test_words_without_a_source_are_found() -> None:
    cases = SAMPLES["found"] | {text: [] for text in SAMPLES["passing"]["texts"]}
    assert {text: list(invented(text, SAMPLES["sources"])) for text in cases} == cases
    assert all(invented(source, SAMPLES["sources"]) == () for source in SAMPLES["sources"])
