"""The mark that names the requirements of a toolset that a test proves."""

import pytest


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Mark a test with ids from the toolset's `requirements.toml`."""
    return pytest.mark.requirement(*ids)
