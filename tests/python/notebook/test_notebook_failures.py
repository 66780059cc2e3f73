"""Cases in which a kernel that measures in another process loses data or hangs: each has a reply before its
deadline."""

import os
import random
import signal
import time

import pytest

pytest.importorskip("ipykernel")

from notebooks import Kernel, has_shell_assignment, read


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("notebook")
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), cwd)
    yield kernel
    kernel.close()


@pytest.fixture
def own_kernel(tmp_path):
    """For tests that end it."""
    kernel = Kernel(tmp_path / "jupyter", tmp_path)
    yield kernel
    kernel.close()


SETUP = """
import math, threading
lst, dd = [1], {}
generator = (i for i in range(5))
lock = threading.Lock()
class P: pass
p = P()
"""

# Code of a measured cell, then an expression in a plain one and its value.
KEPT = [
    ("lst.append(3)", "lst", "[1, 3]"),
    ("dd['k'] = 1; p.v = 42", "dd['k'], p.v", "(1, 42)"),
    ("for i in range(3): pass", "i", "2"),
    ("with open('/dev/null') as opened: pass", "opened.closed", "True"),
    ("(walrus := 7)", "walrus", "7"),
    ("gone = 1\ndel gone", "'gone' in globals()", "False"),
    ("exec('executed = 1'); globals()['through'] = 2", "executed, through", "(1, 2)"),
    ("count = 1\ncount += 1", "count", "2"),
    ("q = P()", "isinstance(q, P), type(p) is P", "(True, True)"),
    ("math.custom = 5", "math.custom", "5"),
    ("next(generator)", "next(generator)", "1"),
    ("made = (i for i in 'ab')", "next(made)", "'a'"),
    ("held = lock.acquire()", "lock.locked()", "True"),
    ("import sys; paths = len(sys.path)", "len(sys.path) == paths", "True"),
    ("from math import *", "floor(2.5)", "2"),
    ("import functools\n@functools.lru_cache\ndef cached(n): return n\ncached(1)", "cached.cache_info().currsize", "1"),
    ("try:\n    1/0\nexcept ZeroDivisionError as error: kept = error", "type(kept).__name__", "'ZeroDivisionError'"),
    ("import os; os.chdir('/tmp')", "os.getcwd()", "'/tmp'"),
]  # fmt: skip


def test_whatever_a_measured_cell_does_stays(kernel):
    kernel.run(SETUP)
    home = kernel.run("import os; os.getcwd()").result
    for code, expression, value in KEPT:
        answer = kernel.run(f"%%execute_with_scorep\n{code}")
        assert answer.status == "ok", (code, answer.reply)
        assert kernel.run(expression).result == value, code
    kernel.run(f"os.chdir({home})")


@pytest.mark.parametrize("code", ["x = ", "%%html\n<b>x</b>", "print?", "files = !ls", "if True:\n    !true", "%time 1",
                                  "%%time\n1", "%%bash\ntrue", "%%capture out\n1", "import asyncio\nawait asyncio.sleep(0)"])  # fmt: skip
@pytest.mark.parametrize("magic", ["", "%%timeloom\n", "%%execute_with_scorep\n"])
def test_every_cell_has_a_reply(kernel, magic, code):
    if "= !" in code and not has_shell_assignment():
        pytest.skip("this IPython does not take it on Python 3.12")
    assert kernel.run(magic + code).status == ("error" if code == "x = " else "ok")


def test_output_without_a_final_newline_and_with_wide_characters(kernel):
    code = "%%execute_with_scorep\nimport sys\nsys.stdout.write('é€😀' * 40)\nsys.stdout.write('no newline at end')"
    answer = kernel.run(code)
    assert "é€😀" * 40 + "no newline at end" in answer.stdout


def test_many_lines(kernel):
    answer = kernel.run("%%timeloom\nfor i in range(100_000): print(i)")
    assert answer.stdout.count("\n") == 100_000


