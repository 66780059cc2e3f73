"""The CPU time of samples in the profile (CUBE): the metric `sampled time`, by call path, for other tools, too."""

import csv
import io
import subprocess
import sys
import textwrap
from collections import Counter

import pycubexr
import pytest
from streams import environment

PROGRAM = """
import threading, time

def work():
    sum(range(3000))

def until(cpu_seconds):
    end = time.thread_time() + cpu_seconds
    while time.thread_time() < end:
        work()

def much(): until(0.45)
def little(): until(0.15)

threads = [threading.Thread(target=one) for one in (much, little, much)]
for thread in threads: thread.start()
for thread in threads: thread.join()
little()
"""
MODES = {"trace": ["--sample", "1ms"], "profile": ["--sample", "1ms", "--profile"], "sampling": ["--sampling"]}


@pytest.fixture(scope="module", params=MODES)
def run(request, tmp_path_factory):
    if request.param == "sampling" and sys.version_info < (3, 12):
        pytest.skip("needs sys.monitoring")
    directory = tmp_path_factory.mktemp(request.param)
    (directory / "app.py").write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *MODES[request.param], "app.py"]
    subprocess.run(command, cwd=directory, check=True, timeout=300, env=environment())
    return directory / "run"


def seconds_by_path(run):
    """The metric as pycubexr reads it, over all threads, by the names of the functions of a call path."""
    seconds = Counter()
    with pycubexr.CubexParser(run / "profile.cubex") as parser:
        metric = parser.get_metric_by_name("sampled_time")
        assert (metric.display_name, metric.units) == ("sampled time", "sec")
        values = parser.get_metric_values(metric)

        def add(node, above):
            path = (*above, parser.get_region(node).name)
            seconds[path] += float(sum(values.cnode_values(node)))
            for child in node.get_children():
                add(child, path)

        for root in parser.get_root_cnodes():
            add(root, ())
    return seconds


def seconds_by_function(run):
    seconds = Counter()
    with (run / "samples.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            seconds[row["function"]] += int(row["nanoseconds"]) / 1e9
    return seconds


def test_it_is_the_time_of_the_samples_by_call_path(run):
    paths = seconds_by_path(run)
    functions = Counter()
    for path, time in paths.items():
        functions[path[-1]] += time
    # A sample that lies between two instructions of one event may count for the caller.
    for name, time in seconds_by_function(run).items():
        if name:
            assert functions[name] == pytest.approx(time, abs=0.02 + 0.05 * time), name
    below = Counter()
    for path, time in paths.items():
        for caller in ("__main__.much", "__main__.little"):
            if caller in path:
                below[caller] += time
    assert below["__main__.much"] == pytest.approx(0.9, rel=0.2)
    assert below["__main__.little"] == pytest.approx(0.3, rel=0.2)


def test_timeloom_reads_it_back(run, timeloom):
    text = timeloom("convert", run, "--to", "csv", "--paths", "-o", "-").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    times = [float(row["metric.sampled time.sum"]) for row in rows if row["metric.sampled time.sum"]]
    assert sum(times) / 1e9 == pytest.approx(sum(seconds_by_path(run).values()), rel=1e-6)
    counted = [row for row in rows if row.get("metric.sampled time.count")]
    # In other runs, the number of samples of a call path is not known.
    assert bool(counted) == ("sampling" in str(run))
    assert all(row["metric.sampled time.count"] == row["visits"] for row in counted)
