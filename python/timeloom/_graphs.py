"""Call paths as graphs of hatchet and NetworkX, from the rows of ``timeloom report --json``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx

_Rows = Iterable[dict[str, Any]]


def literal_of(tree: _Rows) -> list[dict[str, Any]]:
    """Return the argument of ``hatchet.GraphFrame.from_literal``: the roots, each with its ``children``.

    Metrics are ``time`` (exclusive) and ``time (inc)`` in seconds, and ``visits``.
    """
    roots: list[dict[str, Any]] = []
    nodes: dict[int, dict[str, Any]] = {}
    for row in tree:  # callers precede their callees
        frame = {"name": row["name"], "type": "function", "file": row["file"], "line": row["line"]}
        values = {parameter["name"]: parameter["value"] for parameter in row["parameters"]}
        metrics = {"time": row["exclusive_s"], "time (inc)": row["inclusive_s"], "visits": row["visits"]}
        node = {"frame": {**values, **frame}, "metrics": metrics, "children": []}
        nodes[row["id"]] = node
        (roots if row["parent"] is None else nodes[row["parent"]]["children"]).append(node)
    return roots


def call_graph(tree: _Rows, flat: _Rows) -> networkx.DiGraph[Any]:
    """Return a graph with a node for each region and an edge from caller to callee.

    Nodes are ``(name, file, line)``, with the keys of a row of the flat table as attributes. Edges have ``visits`` and
    ``inclusive_s``, in which calls inside other calls along the same edge count again.
    """
    import networkx

    graph: networkx.DiGraph[Any] = networkx.DiGraph()
    for row in flat:
        graph.add_node(_key(row), **row)
    keys = {}
    for row in tree:
        keys[row["id"]] = _key(row)
        if row["parent"] is None:
            continue
        caller = keys[row["parent"]]
        edge = graph.get_edge_data(caller, _key(row), {"visits": 0, "inclusive_s": 0.0})
        graph.add_edge(
            caller,
            _key(row),
            visits=edge["visits"] + row["visits"],
            inclusive_s=edge["inclusive_s"] + row["inclusive_s"],
        )
    return graph


def _key(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["name"], row["file"], row["line"]
