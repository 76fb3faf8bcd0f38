"""Lines of the spool that only the holder of a key can read, though whoever writes them has none.

A hook has to be quick, and may not ask for a key: it seals each line to the public half of a pair, and forgets how. The
other half lies beside it, sealed with the key of the banks. Hooks take this file without its package.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from hashlib import blake2b
from typing import Any

NAME = "seal.json"
BEGINS = b'{"sealed":"'
ENDS = b'"}'
PUBLIC_BYTES = 32
ONCE = bytes(12)
"""Each key that comes with it is used once, but that of the pair, whose nonce is drawn."""


def sealed(pair: str, line: bytes) -> bytes:
    """The line, to the pair that a file holds, whose text this is. Raises where the extra is not installed."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        # Hooks begin without the folders in which packages lie.
        import site

        site.main()
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    public = bytes.fromhex(json.loads(pair)["public"])
    own = X25519PrivateKey.generate()
    shown = own.public_key().public_bytes_raw()
    shared = own.exchange(X25519PublicKey.from_public_bytes(public))
    closed = ChaCha20Poly1305(_drawn(shared + shown + public)).encrypt(ONCE, line.strip(), None)
    return b"\n" + BEGINS + b64encode(shown + closed) + ENDS + b"\n"


def is_sealed(line: bytes) -> bool:
    return line.startswith(BEGINS) and line.endswith(ENDS)


def opened(pair: str, key: bytes, line: bytes) -> bytes:
    """The line again. `ValueError` where the key, or the line, is another."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    held = json.loads(pair)
    whole = b64decode(line[len(BEGINS) : -len(ENDS)])
    shown, closed = whole[:PUBLIC_BYTES], whole[PUBLIC_BYTES:]
    try:
        private = X25519PrivateKey.from_private_bytes(_private(held, key))
        shared = private.exchange(X25519PublicKey.from_public_bytes(shown))
        read: bytes = ChaCha20Poly1305(_drawn(shared + shown + bytes.fromhex(held["public"]))).decrypt(
            ONCE, closed, None
        )
    except InvalidTag as problem:
        raise ValueError("the key does not open it") from problem
    return read


def made(key: bytes, pair: str | None = None, holder: bytes | None = None) -> str:
    """A pair, as its file holds it. Of one that is there `holder` opens it, and the key shall do so as well."""
    from os import urandom

    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    if pair is None or holder is None:
        private = X25519PrivateKey.generate()
        held: dict[str, Any] = {"public": private.public_key().public_bytes_raw().hex(), "private": {}}
        secret = private.private_bytes_raw()
    else:
        held = json.loads(pair)
        secret = _private(held, holder)
    nonce = urandom(len(ONCE))
    closed = ChaCha20Poly1305(_wrapping(key)).encrypt(nonce, secret, None)
    held["private"][_mark(key)] = (nonce + closed).hex()
    return json.dumps(held)


def opens(pair: str, key: bytes) -> bool:
    """Whether it was made for this key, too."""
    return _mark(key) in json.loads(pair)["private"]


def without(pair: str, key: bytes) -> str:
    """The pair, which this key opens no longer."""
    held = json.loads(pair)
    held["private"].pop(_mark(key), None)
    return json.dumps(held)


def _private(held: dict[str, Any], key: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    closed = held["private"].get(_mark(key))
    if closed is None:
        raise ValueError("it was made for another key")
    whole = bytes.fromhex(closed)
    try:
        found: bytes = ChaCha20Poly1305(_wrapping(key)).decrypt(whole[: len(ONCE)], whole[len(ONCE) :], None)
    except InvalidTag as problem:
        raise ValueError("it was damaged") from problem
    return found


def _drawn(shared: bytes) -> bytes:
    return blake2b(shared, digest_size=32, person=b"pieria line").digest()


def _wrapping(key: bytes) -> bytes:
    return blake2b(key=key, digest_size=32, person=b"pieria pair").digest()


def _mark(key: bytes) -> str:
    """By which a key is known, and which tells nothing of it."""
    return blake2b(key=key, digest_size=8, person=b"pieria mark").hexdigest()
