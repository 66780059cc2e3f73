"""CUBE profiles as pycubexr reads them, and through the small tool of the C++ tests."""

import json
import os
import random
import subprocess
from pathlib import Path

import numpy
import pycubexr
import pytest

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"
# Read at once: tests run without settings of Timeloom.
TOOL = Path(os.environ.get("TIMELOOM_CUBE_JSON")
            or ROOT / "build" / "release" / "tests" / "unit" / "cube" / "cube_json")

needs_tool = pytest.mark.skipif(not TOOL.exists(),
                                reason=f"{TOOL} is not built: `make build` makes it")

SIZES = {"UINT64": 8, "INT64": 8, "DOUBLE": 8, "MINDOUBLE": 8, "MAXDOUBLE": 8, "UINT32": 4,
         "INT32": 4, "UINT16": 2, "INT16": 2, "UINT8": 1, "INT8": 1, "COMPLEX": 16, "RATE": 16,
         "TAU_ATOMIC": 36, "NDOUBLES(3)": 24}
SUMS_ONLY = ("MINDOUBLE", "MAXDOUBLE", "TAU_ATOMIC")  # never inclusive


def write(file, description, *options):
    subprocess.run([TOOL, "write", file, *options], input=json.dumps(description), text=True,
                   check=True)


def read(file):
    done = subprocess.run([TOOL, "read", file], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def raw(values):
    """Return the bytes that pycubexr read, without its wrapper."""
    return numpy.ascontiguousarray(getattr(values, "_values", values)).tobytes()


def with_pycubexr(file):
    """Return cube_json's output for a file, as far as pycubexr reads it: {metric: {cnode: bytes}}."""
    with pycubexr.CubexParser(file) as cube:
        values = {}
        for metric in cube.all_metrics():
            try:
                found = cube.get_metric_values(metric, allow_full_uint64_values=True)
            except pycubexr.utils.exceptions.MissingMetricError:
                continue
            values[metric.name] = {
                cnode.id: raw(found.cnode_values(cnode)) for cnode in cube.all_cnodes()
                if cnode.id in found.cnode_indices}
        tree = {cnode.id: (cnode.parent.id if cnode.parent else None, cnode.region.name,
                           {key: str(value) for key, value in cnode.parameters.items()})
                for cnode in cube.all_cnodes()}
        return values, tree, [location.name for location in cube.get_locations()]


def sums_by_region(file, metric):
    """{region: the sum of the metric over its call paths and all locations}, without zeros."""
    with pycubexr.CubexParser(str(file)) as cube:
        found = cube.get_metric_values(cube.get_metric_by_name(metric), allow_full_uint64_values=True)
        sums: dict[str, int] = {}
        for cnode in cube.all_cnodes():
            if cnode.id in found.cnode_indices:
                values = sum(map(int, found.cnode_values(cnode)))
                sums[cnode.region.name] = sums.get(cnode.region.name, 0) + values
    return {name: value for name, value in sums.items() if value}


def random_description(seed, nodes, locations, metrics):
    """A cube with one root; `metrics` are pairs of a type and a kind."""
    source = random.Random(seed)
    parents, depths = [None], [0]
    for node in range(1, nodes):
        # In pre-order: below the node before it, or below one of its ancestors.
        above = node - 1
        while parents[above] is not None and (depths[above] > 60 or source.random() < 0.5):
            above = parents[above]
        parents.append(above)
        depths.append(depths[above] + 1)
    regions = [f"region <{i}> & \"{i}\"" for i in range(source.randint(1, 50))]
    values = {}
    for index, (dtype, _) in enumerate(metrics):
        kept = source.choice([1.0, 0.5, 0.01])
        rows = {str(node): source.randbytes(SIZES[dtype] * locations).hex()
                for node in range(nodes) if source.random() < kept}
        if rows:
            values[str(index)] = rows
    return {
        "metrics": [{"name": f"metric_{i}", "dtype": dtype, "kind": kind}
                    for i, (dtype, kind) in enumerate(metrics)],
        "regions": regions,
        "cnodes": [{"parent": parent, "region": source.randrange(len(regions)),
                    "parameters": [[True, "n", str(node)]] if source.random() < 0.1 else []}
                   for node, parent in enumerate(parents)],
        "locations": [[place * 3 // locations, f"thread {place}"] for place in range(locations)],
        "values": values,
    }
