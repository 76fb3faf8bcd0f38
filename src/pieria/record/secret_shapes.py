"""One way a secret is written: where to look, what to match, and how to judge the value.

Keep patterns bounded and probes plain, so that no text takes more than linear time. The shapes themselves stand in
``provider_secrets``, ``named_secrets`` and ``placed_secrets``; searching a text is the business of ``privacy``.

Every hook of an agent loads these modules: import the standard library only inside functions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable


class Shape:
    """One way a secret is written: where one of the probes stands, the pattern is tried.

    The secret is the group of that name, or the whole match. If `needs` names any text, one of them must stand within
    `NEAR` characters of the probe's beginning. A pattern with a `run` begins where the run of these
    characters before the probe does.
    """

    __slots__ = ("_compiled", "kind", "needs", "pattern", "plausible", "probes", "run")

    def __init__(
        self,
        kind: str,
        probes: tuple[str, ...],
        pattern: str,
        plausible: Callable[[str], bool],
        needs: tuple[str, ...] = (),
        run: str = "",
    ) -> None:
        self.kind = kind
        self.probes = probes
        self.pattern = pattern
        self.plausible = plausible
        self.needs = needs
        self.run = run
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> re.Pattern[str]:
        """Compile the pattern when it is first needed."""
        if self._compiled is None:
            import re

            self._compiled = re.compile(self.pattern)
        return self._compiled


def shape(
    kind: str,
    probes: str,
    pattern: str,
    plausible: Callable[[str], bool] = bool,
    needs: tuple[str, ...] = (),
    run: str = "",
) -> Shape:
    """Return a shape; the probes are written one after the other, separated by a comma and a blank."""
    return Shape(kind, tuple(probes.split(", ")), pattern, plausible, needs, run)


LONGEST_RUN = 90
"""Characters of a run that are looked at."""
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NEAR = 120
"""More characters than any name can have before what it needs."""
LONGEST_VALUE = 120
TAIL = "[A-Za-z0-9+/=_-]*"
"""What goes on after a value that is longer than a pattern takes."""
