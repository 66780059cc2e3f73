"""Endings of processes in which Python runs no code: named if a wrapper or the parent has seen them."""

import pytest
from process_runs import measure  # noqa: F401

pytestmark = pytest.mark.any_python

ENDS = {
    "_exit": ("c._exit(3)", "ended with exit status 3", "ended by _exit(3)"),
    "quick_exit": ("c.quick_exit(4)", "ended with exit status 4", "ended by quick_exit(4)"),
    "execv": (
        "c.execvp(b'true', (ctypes.c_char_p * 2)(b'true', None))",
        "ended with exit status 0",
        "became another program (exec)",
    ),
    "kill": ("c.kill(os.getpid(), 9)", "ended by SIGKILL", "ended by SIGKILL"),
}
FORKS = f"""
import ctypes, multiprocessing, subprocess
c = ctypes.CDLL(None)

def end(how):
    work(1)
    how()

def forked(how):
    pid = os.fork()
    if pid == 0: end(how)
    print(pid)
    return pid

for how in ({" ".join(f"lambda: {text}," for text, _, _ in ENDS.values())}):
    os.waitpid(forked(how), 0)
    forked(how); os.wait()
    forked(how); os.wait3(0)
    os.wait4(forked(how), options=0)
    os.waitid(os.P_PID, forked(how), os.WEXITED)
    child = multiprocessing.get_context("fork").Process(target=end, args=(how,))
    child.start(); child.join()
    print(child.pid)
"""


@pytest.mark.parametrize("io", [False, True], ids=["seen by the parent", "seen by a wrapper"])
def test_children_that_end_by_c(measure, io):
    run, output = measure(FORKS, *(("--io", "posix") if io else ()))
    endings = [wrapped if io else seen for _, seen, wrapped in ENDS.values() for _ in range(6)]
    assert {group["process_id"]: group["ending"] for group in run.groups[1:]} == dict(zip(map(int, output.split()), endings, strict=True))
    assert run.ending == ""
    assert run.visits("__main__.end") == [0, *[1] * len(endings)]


def test_a_preexec_fn_comes_before_another_program(measure):
    """As the launcher of a JVM is started; the last one is still running when the run ends."""
    run, _ = measure("""
        import ctypes, subprocess
        def prepare(): os.setsid()
        subprocess.run(["true"], preexec_fn=prepare, check=True)
        left = subprocess.Popen(["true"], preexec_fn=prepare)
        assert ctypes.CDLL(None).waitpid(left.pid, None, 0) == left.pid
        left.returncode = 0
        """)
    assert [group["ending"] for group in run.groups] == ["", *2 * ["became another program (exec)"]]
    assert run.ending == "" and run.visits("__main__.prepare") == [0, 1, 1]


def test_a_child_that_its_parent_ends_by_a_signal_is_no_alarm(measure, timeloom):
    """As launchers and workers end: one in Python, and one after C code has taken the signal."""
    run, _ = measure("""
        import ctypes, subprocess
        def launcher():
            words = [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)"]
            process = subprocess.Popen(words, stdout=subprocess.PIPE)
            process.stdout.read(1); process.terminate(); process.wait()
        def worker():
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                ctypes.CDLL(None).signal(signal.SIGTERM, None)
                work(1)
                os.write(write, b".")
                signal.pause()
            os.read(read, 1)
            os.kill(pid, signal.SIGTERM); os.waitpid(pid, 0)
        launcher(); worker()
        """, "--follow", "all")
    assert sorted(group["ending"] for group in run.groups) == ["", *2 * ["ended by SIGTERM"]]
    assert run.ending == "" and run.info["losses"] == []
    timeloom("check", run.directory, "visits(__main__.step) <= 1", "processes <= 3")


def test_a_child_that_waited_is_no_alarm(measure):
    """Like Ray's workers, which other processes end from C when all is done. It is looked at 10 ms and 100 ms after its
    start."""
    run, _ = measure("""
        import ctypes
        pid = os.fork()
        if pid == 0:
            work(1)
            signal.pause()
        time.sleep(1.5)
        os.kill(pid, signal.SIGKILL)
        assert ctypes.CDLL(None).waitpid(pid, None, 0) == pid
        """)
    assert run.groups[1]["ending"] == "ended while it waited" and run.ending == ""


def test_a_child_that_nobody_saw_is_said(measure):
    run, _ = measure("""
        import ctypes
        pid = os.fork()
        if pid == 0:
            work(1)
            os.kill(os.getpid(), signal.SIGKILL)
        assert ctypes.CDLL(None).waitpid(pid, None, 0) == pid
        """)
    assert run.groups[1]["ending"] == "ended before the measurement could be finished"
    assert run.ending == "1 child process ended before the measurement could be finished"
