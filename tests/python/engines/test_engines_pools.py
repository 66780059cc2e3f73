"""Pools of Python's library and of joblib: each call that a worker makes is a task, named after its function."""

import collections
import itertools
import json
import re
import subprocess
import sys

import pytest
from process_runs import measure  # noqa: F401

import timeloom as package

# Each function counts its calls in a file of its own name, from any process and thread.
FUNCTIONS = """
import concurrent.futures, functools, multiprocessing, multiprocessing.pool, os, sys, threading

def note(name):
    with open("calls", "a") as file:
        file.write(name + "\\n")

def double(n):
    note("double")
    return 2 * n

def add(a, b=1):
    note("add")
    return a + b

def fail(n):
    note("fail")
    raise ValueError(n)

class Times:
    def __init__(self, factor):
        self.factor = factor

    def of(self, n):
        note("Times.of")
        return self.factor * n

    def __call__(self, n):
        note("Times")
        return self.factor * n

def failure(get):
    try:
        return get()
    except ValueError as error:
        import traceback
        frames = "".join(traceback.format_exception(error))
        assert "in fail" in frames and "timeloom" not in frames, frames
        return repr(error)
"""
EXECUTOR = """
if __name__ == "__main__":
    with EXECUTOR as pool:
        print(sum(pool.map(double, range(10))), sum(pool.map(add, range(10), range(10), CHUNK)))
        print(pool.submit(functools.partial(add, 5), b=2).result(), pool.submit(Times(3).of, 4).result())
        print(pool.submit(Times(3), 5).result(), failure(pool.submit(fail, 6).result), pool.submit(abs, -7).result())
"""
POOL = """
if __name__ == "__main__":
    with POOL as pool:
        print(sum(pool.map(double, range(10), chunksize=3)), sum(pool.starmap(add, [(n, n) for n in range(10)])))
        print(sum(pool.imap_unordered(Times(1).of, range(4))), pool.apply(add, (5,), {"b": 2}))
        print(failure(pool.apply_async(fail, (6,)).get), pool.apply(abs, (-7,)), pool.apply(Times(2), (1,)))
        pool.close()
        pool.join()
"""
EXECUTORS = {
    "threads": ("concurrent.futures.ThreadPoolExecutor(2)", "", "program.py ThreadPoolExecutor-0_"),
    "forked processes": ("concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context('fork'))", "chunksize=4",
                         "ForkProcess-"),
    "spawned processes": ("concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context('spawn'))", "chunksize=4",
                          "SpawnProcess-"),
}  # fmt: skip
POOLS = {
    "forked processes": ("multiprocessing.get_context('fork').Pool(2)", "ForkPoolWorker-"),
    "processes of a server": ("multiprocessing.get_context('forkserver').Pool(2)", "ForkServerPoolWorker-"),
    "threads": ("multiprocessing.pool.ThreadPool(2)", "program.py Thread-"),
}


def rows_by(timeloom, run, key):
    rows = json.loads(timeloom("report", "--by", key, "--json", run.directory).stdout)["rows"]
    return {row["name"]: row["tasks"] for row in rows}


def check(run, timeloom, directory, engine, worker):
    """Counts of tasks are the program's own; a built-in function cannot count itself."""
    counted = {**collections.Counter((directory / "calls").read_text().split()), "abs": 1}
    assert rows_by(timeloom, run, "task") == counted
    workers = rows_by(timeloom, run, "worker")
    assert [name for name in workers if not name.startswith(worker)] == []
    tasks = package.read(run.directory).tasks()
    assert collections.Counter(task["prefix"] for task in tasks) == counted
    assert collections.Counter(task["worker"] for task in tasks) == {name: count for name, count in workers.items() if count}
    assert len({(task["worker"], task["key"]) for task in tasks}) == len(tasks)
    assert all(task["queued_s"] is not None for task in tasks)
    total = sum(counted.values())
    ran = sum(map(bool, workers.values()))
    report = timeloom("report", run.directory, COLUMNS="300").stdout
    assert re.search(rf"({ran}|{len(workers)}) workers? \({engine}\), {total} tasks", report)
    check_heads(timeloom, run)


def check_heads(timeloom, run):
    """What does not fit into the line of the head is left out, never cut."""

    def facts_in(width):
        head, *_ = timeloom("report", run.directory, COLUMNS=str(width), LANG="C").stdout.splitlines()
        assert len(head) <= width
        return head.split(", ")[1:]

    facts = facts_in(300)
    shown = [facts_in(width) for width in range(60, 160, 4)]
    assert [part for part in shown if part != facts[: len(part)]] == []
    assert len({len(part) for part in shown}) > 2


