"""Workers of Dask on two hosts with clocks of their own (two_hosts.py): one run, in time, also without common files."""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import threading

import pytest
from process_runs import Run
from streams import environment
from task_arrows import arrows_in_chrome, assert_same_arrows, wanted_arrows
from two_hosts import ADDRESSES, SECONDS_AHEAD, apart, files_of, hosts  # noqa: F401

import timeloom as package
from timeloom._engines import _clocks, _dask_records, _dask_worker, _home, _host_records

pytest.importorskip("distributed")
pytestmark = [pytest.mark.any_python, pytest.mark.one_python]

SCHEDULER = f"tcp://{ADDRESSES['a']}:8786"
PROGRAM = f"""
import json, os, sys, time
from distributed import Client
import timeloom.dask

def inc(pair, worker):
    return half(2 * pair[0]) + 1, [*pair[1], [time.monotonic_ns(), os.uname().nodename]]

def half(n):
    return n // 2

def die():
    half(0)
    os.kill(os.getpid(), 9)

if __name__ == "__main__":
    client = Client({SCHEDULER!r})
    client.wait_for_workers(int(sys.argv[1]))
    timeloom.dask.measure(client)
"""
# Each task takes the value of a task on the other host.
CHAIN = """
    value = client.submit(lambda: (0, []), workers=["far"], key="first-0")
    for n in range(20):
        value = client.submit(inc, value, n, workers=["near", "far"][n % 2 :][:1], key=f"inc-{n}")
    print(json.dumps(value.result()))
"""


@contextlib.contextmanager
def running(*commands, directory):
    """Processes that run until the block ends, without files that another one reads."""
    variables = {**environment(), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0", "TMPDIR": str(directory / "tmp")}
    started = [subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL) for command in commands]
    try:
        yield started
    finally:
        for one in started:
            one.kill()
            one.wait()


def scheduler_on(host, directory):
    words = ["-m", "distributed.cli.dask_scheduler", "--host", ADDRESSES["a"], "--port", "8786", "--no-dashboard"]
    return host.command(directory, sys.executable, *words)


def worker_on(host, directory, name):
    words = ["-m", "distributed.cli.dask_worker", SCHEDULER, "--host", ADDRESSES[host.name], "--no-nanny", "--nthreads", "1",
             "--no-dashboard", "--name", name, "--local-directory", directory / f"space-{name}"]  # fmt: skip
    return host.command(directory, sys.executable, *words)


def measure(host, directory, text, workers, timeloom_program):
    (directory / "program.py").write_text(PROGRAM + text)
    command = host.command(directory, sys.executable, "-m", "timeloom", "-o", "run", "program.py", workers)
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, env=environment())
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("timeloom")]
    return Run(directory / "run", timeloom_program), done.stdout, lines


def check_times(run, told, error):
    """The times of tasks against the clocks that the tasks have read; `told`: these, in the order of their keys."""
    tasks = {task["key"]: task for task in package.read(run.directory).tasks()}
    since = {"a": [], "b": []}
    for n, (read_ns, host) in enumerate(told):
        here = read_ns * 1e-9 - (SECONDS_AHEAD if host == "b" else 0)
        since[host].append(here - tasks[f"inc-{n}"]["start_s"])
    # From the start of the task to the reading, and from a start of the clock that is the same for both.
    assert abs(min(since["a"]) - min(since["b"])) < error + 2e-3


def clock_error(line):
    number, unit = re.fullmatch(r".*, clocks within ([\d.]+) (µs|ms)", line).groups()
    return float(number) * {"µs": 1e-6, "ms": 1e-3}[unit]


def check_chain(run, output, lines, timeloom, timeloom_program, directory):
    number, told = json.loads(output)
    assert number == 20 and {host for _, host in told} == {"a", "b"}
    error = clock_error(lines[1])
    assert lines[1].startswith("timeloom: 2 workers on 2 hosts (Dask), 21 tasks, clocks within ") and 0 < error < 1
    check_times(run, told, error)
    assert sum(run.visits("__main__.half")) == 20
    assert not any("TL" in line for line in lines), lines
    tasks = package.read(run.directory).tasks()
    assert [task["needs"] for task in tasks] == [[], ["first-0"], *([f"inc-{n}"] for n in range(19))]
    graph = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)
    assert graph["clock_error_s"] == 0 and graph["has_needs"]
    assert [one["key"] for one in graph["path"]] == ["first-0", *(f"inc-{n}" for n in range(20))]
    arrows = wanted_arrows(tasks)
    assert len(arrows) == 20 and all(start <= end for start, end in arrows)
    assert_same_arrows(arrows_in_chrome(timeloom_program, run.directory, directory), arrows)
    assert {group["host"] for group in run.groups if group["name"].startswith("Dask")} == {"a", "b"}


@pytest.mark.engine_suite
def test_with_a_common_directory(hosts, tmp_path, timeloom, timeloom_program):
    (tmp_path / "tmp").mkdir()
    commands = [scheduler_on(hosts.a, tmp_path), worker_on(hosts.a, tmp_path, "near"), worker_on(hosts.b, tmp_path, "far")]
    with running(*commands, directory=tmp_path):
        run, output, lines = measure(hosts.a, tmp_path, CHAIN, 2, timeloom_program)
    check_chain(run, output, lines, timeloom, timeloom_program, tmp_path)
    assert records_on(hosts.a, tmp_path / "tmp") == []


