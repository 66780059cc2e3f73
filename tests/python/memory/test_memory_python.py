"""timeloom run --memory-python: blocks of Python's own allocators by call path, beside the blocks of the C library."""

import json
import subprocess
import sys

import pytest
from streams import environment

PROGRAM = """
import itertools, json, sys

class Point:
    __slots__ = ("x",)

def make(count):
    return [Point() for _ in itertools.repeat(None, count)]

def drop(points):
    points.clear()

def large():
    return [bytes(1000) for _ in itertools.repeat(None, 100)]

def main():
    drop(make(50_000))
    large()
    print(json.dumps(sys.getsizeof(Point())))

main()
"""


@pytest.fixture(params=[[], ["--profile"]], ids=["trace", "profile"])
def run(request, tmp_path, timeloom):
    (tmp_path / "app.py").write_text(PROGRAM)
    done = timeloom("run", "--quiet", "--memory-python", *request.param, "-o", "run", "app.py", cwd=tmp_path)
    return tmp_path, json.loads(done.stdout)


def path_of(report, function):
    (path,) = [path for path in report["paths"] if path["path"][-1] == f"__main__.{function}"]
    return path


def test_blocks_are_counted_by_call_path(run, timeloom):
    directory, size = run
    report = json.loads(timeloom("report", "--memory", "--json", "run", cwd=directory).stdout)
    made = path_of(report, "make")
    if sys.version_info < (3, 12):  # comprehensions are functions of their own
        made = path_of(report, "make.<locals>.<listcomp>")
    # The list grows about 90 times.
    assert 50_000 <= made["python_allocations"] <= 50_300
    assert 50_000 * size <= made["python_bytes"] <= 50_000 * size + 8_000_000
    assert made["python_frees"] <= 300
    dropped = path_of(report, "drop")
    assert 50_000 <= dropped["python_frees"] <= 50_010
    assert dropped["python_allocations"] <= 5
    large = path_of(report, "large" if sys.version_info >= (3, 12) else "large.<locals>.<listcomp>")
    # From one domain into the next one, and counted once; in the C library they are counted as well.
    assert 100 <= large["python_allocations"] <= 115
    assert large["allocations"] >= 100


def test_the_report_has_a_table(run, timeloom):
    directory, _ = run
    text = timeloom("report", "--memory", "run", cwd=directory).stdout
    assert "makes most objects of Python" in text
    (row,) = [line for line in text.splitlines() if "__main__.make" in line and " 50," in line]
    assert len(text.splitlines()) <= 25


def test_without_it_there_are_none(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(PROGRAM)
    timeloom("run", "--quiet", "--memory", "-o", "run", "app.py", cwd=tmp_path)
    report = json.loads(timeloom("report", "--memory", "--json", "run", cwd=tmp_path).stdout)
    assert sum(path["python_allocations"] for path in report["paths"]) == 0
    assert "objects of Python" not in timeloom("report", "--memory", "run", cwd=tmp_path).stdout


def test_tracemalloc_and_threads_go_on_beside_it(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(
        "import threading, tracemalloc\n"
        "def work():\n    return sum(len(str(number)) for number in range(20_000))\n"
        "tracemalloc.start()\n"
        "threads = [threading.Thread(target=work) for _ in range(3)]\n"
        "for one in threads: one.start()\nfor one in threads: one.join()\n"
        "assert tracemalloc.get_traced_memory()[1] > 0\ntracemalloc.stop()\nprint(work())\n")
    done = timeloom("run", "--quiet", "--memory-python", "-o", "run", "app.py", cwd=tmp_path)
    assert done.stdout == "88890\n"
    report = json.loads(timeloom("report", "--memory", "--json", "run", cwd=tmp_path).stdout)
    assert sum(path["python_allocations"] for path in report["paths"] if "__main__.work" in path["path"]) > 50_000


@pytest.mark.parametrize("stops", [False, True])
def test_a_program_that_puts_back_the_allocators_is_told(tmp_path, timeloom, stops):
    (tmp_path / "app.py").write_text("import tracemalloc\n" + ("tracemalloc.stop()\n" if stops else ""))
    done = timeloom("run", "--memory-python", "-o", "run", "app.py", cwd=tmp_path, PYTHONTRACEMALLOC="1")
    assert ("[TL177]" in done.stderr) == stops


def test_the_next_measurement_counts_again(tmp_path, timeloom):
    """The first one ends with other allocators than it began with; the second one begins with these."""
    code = (
        "import itertools, tracemalloc, timeloom\n"
        "class Point:\n    __slots__ = ('x',)\n"
        "def make(count):\n    return [Point() for _ in itertools.repeat(None, count)]\n"
        "with timeloom.Measurement(output='first', memory_python=True):\n    make(1000)\n    tracemalloc.stop()\n"
        "with timeloom.Measurement(output='second', memory_python=True):\n    make(30_000)\n"
        "tracemalloc.start()\n"
        "with timeloom.Measurement(output='third', memory_python=True):\n    make(20_000)\n"
        "assert tracemalloc.get_traced_memory()[1] > 0\n")
    preload = timeloom("preload", "--print", "--memory").stdout.strip()
    variables = {**environment(), "LD_PRELOAD": preload, "PYTHONTRACEMALLOC": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env=variables, check=True)  # fmt: skip
    assert done.stderr.count("[TL177]") == 1
    for name, count in (("second", 30_000), ("third", 20_000)):
        report = json.loads(timeloom("report", "--memory", "--json", name, cwd=tmp_path).stdout)
        made = sum(path["python_allocations"] for path in report["paths"] if "__main__.make" in path["path"])
        assert count <= made <= count + 400, name


def test_a_measurement_in_a_program_that_was_not_started_with_it(tmp_path):
    code = "import timeloom\nwith timeloom.Measurement(output='run', memory_python=True): pass\n"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env=environment(), check=True)  # fmt: skip
    assert "Python's objects are not counted: " in done.stderr
    assert "[TL176]" in done.stderr


def test_a_fork_does_not_count_the_bytes_of_its_parent_again(tmp_path, timeloom):
    (tmp_path / "app.py").write_text(
        "import os, time\n"
        "data = bytearray(64 << 20)\n"
        "def child():\n    own = bytearray(16 << 20)\n    return len(own)\n"
        "if (pid := os.fork()) == 0:\n    child()\nelse:\n    os.waitpid(pid, 0)\n")
    timeloom("run", "--quiet", "--memory", "-o", "run", "app.py", cwd=tmp_path)
    report = json.loads(timeloom("report", "--memory", "--json", "run", cwd=tmp_path).stdout)
    peaks = [one["peak_bytes"] for one in report["processes"]]
    assert len(peaks) == 2 and min(peaks) >= 64 << 20
    # The parent may have freed something since the fork.
    assert max(peaks) - (1 << 16) <= report["peak_bytes"] <= max(peaks) + (24 << 20)
