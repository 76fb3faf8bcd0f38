"""Secrets recognised by their own form: provider tokens, keys in files, passwords in addresses.

Forms that a prefix identifies are in the table ``token_forms.txt``: add a provider only there.
"""

from __future__ import annotations

from pieria.record.secret_shapes import (
    ALNUM,
    Shape,
    has_mixed_cases,
    has_three_digits,
    is_given_password,
    is_in_address,
    is_random,
    is_random_or_hex,
    is_strict_token,
    is_token,
)

ALPHABETS = {
    "alnum": "[A-Za-z0-9]",
    "word": r"[A-Za-z0-9_-]",
    "dotted": r"[A-Za-z0-9_.-]",
    "base64": "[A-Za-z0-9+/_=-]",
    "hex": "[0-9a-fA-F]",
    "lower": "[a-z0-9]",
    "upper": "[A-Z0-9]",
    "uuid": "[0-9a-f-]",
    "random": r"[A-Za-z0-9_-]",
}
STRICT = ("random",)
"""Alphabets of forms whose prefix is short or a word. Names made of words do not count as tokens there."""
FORMS = "token_forms.txt"
"""The table of published token forms: kind, prefixes separated by spaces, alphabet, least and greatest length of the
rest. The kind appears in a memory's flags and replaces a redacted secret."""
# A key does not begin within a word. The n of an escaped line break before it does not count as one.
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"


def load_forms() -> list[tuple[str, tuple[str, ...], str, int, int, bool]]:
    """Return the rows of the table: kind, prefixes, pattern of one character, two lengths, is strict."""
    import os

    with open(os.path.join(os.path.dirname(__file__), FORMS), encoding="ascii") as file:
        cells = [[cell.strip() for cell in line.split("|")] for line in file]
    return [
        (kind, tuple(prefixes.split()), ALPHABETS[alphabet], int(least), int(most), alphabet in STRICT)
        for kind, prefixes, alphabet, least, most in cells
    ]


def _tokens(kind: str, prefixes: tuple[str, ...], character: str, least: int, most: int, strict: bool) -> Shape:
    """Return the shape for one row of the table of forms."""
    end = f"(?!{character})" if least == most else r"(?<!\.)"
    starts = "|".join(prefixes).replace(".", r"\.").replace("$", r"\$")
    judge = is_strict_token if strict else is_token

    def is_ours(value: str) -> bool:
        prefix = max((prefix for prefix in prefixes if value.startswith(prefix)), key=len)
        return judge(value[len(prefix) :])

    return Shape(kind, ", ".join(prefixes), f"{_BEGIN}(?:{starts}){character}{{{least},{most}}}{end}", is_ours)


