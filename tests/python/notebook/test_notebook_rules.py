"""Mistakes that a measurement in a kernel's process must not make: one test for each mistake that such kernels have
made."""

import os
import signal
import sys
import time

import pytest

pytest.importorskip("ipykernel")

from notebooks import Kernel, read

FIB = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("notebook")
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), cwd)
    assert kernel.run(FIB).status == "ok"
    yield kernel
    kernel.close()


def visits(path):
    return {row["name"]: row["visits"] for row in read(path).flat}


def number_of(answer):
    return answer.reply["content"]["execution_count"]


@pytest.mark.parametrize(("code", "calls"), [
    ("1/0", {}), ("1 + 1", {}), ("fib(2)\n1 + 1", {"__main__.fib": 3}), ("fib(2)\n[fib]", {"__main__.fib": 3}),
    ("import sys\nsys.stdout.write('x')\nfib(1)", {"__main__.fib": 1}), ("raise KeyboardInterrupt", {}),
    ("def broken(): raise ValueError\nbroken()", {"__main__.broken": 1}), ("fib(1)\nfib", {"__main__.fib": 1}),
])  # fmt: skip
def test_nothing_but_the_code_of_the_user_is_recorded(kernel, code, calls):
    """Neither the display hook nor the printer of tracebacks, which would be a hundred thousand events."""
    answer = kernel.run(f"%%timeloom\n{code}")
    assert visits(answer.run) == {f"In [{number_of(answer)}]": 1, **calls}


def test_statements_of_a_cell_are_one_region(kernel):
    answer = kernel.run("%%timeloom\n" + "\n".join(f"v{i} = fib(1)" for i in range(50)) + "\nif v1:\n    fib(1)")
    tree = [(row["depth"], row["name"], row["visits"]) for row in read(answer.run).tree]
    assert tree == [(0, f"In [{number_of(answer)}]", 1), (1, "__main__.fib", 51)]


def test_functions_are_named_by_the_number_of_their_cell(kernel):
    defined = number_of(kernel.run("# one\n\ndef placed():\n    pass"))
    again = number_of(kernel.run("# two\n\n\n\ndef placed_too():\n    pass"))
    text = kernel.run("%%timeloom\nplaced(); placed_too()").shown[0]
    assert f"__main__.placed  In[{defined}]:3" in text and f"__main__.placed_too  In[{again}]:5" in text


def test_a_thread_of_an_earlier_cell_is_recorded_in_the_cells_in_which_it_calls(kernel):
    kernel.run("import threading\ngo = [threading.Event() for _ in range(3)]\ndone = [threading.Event() for _ in range(3)]\n"
               "def step(i):\n    fib(i)\n"
               "def work():\n    for i in range(3):\n        go[i].wait()\n        step(i)\n        done[i].set()\n"
               "worker = threading.Thread(target=work, name='early', daemon=True); worker.start()")
    first = kernel.run("%%timeloom\ngo[0].set(); done[0].wait()")
    kernel.run("go[1].set(); done[1].wait()")  # is not recorded
    last = kernel.run("%%timeloom\ngo[2].set(); done[2].wait(); worker.join()")
    for answer, count in ((first, 1), (last, 3)):
        found = visits(answer.run)
        assert (found["__main__.step"], found["__main__.fib"]) == (1, count), found
        assert sorted(thread["name"] for thread in read(answer.run).threads) == ["MainThread", "early"]
        rows = [(row["depth"], row["name"]) for row in read(answer.run).tree]
        assert (0, f"In [{number_of(answer)}]") in rows


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no sys.monitoring")
def test_tools_of_others_are_named_when_no_place_is_left(kernel):
    kernel.run("import sys\nheld = [i for i in range(6) if sys.monitoring.get_tool(i) is None]\n"
               "for i in held: sys.monitoring.use_tool_id(i, f'other-{i}')")
    answer = kernel.run("%%timeloom --instrumenter monitoring\nfib(2)")
    kernel.run("for i in held: sys.monitoring.free_tool_id(i)")
    assert answer.status == "error" and answer.stderr.count("\n") <= 1 and "other-" in answer.stderr, answer.stderr
    assert visits(kernel.run("%%timeloom\nfib(2)").run)["__main__.fib"] == 3


