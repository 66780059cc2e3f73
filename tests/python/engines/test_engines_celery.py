"""Tasks of a Celery worker, if Celery is installed: a region for each, in the processes of its pool."""

import collections
import json
import os
import signal
import subprocess
import sys

import pytest
from process_runs import Run
from streams import environment

import timeloom as package

pytest.importorskip("celery")
pytestmark = [pytest.mark.any_python, pytest.mark.engine_suite]

APPLICATION = """
import os, time
from celery import Celery
from celery.signals import before_task_publish, task_received
for name in ("queue", "control"):
    os.makedirs(name, exist_ok=True)
app = Celery("application", broker="filesystem://", backend="file://" + os.getcwd())
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control"}

def note(what, task):
    with open("times", "a") as file:
        file.write(f"{what} {task} {time.monotonic_ns()}\\n")

@before_task_publish.connect
def note_sent(headers, **_):
    note("sent", headers["id"])

@task_received.connect
def note_received(request, **_):
    note("received", request.id)

@app.task(bind=True)
def double(self, n):
    note("body", self.request.id)
    with open("headers", "a") as file:
        file.write(f"{self.request.headers}\\n")
    return add(n, n)

def add(a, b):
    return a + b
"""
SENDER = """
import time
from application import double
results = []
for n in range(12):
    asked = time.monotonic_ns()
    results.append(double.delay(n))
    with open("times", "a") as file:
        file.write(f"asked {results[-1].id} {asked}\\n")
print(sum(one.get(timeout=60) for one in results))
"""


def run_worker(directory, sender, *options, text=APPLICATION):
    """A measured worker with two processes; the output of the program that sends its tasks."""
    (directory / "application.py").write_text(text)
    (directory / "send.py").write_text(SENDER)
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", *options, "-m", "celery", "-A", "application",
               "worker", "--concurrency", "2", "--loglevel", "CRITICAL"]  # fmt: skip
    variables = {**environment(), "PYTHONPATH": os.fspath(directory)}
    with subprocess.Popen(command, cwd=directory, env=variables, stdout=subprocess.DEVNULL) as worker:
        done = subprocess.run([sys.executable, *sender, "send.py"], cwd=directory, env=variables, capture_output=True, text=True)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    assert done.returncode == 0, done.stderr
    return done.stdout


def times_in(directory):
    """The times that the program and Celery's signals have noted, in seconds: {what: {task: time}}."""
    times = collections.defaultdict(dict)
    for line in (directory / "times").read_text().splitlines():
        what, task, nanoseconds = line.split()
        times[what][task] = int(nanoseconds) * 1e-9
    return times


def report_of(timeloom, run, *options):
    return json.loads(timeloom("report", *options, "--json", run).stdout)


def test_tasks_of_a_pool(tmp_path, timeloom):
    assert run_worker(tmp_path, []) == "132\n"
    report = {key: report_of(timeloom, tmp_path / "run", "--by", key)["rows"] for key in ("task", "worker")}
    assert [(row["name"], row["tasks"]) for row in report["task"]] == [("application.double", 12)]
    assert all(row["name"].startswith("ForkPoolWorker-") for row in report["worker"])
    assert sum(row["tasks"] for row in report["worker"]) == 12
    # Nobody measures the sender: known is the time at the worker.
    tasks = package.read(tmp_path / "run").tasks()
    assert all(task["queued_s"] > 0 and task["at_worker_s"] is None for task in tasks) and len(tasks) == 12


def test_time_in_the_queue(tmp_path, timeloom):
    """The sender is measured as well, into a run of its own; the task sees no header of Timeloom."""
    assert run_worker(tmp_path, ["-m", "timeloom", "--quiet", "-o", "sender"]) == "132\n"
    tasks = package.read(tmp_path / "run").tasks()
    assert all(task["queued_s"] > task["at_worker_s"] > 0 for task in tasks) and len(tasks) == 12
    times = times_in(tmp_path)
    assert {task["key"] for task in tasks} == set(times["asked"])
    for task in tasks:  # Celery's signals and the program surround what the run tells
        asked, sent, received, body = (times[what][task["key"]] for what in ("asked", "sent", "received", "body"))
        assert received - sent < task["queued_s"] < body - asked
        assert task["at_worker_s"] < body - sent and task["queued_s"] - task["at_worker_s"] < received - asked
    graph = report_of(timeloom, tmp_path / "run", "--tasks")
    assert [(row["name"], row["tasks"]) for row in graph["names"]] == [("application.double", 12)]
    assert [(row["name"], row["tasks"]) for row in graph["queues"]] == [("application.double", 12)]
    assert graph["queues"][0]["queued_s"] == pytest.approx(sum(task["queued_s"] for task in tasks))
    assert graph["queues"][0]["longest_s"] == pytest.approx(max(task["queued_s"] for task in tasks))
    length = graph["end_s"] - graph["start_s"]
    assert len(graph["workers"]) == 2
    for row in graph["workers"]:
        assert row["in_tasks_s"] + sum(row["idle_s"].values()) == pytest.approx(length)
        assert row["idle_s"]["unknown_s"] == 0
    headers = (tmp_path / "headers").read_text()
    assert len(headers.splitlines()) == 12 and "timeloom" not in headers
    lines = timeloom("report", "--tasks", tmp_path / "run").stdout
    assert "(Celery)" in lines.splitlines()[0] and "queue is not known" not in lines


# Each task is given back to its queue once, and notes the headers of the message that goes there.
RETURNS = """
from celery.exceptions import Reject
from kombu.transport.filesystem import Channel

put = Channel._put

def note_put(self, queue, payload, **others):
    if payload.get("redelivered"):
        with open("returned", "a") as file:
            file.write(" ".join(name for name in payload["headers"] if name.startswith("timeloom")) + "\\n")
    return put(self, queue, payload, **others)

Channel._put = note_put

@app.task(bind=True, acks_late=True)
def double(self, n):
    try:
        os.close(os.open(f"first-{n}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return add(n, n)
    raise Reject("not yet", requeue=True)
"""


def test_a_task_that_goes_back_to_the_broker(tmp_path):
    """Its message has the time of sending still, and the time of coming no more: it comes again, to any worker."""
    text = APPLICATION[: APPLICATION.index("@app.task")] + RETURNS + APPLICATION[APPLICATION.index("def add") :]
    assert run_worker(tmp_path, ["-m", "timeloom", "--quiet", "-o", "sender"], text=text) == "132\n"
    assert (tmp_path / "returned").read_text() == "timeloom_sent\n" * 12
    tasks = package.read(tmp_path / "run").tasks()
    assert len(tasks) == 24 and all(task["queued_s"] > task["at_worker_s"] > 0 for task in tasks)


@pytest.mark.parametrize("choice", ["1", "ForkPoolWorker-2", "none"])
def test_fewer_workers(tmp_path, timeloom_program, choice):
    """All tasks run; of the processes that are left out nothing is in the run."""
    assert run_worker(tmp_path, [], "--workers", choice) == "132\n"
    run = Run(tmp_path / "run", timeloom_program)
    workers = [name for name in run.names if "PoolWorker-" in name]
    tasks = package.read(tmp_path / "run").tasks()
    assert len(workers) == (choice != "none") and {task["worker"] for task in tasks} <= set(workers)
    assert choice != "ForkPoolWorker-2" or workers == [choice]
    assert run.info["properties"]["timeloom::workers_left_out"] == ("2" if choice == "none" else "1")
    bodies = times_in(tmp_path)["body"]
    assert len(bodies) == 12 and {task["key"] for task in tasks} <= set(bodies)
