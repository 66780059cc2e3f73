"""One call path of a run, from the rows of ``timeloom report --tree --json``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from timeloom._mcp._answers import ALL_ROWS, NOTES, head, selection
from timeloom._mcp._bounds import bounded, picked
from timeloom._mcp._folders import Folders
from timeloom._mcp._program import json_of
from timeloom._mcp._refused import Refused

_Row = dict[str, Any]
_KEYS = (
    "id", "name", "file", "line", "parameters", "visits", "given_up", "inclusive_s", "own_s", "working_s", "waiting_s",
    "unmeasured_s",
)  # fmt: skip
_DIVIDES = 0.5  # share of a caller's time from which on a callee continues the path


class _Tree:
    """Call paths by their ids, and the callees of each; the callees of None are the outermost calls of threads."""

    def __init__(self, rows: list[_Row]) -> None:
        self._rows = {row["id"]: row for row in rows}
        self.callees: Mapping[Any, list[_Row]] = defaultdict(list)
        for row in rows:
            self.callees[row["parent"] if row["parent"] in self._rows else None].append(row)

    def find(self, path: str, min_percent: float) -> _Row | None:
        """Return the call path with this id, or with these names; of several, the one with the most time.

        `min_percent`: the least share of the time of all rows.
        """
        if not path:
            return None
        if path.isdecimal() and int(path) in self._rows:
            return self._rows[int(path)]
        first, *others = [name.strip() for name in path.split(" > ")]
        found = [row for row in self._rows.values() if _is_named(row, first)]
        for name in others:
            found = [callee for row in found for callee in self.callees[row["id"]] if _is_named(callee, name)]
        if not found:
            raise Refused(
                f"there is no call path {path!r} with {min_percent:g} % of the time or more; write an id of an earlier "
                "answer with the same arguments, or names: 'main > load', or a smaller min_percent [TL498]"
            )
        return max(found, key=lambda row: float(row["inclusive_s"]))

    def callers(self, row: _Row) -> list[_Row]:
        """Return the rows above, the root first."""
        above: list[_Row] = []
        while (caller := self._rows.get(row["parent"])) is not None:
            above.insert(0, caller)
            row = caller
        return above

    def goes_on(self, row: _Row | None) -> list[_Row]:
        """Return the rows below, each a callee of the one before that has at least half of its time."""
        path: list[_Row] = []
        time = row["inclusive_s"] if row else sum(root["inclusive_s"] for root in self.callees[None])
        while below := self.callees[row["id"] if row else None]:
            row = max(below, key=lambda one: float(one["inclusive_s"]))
            if row["inclusive_s"] < _DIVIDES * time:
                break
            path.append(row)
            time = row["inclusive_s"]
        return path


def _is_named(row: _Row, name: str) -> bool:
    whole: str = row["name"]
    return whole == name or whole.endswith((f".{name}", f":{name}"))


async def call_path(folders: Folders, arguments: Mapping[str, Any]) -> str:
    """One call path: what calls it, what it calls, and where most of its time goes on."""
    options = ["--tree", f"--min-percent={arguments['min_percent']}", *selection(arguments)]
    facts = await json_of(["report", *options, str(folders.path(arguments["run"]))], folders.roots[0])
    tree = _Tree(facts["tree"]["rows"])
    row = tree.find(arguments["path"], arguments["min_percent"])
    answer: dict[str, Any] = head(facts, ("total_s",))
    if row:
        answer["path"] = picked(row, _KEYS)
    brief = ("id", "name", "line", "visits", "inclusive_s")
    answer["callers"] = [picked(one, brief) for one in (tree.callers(row) if row else [])][::-1]
    answer["callees"] = [picked(one, _KEYS) for one in tree.callees[row["id"] if row else None]]
    answer["goes_on"] = [picked(one, brief) for one in tree.goes_on(row)]
    answer["smaller_paths_hidden"] = facts["tree"]["hidden_small"]
    more = ALL_ROWS.format("timeloom report --tree --json") + "; an id in path continues there"
    return bounded(answer, ["callees", "goes_on", "callers", *NOTES], arguments["rows"], more)