@pytest.mark.parametrize("profiler", ["%prun -q fib(3)", "import cProfile; cProfile.run('fib(3)')"])
def test_another_profiler_inside_of_a_cell(kernel, profiler):
    answer = kernel.run(f"%%timeloom\n{profiler}")
    assert answer.status == "ok" and visits(answer.run)["__main__.fib"] == 5


def test_settings_are_those_of_each_cell(kernel):
    counts = [visits(kernel.run(f"%%timeloom {options}\nlen('a'); fib(2)").run) for options in
              ("", "--c-functions", "--exclude __main__.fib", "")]
    assert [("builtins.len" in one, "__main__.fib" in one) for one in counts] == [
        (False, True), (True, True), (False, False), (False, True)]


def test_what_a_running_process_cannot_get_is_said(kernel):
    kernel.run("%%scorep_python_binding_arguments\n--mpp=mpi --io=posix")
    answer = kernel.run("%%execute_with_scorep\nfib(1)")
    kernel.run("%%scorep_python_binding_arguments")
    assert answer.status == "ok"
    assert "MPI" in "".join(answer.shown) and "install --io posix" in "".join(answer.shown), answer.shown


def test_a_defect_of_ours_is_one_line_and_the_cell_is_answered(kernel):
    kernel.run("import timeloom._notebook._block as block; kept = block.as_text; block.as_text = None")
    answer = kernel.run("%%timeloom\n6 * 7")
    kernel.run("block.as_text = kept")
    assert (answer.status, answer.result) == ("ok", "42")
    assert answer.stderr.startswith("timeloom: the cell was measured") and answer.stderr.count("\n") == 1
    assert kernel.run("%%timeloom\n6 * 7").stderr == ""


def test_requests_without_history_are_no_cells(kernel):
    answer = kernel.run("%%timeloom\nfib(2)", store_history=False)
    assert (answer.status, answer.result, answer.shown) == ("ok", "1", [])


@pytest.mark.notebook_suite
@pytest.mark.parametrize("death", ["os.kill(os.getpid(), signal.SIGABRT)", "os._exit(3)", "os.abort()",
                                   "import ctypes; ctypes.string_at(0)"])  # fmt: skip
def test_no_death_loses_the_cell(tmp_path, death):
    kernel = Kernel(tmp_path / "jupyter", tmp_path)
    try:
        kernel.run(FIB)
        kernel.send(f"%%timeloom --output crashed\nimport os, signal\nfib(5)\n{death}")
        end = time.monotonic() + 60
        while kernel.manager.is_alive():
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        kernel.close()
    assert visits(tmp_path / "crashed")["__main__.fib"] == 15


def test_a_forked_process_has_its_own_place_in_the_run(kernel):
    answer = kernel.run("%%timeloom\nimport multiprocessing\n"
                        "child = multiprocessing.get_context('fork').Process(target=fib, args=(4,))\n"
                        "child.start(); child.join(); print(child.exitcode); fib(2)")
    assert answer.stdout == "0\n" and kernel.run("1 + 1").result == "2"
    run = read(answer.run)
    assert len(run.processes) == 2 and visits(answer.run)["__main__.fib"] == 12


def test_an_interrupt_of_the_front_end_reaches_the_cell_only(kernel):
    kernel.run("%%timeloom\nfor _ in range(100_000): fib(1)")  # is being woven
    message = kernel.send("import time\ntime.sleep(60)")
    time.sleep(0.3)
    os.kill(kernel.manager.provisioner.pid, signal.SIGINT)
    assert kernel.answer(message).status == "error"
    kernel.run("%timeloom wait")
    assert kernel.run("_run.flat[0]['visits'] in (1, 100_000)").result == "True"
