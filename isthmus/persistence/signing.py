"""Signatures: who has written a file, which a checksum does not say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from isthmus.persistence.errors import SignatureError


def signer(key: str | os.PathLike | bytes) -> Any:
    """A function that signs bytes with a private key, a file in PEM or OpenSSH form or its content."""
    private = _key(key, "private")
    return private.sign


def check_signature(
    signed: bytes, signature: bytes | None, trusted: str | os.PathLike | bytes, path: Any
) -> None:
    """Refuse a file that the holder of the trusted key has not signed."""
    public = _key(trusted, "public")
    if signature is None:
        raise SignatureError(
            f"{path} is refused: it is not signed, and a key to trust was given. Sign it with "
            "isthmus fit --sign, or load it without the key if you trust the file itself."
        )
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(signature, signed)
    except InvalidSignature:
        raise SignatureError(
            f"{path} is refused: it was not signed with the trusted key."
        ) from None


def _key(given: str | os.PathLike | bytes, kind: str) -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise ImportError("Signatures need cryptography: pip install 'isthmus[sign]'.") from error
    name = "the key" if isinstance(given, bytes) else os.fspath(given)
    data = given if isinstance(given, bytes) else Path(given).read_bytes()
    options: dict[str, Any] = {"password": None} if kind == "private" else {}
    wanted: Any = getattr(ed25519, f"Ed25519{kind.capitalize()}Key")
    for form in ("pem", "ssh"):
        read = getattr(serialization, f"load_{form}_{kind}_key")
        try:
            key = read(data, **options)
        except TypeError:
            raise ValueError(
                f"{name} is protected by a password: give a key without one."
            ) from None
        except Exception:  # of another form, or no key: told below
            continue
        if isinstance(key, wanted):
            return key
    raise ValueError(
        f"{name} does not hold a {kind} Ed25519 key in PEM or OpenSSH form; "
        "openssl genpkey -algorithm ed25519 makes a private one."
    )