def records_on(host, directory):
    return [name for name in files_of(host, directory) if name.startswith("timeloom")]


def test_without_common_files(hosts, apart, tmp_path, timeloom, timeloom_program):
    commands = [scheduler_on(hosts.a, tmp_path), worker_on(hosts.a, tmp_path, "near"), worker_on(hosts.b, tmp_path, "far")]
    with running(*commands, directory=tmp_path):
        run, output, lines = measure(hosts.a, apart, CHAIN, 2, timeloom_program)
        assert records_on(hosts.b, tmp_path / "tmp") == []
    check_chain(run, output, lines, timeloom, timeloom_program, tmp_path)
    assert files_of(hosts.b, apart) == []


def test_a_worker_dies_on_the_other_host(hosts, apart, tmp_path, timeloom_program):
    """Its records come home by another worker of its host."""
    names = ["far", "dies"]
    commands = [scheduler_on(hosts.a, tmp_path), *(worker_on(hosts.b, tmp_path, name) for name in names)]
    with running(*commands, directory=tmp_path):
        run, output, lines = measure(hosts.a, apart, """
    dies = client.submit(die, workers=["dies"])
    try:
        dies.result()
    except Exception as error:
        print(type(error).__name__)
    print(client.submit(inc, (1, []), 0, workers=["far"]).result()[0])
""", 2, timeloom_program)  # fmt: skip
        assert records_on(hosts.b, tmp_path / "tmp") == []
    assert output.split() == ["KilledWorker", "2"]
    assert sorted(run.visits("__main__.half"))[-2:] == [1, 1]
    tasks = package.read(run.directory).tasks()
    assert sorted(task["prefix"] for task in tasks) == ["die", "inc"]
    assert any("2 workers on 1 host (Dask), 2 tasks" in line for line in lines)


@pytest.mark.parametrize("answer", [
    None, "files", [None], [("host-1-2-1", "defs")], [("host-1-2-1", "defs", -1)],
    [("host-1-2-1", "defs", 1 << 41)], [("host-1-2-1", "defs", "1")],
    [("..", "defs", 1)], [("a/b", "defs", 1)], [("host-1-2-1", "../defs", 1)], [("host-1-2-1", ".", 1)],
    [("host-1-2-1", "", 1)], [("host-1-2-1", "life", 1)], [(b"host-1-2-1", "defs", 1)], [("host-1-2-1", "a" * 300, 1)],
])  # fmt: skip
def test_answers_that_are_not_files(answer):
    with pytest.raises(ValueError, match=r"form|name"):
        _home.by_spool(answer)


def test_a_directory_of_somebody_else(tmp_path, monkeypatch):
    """A worker records neither through a link nor where others can write."""
    monkeypatch.setattr(_host_records.tempfile, "tempdir", str(tmp_path))
    token = "0" * 32
    run = tmp_path / f"timeloom-{os.getuid()}-{token}"
    for make in (lambda: run.symlink_to(tmp_path), lambda: (run.mkdir(), run.chmod(0o777))):
        make()
        with pytest.raises(OSError, match="somebody else"):
            _host_records.begin_here(token, "host-1-2-1", b"")
        run.unlink() if run.is_symlink() else run.rmdir()
    for wrong in ("../x", "0" * 31 + "/"):
        with pytest.raises(ValueError, match=re.escape(wrong)):
            _host_records.begin_here(wrong, "host-1-2-1", b"")


def test_hosts_whose_directories_have_the_same_numbers(tmp_path):
    """Two machines may have a directory with the same device and inode: the records of both come home."""
    parent = tmp_path / "run/spool/host-1-2-1"
    parent.mkdir(parents=True)
    boots = {"near": "boot-1", "far": "boot-2", "far too": "boot-2"}
    asked = []

    class Client:
        async def run(self, function, *arguments, workers=tuple(boots), **how):
            function = arguments[0] if function is _dask_worker.in_thread else function
            asked.extend((function.__name__, worker) for worker in workers)
            answers = {"place_here": lambda worker: (boots[worker], 7, 9), "files_here": lambda worker: []}
            return {worker: answers.get(function.__name__, lambda worker: None)(worker) for worker in workers}

    failed = asyncio.run(_dask_records.fetch_records(Client(), "0" * 32, str(parent), ""))
    assert failed == {}
    assert sorted(worker for function, worker in asked if function == "remove_here") == ["far", "near"]


def test_a_worker_answers_its_scheduler_meanwhile():
    """Files are copied beside its event loop."""
    released = threading.Event()

    def wait(token):
        return released.wait(60)

    class Client:
        async def run(self, function, *arguments, workers):
            answer = function(*arguments)
            return {workers[0]: await answer if asyncio.iscoroutine(answer) else answer}

    async def release():
        released.set()

    async def ask():
        return await asyncio.gather(_dask_records._Host(Client(), "far", "0" * 32).ask(wait), release())

    assert asyncio.run(ask()) == [True, None]


def test_the_place_of_records_has_the_boot(tmp_path, monkeypatch):
    monkeypatch.setattr(_host_records.tempfile, "tempdir", str(tmp_path))
    _host_records.begin_here("0" * 32, "host-1-2-1", b"")
    status = os.stat(tmp_path / f"timeloom-{os.getuid()}-{'0' * 32}")
    assert _host_records.place_here("0" * 32) == (_clocks.clock_here()[0], status.st_dev, status.st_ino)
