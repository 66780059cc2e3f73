"""The call tree of a profile.cubex of Timeloom, read as docs/formats/cube.md describes the file."""

import struct
import tarfile
import zlib
from typing import Any, ClassVar
from xml.etree import ElementTree

FORMATS = {"UINT64": "Q", "DOUBLE": "d", "MINDOUBLE": "d", "MAXDOUBLE": "d", "TAU_ATOMIC": "I4d"}


def attributes(element):
    return {one.get("key"): one.get("value") for one in element.findall("attr")}


class CallPath:
    """The names from the root, like a tuple. Equal paths are one object, so deep ones compare quickly."""

    _known: ClassVar[dict[tuple[int, str | None], "CallPath"]] = {}
    _above: "CallPath | None"
    _name: str | None
    _root: str | None
    _depth: int

    def __new__(cls, above, name):
        if (id(above), name) not in cls._known:
            path = cls._known[id(above), name] = super().__new__(cls)
            path._above, path._name = above, name
            path._root = above._root if above else name
            path._depth = len(above) + 1 if above else 1
        return cls._known[id(above), name]

    def __len__(self):
        return self._depth

    def __getitem__(self, place):
        return {0: self._root, -1: self._name}[place] if place in (0, -1) else tuple(self)[place]

    def __iter__(self):
        names, path = [], self
        while path:
            names.append(path._name)
            path = path._above
        return reversed(names)