def test_output_comes_while_the_cell_runs(kernel):
    message = kernel.send("%%timeloom\nimport time\nprint('first', flush=True)\ntime.sleep(3)\nprint('last')")
    begin = time.monotonic()
    while True:
        got = kernel.client.get_iopub_msg(timeout=30)
        if got["msg_type"] == "stream" and got["parent_header"]["msg_id"] == message:
            break
    assert time.monotonic() - begin < 2.5
    while kernel.client.get_shell_msg(timeout=30)["parent_header"].get("msg_id") != message:
        pass


def test_sys_exit_is_answered(kernel):
    assert kernel.run("%%execute_with_scorep\nimport sys\nsys.exit(3)").status == "error"
    assert kernel.run("1 + 1").result == "2"


@pytest.mark.parametrize("number", range(5))
def test_interrupts_at_any_time(kernel, number):
    message = kernel.send("%%timeloom\ndef f():\n    for i in range(1000): pass\nwhile True: f()")
    time.sleep(random.Random(number).uniform(0.3, 1))
    kernel.manager.interrupt_kernel()
    answer = kernel.answer(message)
    assert answer.status == "error" and answer.reply["content"]["ename"] == "KeyboardInterrupt"
    assert kernel.run("1 + 1").result == "2"
    assert "partial: stopped by KeyboardInterrupt" in answer.shown[0]


def test_cells_after_a_failed_one_are_not_run(kernel):
    first, second = kernel.send("%%timeloom\nimport time\ntime.sleep(1)\n1/0"), kernel.send("after = 1")
    assert kernel.answer(first).status == "error"
    while (reply := kernel.client.get_shell_msg(timeout=30))["parent_header"]["msg_id"] != second:
        pass
    assert reply["content"]["status"] in ("aborted", "error")


def test_a_crash_loses_nothing(own_kernel, tmp_path):
    own_kernel.run("def f(): pass")
    own_kernel.send("%%timeloom --output crashed\nfor _ in range(100): f()\n"
                    "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    end = time.monotonic() + 60
    while own_kernel.manager.is_alive():
        assert time.monotonic() < end
        time.sleep(0.1)
    run = read(tmp_path / "crashed")
    assert {row["name"]: row["visits"] for row in run.flat if row["name"] == "__main__.f"} == {"__main__.f": 100}


def test_a_killed_kernel_loses_no_cell(tmp_path):
    kernel = Kernel(tmp_path / "jupyter", tmp_path)
    try:
        kernel.run("def f(): pass")
        runs = [kernel.run(f"%%timeloom\nfor _ in range({count}): f()").run for count in (10, 20, 30)]
        os.kill(kernel.manager.provisioner.pid, signal.SIGKILL)
    finally:
        kernel.close()
    for run, count in zip(runs, (10, 20, 30)):
        visits = {row["name"]: row["visits"] for row in read(run).flat}
        assert visits["__main__.f"] == count


def test_processes_of_a_cell(kernel):
    code = """%%timeloom
import os, subprocess, sys
child = os.fork()
if child == 0:
    os._exit(7)
print(os.waitpid(child, 0)[1] >> 8, subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True).stdout)"""
    answer = kernel.run(code)
    assert answer.status == "ok" and answer.stdout == "7 b'5\\n'\n"


def test_a_directory_that_cannot_be_written(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("readonly")
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), cwd)
    try:
        kernel.run("import os; here = os.getcwd(); os.chdir('/proc')")
        answer = kernel.run("%%timeloom\nx = 1")
        assert answer.status == "ok" and answer.run.is_dir()
        answer = kernel.run("%%execute_with_scorep\ny = 1")
        assert answer.status == "error" and answer.stderr.count("\n") <= 1
    finally:
        kernel.close()


def test_two_notebooks_in_one_directory(tmp_path):
    kernels = [Kernel(tmp_path / f"jupyter{number}", tmp_path) for number in range(2)]
    try:
        sent = [kernel.send("%%timeloom\nx = 1") for kernel in kernels]
        runs = [kernel.answer(message).run for kernel, message in zip(kernels, sent)]
        assert runs[0] != runs[1] and all(run.is_dir() for run in runs)
    finally:
        for kernel in kernels:
            kernel.close()
