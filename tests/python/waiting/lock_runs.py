"""Runs that record their locks (--locks), and the parts of their reports."""

import json

from streams import run_python

CONVOY = """
import json, threading, time
lock = threading.Lock()
times = []
def audit():
    with lock:
        time.sleep(0.02)
def work():
    for _ in range(5):
        begin = time.perf_counter()
        lock.acquire()
        times.append(time.perf_counter() - begin)
        lock.release()
        audit()
threads = [threading.Thread(target=work) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(sum(times)))
"""


def line_of(program, text):
    return next(i for i, line in enumerate(program.splitlines(), 1) if text in line)


def record(tmp_path, program, *options):
    path = tmp_path / "program.py"
    path.write_text(program)
    run = tmp_path / "run"
    process = run_python(["-m", "timeloom", "--quiet", "--locks", "--output", run, *options, path], tmp_path)
    assert process.returncode == 0, process.stderr
    assert "timeloom:" not in process.stderr
    return run, process.stdout


def locks_of(timeloom, run):
    return json.loads(timeloom("report", "--locks", "--json", run).stdout)


def made_at(data, program, text, kind=None):
    line = line_of(program, text)
    (lock,) = [
        one for one in data["locks"]
        if one["made_at"]["line"] == line and one["made_at"]["file"].endswith("program.py")
        and kind in (None, one["kind"])
    ]  # fmt: skip
    return lock


def holder(lock, function):
    (one,) = [one for one in lock["holders"] if one["at"]["function"] == function]
    return one
