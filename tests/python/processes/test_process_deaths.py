"""Processes that die: their records, and how they ended."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from process_runs import COMMON, Run, measure  # noqa: F401
from streams import environment

pytestmark = pytest.mark.any_python

DEATHS = {
    "os._exit": ("os._exit(3)", 3, "ended by os._exit(3)"),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -15, "ended by SIGTERM"),
    "SIGHUP": ("os.kill(os.getpid(), signal.SIGHUP)", -1, "ended by SIGHUP"),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -9, "ended before the measurement could be finished"),
    "SIGSEGV": ("import ctypes; ctypes.string_at(0)", -11, "ended by SIGSEGV"),
    "abort": ("os.abort()", -6, "ended by SIGABRT"),
    "SIGUSR1": ("os.kill(os.getpid(), signal.SIGUSR1)", -10, "ended by SIGUSR1"),
    "exec": ("os.execv('/bin/sh', ['sh', '-c', 'exit 5'])", 5, "became another program (exec)"),
    "handled": ("signal.signal(15, lambda *_: sys.exit(6)); os.kill(os.getpid(), 15)", 6, ""),
    "default again": (
        "signal.signal(15, signal.SIG_IGN); signal.signal(15, signal.SIG_DFL); os.kill(os.getpid(), 15)",
        -15, "ended by SIGTERM",
    ),
}  # fmt: skip


@pytest.mark.race
@pytest.mark.parametrize("death", DEATHS)
def test_ways_to_die(measure, death):
    """Of the program itself, and of a child: the last event before the end is there."""
    text, status, ending = DEATHS[death]
    run, _ = measure(f"work(1000)\n{text}\n", status=status)
    assert run.visits("__main__.step") == [1000]
    assert (run.groups[0]["ending"], run.ending) == (ending, ending)


@pytest.mark.race
@pytest.mark.parametrize("death", DEATHS)
def test_ways_to_die_of_a_child(measure, death):
    text, status, ending = DEATHS[death]
    run, _ = measure(f"""
        pid = os.fork()
        if pid == 0:
            work(1000)
            {text}
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """)  # fmt: skip
    assert run.visits("__main__.step") == [0, 1000]
    assert run.groups[1]["ending"] == ("ended by SIGKILL" if death == "SIGKILL" else ending)  # its parent has seen it


KILLED_IN_THEIR_SLEEP = """
import subprocess

def duration(process):
    time.sleep(100)

pid = os.fork()
if pid == 0:
    duration("child")
# The clocks are compared once a second at least.
subprocess.Popen(["sh", "-c", f"sleep 2.5; kill -9 {pid} {os.getpid()}"])
duration("parent")
"""


def test_quiet_time_before_a_kill_is_in_the_run_after_a_fork(tmp_path, timeloom):
    """For the child and the parent: a fork ends Timeloom's own thread, which compares the clocks, for a moment."""
    done, run = left(tmp_path, KILLED_IN_THEIR_SLEEP)
    assert done.returncode == -signal.SIGKILL
    timeloom("weave", run)
    facts = json.loads(timeloom("report", "--json", "--by", "process", run).stdout)
    lasted = {row["name"].endswith("(fork)"): row["total_s"] for row in facts["rows"]}
    assert lasted[True] > 1 and lasted[False] > 1, lasted


def test_python_finds_no_thread_of_ours_after_a_fork(measure):
    """It looks after all handlers have run, one of which, in logging, is written in Python."""
    _, output = measure("""
        import logging
        for _ in range(20):
            pid = os.fork()
            if pid == 0: os._exit(0)
            os.waitpid(pid, 0)
            work(1000)
        print("no warning")
        """)
    assert output == "no warning\n"


def test_signal_handlers_are_the_programs_own(measure):
    """Python's messages about them, and their results, are the same as without Timeloom."""
    _, output = measure("""
        print([signal.getsignal(s) for s in (1, 10, 15)], signal.signal(15, signal.SIG_IGN))
        """)
    assert output == f"{[signal.SIG_DFL] * 3} {signal.SIG_DFL}\n"


def test_exec_that_fails_changes_nothing(measure):
    run, _ = measure("""
        work(3)
        try: os.execv("/nowhere", ["x"])
        except FileNotFoundError: work(4)
        """)
    assert run.visits("__main__.step") == [7] and run.ending == ""


def test_all_descriptors_closed(measure):
    """As daemons do it: nothing of Timeloom goes into the program's files, and nothing is lost."""
    run, output = measure("""
        work(10)
        os.closerange(3, 5000)
        files = [os.open(f"own{n}", os.O_CREAT | os.O_RDWR) for n in range(20)]
        for n in range(600, 620): os.dup2(files[0], n)
        exec("".join(f"def named{n}(): pass\\nnamed{n}()\\n" for n in range(100)))
        work(1_500_000)
        print([os.fstat(f).st_size for f in files])
        """)
    assert output == f"{[0] * 20}\n"
    assert run.visits("__main__.step") == [1_500_010] and run.visits("__main__.named99") == [1]
    assert run.ending == "" and run.info["losses"] == []