@pytest.mark.parametrize("kind", EXECUTORS)
def test_concurrent_futures(measure, timeloom, tmp_path, kind):
    made, chunk, worker = EXECUTORS[kind]
    text = EXECUTOR.replace("EXECUTOR", made).replace(", CHUNK", chunk and ", " + chunk)
    run, output = measure(FUNCTIONS + text)
    assert output == "90 90\n7 12\n15 ValueError(6) 7\n"
    check(run, timeloom, tmp_path, "concurrent.futures", worker)


@pytest.mark.parametrize("kind", POOLS)
def test_pools_of_multiprocessing(measure, timeloom, tmp_path, kind):
    made, worker = POOLS[kind]
    run, output = measure(FUNCTIONS + POOL.replace("POOL", made))
    assert output == "90 90\n6 7\nValueError(6) 7 2\n"
    check(run, timeloom, tmp_path, "multiprocessing", worker)


def test_the_report_of_tasks_has_one_source(measure, timeloom, tmp_path):
    """The rows count the tasks of the critical path, also where the profile has more of them than the trace."""
    run, _ = measure(FUNCTIONS + """
def nothing(): pass

def many(n):
    for _ in range(20_000): nothing()

if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        list(pool.map(many, range(60)))
""", "--max-size", "4M", "--at-max-size", "profile", "--no-pack-early")
    assert rows_by(timeloom, run, "task") == {"many": 60}
    graph = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)
    assert 0 < graph["tasks"] < 60
    assert [(row["name"], row["tasks"]) for row in graph["names"]] == [("many", graph["tasks"])]


def test_functions_that_are_cancelled_or_of_asyncio(measure, timeloom, tmp_path):
    """A call that is cancelled before it starts is not a task; asyncio's threads run tasks as well."""
    run, output = measure(FUNCTIONS + """
import asyncio

async def main():
    return [await asyncio.to_thread(double, 2), await asyncio.get_running_loop().run_in_executor(None, add, 1)]

if __name__ == "__main__":
    go = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first, second = pool.submit(go.wait), pool.submit(double, 1)
        assert second.cancel()
        go.set()
    print(asyncio.run(main()))
""")  # fmt: skip
    assert output == "[4, 2]\n"
    assert rows_by(timeloom, run, "task") == {"Event.wait": 1, "double": 1, "add": 1}


QUEUES = {
    "thread": "concurrent.futures.ThreadPoolExecutor(1)",
    "forked process": "concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context('fork'))",
    "spawned process": "concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context('spawn'))",
    "loky": "__import__('loky').ProcessPoolExecutor(1)",
    "loky in joblib": "__import__('joblib.externals.loky').externals.loky.ProcessPoolExecutor(1)",
    "forked process of a Pool": "multiprocessing.get_context('fork').Pool(1)",
    "spawned process of a Pool": "multiprocessing.get_context('spawn').Pool(1)",
    "ThreadPool": "multiprocessing.pool.ThreadPool(1)",
}


@pytest.mark.parametrize("kind", QUEUES)
def test_time_in_the_queue(measure, kind):
    """The only worker is busy for a while; the program reads the same clock."""
    if "loky" in kind:
        pytest.importorskip("joblib" if "joblib" in kind else "loky")
    run, output = measure(FUNCTIONS + f"""
import time

def wait():
    open("pipe").close()

def pair(n):
    return n

if __name__ == "__main__":
    os.mkfifo("pipe")
    with {QUEUES[kind]} as pool:
        submit = getattr(pool, "submit", lambda function, *given: pool.apply_async(function, given))
        before = time.perf_counter_ns()
        submit(wait)
        submit(double, 1)
        between = time.perf_counter_ns()
        time.sleep(0.05)
        least = time.perf_counter_ns() - between
        open("pipe", "w").close()
        assert list(pool.map(pair, range(2), chunksize=2)) == [0, 1]
    print(least, time.perf_counter_ns() - before)
""")  # fmt: skip
    least, most = map(int, output.split())
    tasks = package.read(run.directory).tasks()
    (queued,) = [task["queued_s"] for task in tasks if task["prefix"] == "double"]
    assert least <= round(queued * 1e9) <= most
    # The second item of a message waits for the first one as well.
    first, second = [task["queued_s"] for task in tasks if task["prefix"] == "pair"]
    assert 0 < first < most * 1e-9 and (first < second or kind == "thread")


