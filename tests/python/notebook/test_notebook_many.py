"""Five hundred measured cells in one kernel: the last one costs as much as the first, in everything that can be
counted."""

import json
import re

import pytest

pytest.importorskip("ipykernel")

from notebooks import Kernel, read

pytestmark = pytest.mark.notebook_suite

CELL = "%%timeloom --keep-spool\nwork()"
COUNTED = """
def counted():
    import gc, os, sys, threading
    gc.collect()
    shell = get_ipython()
    with open("/proc/self/smaps_rollup") as file:
        memory = {line.split()[0]: int(line.split()[1]) for line in file.readlines()[1:]}
    return {"descriptors": len(os.listdir("/proc/self/fd")), "threads": len(os.listdir("/proc/self/task")),
            "python_threads": threading.active_count(), "private": memory["Private_Dirty:"],
            "shared": memory["Shared_Dirty:"], "maps": sum(1 for _ in open("/proc/self/maps")),
            "objects": len(gc.get_objects()), "modules": len(sys.modules),
            "methods": sorted(vars(sys.stdout)), "callbacks": len(shell.events.callbacks["post_run_cell"]),
            "transforms": len(shell.input_transformer_manager.cleanup_transforms)}
"""
SAME = ("threads", "python_threads", "modules", "methods", "callbacks", "transforms")


@pytest.fixture
def kernel(tmp_path):
    kernel = Kernel(tmp_path / "jupyter", tmp_path)
    kernel.run("def leaf(): pass\ndef work():\n    for _ in range(100): leaf()")
    kernel.run(COUNTED)
    yield kernel
    kernel.close()


def counted(kernel):
    kernel.run("%timeloom wait")
    kernel.run("import json")
    return json.loads(kernel.run("print(json.dumps(counted()))").stdout)


def sizes(run):
    """Counts of the definitions and records that the cell has written."""
    return {path.name: path.stat().st_size for path in run.glob("spool/*/*") if path.name in ("defs", "log")}


def test_the_500th_cell_costs_what_the_first_did(kernel):
    for _ in range(100):  # numbers of three digits from here on, and caches that are full
        first = kernel.run(CELL)
    before = counted(kernel)
    first = kernel.run(CELL)
    for _ in range(398):
        kernel.run(CELL)
    last = kernel.run(CELL)
    after = counted(kernel)
    assert {name: after[name] for name in SAME} == {name: before[name] for name in SAME}
    assert after["descriptors"] < before["descriptors"] + 20  # weaves open and close some; one per cell would be 400
    # The notebook keeps a cell's source, its results and the handle of its block: a few objects, a few kB.
    assert after["objects"] - before["objects"] < 400 * 20
    assert after["private"] + after["shared"] - before["private"] - before["shared"] < 400 * 10  # kB
    assert after["maps"] - before["maps"] < 40
    kernel.run("%timeloom wait")
    small, large = sizes(first.run), sizes(last.run)
    assert small.keys() == large.keys() == {"defs", "log"}
    assert all(abs(large[name] - small[name]) <= 64 for name in small)  # the digits of numbers, and long pauses
    one, other = read(first.run), read(last.run)
    assert [(row["depth"], row["visits"]) for row in one.tree] == [(row["depth"], row["visits"]) for row in other.tree] == [
        (0, 1), (1, 1), (2, 100)]
    assert one.info["events"] == other.info["events"] >= 204
    functions = [re.findall(r"__main__\.\w+", cell.shown[0]) for cell in (first, last)]  # advice differs with their times
    assert functions[0] == functions[1] and set(functions[0]) == {"__main__.work", "__main__.leaf"}
