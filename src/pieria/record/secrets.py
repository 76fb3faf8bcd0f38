"""What secrets look like: the keys of well-known providers, and values after a telling name.

The table is conservative. A provider's key is known by its shape alone; a value after a telling name must
also look like a secret rather than like a word, a placeholder or code. Repetitions are bounded and a probe is
a plain string, so that no text takes more than linear time. Only shapes and judgements of a value belong
here; searching a text is the business of ``privacy``.

This and ``privacy`` are loaded by every hook of an agent as well, where each millisecond counts: what they import is
imported where it is needed, for most texts hold nothing that must be looked at closely.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Shape:
    """One way a secret is written, from the place on where one of the probes stands.

    The secret is the group of that name, or the whole match. Where `needs` names any, one of them must stand within
    `NEAR` characters of the probe's beginning, or the pattern need not be tried.
    """

    __slots__ = ("kind", "needs", "pattern", "plausible", "probes")

    def __init__(
        self,
        kind: str,
        probes: tuple[str, ...],
        pattern: str,
        plausible: Callable[[str], bool],
        needs: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.probes = probes
        self.pattern = pattern
        self.plausible = plausible
        self.needs = needs


_IMPLAUSIBLE = r"""(?ix)
    ^ [<\[{(%]                                            # placeholders: <password>, {{ token }}, %(x)s
  | ^ \$ (?: [({] | (?-i:[A-Z_][A-Z0-9_]*) $ )            # ${TOKEN}, $TOKEN
  | your|example|change.?me|placeholder|redacted|dummy|sample|insert|x{4}|\*{3}|\.{3}|…|[<>]|\{\{
  | ^[~.]?/ | :// | ^0x | ^v?\d+(?:\.\d+)+ | ^\d{4}-\d\d-\d\d  # paths, addresses, versions, dates
  | [(\[] | ^[a-z_]\w*(?:\.[a-z_]\w*)+$                   # code: a call, an item, an attribute
  | ^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$                        # a mail address
  | ^(?:sha|md|base|utf|argon|pbkdf|aes|rsa|oauth|https?|ipv|u?int)[-_]?\d"""
_DIGITS = "0123456789"
_SEGMENT = r"[A-Za-z]+|v?\d{1,4}"
_SEGMENT_BOUND = r"[-_.:/&=+]"
_UNUSUAL_MARKS = frozenset("@#$%^&+=!?~|")
_STAND_INS = frozenset({"password", "passwd", "pass", "pwd", "pw"})


def _digits(value: str) -> int:
    return sum(map(value.count, _DIGITS))


def _mixed(value: str) -> bool:
    return _digits(value) > 0 and any(map(str.isalpha, value))


def _mixed_cases(value: str) -> bool:
    return _mixed(value) and not value.islower() and not value.isupper()


def _three_digits(value: str) -> bool:
    return _digits(value) >= 3


def _spelt_in_words(value: str) -> bool:
    """A name such as db-credentials-v2 holds digits without being random."""
    import re

    return all(re.fullmatch(_SEGMENT, segment) for segment in re.split(_SEGMENT_BOUND, value))


def _password(value: str) -> bool:
    import re

    core = value.strip("!?*_")
    if len(set(core)) < 4 or re.search(_IMPLAUSIBLE, value):
        return False
    lettered = any(map(str.isalpha, core))
    return core.isdigit() or (lettered and (_digits(core) > 0 or not _UNUSUAL_MARKS.isdisjoint(core)))


def _said_password(value: str) -> bool:
    return _password(value) and (value.isdigit() or not _spelt_in_words(value))


def _credential(value: str) -> bool:
    import re

    if len(value) < 10 or len(set(value)) < 6 or re.search(_IMPLAUSIBLE, value):
        return False
    return _mixed(value) and not _spelt_in_words(value)


def _base64(value: str) -> bool:
    return value.endswith("=") or _mixed_cases(value)


def _in_address(value: str) -> bool:
    return len(set(value)) > 1 and value.lower() not in _STAND_INS and value[0] not in "<{[$"


def _shape(
    kind: str,
    probes: str,
    pattern: str,
    plausible: Callable[[str], bool] = bool,
    needs: tuple[str, ...] = (),
) -> Shape:
    return Shape(kind, tuple(probes.split(", ")), pattern, plausible, needs)


# A key begins where no word goes on; the n of an escaped line break before it belongs to the break.
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_ASSIGNED = r"""[\\"'`*]{0,4}\s{0,3}(?::\s?[a-z][\w\[\]|.]{0,20}\s?=|=>|:=|={1,3}|:)[\s*]{0,4}(?:[bru]?\\?["'`])?"""
_SAID = r"""\s{1,3}(?:is|was)[\s:*]{1,4}["'`]?"""
# A value goes on until a quote, white space, or the next pair of a query or of a connection string.
_VALUE = r"""(?P<secret>(?:[^\s"'`;&]|[;&](?!\w{1,40}=)){5,400}[^\s"'`.,;&:)\]}>*\\])"""
_NAME_ENDS = r"(?![a-z0-9_\-])"
_PASSWORDS = r"(?:passw(?:or)?d|passphrase|passcode|pwd)\d?" + _NAME_ENDS
_KEYS = "api access secret private signing encryption master account auth service license deploy client"
_KEY = "(?:" + "|".join(rf"(?<={name})|(?<={name}[_\-. ])" for name in _KEYS.split()) + ")key"
_PARTS = r"(?:[_\-. ]?(?:key|token|secret|value|access|base)){0,3}"
_CREDENTIALS = rf"(?:{_KEY}|(?<!\[)secret|token|credential){_PARTS}{_NAME_ENDS}"  # not what redaction leaves
_TO_ASSIGN, _TO_SAY = (":", "="), ("is", "was")
NEAR = 80
"""More characters than any name can have before what it needs."""
_FOR_PASSWORDS = "passw, passphrase, passcode, pwd"
_FOR_CREDENTIALS = "key, secret, token, credential"

# Where two shapes meet, the secret is of the kind that stands first, here and below.
PLAIN = (
    _shape("anthropic_key", "sk-ant-", _BEGIN + r"sk-ant-[\w-]{20,400}"),
    _shape("openai_key", "sk-", _BEGIN + r"sk-[\w-]{20,400}", _three_digits),
    _shape("github_token", "ghp_, gho_, ghu_, ghs_, ghr_", _BEGIN + r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    _shape("github_token", "github_pat_", _BEGIN + r"github_pat_\w{22,255}"),
    _shape("gitlab_token", "glpat-", _BEGIN + r"glpat-[\w-]{20,100}"),
    _shape("slack_token", "xox", _BEGIN + r"xox[abeoprs]-[A-Za-z0-9-]{10,400}", _three_digits),
    _shape("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{20,100})"),
    _shape("stripe_key", "sk_live_, sk_test_, rk_live_, rk_test_", _BEGIN + r"[sr]k_[a-z]{4}_[A-Za-z0-9]{16,250}"),
    _shape("stripe_key", "whsec_", _BEGIN + r"whsec_[A-Za-z0-9+/=]{24,250}"),
    _shape("google_key", "AIza", _BEGIN + r"AIza[\w-]{30,60}"),
    _shape("google_key", "GOCSPX-", _BEGIN + r"GOCSPX-[\w-]{20,60}"),
    _shape("npm_token", "npm_", _BEGIN + r"npm_[A-Za-z0-9]{30,60}"),
    _shape("pypi_token", "pypi-", _BEGIN + r"pypi-[\w-]{50,1000}", _three_digits),
    _shape("huggingface_token", "hf_", _BEGIN + r"hf_[A-Za-z0-9]{30,60}"),
    _shape("twilio_key", "SK", _BEGIN + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    _shape("sendgrid_key", "SG.", _BEGIN + r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    _shape("aws_access_key", "AKIA, ASIA", _BEGIN + r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape(
        "aws_secret_key",
        "AKIA, ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\s,:;/|\"']{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        _mixed_cases,
    ),
    _shape("jwt", "eyJ", r"(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}"),
    _shape(
        "private_key",
        "-----BEGIN",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----)[\s\S])*-----END [A-Z0-9 ]{0,80}-----|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{24,}+)*+)",
    ),
    _shape(
        "connection_password",
        "://",
        r"://[^\s:/@?#\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{1,200})@(?=[\w.\-\[])",
        _in_address,
    ),
)
# These are matched against the text in lower case.
FOLDED = (
    _shape(
        "aws_secret_key",
        "aws, amazon",
        r"(?:aws|amazon).{0,60}?(?<![a-z0-9/+])(?P<secret>[a-z0-9/+]{40})(?![a-z0-9/+=])",
        _mixed_cases,
    ),
    _shape("bearer_token", "bearer", r"\bbearer\s{1,3}(?P<secret>[\w.~+/-]{16,4000}={0,2})", _three_digits),
    _shape(
        "basic_credentials",
        "authorization",
        r"authorization[\\\"']{0,4}\s?[:=]\s?[\\\"']{0,4}basic\s{1,3}(?P<secret>[\w+/-]{8,400}={0,2})",
        _base64,
    ),
    _shape("password", _FOR_PASSWORDS, _PASSWORDS + _ASSIGNED + _VALUE, _password, _TO_ASSIGN),
    _shape("password", _FOR_PASSWORDS, _PASSWORDS + _SAID + _VALUE, _said_password, _TO_SAY),
    _shape("credential", _FOR_CREDENTIALS, _CREDENTIALS + _ASSIGNED + _VALUE, _credential, _TO_ASSIGN),
    _shape("credential", _FOR_CREDENTIALS, _CREDENTIALS + _SAID + _VALUE, _credential, _TO_SAY),
)
