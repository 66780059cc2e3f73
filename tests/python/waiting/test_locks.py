"""Locks as objects (--locks): counts are compared with those that the programs know by themselves."""

import json
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from lock_runs import CONVOY, holder, line_of, locks_of, made_at, record
from streams import environment, run_python

TIMEOUTS = """
import threading
lock = threading.Lock()
def waits():
    for _ in range(5):
        assert not lock.acquire(timeout=0.01)
def holds():
    with lock:
        threads = [threading.Thread(target=waits, name=f"worker-{i}") for i in range(6)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
holds()
assert lock.acquire(False)
assert not lock.acquire(False)
assert not lock.acquire(blocking=False)
lock.release()
"""

RECURSION = """
import threading
lock = threading.RLock()
def inner(depth):
    with lock:
        if depth: inner(depth - 1)
for _ in range(10): inner(3)
lock.acquire(); lock.acquire(blocking=True, timeout=1); lock.release(); lock.release()
def takes(): assert not lock.acquire(timeout=0.01)
with lock:
    with lock:
        pass
    thread = threading.Thread(target=takes)
    thread.start(); thread.join()
"""

CONDITION = """
import threading
condition = threading.Condition()
def waits():
    with condition:
        for _ in range(5): assert not condition.wait(0.01)
waits()
"""

QUEUE = """
import queue
tasks = queue.Queue()
for i in range(3): tasks.put(i)
for i in range(3): tasks.get()
for i in range(4):
    try: tasks.get(timeout=0.01)
    except queue.Empty: pass
"""

# Both threads have what the other one wants.
DEADLOCK = """
import os, sys, threading
first = threading.Lock()
second = threading.Lock()
both = threading.Barrier(2)
def a():
    with first:
        both.wait()
        with second: pass
def b():
    with second:  # b has it
        both.wait()
        with first: pass
threads = [threading.Thread(target=f, name=f.__name__) for f in (a, b)]
for thread in threads: thread.start()
print("started", flush=True)
for thread in threads: thread.join()
"""

# The same, until the first one gives up.
GIVES_UP = """
import threading
first = threading.Lock()
second = threading.Lock()
both = threading.Barrier(2)
def a():
    with first:
        both.wait()
        if second.acquire(timeout=1.5): second.release()
def b():
    with second:  # b has it
        both.wait()
        with first: pass
threads = [threading.Thread(target=f, name=f.__name__) for f in (a, b)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""

BEHAVIOUR = """
import signal, sys, threading, time, _thread
def shown(function, *arguments, **named):
    try: print(function.__name__, function(*arguments, **named))
    except BaseException as error: print(function.__name__, type(error).__name__, error)
for lock in threading.Lock(), threading.RLock():
    shown(lock.acquire, timeout=-5)
    shown(lock.acquire, False, 1)
    shown(lock.acquire, True, 1e12)
    shown(lock.acquire, 10**30); shown(lock.release)
    shown(lock.acquire, "yes"); shown(lock.release)
    shown(lock.acquire, other=1)
    shown(lock.acquire, True, "soon")
    shown(lock.release)
    shown(lock.release)
    shown(lock.release)
    shown(lock.__enter__)
    shown(lock.__exit__, None, None, None)
    shown(lock.acquire, 1, 2)
    shown(lock.release)
    shown(lock.release)
    print(type(lock), repr(lock).split(" at ")[0], lock.acquire.__doc__ == type(lock).acquire.__doc__)
owned = threading.RLock()
owned.acquire()
thread = threading.Thread(target=lambda: shown(owned.release)); thread.start(); thread.join()
class Interrupt(Exception): pass
def handler(*_):
    with threading.Lock(): pass
    raise Interrupt
signal.signal(signal.SIGALRM, handler)
lock = threading.Lock(); lock.acquire()
signal.setitimer(signal.ITIMER_REAL, 0.05); shown(lock.acquire)
signal.setitimer(signal.ITIMER_REAL, 0.05); shown(lock.acquire, timeout=30)
signal.setitimer(signal.ITIMER_REAL, 0.05); shown(lock.__enter__)
for _ in range(1000):
    one, other = threading.Lock(), threading.RLock()
    with one, other: pass
    other.acquire(); del one, other
