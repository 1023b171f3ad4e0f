"""What an audit has found so far, on the disk: ``OUT.audit``, one line per anchor that was drawn.

It stays beside the result. Its first line says which run it belongs to, so that checks of another model, or
of other options, are never taken for this one's.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from kedge.corpus.audit import Auditor, Proposal, Urn
from kedge.corpus.files.table import Table, writing
from kedge.corpus.items import Item
from kedge.corpus.promise import Audit
from kedge.studies.checking import Checked

__all__ = ["AuditFile", "written_rows"]


class AuditFile:
    """The checks of one run, taken up where an interruption left them.

    Parameters
    ----------
    path
        Where they are.
    options
        The options of the run.
    fresh
        Whether what is there is thrown away.
    """

    def __init__(self, path: Path, options: Mapping[str, Any], *, fresh: bool) -> None:
        self._path = path
        self._run = sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()
        self.known: dict[str, Checked] = {}
        self.result: Audit | None = None
        if not fresh:
            self._take_up()

    def _take_up(self) -> None:
        """Read the checks of an earlier start; a line that was torn is made again."""
        try:
            lines = self._path.read_bytes().splitlines()
            if not lines or json.loads(lines[0]).get("run") != self._run:
                return
            for line in lines[1:]:
                entry = json.loads(line)
                if "audit" in entry:
                    self.result = Audit(**entry["audit"])
                else:
                    key = entry.pop("key")
                    self.known[key] = Checked(**entry)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return

    def complete(self, auditor: Auditor, rows: Iterable[Mapping[str, Any]], items: Iterable[Item]) -> Audit:
        """Audit rows that were made of these documents, and write down each check as it is made."""
        urn = Urn.of(rows, auditor.explainer.options.seed)
        may_be_drawn = {proposal.row for proposal in urn.order()}
        texts = {item.row: item for item in items if item.row in may_be_drawn}
        head = json.dumps({"run": self._run}) + "\n"
        self._write("".join([head, *(_line(key, check) for key, check in self.known.items())]), "w")
        audit = auditor.audit(urn, texts, self.known, self._record)
        self._write(json.dumps({"audit": asdict(audit)}) + "\n", "a")
        return audit

    def _record(self, proposal: Proposal, check: Checked) -> None:
        self._write(_line(proposal.key, check), "a")

    def _write(self, text: str, mode: str) -> None:
        with writing(self._path), self._path.open(mode, encoding="ascii") as file:
            file.write(text)


def _line(key: str, check: Checked) -> str:
    return json.dumps({"key": key, **asdict(check)}) + "\n"


def written_rows(
    rows: Iterable[Mapping[str, Any]], path: Path, *, full: bool, about: Mapping[str, Any]
) -> Path:
    """Write rows as a whole result, a table if ``path`` is to be one, and have them on the disk."""
    if ".parquet" in path.suffixes:
        with Table(path, full=full, about=about) as table:
            for row in rows:
                table.add(row)
            return table.close()
    with writing(path), path.open("w", encoding="ascii") as file:
        for row in rows:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return path
