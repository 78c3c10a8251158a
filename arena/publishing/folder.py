"""The files of an exported folder, read as strictly as they are written."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from arena.publishing.differences import UNFIT, compare, differ, fitting, place_of, shown
from arena.publishing.documents import RECORDS, TOURNAMENT
from arena.publishing.manifest import GENESIS, MANIFEST, Manifest, json_bytes, link, sum_of
from arena.publishing.published import TOURNAMENTS
from referee.record import in_words

if TYPE_CHECKING:
    from pathlib import Path

    from arena.publishing.manifest import Sum
    from arena.publishing.published import PublishedTournament

Item = TypeVar("Item")

MOST_MANIFEST_BYTES = 1 << 28
"""Room for the records of a million matches."""

MOST_BYTES = 1 << 30
"""No other file is longer: each is read at once, and a stranger's shall not fill the memory."""


class Folder:
    """A folder as `arena.publishing.export` writes it.

    Attributes:
        path: Where it is.
        sums: Size and hash of every file but the manifest, by name; empty before it was checked.
        head: The head of the manifest's chain; empty before it was checked.
    """

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self.sums: dict[str, Sum] = {}
        self.head = ""
        self._format = 0

    def check_manifest(self, head: str | None) -> None:
        """Check that the manifest lists every file as it is, and nothing else is there.

        Args:
            head: As it was published, if it is known from elsewhere.

        Raises:
            DifferenceError: At the first difference.
        """
        manifest = self.read(MANIFEST, Manifest)
        if manifest.format not in TOURNAMENTS:
            differ(MANIFEST, "format", " or ".join(map(str, TOURNAMENTS)), str(manifest.format))
        listed = {each.path: each for each in manifest.files}
        names = [each.path for each in manifest.files]
        if names != sorted(listed, key=str.encode):
            differ(MANIFEST, "files", "each path once, in ascending order", "another order")
        there = self._walk()
        for path in sorted(listed.keys() | there):
            if path not in there:
                differ(path, "", "a file, for the manifest lists it", "nothing")
            if path not in listed:
                differ(path, "", "nothing, for the manifest does not list it", "a file")
        chain = GENESIS
        for number, each in enumerate(manifest.files):
            place = self.path / each.path
            # What is longer than it should be is not read first to find that out.
            size = place.stat().st_size
            compare(each.path, "size", each.size, size)
            _refuse_longer(each.path, MOST_BYTES, size)
            found = self.sums[each.path] = sum_of(place)
            compare(each.path, "size", each.size, found.size)
            compare(each.path, "SHA-256", each.sha256, found.sha256)
            chain = link(chain, each.path, found.size, found.sha256)
            compare(MANIFEST, f"files[{number}].chain ({each.path})", chain, each.chain)
        compare(MANIFEST, "head", chain, manifest.head)
        self.head = chain
        self._format = manifest.format
        if head is not None:
            compare(MANIFEST, "head, as it was published", head, chain)

    def tournament(self) -> PublishedTournament:
        """Read what the tournament is, in the form of the folder, whose manifest was checked.

        Raises:
            DifferenceError: It is not there, or not in that form.
        """
        tournament = self.read(TOURNAMENT, TOURNAMENTS[self._format])
        compare(TOURNAMENT, "format, as the manifest says", self._format, tournament.format)
        return tournament

    def _walk(self) -> set[str]:
        """Return all files below the folder but the manifest; there must be nothing else."""
        found = set()
        for path in self.path.rglob("*"):
            name = path.relative_to(self.path).as_posix()
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                differ(name, "", "a plain file", "a link or a special file")
            if path.is_dir() and name != RECORDS:
                differ(name, "", "nothing: there is one folder, that of the records", "a folder")
            if path.is_file() and name != MANIFEST:
                found.add(name)
        return found

    def read(self, name: str, kind: type[Item]) -> Item:
        """Read a document, which has to be written in the one way there is.

        Raises:
            DifferenceError: It is not there, or not in that form.
        """
        data = self.content(name)
        adapter = TypeAdapter(kind)
        try:
            value = adapter.validate_json(data)
        except ValidationError as error:
            first = error.errors()[0]
            if first["type"] == "json_invalid":
                differ(name, "", "JSON", str(first["msg"]))
            differ(name, place_of(first["loc"]), str(first["msg"]), shown(first["input"]))
        with fitting(name):
            expected = json_bytes(adapter.dump_python(value, mode="json"))
        same(name, expected, data)
        return value

    def content(self, name: str) -> bytes:
        """Return what is in a file, which the manifest must list, but for itself.

        Raises:
            DifferenceError: It is not there, or longer than any is.
        """
        if name != MANIFEST and name not in self.sums:
            differ(name, "", "a file", "nothing")
        most = MOST_MANIFEST_BYTES if name == MANIFEST else MOST_BYTES
        with (self.path / name).open("rb") as file:
            _refuse_longer(name, most, os.fstat(file.fileno()).st_size)
            return file.read(most)


def _refuse_longer(name: str, most: int, size: int) -> None:
    if size > most:
        differ(name, "size", f"{most} bytes at most", str(size))


def same(name: str, expected: bytes, found: bytes) -> None:
    """Compare two files; name the value, the line or, if only this differs, the form.

    Raises:
        DifferenceError: They differ.
    """
    if expected == found:
        return
    if name.endswith(".json"):
        try:
            values = json.loads(expected), json.loads(found)
        except UNFIT as error:
            differ(name, "", "JSON", in_words(error))
        compare(name, "", *values)
        differ(name, "", "the form that docs/export.md tells", "another one")
    lines = expected.decode().split("\n"), found.decode(errors="replace").split("\n")
    for number, (line, other) in enumerate(zip(*lines, strict=False), start=1):
        compare(name, f"line {number}", line, other)
    differ(name, "", f"{len(lines[0])} lines", str(len(lines[1])))
