"""Put the secrets of `secrets.toml` together, so that no file holds one."""

import random
import string
from typing import Any

from tests.unit.samples import samples

SAMPLES = samples("secrets")
ALPHANUMERIC = string.ascii_letters + string.digits
ALPHABETS = {
    "ALPHANUMERIC": ALPHANUMERIC,
    "LOWER": string.ascii_lowercase + string.digits,
    "UPPER": string.ascii_uppercase + "234567",
    "HEX": "0123456789abcdef",
    "WORD": ALPHANUMERIC + "-_",
    "NAME": ALPHANUMERIC + "_",
    "BASE64": ALPHANUMERIC + "+/",
    "SIGNS": ALPHANUMERIC + "&=+-_",
    "BECH32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}


def made(start: str, length: int, alphabet: str = "ALPHANUMERIC") -> str:
    """Return a string of this shape: the same in every run, with every kind of character of its alphabet."""
    letters = ALPHABETS[alphabet]
    draw = random.Random(start + str(length))
    body = [draw.choice(letters) for _ in range(length)]
    for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        known = [character for character in kind if character in letters]
        for _ in range(3 if known else 0):
            body[draw.randrange(length // 2)] = draw.choice(known)
    body[length // 2 : length // 2 + 3] = [draw.choice([c for c in letters if c in ALPHABETS["HEX"]]) for _ in range(3)]
    body[-4:-1] = [c for c in letters if c.isdigit()][:3]
    only_letters = [c for c in letters if c.isalpha()]
    body[-1], body[0] = only_letters[0], only_letters[-1]
    return start + "".join(body)


def uuid(start: str) -> str:
    part = made("", 32, "HEX")
    return start + "-".join((part[:8], part[8:12], part[12:16], part[16:20], part[20:]))


def secret_of(parts: Any) -> str:
    """Return the parts joined. A name stands for the parts of `values`."""
    if isinstance(parts, str):
        return secret_of(SAMPLES["values"][parts])
    return "".join(
        part if isinstance(part, str) else uuid(part[0]) if part[1] == "uuid" else made(*part) for part in parts
    )


FOUND: list[tuple[str, str, str]] = [(kind, text, secret_of(parts)) for kind, text, parts in SAMPLES["found"]]
"""The kind of each secret, a text with its place marked by @@, and the secret."""
FOUND.append(("twilio_token", f"Client('{made('A' + 'C', 32, 'HEX')}', '@@')", made("", 32, "HEX")))
COVERED: list[tuple[str, str, str]] = [(kind, text, secret_of(parts)) for kind, text, parts in SAMPLES["covered"]]
"""Secrets of which the text around is cut as well."""
WEAK, LONG = secret_of("WEAK"), secret_of("LONG")
AWS_KEY, AWS_SECRET = secret_of("AWS_KEY"), secret_of("AWS_SECRET")
