"""Forked children: their calls come from the regions open at the fork, which count no visit."""

import json
import subprocess

import pytest
from process_runs import measure  # noqa: F401
from profile_files import Profile
from streams import INSTRUMENTERS

MODES = [*(("--instrumenter", name) for name in INSTRUMENTERS), ("--profile",)]
SHORT = """
import ctypes, functools, logging, subprocess, threading
execvp, words = ctypes.CDLL(None).execvp, (ctypes.c_char_p * 2)(b"true", None)

def tool():
    for function in (os.setsid, functools.partial(os.umask, 0o22)):
        subprocess.run(["true"], preexec_fn=function, check=True)

def replaced():
    pid = os.fork()
    if pid == 0:
        execvp(b"true", words)
    assert os.waitpid(pid, 0)[1] == 0

def gone():
    pid = os.fork()
    if pid == 0: os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3

def handler(): pass

for _ in range(5):
    tool(), replaced(), gone()
    os.register_at_fork(after_in_child=handler)
"""


def paths(run, process):
    """The visits of each call path of a process."""
    profile = Profile(run.directory)
    return {tuple(profile.nodes[node]["path"])[1:]: cell[0] for location in profile.locations
            if location["group"] == process for node, cell in location["cells"].items()}  # fmt: skip


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_a_fork_that_calls_nothing_is_no_process(measure, options):
    run, _ = measure(SHORT, *options)
    assert [sum(run.visits(f"__main__.{name}")) for name in ("tool", "replaced", "gone")] == [5] * 3
    assert len(run.groups) == 1 and run.ending == ""
    assert "timeloom::closed_regions" not in run.info["properties"]


@pytest.mark.any_python
def test_the_summary_does_not_count_them_either(tmp_path, timeloom_program):
    (tmp_path / "program.py").write_text("import os, subprocess\nsubprocess.run(['true'], preexec_fn=os.setsid)\n")
    done = subprocess.run([timeloom_program, "run", "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "1 thread," in done.stderr, done
    assert "process" not in done.stderr, done.stderr


LOOP = """
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass

def outer():
    pid = os.fork()
    if pid == 0:
        work(2)
        end = time.thread_time() + 0.2
        while time.thread_time() < end: pass
        inner()
        os._exit(0)
    os.waitpid(pid, 0)

def inner(): work(1)

outer()
"""


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_the_open_path_is_context(measure, timeloom, options):
    run, _ = measure(LOOP, *options)
    assert paths(run, 1) == {
        (): 0,
        ("__main__.outer (forked)",): 0,
        ("__main__.outer (forked)", "__main__.work"): 1,
        ("__main__.outer (forked)", "__main__.work", "__main__.step"): 2,
        ("__main__.outer (forked)", "__main__.inner"): 1,
        ("__main__.outer (forked)", "__main__.inner", "__main__.work"): 1,
        ("__main__.outer (forked)", "__main__.inner", "__main__.work", "__main__.step"): 1,
    }
    assert run.visits("__main__.outer") == [1, 0]
    # The child's own work belongs to its process, but to no visit of the parent's function.
    rows = json.loads(timeloom("report", "--by", "process", "--json", run.directory).stdout)["rows"]
    child = next(row for row in rows if row["name"].endswith("(fork)"))
    assert child["visits"] == 6 and child["working_s"] > 0.15
    facts = json.loads(timeloom("report", "--function", "__main__.outer", "--json", run.directory).stdout)
    assert facts["visits"] == 1 and facts["own_s"] - facts["waiting_s"] < 0.15
    timeloom("check", run.directory, "visits(__main__.outer) == 1", "visits(__main__.work) == 2")


@pytest.mark.any_python
def test_a_loop_is_work_though_it_calls_nothing(measure, timeloom):
    run, _ = measure("""
        def fork():
            if os.fork() == 0:
                for _ in range(20_000_000): pass
                os._exit(0)
            os.wait()
        fork()
        """)  # fmt: skip
    rows = json.loads(timeloom("report", "--by", "process", "--json", run.directory).stdout)["rows"]
    assert rows[0]["name"].endswith("(fork)") and rows[0]["visits"] == 0 and rows[0]["working_s"] > 0.1


@pytest.mark.any_python
def test_what_a_fork_that_calls_nothing_has_started_was_started_by_its_parent(measure):
    """As daemons begin: forked twice."""
    run, _ = measure("""
        read, write = os.pipe()
        if os.fork() == 0:
            if os.fork() == 0:
                work(3)
                os.write(write, b".")
            os._exit(0)
        os.close(write)
        os.wait()
        os.read(read, 1)
        os.read(read, 1)
        """)
    assert run.visits("__main__.step") == [0, 3]
    assert [group["creator"] for group in run.groups] == [None, 0]


WAYS = """
import asyncio, multiprocessing, pty, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)

def in_a_thread():
    pid = os.fork()
    if pid == 0:
        work(2)
        os._exit(0)
    os.waitpid(pid, 0)

async def in_a_task():
    pid = os.fork()
    if pid == 0:
        work(2)
        os._exit(0)
    os.waitpid(pid, 0)

def in_a_terminal():
    pid, terminal = pty.fork()
    if pid == 0:
        work(2)
        os._exit(0)
    os.waitpid(pid, 0)

def by_multiprocessing():
    process = multiprocessing.get_context("fork").Process(target=work, args=(2,))
    process.start(); process.join()

thread = threading.Thread(target=in_a_thread)
thread.start(); thread.join()
asyncio.run(in_a_task())
in_a_terminal()
by_multiprocessing()
"""


@pytest.mark.any_python
@pytest.mark.parametrize("options", [(), ("--async-tasks",), ("--profile",)], ids=" ".join)
def test_ways_to_fork(measure, options):
    run, _ = measure(WAYS, *options)
    assert run.visits("__main__.step") == [0, 2, 2, 2, 2]
    ways = ("in_a_thread", "in_a_task", "in_a_terminal", "by_multiprocessing")
    for process, way in enumerate(ways, start=1):
        assert run.visits(f"__main__.{way}") == [1, 0, 0, 0, 0]
        (above,) = [path[:path.index("__main__.work")] for path in paths(run, process) if path and path[-1] == "__main__.work"]
        assert f"__main__.{way} (forked)" in above
        assert not [name for name in above if name.startswith("__main__.") and not name.endswith(" (forked)")]


@pytest.mark.any_python
def test_a_trace_draws_it_as_context(measure, timeloom):
    """And exports of call paths have it without a visit."""
    run, _ = measure(LOOP)
    rows = [json.loads(line.rstrip(",")) for line in
            timeloom("convert", "--to", "json", "-o", "-", run.directory).stdout.splitlines()[1:-1]]  # fmt: skip
    context = [(row["depth"], row["visits"], row["min_ns"]) for row in rows if row["name"].endswith(" (forked)")]
    assert context == [(0, 0, None), (1, 0, None)]
    events = json.loads(timeloom("convert", "--to", "chrome", "-o", "-", run.directory).stdout)["traceEvents"]
    processes = {event["args"]["name"]: event["pid"] for event in events if event["name"] == "process_name"}
    (child,) = [pid for name, pid in processes.items() if "(fork)" in name]
    drawn = [event["name"] for event in events if event["pid"] == child and event["ph"] in ("B", "X")]
    assert [name for name in drawn if "(forked)" in name] == ["__main__.<module> (forked)", "__main__.outer (forked)"]
    assert drawn.count("__main__.step") == 3
