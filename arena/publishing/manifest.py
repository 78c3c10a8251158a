"""The list of an exported folder's files, chained by hash: its head stands for them all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from arena.publishing.published import FORMAT, Hash, Value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MANIFEST = "manifest.json"
GENESIS = hashlib.sha256(b"bura-arena/export/1").hexdigest()
"""What the first file is chained to."""

_CHUNK = 1 << 20


class Listed(Value):
    """A file of the folder; `chain` hashes it together with all files before it."""

    path: str
    size: Annotated[int, Field(ge=0)]
    sha256: Hash
    chain: Hash


class Manifest(Value):
    """All files of a folder but the manifest, in ascending order of their paths as bytes."""

    format: int = FORMAT
    files: tuple[Listed, ...]
    head: Hash


@dataclass(frozen=True, slots=True)
class Sum:
    """The size of a file in bytes and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


def link(previous: str, path: str, size: int, sha256: str) -> str:
    """Return the chain value of a file that follows another."""
    return hashlib.sha256(f"{previous} {sha256} {size} {path}".encode()).hexdigest()


def chained(sums: Iterable[tuple[str, Sum]]) -> Manifest:
    """Return the manifest of files given as (path, sum), in any order."""
    head = GENESIS
    files = []
    for path, each in sorted(sums, key=lambda pair: pair[0].encode()):
        head = link(head, path, each.size, each.sha256)
        files.append(Listed(path=path, size=each.size, sha256=each.sha256, chain=head))
    return Manifest(files=tuple(files), head=head)


def sum_of(path: Path) -> Sum:
    """Read a file and return its sum.

    Raises:
        OSError: It cannot be read.
    """
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return Sum(size, digest.hexdigest())


def json_bytes(value: object) -> bytes:
    """Return the one way in which a document of an exported folder is written."""
    text = json.dumps(value, indent=1, ensure_ascii=True, allow_nan=False)
    return f"{text}\n".encode("ascii")