def test_run_directory_deleted(measure, tmp_path):
    """Children of a program whose run is gone record nothing and print nothing."""
    program = tmp_path / "p.py"
    program.write_text(COMMON + textwrap.dedent("""
        import shutil
        shutil.rmtree("run")
        pid = os.fork()
        work(5)
        if pid: print(os.waitpid(pid, 0)[1])
        """))  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "-o", "run", program],
        cwd=tmp_path, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert "the run was removed or renamed meanwhile" in done.stderr and not (tmp_path / "run" / "spool").exists()


def left(tmp_path, text, before=None, options=("--quiet",)):
    """The process of a program that may end so badly that nothing is woven, and its run."""
    program = tmp_path / "program.py"
    program.write_text(COMMON + textwrap.dedent(text))
    command = [sys.executable, "-m", "timeloom", *options, "-o", "run", program]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(), preexec_fn=before
    )
    return done, tmp_path / "run"


@pytest.mark.race
def test_out_of_memory(measure):
    run, output = measure("""
        import resource
        work(1000)
        kept = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")]
        resource.setrlimit(resource.RLIMIT_AS, ((kept[0] + 30_000) * 1024,) * 2)
        try: bytearray(1 << 30)
        except MemoryError: work(1000)
        try:
            blocks = []
            while True: blocks.append(bytearray(1 << 20)); work(100)
        except MemoryError:
            del blocks
        work(1000)
        print("alive")
        """)  # fmt: skip
    assert output == "alive\n" and run.ending == ""
    assert run.visits("__main__.step")[0] >= 3000 and run.info["losses"] == []


@pytest.mark.skipif("t" in sys.abiflags and sys.version_info >= (3, 14), reason="plain Python waits for ever")
def test_out_of_memory_in_a_thread_that_begins(measure):
    """Where there is no memory to record it, a thread runs unrecorded."""
    run, output = measure("""
        import resource, threading
        size = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")][0]
        threading.stack_size(1 << 20)
        resource.setrlimit(resource.RLIMIT_AS, ((size + 20_000) * 1024,) * 2)
        blocks = []
        try:
            while True: blocks.append(bytearray(1 << 20))
        except MemoryError: pass
        started = 0
        try:
            for n in range(100):
                del blocks[:2]
                thread = threading.Thread(target=work, args=(10,))
                thread.start(); thread.join()
                started += 1
        except (MemoryError, RuntimeError): pass
        del blocks
        print(started > 0)
        """)  # fmt: skip
    assert output == "True\n" and run.ending == ""


@pytest.mark.race
def test_file_size_limit_in_the_middle(tmp_path, timeloom_program):
    done, directory = left(tmp_path, """
        import resource
        work(10_000)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
        work(1_500_000)
        print("alive")
        """, options=[])  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "alive\n")
    lost = [line for line in done.stderr.splitlines() if "could not be recorded" in line]
    assert len(lost) == 1
    run = Run(directory, timeloom_program)
    missing = int(lost[0].split()[1].replace(",", ""))
    assert abs(2 * run.visits("__main__.step")[0] + missing - 2 * 1_510_000) < 100
    assert "SIGXFSZ" not in run.ending


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_setuid(tmp_path, timeloom_program):
    """It may still write to files opened before; the run is complete, and its owner can weave it."""
    done, directory = left(tmp_path, """
        work(100)
        os.setgid(65534); os.setuid(65534)
        work(700_000)
        exec("".join(f"def named{n}(): pass\\nnamed{n}()\\n" for n in range(100)))
        pid = os.fork()
        if pid == 0:
            work(5)
            os._exit(0)
        print(os.waitpid(pid, 0)[1])
        """)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    run = Run(directory, timeloom_program)
    assert run.visits("__main__.step")[0] == 700_100 and run.visits("__main__.named99")[0] == 1
    assert run.info["losses"] == []


@pytest.mark.race
def test_daemon(measure):
    """Forks twice, leaves its session, directory and files, and goes on after its parent has ended."""
    run, output = measure("""
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork(): os._exit(0)
            os.chdir("/")
            os.dup2(write, 600)
            os.closerange(0, 600)
            for n in range(3): os.open("/dev/null", os.O_RDWR)
            work(50)
            os.write(600, b".")
            os._exit(0)
        os.wait()
        os.read(read, 1)
        time.sleep(0.2)
        """)  # fmt: skip
    assert run.visits("__main__.step") == [0, 50]  # the process in between has called nothing
    assert [group["creator"] for group in run.groups] == [None, 0]