PROVIDER_SECRETS = (
    *(_tokens(*row) for row in load_forms()),
    Shape("vault_token", "s.", _BEGIN + r"s\.(?P<secret>[A-Za-z0-9]{24})(?![A-Za-z0-9._-])", is_random),
    Shape("cloud_token", ".atlasv1", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,100}", is_token, run=ALNUM),
    Shape(
        "ci_token",
        "AZDO, JQQJ99",
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{40,60}(?:JQQJ99|AZDO)[A-Za-z0-9]{4,44}",
        is_token,
        run=ALNUM,
    ),
    Shape("chat_token", ":A", r"(?<![\d:.-])\d{8,10}:A[\w-]{33,35}(?![\w-])", run="0123456789"),
    Shape(
        "chat_token",
        "MT, MD, Mj, Mz, Mg, ND, NT, Nj, Nz, OD, OT, Ng",
        _BEGIN + r"[MNO][A-Za-z0-9_-]{22,28}\.[\w-]{6,7}\.[\w-]{27,45}",
    ),
    Shape("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z-]{5,20}/(?P<secret>[A-Za-z0-9/]{20,100})"),
    Shape(
        "chat_webhook",
        "/api/webhooks/, /hooks/catch/, .office.com/webhook, /with/key/, chat.googleapis.com/v1/spaces/",
        r"(?:/api/webhooks/|/hooks/catch/|\.office\.com/webhook(?:b2)?/|/with/key/|chat\.googleapis\.com/v1/spaces/)"
        r"(?P<secret>[\w@/%.?&=~-]{20,600})",
        has_three_digits,
    ),
    Shape(
        "twilio_token",
        "AC",
        r"(?<![0-9A-Za-z])AC[0-9a-f]{32}[\s,:;/|\"']{1,6}(?P<secret>[0-9a-f]{32})(?![0-9A-Za-z])",
    ),
    Shape("twilio_key", "SK", _BEGIN + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    Shape("sendgrid_key", "SG.", _BEGIN + r"SG\.[\w-]{16,32}\.[\w-]{30,64}"),
    Shape("mail_token", "-us", _BEGIN + r"[0-9a-f]{32}-us\d{1,2}(?!\w)", run="0123456789abcdef"),
    Shape("office_token", "pat", _BEGIN + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{60,64}"),
    Shape("office_token", "00D", _BEGIN + r"00D[A-Za-z0-9]{12,15}\\?![\w.]{40,200}"),
    Shape("aws_access_key", "AKIA, ASIA, ABIA, ACCA", _BEGIN + r"A(?:[KS]IA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape(
        "aws_secret_key",
        "AKIA, ASIA",
        r"A[KS]IA[A-Z0-9]{16}[\s,:;/|\"']{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        has_mixed_cases,
    ),
    Shape("azure_key", "Q~", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{28,40}", is_token, run=ALNUM + "_~.-"),
    Shape(
        "azure_key",
        "+ASt, +AMC, +ABa, ACDb",
        r"(?<![A-Za-z0-9+/-])[A-Za-z0-9+/]{42,86}={1,2}",
        has_mixed_cases,
        run=ALNUM + "+/-",
    ),
    Shape(
        "jwt",
        "eyJ",
        r"(?<![\w-])eyJ[\w-]{8,4000}\.(?:eyJ[\w-]{8,8000}\.[\w-]{8,2000}|[\w-]{0,2000}(?:\.[\w-]{8,8000}){3})",
    ),
    Shape("monitoring_token", "eyJrIjoi", r"(?<![\w-])eyJrIjoi[\w+/-]{40,400}={0,2}"),
    Shape(
        "private_key",
        "-----BEGIN",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----)[\s\S])*-----END [A-Z0-9 ]{0,80}-----|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{24,}+)*+)",
    ),
    Shape("private_key", "---- BEGIN SSH2", r"---- BEGIN SSH2 [A-Z ]{0,20}PRIVATE KEY ----(?:(?!----)[\s\S])*"),
    Shape("private_key", "Private-Lines:", r"Private-Lines: \d{1,3}(?P<secret>(?:\s{1,2}[A-Za-z0-9+/=]{4,80})+)"),
    Shape("private_key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJ(?!TiBDRVJU|TiBQVUJM)[A-Za-z0-9+/]{40,}={0,2}"),
    Shape(
        "private_key", "b3BlbnNzaC1rZXktdjE", r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,}(?:\s[A-Za-z0-9+/]{20,})*={0,2}"
    ),
    Shape(
        "private_key",
        '"d", "k", "p", "q", "dp", "dq", "qi", "d\\", "k\\',
        r'"(?:d|k|p|q|dp|dq|qi)\\?"\s{0,3}:\s{0,3}\\?"(?P<secret>[\w-]{20,2000})(?=\\?")',
        is_random,
    ),
    Shape(
        "password_hash",
        "$2a$, $2b$, $2y$, $5$, $6$, $y$, $apr1$, $argon2",
        r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{40,60}|[56y]\$[\w./$=,-]{30,200}|apr1\$[\w./$]{20,60}|argon2[\w./$=,+-]{30,300})",
    ),
    Shape(
        "connection_password",
        "://",
        r"://[^\s:/@?#\"'<>]{0,100}:(?P<secret>[^\s/\"'<>]{1,200})@(?=[\w.\-\[])",
        is_in_address,
    ),
    Shape(
        "connection_password",
        "://",
        r"://(?P<secret>[\w-]{20,200})(?::|:x-oauth-basic)?@(?=[\w.\-\[])",
        is_random_or_hex,
    ),
    Shape(
        "connection_password",
        "@tcp(, @unix(",
        r"(?<![\w-])[\w-]{1,32}:(?P<secret>[^\s:@\"']{3,60})@(?:tcp|unix)\(",
        is_given_password,
        run=ALNUM + "-_:!#$%^&*()+=[]{};,.<>?/|~",
    ),
    Shape(
        "connection_password",
        ":5432:, :3306:",
        r":\d{4}:[^\s:]{1,60}:[^\s:]{1,60}:(?P<secret>[^\s:\"']{4,100})",
        is_given_password,
    ),
    Shape(
        "connection_password",
        "jdbc:oracle",
        r"jdbc:oracle:\w{2,4}:[\w$]{1,30}/(?P<secret>[^\s@/]{3,60})@",
        is_given_password,
    ),
)
