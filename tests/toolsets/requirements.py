"""The mark by which a test says which requirement of a toolset it proves."""

import pytest


def requirement(*ids: str) -> pytest.MarkDecorator:
    """By their ids in the toolset's `requirements.toml`."""
    return pytest.mark.requirement(*ids)