class Sub(_thread.RLock): pass
with Sub(): pass
def dies(): threading.current_thread().kept = threading.Lock(); threading.current_thread().kept.acquire()
thread = threading.Thread(target=dies); thread.start(); thread.join(); shown(thread.kept.acquire, False)
# The interpreter ends this thread when it comes back from waiting.
threading.Thread(target=lambda: lock.acquire(timeout=0.3), daemon=True).start()
class Late:
    def __del__(self, sleep=time.sleep): sleep(0.6)
sys.late = Late()  # the module itself stays as long as the thread
"""

FORK = """
import os, threading
lock = threading.Lock()
other = threading.Lock()
taken, go = threading.Event(), threading.Event()
def holds():
    with other:
        taken.set(); go.wait()
thread = threading.Thread(target=holds); thread.start(); taken.wait()
with lock: pass
pid = os.fork()
if pid == 0:
    def child():
        for _ in range(3):
            with lock: pass
        other.acquire(timeout=0.01)
    child()
    os._exit(0)
os.waitpid(pid, 0)
go.set(); thread.join()
"""

PROCESSES = """
import multiprocessing
def works(lock, semaphore):
    for _ in range(4):
        with lock: pass
    semaphore.release()
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    lock, semaphore = context.Lock(), context.Semaphore(0)
    with lock: pass
    processes = [context.Process(target=works, args=(lock, semaphore)) for _ in range(2)]
    for process in processes: process.start()
    for process in processes: semaphore.acquire()
    for process in processes: process.join()
