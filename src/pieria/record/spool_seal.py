"""Encrypt spool lines so that only the holder of a key can read them; writing needs no key.

A hook must be quick and may not ask for a key. It encrypts each line to the public key of a pair. The private key is
in the same file, encrypted with the banks' key. Hooks load this file without its package.
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
"""A nonce for keys that are used only once. The wrapping of the private key draws its own nonce."""


def sealed(pair: str, line: bytes) -> bytes:
    """Return the line encrypted to the pair in the file text `pair`. Raise `ImportError` without the extra."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        # Hooks start without the site-packages folders.
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
    """Return the decrypted line. Raise `ValueError` if the key or the line does not match."""
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
    """Return the text of a pair's file that `key` opens.

    With `pair` and `holder`, an existing pair is kept, and `key` opens it in addition to `holder`.
    """
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
    """Return whether `key` opens the pair."""
    return _mark(key) in json.loads(pair)["private"]


def without(pair: str, key: bytes) -> str:
    """Return the pair's file without access for this key."""
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
    """Return an identifier of the key that reveals nothing about it."""
    return blake2b(key=key, digest_size=8, person=b"pieria mark").hexdigest()
