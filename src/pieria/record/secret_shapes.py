"""The description of one form of secret: where to look, what to match, and how to judge the value.

Keep patterns bounded and probes plain, so that every text takes linear time. The shapes themselves belong in the
``*_secrets`` modules, and searching a text belongs in ``privacy``.

Every agent hook loads these modules: import the standard library only inside functions.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable


class Shape:
    """One form of secret. The pattern is tried wherever one of the probes occurs.

    The secret is the group `secret`, or else the whole match. If `needs` has texts, one must occur within `NEAR`
    characters from the start of the probe. With a `run`, the match starts where the run of these characters before
    the probe starts.
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
        """Return the pattern, compiled on first use."""
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
    """Return a shape. `probes` is a list separated by a comma and a space."""
    return Shape(kind, tuple(probes.split(", ")), pattern, plausible, needs, run)


LONGEST_RUN = 90
"""Most characters of a run that are searched."""
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NEAR = 120
"""More characters than any name has before the text it needs."""
LONGEST_VALUE = 120
TAIL = "[A-Za-z0-9+/=_-]*"
"""The rest of a value that is longer than its pattern allows."""
