"""Tasks of a Celery worker, if Celery is installed: a region for each, in the processes of its pool."""

import json
import os
import signal
import subprocess
import sys

import pytest
from streams import environment

pytest.importorskip("celery")
pytestmark = [pytest.mark.any_python, pytest.mark.engine_suite]

APPLICATION = """
import os
from celery import Celery
for name in ("queue", "control"):
    os.makedirs(name, exist_ok=True)
app = Celery("application", broker="filesystem://", backend="file://" + os.getcwd())
app.conf.broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control"}

@app.task
def double(n):
    return add(n, n)

def add(a, b):
    return a + b
"""
SENDER = "from application import double; print(sum(one.get(timeout=60) for one in [double.delay(n) for n in range(12)]))"


def test_tasks_of_a_pool(tmp_path, timeloom):
    (tmp_path / "application.py").write_text(APPLICATION)
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "-m", "celery", "-A", "application",
               "worker", "--concurrency", "2", "--loglevel", "CRITICAL"]  # fmt: skip
    variables = {**environment(), "PYTHONPATH": os.fspath(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL) as worker:
        done = subprocess.run([sys.executable, "-c", SENDER], cwd=tmp_path, env=variables, capture_output=True, text=True)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0
    assert (done.returncode, done.stdout) == (0, "132\n"), done.stderr
    report = {key: json.loads(timeloom("report", "--by", key, "--json", tmp_path / "run").stdout)["rows"]
              for key in ("task", "worker")}  # fmt: skip
    assert [(row["name"], row["tasks"]) for row in report["task"]] == [("application.double", 12)]
    assert all(row["name"].startswith("ForkPoolWorker-") for row in report["worker"])
    assert sum(row["tasks"] for row in report["worker"]) == 12