"""


def test_waits_with_timeouts(timeloom, tmp_path):
    run, _ = record(tmp_path, TIMEOUTS)
    data = locks_of(timeloom, run)
    lock = made_at(data, TIMEOUTS, "threading.Lock()")
    assert (lock["kind"], lock["locks"], lock["maker"], lock["made_seen"]) == ("lock", 1, "", True)
    assert (lock["taken"], lock["waits"], lock["threads"]) == (2, 30, 6)
    assert lock["attempts_in_vain"] == 32
    assert not lock["is_signal"]
    # Every wait lies within the one time that the lock was held.
    holds = holder(lock, "holds")
    assert holds["at"]["line"] == line_of(TIMEOUTS, "with lock:")
    assert holds["others_waited_s"] == pytest.approx(lock["waited_s"], abs=1e-6)
    assert holds["held_s"] == holds["longest_s"] <= lock["held_s"]
    assert lock["waited_s"] >= 30 * 0.01
    assert {one["thread"] for one in lock["waiters"]} == {f"worker-{i}" for i in range(6)}
    assert all(one["waits"] == 5 and one["at"]["function"] == "waits" for one in lock["waiters"])
    assert data["stuck"] == [] and data["missing"] == 0


def test_convoy(timeloom, tmp_path):
    run, output = record(tmp_path, CONVOY)
    lock = made_at(locks_of(timeloom, run), CONVOY, "threading.Lock()")
    assert lock["taken"] == 60
    assert {one["at"]["function"]: one["taken"] for one in lock["holders"]} == {"audit": 30, "work": 30}
    assert holder(lock, "audit")["held_s"] >= 30 * 0.02
    # The program measures around acquire() alone: what waits in audit() comes on top.
    waited = sum(one["waited_s"] for one in lock["waiters"] if one["at"]["function"] == "work")
    assert waited <= json.loads(output)
    assert waited >= 0.9 * json.loads(output)
    text = timeloom("report", "--locks", run).stdout
    assert f"lock at program.py:{line_of(CONVOY, 'threading.Lock()')}" in text
    assert "held by audit" in text
    answer = json.loads(timeloom("report", "--json", run).stdout)
    (found,) = [one for one in answer["findings"] if one["rule"] == "lock-convoy"]
    assert found["text"].startswith(f"lock at program.py:{line_of(CONVOY, 'threading.Lock()')}: held ")
    assert re.search(r" by audit, [456] threads waited ", found["text"])
    assert found["command"] == f"timeloom report --locks {run}"


def test_recursion(timeloom, tmp_path):
    run, _ = record(tmp_path, RECURSION)
    lock = made_at(locks_of(timeloom, run), RECURSION, "threading.RLock()", "RLock")
    assert (lock["taken"], lock["waits"], lock["attempts_in_vain"]) == (12, 1, 1)
    assert lock["released_by_others"] == 0
    assert holder(lock, "inner")["taken"] == 10


def test_condition(timeloom, tmp_path):
    run, _ = record(tmp_path, CONDITION)
    data = locks_of(timeloom, run)
    lock = made_at(data, CONDITION, "threading.Condition()")
    assert (lock["kind"], lock["maker"]) == ("RLock", "Condition")
    assert (lock["taken"], lock["waits"]) == (6, 0)  # wait() takes it again
    signal_lock = made_at(data, CONDITION, "condition.wait(")
    assert (signal_lock["kind"], signal_lock["is_signal"]) == ("condition", True)
    assert (signal_lock["waits"], signal_lock["attempts_in_vain"]) == (5, 5)
    assert signal_lock["locks"] == 5


def test_queue(timeloom, tmp_path):
    run, _ = record(tmp_path, QUEUE)
    data = locks_of(timeloom, run)
    lock = made_at(data, QUEUE, "queue.Queue()", "lock")
    assert lock["maker"] == "Queue"
    # put() and get() take it once; a get() that waits takes it again, perhaps in steps.
    assert lock["taken"] >= 3 + 3 + 2 * 4
    assert made_at(data, QUEUE, "timeout=0.01", "condition")["waits"] >= 4


def start(tmp_path, program):
    path = tmp_path / "program.py"
    path.write_text(program)
    return subprocess.Popen(
        [sys.executable, "-m", "timeloom", "--quiet", "--locks", "--output", tmp_path / "run", path],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip


def await_deadlock(program, run):
    """The report of a program that runs has the circle as soon as it is closed."""
    for _ in range(200):
        process = subprocess.run(
            [program, "report", "--locks", "--json", run], capture_output=True, text=True, timeout=60
        )
        if process.returncode == 0 and json.loads(process.stdout)["stuck"]:
            return
        time.sleep(0.1)
    pytest.fail("no deadlock was seen")


def test_deadlock(timeloom, program, tmp_path):
    process = start(tmp_path, DEADLOCK)
    try:
        assert process.stdout.readline() == "started\n"
        await_deadlock(program, tmp_path / "run")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
    data = locks_of(timeloom, tmp_path / "run")
    stuck = {one["thread"]: one for one in data["stuck"]}
    assert set(stuck) == {"a", "b"}
    assert {one["because"] for one in data["stuck"]} == {"circle"}
    assert stuck["a"]["waits_at"]["line"] == line_of(DEADLOCK, "with second: pass")
    assert stuck["a"]["lock_made_at"]["line"] == line_of(DEADLOCK, "second = threading.Lock()")
    assert stuck["a"]["lock_taken_at"]["line"] == line_of(DEADLOCK, "b has it")
    assert stuck["b"]["lock_made_at"]["line"] == line_of(DEADLOCK, "first = threading.Lock()")
    assert "deadlock: a waits at program.py" in timeloom("report", "--locks", tmp_path / "run").stdout
    answer = json.loads(timeloom("report", "--json", tmp_path / "run").stdout)
    assert answer["findings"][0]["rule"] == "deadlock"


def test_deadlock_that_a_timeout_ends(timeloom, tmp_path):
    run, _ = record(tmp_path, GIVES_UP)
    first, second = locks_of(timeloom, run)["stuck"]
    assert (first["thread"], first["because"]) == ("a", "circle_until_gave_up")
    assert (second["thread"], second["circle"]) == ("b", first["circle"])
    assert first["waits_at"]["line"] == line_of(GIVES_UP, "timeout=1.5")
    assert first["lock_made_at"]["line"] == line_of(GIVES_UP, "second = threading.Lock()")
    assert first["lock_taken_at"]["line"] == line_of(GIVES_UP, "b has it")
    assert second["lock_taken_at"]["line"] == line_of(GIVES_UP, "with first:")
    assert 0.01 <= first["waited_s"] == second["waited_s"]
    finding = json.loads(timeloom("report", "--json", run).stdout)["findings"][0]
    assert finding["rule"] == "deadlock"
    assert finding["text"].startswith("deadlock, ended when a gave up after ")
    assert "b waited at program.py" in finding["text"]


def test_a_timeout_is_not_a_deadlock(timeloom, tmp_path):
    """Both threads take the locks in the same order."""
    text = GIVES_UP.replace("with first: pass", "with second: pass").replace("with second:  # b", "with first:  # b")
    run, _ = record(tmp_path, text.replace("both.wait()", "pass"))
    assert locks_of(timeloom, run)["stuck"] == []


def test_behaviour(tmp_path):
    _, output = record(tmp_path, BEHAVIOUR)
    assert output == run_python([tmp_path / "program.py"], tmp_path).stdout


def test_fork(timeloom, tmp_path):
    run, _ = record(tmp_path, FORK)
    data = locks_of(timeloom, run)
    lock = made_at(data, FORK, "lock = threading.Lock()")
    assert (lock["taken"], lock["processes"], lock["locks"]) == (4, 2, 1)
    other = made_at(data, FORK, "other = threading.Lock()")
    assert (other["taken"], other["waits"], other["attempts_in_vain"]) == (1, 1, 1)


def test_processes(timeloom, tmp_path):
    run, _ = record(tmp_path, PROCESSES)
    locks = [one for one in locks_of(timeloom, run)["locks"] if one["kind"] == "lock of processes"]
    assert sum(holder["taken"] for one in locks for holder in one["holders"]
               if holder["at"]["function"] == "works") == 8  # fmt: skip
    assert made_at(locks_of(timeloom, run), PROCESSES, "context.Lock()", "lock of processes")["locks"] == 1
    semaphores = [one for one in locks_of(timeloom, run)["locks"] if one["kind"] == "semaphore of processes"]
    assert sum(one["taken"] for one in semaphores) == 2


def test_without_locks(timeloom, tmp_path):
    path = tmp_path / "program.py"
    path.write_text("pass\n")
    run_python(["-m", "timeloom", "--quiet", "--output", tmp_path / "run", path], tmp_path)
    assert "[TL446]" in timeloom("report", "--locks", tmp_path / "run", status=1).stderr


@pytest.fixture
def run_locks_of(tmp_path):
    def run(text, *options):
        (tmp_path / "main.py").write_text(textwrap.dedent(text))
        command = [sys.executable, "-m", "timeloom", "--quiet", "--locks", *options, "-o", "run", "main.py"]
        return subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)

    return run


@pytest.fixture
def locks_report(tmp_path, timeloom):
    return lambda: json.loads(timeloom("report", "--locks", "--json", tmp_path / "run").stdout)


def test_exit_of_c_keeps_its_status(run_locks_of):
    """Its destructors run while other threads take locks, and without the GIL."""
    done = run_locks_of("""
        import ctypes, threading
        lock = threading.Lock()
        def work():
            while True:
                with lock: pass
        threading.Thread(target=work, daemon=True).start()
        with lock: pass
        ctypes.CDLL(None).exit(3)
    """)
    assert done.returncode == 3


@pytest.mark.parametrize("arguments", ["", "True", "1", "blocking=True", "blocking=True, timeout=5", "timeout=5", "True, -1.0",
                                       "True, timeout=-1"])  # fmt: skip
def test_waits_are_seen_however_acquire_is_called(run_locks_of, locks_report, arguments):
    done = run_locks_of(f"""
        import threading, time
        lock = threading.Lock()
        def work():
            lock.acquire({arguments})
            lock.release()
        lock.acquire()
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.2)
        lock.release()
        thread.join()
    """)
    assert done.returncode == 0
    (row,) = [row for row in locks_report()["locks"] if row["name"] == "lock at main.py:3"]
    assert row["taken"] == 2
    assert row["waits"] == 1 and row["waited_s"] > 0.05


def test_child_that_is_not_followed_leaves_the_threads_of_its_parent(run_locks_of, locks_report):
    done = run_locks_of("""
        import os, sys, threading, time
        lock = threading.Lock()
        def wait():
            with lock: pass
        with lock:
            thread = threading.Thread(target=wait, daemon=True)
            thread.start()
            time.sleep(0.1)
            child = os.fork()
            if child == 0: sys.exit(0)
            os.waitpid(child, 0)
            os._exit(0)
    """, "--follow", "none")
    assert done.returncode == 0
    assert locks_report()["stuck"] == []


def test_child_waits_for_a_lock_that_its_parent_has(run_locks_of, locks_report):
    """Its holder is another process, which releases it: no thread of the child is stuck, and its takes count."""
    done = run_locks_of("""
        import multiprocessing, os, time
        context = multiprocessing.get_context("fork")
        lock, nested = context.Lock(), context.RLock()
        def child():
            for _ in range(100):
                with nested: pass
            lock.acquire()
        if __name__ == "__main__":
            with lock:
                process = context.Process(target=child)
                with nested:
                    process.start()
                time.sleep(0.5)
                process.kill()
                process.join()
    """)
    assert done.returncode == 0
    report = locks_report()
    assert report["stuck"] == []
    assert sorted(row["taken"] for row in report["locks"] if row["kind"] == "lock of processes")[-1] == 101
