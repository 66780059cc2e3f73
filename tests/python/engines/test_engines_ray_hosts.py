"""A cluster of Ray on two hosts with clocks of their own (two_hosts.py): one run, in time, also without common files."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from process_runs import Run
from streams import environment
from two_hosts import ADDRESSES, SECONDS_AHEAD, apart, files_of, hosts  # noqa: F401

import timeloom as package

pytest.importorskip("ray")
pytestmark = [pytest.mark.any_python, pytest.mark.engine_suite]

HEAD = f"{ADDRESSES['a']}:6399"
# Each task takes the value of a task on the other host.
PROGRAM = f"""
import json, os, sys, time
import ray

def half(n):
    return n // 2

@ray.remote
def step(n, before=None):
    half(n)
    return time.monotonic_ns(), os.uname().nodename, ray.get_runtime_context().get_task_id()

@ray.remote(resources={{"b": 1}}, max_retries=0)
def die():
    half(0)
    os.kill(os.getpid(), 9)

@ray.remote(resources={{"b": 0.5}}, num_returns="streaming", num_cpus=0)
def spin():
    half(0)
    yield
    while True:
        half(1)
        time.sleep(0.001)

def lose_a_worker():
    try:
        ray.get(die.remote())
    except ray.exceptions.WorkerCrashedError:
        print("lost", flush=True)

if __name__ == "__main__":
    ray.init(address={HEAD!r}, log_to_driver=False, logging_level="ERROR")
    while len([node for node in ray.nodes() if node["Alive"]]) < 2:
        time.sleep(0.1)
    if "dies" in sys.argv:
        lose_a_worker()
    if "spins" in sys.argv:
        stream = spin.remote()
        ray.get(next(stream))
    steps = [step.options(resources={{"a": 1}}).remote(0)]
    for n in range(1, 10):
        steps.append(step.options(resources={{"ab"[n % 2]: 0.5}}).remote(n, steps[-1]))
    print(json.dumps(ray.get(steps)))
"""
VARIABLES = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_RUNTIME_ENV_HOOK": "timeloom.ray.hook"}


@pytest.fixture
def cluster(hosts, tmp_path):
    (tmp_path / "tmp").mkdir(exist_ok=True)
    # Where a head notes its address, which other programs of this machine would find.
    Path("/tmp/ray").mkdir(exist_ok=True)
    for host in (hosts.a, hosts.b):
        subprocess.run(host.command("/", "mount", "-t", "tmpfs", "tmpfs", "/tmp/ray"), check=True)
    variables = {**environment(), **VARIABLES, "RAY_TMPDIR": "/tmp", "TMPDIR": str(tmp_path / "tmp")}
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


def check(hosts, directory, done, timeloom, timeloom_program):
    """The ten tasks, with their values and their times by the clocks that they have read."""
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    run = directory / "run"
    tasks = {task["key"]: task for task in package.read(run).tasks()}
    assert [tasks[key]["needs"] for _, _, key in told] == [[], *([key] for _, _, key in told[:-1])]
    since = {"a": [], "b": []}
    for read_ns, host, key in told:
        since[host].append(read_ns * 1e-9 - (SECONDS_AHEAD if host == "b" else 0) - tasks[key]["start_s"])
    lines = [line for line in done.stderr.splitlines() if line.startswith("timeloom")]
    assert not any("[TL" in line for line in lines), lines
    (line,) = (line for line in lines if " on 2 hosts (Ray), " in line)
    number, unit = re.fullmatch(r".*, clocks within ([\d.]+) (µs|ms)", line).groups()
    error = float(number) * {"µs": 1e-6, "ms": 1e-3}[unit]
    assert 0 < error < 1
    assert abs(min(since["a"]) - min(since["b"])) < error + 2e-3  # both have the clock of one machine
    rows = json.loads(timeloom("report", "--by", "host", "--json", run).stdout)["rows"]
    assert {row["name"] for row in rows} == {"a", "b"}
    assert json.loads(timeloom("report", "--tasks", "--json", run).stdout)["clock_error_s"] == 0
    return line, sum(Run(run, timeloom_program).visits("__main__.half"))


def run_program(hosts, directory, *words, options=()):
    (directory / "program.py").write_text(PROGRAM)
    command = hosts.a.command(directory, sys.executable, "-m", "timeloom", "-o", "run", *options, "program.py", *words)
    return subprocess.run(command, capture_output=True, text=True, timeout=250, env={**environment(), **VARIABLES})


def test_tasks_on_two_hosts(hosts, cluster, tmp_path, timeloom, timeloom_program):
    done = run_program(hosts, tmp_path)
    line, halves = check(hosts, tmp_path, done, timeloom, timeloom_program)
    assert (line.partition(", clocks")[0], halves) == ("timeloom: 2 workers on 2 hosts (Ray), 10 tasks", 10)


def test_without_common_files(hosts, apart, cluster, tmp_path, timeloom, timeloom_program):
    """A worker is killed by its task; its records come home with the others."""
    done = run_program(hosts, apart, "dies")
    line, halves = check(hosts, apart, done, timeloom, timeloom_program)
    assert "lost" in done.stdout.splitlines()
    assert (line.partition(", clocks")[0], halves) == ("timeloom: 3 workers on 2 hosts (Ray), 11 tasks", 11)
    assert [name for name in files_of(hosts.b, tmp_path / "tmp") if name.startswith("timeloom")] == []
    assert files_of(hosts.b, apart) == []


def test_a_task_that_still_runs(hosts, apart, cluster, tmp_path, timeloom, timeloom_program):
    """Its records come home as far as they are when the program ends."""
    done = run_program(hosts, apart, "spins")
    line, halves = check(hosts, apart, done, timeloom, timeloom_program)
    assert line.partition(", clocks")[0] == "timeloom: 3 workers on 2 hosts (Ray), 11 tasks"
    assert halves > 11
    assert json.loads(timeloom("report", "--tasks", "--json", apart / "run").stdout)["losses"] == []


def test_some_of_the_workers(hosts, apart, cluster, tmp_path, timeloom, timeloom_program):
    """The actor that answers for the other host takes no place there."""
    done = run_program(hosts, apart, options=["--workers", "1"])
    line, halves = check(hosts, apart, done, timeloom, timeloom_program)
    assert (line.partition(", clocks")[0], halves) == ("timeloom: 2 workers on 2 hosts (Ray), 10 tasks", 10)
