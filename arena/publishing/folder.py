"""The files of an exported folder, read as strictly as they are written."""

from __future__ import annotations

import json
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
            found = self.sums[each.path] = sum_of(self.path / each.path)
            compare(each.path, "size", each.size, found.size)
            compare(each.path, "SHA-256", each.sha256, found.sha256)
            chain = link(chain, each.path, found.size, found.sha256)
            compare(MANIFEST, f"files[{number}].chain ({each.path})", chain, each.chain)
        compare(MANIFEST, "head", chain, manifest.head)
        self.head = chain
        if head is not None:
            compare(MANIFEST, "head, as it was published", head, chain)

    def tournament(self) -> PublishedTournament:
        """Read what the tournament is, in the form of the folder.

        Raises:
            DifferenceError: It is not there, or not in that form.
        """
        form = self.read(MANIFEST, Manifest).format
        tournament = self.read(TOURNAMENT, TOURNAMENTS[form])
        compare(TOURNAMENT, "format, as the manifest says", form, tournament.format)
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
        if name != MANIFEST and name not in self.sums:
            differ(name, "", "a file", "nothing")
        data = (self.path / name).read_bytes()
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