@pytest.mark.any_python
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(measure, timeloom, tmp_path, backend):
    """joblib puts several calls into one message, as many as it thinks fit: each call is a task."""
    pytest.importorskip("joblib")
    run, output = measure(FUNCTIONS + f"""
if __name__ == "__main__":
    from joblib import Parallel, delayed
    calls = [delayed(double)(n) for n in range(40)] + [delayed(Times(2).of)(1), delayed(abs)(-1)]
    print(sum(Parallel(n_jobs=2, backend={backend!r})(calls)))
""")  # fmt: skip
    assert output == "1563\n"
    workers = {"loky": "LokyProcess-", "multiprocessing": ("ForkPoolWorker-", "ForkServerPoolWorker-"),  # by the default of this Python and joblib
               "threading": "program.py Thread-"}  # fmt: skip
    check(run, timeloom, tmp_path, "joblib", workers[backend])


def test_a_pool_works_without_timeloom_in_its_workers(measure):
    """The workers get named arguments that carry a time; the task queue is still one for the program."""
    run, output = measure("""
import multiprocessing
def named(*args, **named):
    return args, type(named).__name__, named
def made():
    for n in range(3):
        yield n
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(named, (1,), {"b": 2}), pool._taskqueue.qsize(), list(pool.imap(named, made())))
""", "--follow=none")  # fmt: skip
    items = [((n,), "dict", {}) for n in range(3)]
    assert output == f"((1,), 'dict', {{'b': 2}}) 0 {items}\n"
    assert [task for task in package.read(run.directory).tasks() if task["worker"].startswith("Spawn")] == []


def test_attributes_of_the_functions_are_not_asked_for(measure):
    _, output = measure("""
import multiprocessing
class Called:
    @property
    def func(self):
        raise RuntimeError("asked")
    def __call__(self, n):
        return n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.apply(Called(), (7,)))
""")  # fmt: skip
    assert output == "7\n"


def test_workers_that_a_pool_starts_again(measure):
    """A thread of the pool forks them: they are main threads of processes that have names."""
    run, output = measure(FUNCTIONS + """
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        print(pool.map(double, range(3), chunksize=1))
""")  # fmt: skip
    assert output == "[0, 2, 4]\n"
    tasks = package.read(run.directory).tasks()
    assert [(task["worker"], task["thread"]) for task in tasks] == [(f"ForkPoolWorker-{n}", "MainThread") for n in (1, 2, 3)]


def test_items_of_imap_are_submitted_when_they_are_made(measure):
    """An iterable that takes its time delays no item: the time in the queue begins behind it."""
    run, output = measure(FUNCTIONS + """
import time
def slow():
    for n in range(3):
        time.sleep(0.1)
        yield n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(list(pool.imap(double, slow())))
""")  # fmt: skip
    assert output == "[0, 2, 4]\n"
    starts = [(task["start_s"], task["queued_s"]) for task in package.read(run.directory).tasks()]
    made = [start - queued for start, queued in sorted(starts)]
    assert all(second - first > 0.09 for first, second in itertools.pairwise(made))


def test_a_function_with_the_name_of_an_engines_own(measure):
    """Names are not enough: concurrent.futures has a function of this name, too, which gets a partial."""
    _, output = measure("""
import functools
from concurrent.futures import ProcessPoolExecutor
def _process_chunk(config, data, scale=1):
    return type(config).__name__, [scale * one for one in data]
if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(pool.submit(functools.partial(_process_chunk, {"a": 1}, scale=3), [1, 2]).result())
""")  # fmt: skip
    assert output == "('dict', [3, 6])\n"


def test_a_submission_lets_signals_raise(measure):
    """Handlers of signals run between instructions of Python, of which a submission has no more than without Timeloom."""
    _, output = measure("""
import signal
from concurrent.futures import Future
from concurrent.futures.thread import _WorkItem
raised = caught = 0
class Rung(Exception): pass
def ring(*_):
    global raised
    raised += 1
    raise Rung
signal.signal(signal.SIGALRM, ring)
future, arguments = Future(), (len, ("a",), {})
work = (future, arguments) if _WorkItem.__init__.__code__.co_argcount == 3 else (future, *arguments)
while raised < 100:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        for _ in range(1_000_000): _WorkItem(*work)
    except Rung:
        caught += 1
print(raised - caught)
""")  # fmt: skip
    assert output == "0\n"


def test_a_module_of_the_program_is_not_imported(measure, tmp_path):
    (tmp_path / "inspect.py").write_text("print('inspect.py of the program')\n")
    program = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    print(pool.submit(len, "abc").result())
"""
    if subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True).returncode != 0:
        pytest.skip("the standard library of this Python imports inspect")
    _, output = measure(program)
    assert output == "3\n"
