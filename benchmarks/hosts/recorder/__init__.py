"""Record what real hosts hand to hooks in one short session, as fixtures for the tests of capture."""
