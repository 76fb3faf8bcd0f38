"""The description of one form of secret: where to look, what to match, and how to judge the value.

A judge returns True if the value may be a secret, not a word, a placeholder or code. Keep patterns bounded and probes
plain, so that every text takes linear time. The shapes themselves belong in the ``*_secrets`` modules, and searching a
text belongs in ``privacy``.

Every agent hook loads these modules: import the standard library only inside functions.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_PLACEHOLDER = r"(?i)your|example|change.?me|placeholder|redacted|dummy|sample|insert|x{4}|\*{3}|\.{3}|…|[<>]|\{\{"
_IMPLAUSIBLE = r"""(?ix)
    ^ [<\[{(%]                                            # placeholders: <password>, {{ token }}, %(x)s
  | ^ \$ (?: [({] | (?-i:[A-Z_][A-Z0-9_]*) $ )            # ${TOKEN}, $TOKEN
  | ^[~.]?/ | :// | ^0x[0-9a-f]{0,40}$ | ^v?\d+(?:\.\d+)+ | ^\d{4}-\d\d-\d\d  # paths, addresses, versions, dates
  | [(\[] | ^[a-z_]\w*(?:\.[a-z_]\w*)+$                   # code: a call, an item, an attribute
  | ^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$                        # a mail address
  | ^(?:sha|md|base|utf|argon|pbkdf|aes|rsa|oauth|https?|ipv|u?int)[-_]?\d"""
_DIGITS = "0123456789"
_SEGMENT = r"[A-Za-z]+|v?\d{1,4}"
_LONG_SEGMENT = r"[A-Za-z][a-z]*\d{0,3}|[A-Z]+\d{0,3}|v?\d{1,8}|"
_CAMEL_SEGMENT = r"[A-Za-z]+\d{0,2}|v?\d{1,8}|"
_SEGMENT_BOUND = r"[-_.:/&=+]"
_PIECE = r"[A-Z]?[a-z]+|[A-Z]+|\d+"
_FILE_END = r"\.[A-Za-z]{1,5}\d?$"
_UUID = r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_UNUSUAL_MARKS = frozenset("@#$%^&+=!?~|")
_NO_SECRETS = (
    "password passwd pass pwd pw secret token required optional true false none null nil undefined prompt "
    "enabled disabled always never unset empty string value file stdin env user username"
)
_STAND_INS = frozenset(_NO_SECRETS.split())
_JUDGED = 80
"""Characters of a value that are checked for signs that it is no secret."""
_LEAST_DISTINCT = 4
_RANDOM_PIECE = 2.3
"""Greatest mean length of the pieces of a random text; words in camel case have longer pieces."""
LONGEST_RUN = 90
"""Most characters of a run that are searched."""
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
NEAR = 120
"""More characters than any name has before the text it needs."""
LONGEST_VALUE = 120
TAIL = "[A-Za-z0-9+/=_-]*"
"""The rest of a value that is longer than its pattern allows."""


class Shape:
    """One form of secret. The pattern is tried wherever one of the probes occurs.

    `probes` lists them, separated by a comma and a space. The secret is the group `secret`, or else the whole match. If
    `needs` has texts, one must occur within `NEAR` characters from the start of the probe. With a `run`, the match
    starts where the run of these characters before the probe starts.
    """

    __slots__ = ("_compiled", "kind", "needs", "pattern", "plausible", "probes", "run")

    def __init__(
        self,
        kind: str,
        probes: str,
        pattern: str,
        plausible: Callable[[str], bool] = bool,
        needs: tuple[str, ...] = (),
        run: str = "",
    ) -> None:
        self.kind = kind
        self.probes = tuple(probes.split(", "))
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


def _digits(value: str) -> int:
    return sum(map(value.count, _DIGITS))


def _is_mixed(value: str) -> bool:
    return _digits(value) > 0 and any(map(str.isalpha, value))


def _has_cases(value: str) -> bool:
    return not value.islower() and not value.isupper() and any(map(str.isalpha, value))


def has_mixed_cases(value: str) -> bool:
    return _is_mixed(value) and _has_cases(value)


def has_three_digits(value: str) -> bool:
    return _digits(value) >= 3


def _is_placeholder(value: str) -> bool:
    import re

    return re.search(_PLACEHOLDER, value) is not None


def _is_implausible(value: str) -> bool:
    import re

    begin = value[:_JUDGED]
    return _is_placeholder(begin) or re.search(_IMPLAUSIBLE, begin) is not None


def _is_spelt_in_words(value: str, segment: str = _SEGMENT) -> bool:
    """Return whether the value is made of words. A name such as db-credentials-v2 has digits but is not random."""
    import re

    return re.fullmatch(f"(?:{segment})(?:{_SEGMENT_BOUND}(?:{segment}))*", value) is not None


def is_token(value: str) -> bool:
    """Return whether the value after a provider's own prefix may be a token."""
    if len(set(value)) < _LEAST_DISTINCT or (_digits(value) == 0 and not _has_cases(value)):
        return False
    return not _is_placeholder(value)


def is_strict_token(value: str) -> bool:
    """Return whether the value may be a token after a prefix that ordinary names also begin with."""
    return is_token(value) and _digits(value) >= 2 and not _is_spelt_in_words(value, _LONG_SEGMENT)


def is_random(value: str) -> bool:
    """Return whether the value is a random run of letters and digits, not a name, path, hash or UUID."""
    import re

    if len(value) < 20 or len(set(value)) < 10 or _is_implausible(value) or re.search(_FILE_END, value):
        return False
    if _digits(value) < 2 or not _has_cases(value) or value.count("/") > 3 or re.fullmatch(_UUID, value):
        return False
    pieces = re.findall(_PIECE, value)
    return sum(map(len, pieces)) <= _RANDOM_PIECE * len(pieces)


def is_random_or_hex(value: str) -> bool:
    """Return whether the value is random, or has at least 32 hexadecimal digits."""
    import re

    return is_random(value) or (re.fullmatch("[0-9a-fA-F]{32,128}", value) is not None and len(set(value)) >= 6)


def is_password(value: str) -> bool:
    core = value.strip("!?*_")
    if len(value) < 6 or len(set(core)) < 4:
        return False
    lettered = any(map(str.isalpha, core))
    if not core.isdigit() and not (lettered and (_digits(core) > 0 or not _UNUSUAL_MARKS.isdisjoint(core))):
        return False
    return not _is_implausible(value)


def is_said_password(value: str) -> bool:
    """Return whether a word of a sentence may be a password."""
    return is_password(value) and (value.isdigit() or not _is_spelt_in_words(value))


def is_strong_password(value: str) -> bool:
    """Return whether a value after a short name such as `pass` may be a password. Test reports use that name too."""
    if not is_password(value) or "/" in value or "::" in value or not any(map(str.isalpha, value)):
        return False
    return not _is_spelt_in_words(value, _CAMEL_SEGMENT)


def is_spaced_password(value: str) -> bool:
    """Return whether a value separated from its name only by a space may be a password."""
    return is_strong_password(value) and _is_mixed(value) and not value.endswith(("/", "-")) and ":" not in value


def is_given_password(value: str) -> bool:
    """Return whether a value in the place of a password, as after `mysql -p`, may be one."""
    return len(value) >= 4 and len(set(value)) > 2 and value.lower() not in _STAND_INS and not _is_implausible(value)


def is_assigned_password(value: str) -> bool:
    """Return whether the value of an upper-case variable may be a password. Several words in a row count."""
    if is_password(value):
        return True
    long = len(value) >= 10 and (value.count("-") >= 2 or _has_cases(value[1:]))
    return long and is_given_password(value) and not value.isupper()


def is_credential(value: str) -> bool:
    if len(value) < 10 or len(set(value)) < 6 or not _is_mixed(value):
        return False
    return not _is_spelt_in_words(value) and not _is_implausible(value)


def is_bearer(value: str) -> bool:
    return has_three_digits(value) and not _is_placeholder(value)


def is_base64(value: str) -> bool:
    return value.endswith("=") or has_mixed_cases(value)


def is_in_address(value: str) -> bool:
    return len(set(value)) > 1 and value.lower() not in _STAND_INS and value[0] not in "<{[$"
