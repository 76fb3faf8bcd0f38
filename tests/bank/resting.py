"""A background thread that has nothing to do but for the test that looks at it."""

from pieria.bank.background import background


def rested() -> None:
    """What other tests left to be done some time is not waited for."""
    with background._changed:
        background._due.clear()
        background._changed.notify_all()
