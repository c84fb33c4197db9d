"""What a page that is written may do in a browser."""

from __future__ import annotations

import base64
import hashlib


def content_policy(scripts: list[str], others: str) -> str:
    """What a page may do: run these scripts, which it knows by their hashes, and nothing else."""
    hashes = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{found}'" for found in hashes)
    rest = "base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; {others}; {rest}"