class Profile:
    """Members are lists in the order of the file's ids; `nodes` leaves out what gives the tree its shape.

    Members of a node: `parent` (None: a root), `region` (a name; None: beyond a limit), `parameters`, and `path`, a
    CallPath. Members of a location: `name`, `group`, `cells`: {node: (visits, inclusive, min, max)} with
    times in nanoseconds, `counters`: {(metric, node): (count, min, max, sum, squares)}, and `samples`:
    {(metric, its set, node): exclusive value}; the node is None while no region was open.
    """

    nodes: list[dict[str, Any]]
    locations: list[dict[str, Any]]

    def __init__(self, run):
        with tarfile.open(run / "profile.cubex") as archive:
            self._members = {one.name: archive.extractfile(one).read() for one in archive.getmembers()}
        root = ElementTree.fromstring(self._members["anchor.xml"])
        self.metrics = [
            {"name": one.findtext("disp_name"), "unique": one.findtext("uniq_name"), "kind": one.get("type"),
             "type": one.findtext("dtype"), "set": attributes(one).get("timeloom::set", "")}
            for one in root.iter("metric")]  # fmt: skip
        self._regions = [self._region(one) for one in root.iter("region")]
        self.regions = [name for name, shape in self._regions if not shape and name is not None]
        groups = list(root.iter("locationgroup"))
        self.groups = [attributes(one) for one in groups]
        places = [(int(one.get("Id")), number, one) for number, group in enumerate(groups)
                  for one in group.findall("location")]  # fmt: skip
        self.locations = [{"name": one.findtext("name") or "", "group": group, "cells": {}, "counters": {}, "samples": {}}
                          for _, group, one in sorted(places, key=lambda place: place[0])]  # fmt: skip
        self._read_tree(root)
        self._read_values()

    @staticmethod
    def _region(element):
        """The name, and whether the region is not part of the program."""
        name, paradigm = element.findtext("name"), element.findtext("paradigm")
        if "timeloom::of_program" in attributes(element):
            return name, False
        shape = element.findtext("role") == "artificial" and ":" not in paradigm and (not paradigm.startswith("user") or name == "MEASUREMENT OFF")
        beyond = name == "COLLAPSE" and paradigm == "user" and not element.get("mod")
        return (None if beyond else name), shape

    def _read_tree(self, root):
        self.nodes, self._children, self._node_of, found = [], [], [], {}
        waiting: list[tuple[Any, int | None, int | None]]
        waiting = [(top, None, None) for top in reversed(root.find("program").findall("cnode"))]
        while waiting:  # in the order of the document, however deep it is
            element, above, parent = waiting.pop()
            own = len(self._children)
            self._children.append([])
            if above is not None:
                self._children[above].append(own)
            name, shape = self._regions[int(element.get("calleeId"))]
            self._node_of.append(None if shape else self._node(element, name, parent, found))
            below = parent if shape else self._node_of[own]
            waiting.extend((child, own, below) for child in reversed(element.findall("cnode")))

    def _node(self, element, name, parent, found):
        """The node of a call path, which several call paths of the file can share."""
        given = tuple((one.get("parkey"), one.get("parvalue")) for one in element.findall("parameter"))
        node = found.setdefault((parent, element.get("calleeId"), given), len(self.nodes))
        if node == len(self.nodes):
            path = CallPath(None if parent is None else self.nodes[parent]["path"], name)
            self.nodes.append({"parent": parent, "region": name, "parameters": given, "path": path})
        return node

    def _wide(self):
        order, waiting = [0], [0]
        while waiting:
            children = self._children[waiting.pop()]
            order.extend(children)
            waiting.extend(reversed(children))
        return order

    def _rows(self, number, metric):
        """For each call path that has a row: [a tuple for each location]."""
        index, data = self._members.get(f"{number}.index"), self._members.get(f"{number}.data")
        if index is None:
            return {}
        form, count = struct.unpack_from("<BI", index, 17) if index[17] == 1 else (3, len(self._node_of))
        ids = struct.unpack_from(f"<{count}I", index, 22) if form == 1 else range(count)
        order = self._wide() if metric["kind"] == "INCLUSIVE" else range(len(self._node_of))
        layout = struct.Struct("<" + FORMATS[metric["type"]])
        size = layout.size * len(self.locations)
        if data.startswith(b"ZCUBEX.DATA"):
            streams = data[19 + 24 * count:]
            places = (struct.unpack_from("<3Q", data, 19 + 24 * row) for row in range(count))
            rows = [zlib.decompress(streams[begin:begin + length]) for _, begin, length in places]
        else:
            rows = [data[10 + row * size:10 + (row + 1) * size] for row in range(count)]
        return {order[id]: list(layout.iter_unpack(row)) for id, row in zip(ids, rows)}

    def _read_values(self):
        rows = {one["unique"]: self._rows(number, one) for number, one in enumerate(self.metrics)}
        core = [rows.pop(name) for name in ("visits", "time", "min_time", "max_time")]
        for cnode, node in enumerate(self._node_of):
            if node is None:
                continue
            visits, *all_times = (table[cnode] for table in core)
            for column, ((count,), (inclusive,)) in enumerate(zip(visits, all_times[0])):
                if count or inclusive:
                    # Without a visit, shortest and longest are undefined.
                    times = [times[column][0] for times in all_times]
                    nanoseconds = [round(time * 1e9) if abs(time) < 1e300 else None for time in times]
                    self.locations[column]["cells"][node] = (count, *nanoseconds)
        for metric in self.metrics[4:]:
            read = self._read_samples if metric["set"] else self._read_counters
            read(metric, rows[metric["unique"]])

    def _read_counters(self, metric, rows):
        for cnode, row in rows.items():
            for location, (count, *values) in zip(self.locations, row):
                if count:
                    location["counters"][metric["name"], self._node_of[cnode]] = (count, *values)

    def _read_samples(self, metric, rows):
        for cnode, row in rows.items():
            children = [rows[child] for child in self._children[cnode] if child in rows]
            key = (metric["name"], metric["set"], self._node_of[cnode])
            for column, (value,) in enumerate(row):
                if not value:
                    continue
                below = sum(child[column][0] for child in children) if metric["kind"] == "INCLUSIVE" else 0
                if value - below >= 1:
                    samples = self.locations[column]["samples"]
                    samples[key] = samples.get(key, 0) + int(value - below)


def visits_by_region(profile, location):
    """{region: visits} of one location."""
    visits = {}
    for node, (count, *_) in location["cells"].items():
        name = profile.nodes[node]["region"]
        visits[name] = visits.get(name, 0) + count
    return visits
