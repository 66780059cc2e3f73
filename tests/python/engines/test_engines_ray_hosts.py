"""A cluster of Ray on two hosts with clocks of their own (two_hosts.py), which see the same files: one run, in time."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from process_runs import Run
from streams import environment
from two_hosts import ADDRESSES, SECONDS_AHEAD, hosts  # noqa: F401

import timeloom as package

pytest.importorskip("ray")
pytestmark = [pytest.mark.any_python, pytest.mark.engine_suite]

HEAD = f"{ADDRESSES['a']}:6399"
# Each task takes the value of a task on the other host.
PROGRAM = f"""
import json, os, time
import ray

def half(n):
    return n // 2

@ray.remote
def step(n, before=None):
    half(n)
    return time.monotonic_ns(), os.uname().nodename, ray.get_runtime_context().get_task_id()

if __name__ == "__main__":
    ray.init(address={HEAD!r}, log_to_driver=False, logging_level="ERROR")
    while len([node for node in ray.nodes() if node["Alive"]]) < 2:
        time.sleep(0.1)
    steps = [step.options(resources={{"a": 1}}).remote(0)]
    for n in range(1, 10):
        steps.append(step.options(resources={{"ab"[n % 2]: 1}}).remote(n, steps[-1]))
    print(json.dumps(ray.get(steps)))
"""
VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_RUNTIME_ENV_HOOK": "timeloom.ray.hook"}


@pytest.fixture
def cluster(hosts, tmp_path):
    # Where a head notes its address, which other programs of this machine would find.
    Path("/tmp/ray").mkdir(exist_ok=True)
    for host in (hosts.a, hosts.b):
        subprocess.run(host.command("/", "mount", "-t", "tmpfs", "tmpfs", "/tmp/ray"), check=True)
    variables = {**environment(), **VARIABLES}
    started = []

    def start(host, *words):
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "1", "--node-ip-address",
                   ADDRESSES[host.name], "--resources", json.dumps({host.name: 1}), *words]  # fmt: skip
        started.append(subprocess.Popen(host.command(tmp_path, *command), env=variables, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True))  # fmt: skip
        while "Ray runtime started" not in (line := started[-1].stdout.readline()):
            assert line, "Ray did not start"

    try:
        start(hosts.a, "--head", "--port", HEAD.partition(":")[2], "--include-dashboard", "false")
        start(hosts.b, "--address", HEAD)
        yield
    finally:
        for one in reversed(started):  # the processes of `b` end with their namespace
            one.terminate()
            one.wait()
            one.stdout.close()


def test_tasks_on_two_hosts(hosts, cluster, tmp_path, timeloom, timeloom_program):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = hosts.a.command(tmp_path, sys.executable, "-m", "timeloom", "-o", "run", "program.py")
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env={**environment(), **VARIABLES})
    assert done.returncode == 0, done.stderr
    assert "timeloom: 2 workers on 2 hosts (Ray), 10 tasks" in done.stderr.splitlines()
    told = json.loads(done.stdout.splitlines()[-1])
    tasks = {task["key"]: task for task in package.read(tmp_path / "run").tasks()}
    assert [tasks[key]["needs"] for _, _, key in told] == [[], *([key] for _, _, key in told[:-1])]
    since = {"a": [], "b": []}
    for read_ns, host, key in told:
        since[host].append(read_ns * 1e-9 - (SECONDS_AHEAD if host == "b" else 0) - tasks[key]["start_s"])
    assert abs(min(since["a"]) - min(since["b"])) < 2e-3  # both have the clock of one machine
    assert sum(Run(tmp_path / "run", timeloom_program).visits("__main__.half")) == 10
    rows = json.loads(timeloom("report", "--by", "host", "--json", tmp_path / "run").stdout)["rows"]
    assert {row["name"] for row in rows} == {"a", "b"}
    assert json.loads(timeloom("report", "--tasks", "--json", tmp_path / "run").stdout)["clock_error_s"] == 0
