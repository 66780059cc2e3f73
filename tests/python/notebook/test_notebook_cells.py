"""Measured cells in a real kernel: exact calls, none of the kernel's own, and IPython's treatment of a cell."""

import collections
import subprocess

import pytest

pytest.importorskip("ipykernel")

from notebooks import Kernel, has_shell_assignment, read

from timeloom._notebook._sources import Sources

KERNELS_OWN = ("IPython", "ipykernel", "traitlets", "zmq", "tornado", "asyncio", "selectors", "timeloom", "jupyter",
               "comm", "threading", "contextlib", "json", "enum", "codeop", "_")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("notebook")
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), cwd)
    assert kernel.run("def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)").status == "ok"
    yield kernel
    kernel.close()


def calls(path):
    """The visits of all regions of a run."""
    return {row["name"]: row["visits"] for row in read(path).flat}


def test_a_measured_cell_has_its_calls_and_no_others(kernel):
    answer = kernel.run("%%timeloom\nx = fib(5)\nprint(x)\nfib(3)")
    number = answer.reply["content"]["execution_count"]
    assert (answer.status, answer.stdout, answer.result) == ("ok", "5\n", "2")
    assert calls(answer.run) == {f"In [{number}]": 1, "__main__.fib": 20}
    assert [thread["name"] for thread in read(answer.run).threads] == ["MainThread"]


def test_the_block_has_the_calls_before_the_reply(kernel):
    answer = kernel.run("%%timeloom\nfib(6)")
    (block,) = answer.of("display_data")
    assert any(line.split()[0] == "25" and line.split()[-2] == "__main__.fib"
               for line in block["data"]["text/plain"].splitlines())
    assert len(block["data"]["text/plain"].splitlines()) <= 15
    page = block["data"]["text/html"]
    assert "__main__.fib" in page and "<script" not in page and "http" not in page and len(page) < 200_000
    kinds = [kind for kind, _ in answer.messages]
    assert kinds.index("display_data") < len(kinds) - 1  # idle comes last


def test_the_same_calls_without_reading_the_fold(kernel):
    """The fold in the process and the woven run have the same counts."""
    answer = kernel.run("%%timeloom\nimport json\nfor _ in range(3):\n    json.dumps({'a': [1, 2.5, None]}, indent=1)")
    woven = read(answer.run)
    rows = {(row["depth"], row["name"]): row["visits"] for row in woven.tree}
    text = answer.shown[0]
    top = woven.flat[0]
    assert rows[0, next(name for depth, name in rows if depth == 0)] == 1
    assert f"{top['visits']:,}" in text and top["name"] in text


def test_execute_with_scorep_answers_with_the_directory(kernel):
    answer = kernel.run("%%execute_with_scorep\nfib(4)\nprint('x')")
    assert answer.stdout.startswith("x\nInstrumentation results can be found in ")
    directory = answer.stdout.rsplit(" ", 1)[1]
    assert "scorep-" in directory and not directory.endswith("\n")
    number = answer.reply["content"]["execution_count"]
    assert calls(directory) == {f"In [{number}]": 1, "__main__:fib": 9}


def test_output_of_many_kinds_leaves_no_frames(kernel):
    code = """%%timeloom
import sys
from IPython.display import display
print("a"); sys.stderr.write("b\\n"); sys.stdout.flush()
display({"text/html": "<b>c</b>"}, raw=True)
fib(2)
[1, 2]"""
    answer = kernel.run(code)
    assert answer.stdout == "a\n" and answer.stderr == "b\n" and answer.result == "[1, 2]"
    found = [name for name in calls(answer.run) if not name.startswith(("In [", "__main__.fib"))]
    assert found == []


def test_an_error_is_the_cells_and_the_measurement_is_kept(kernel):
    answer = kernel.run("%%timeloom\nfib(3)\n1/0\nfib(20)")
    assert answer.status == "error" and answer.reply["content"]["ename"] == "ZeroDivisionError"
    assert "partial: stopped by ZeroDivisionError" in answer.shown[0]
    assert sorted(calls(answer.run).values()) == [1, 5]


def test_a_syntax_error_has_a_reply_and_no_run(kernel):
    answer = kernel.run("%%timeloom\nx = ")
    assert answer.status == "error" and answer.reply["content"]["ename"] == "SyntaxError" and answer.shown == []


def test_await_is_part_of_the_cell(kernel):
    code = """%%timeloom
import asyncio
async def step(n):
    await asyncio.sleep(0.01)
    return fib(n)
await asyncio.gather(step(2), step(3))"""
    answer = kernel.run(code)
    assert answer.result == "[1, 2]"
    found = calls(answer.run)
    assert found["__main__.fib"] == 8
    assert not [name for name in found if name.startswith(("asyncio", "selectors", "tornado", "ipykernel"))]


def test_magics_inside_a_measured_cell(kernel):
    command = "files = !echo one" if has_shell_assignment() else "files = ['one']"
    answer = kernel.run(f"%%timeloom\n%time y = fib(4)\n{command}\nprint(files, y)")
    assert answer.status == "ok" and "['one'] 3" in answer.stdout
    assert calls(answer.run)["__main__.fib"] == 9


def test_another_cell_magic_inside(kernel):
    answer = kernel.run("%%timeloom\n%%time\nfib(4)\nfib(1);")
    assert answer.status == "ok" and calls(answer.run)["__main__.fib"] == 10


@pytest.mark.parametrize("above, times", [
    ("%%time", 1), ("# first\n%%timeit -n 2 -r 3", 6), ("%%capture _shown\n\n# then", 1), ("%%prun -q", 1),
])  # fmt: skip
def test_below_another_cell_magic(kernel, above, times):
    """As if it stood above."""
    answer = kernel.run(f"{above}\n%%timeloom --exclude json.*\nfib(4)\nfib(1)\nprint('out')")
    assert (answer.status, calls(answer.run)["__main__.fib"]) == ("ok", 10 * times)
    assert answer.stdout.count("out") == (0 if "capture" in above else times)


def test_a_magic_of_ours_in_a_text_is_none(kernel):
    assert kernel.run("%%writefile text\n%%timeloom\nfib(4)").run is None
    assert kernel.run("print(open('text').read())").stdout == "%%timeloom\nfib(4)\n\n"


def test_threads_of_the_cell_are_recorded(kernel):
    code = """%%timeloom
import threading
thread = threading.Thread(target=fib, args=(4,), name="mine")
thread.start(); thread.join()"""
    answer = kernel.run(code)
    run = read(answer.run)
    assert sorted(thread["name"] for thread in run.threads) == ["MainThread", "mine"]
    assert calls(answer.run)["__main__.fib"] == 9


def test_a_line_and_its_value(kernel):
    answer = kernel.run("z = 3\n%timeloom fib(z)")
    assert answer.result == "2" and calls(answer.run)["__main__.fib"] == 5
    number = answer.reply["content"]["execution_count"]
    assert answer.run.name == f"in-{number}" and answer.shown[0].startswith(f"In [{number}]: ")


def test_input_in_a_measured_cell(kernel):
    answer = kernel.run("%%timeloom\nname = input('who? ')\nprint(name)", answers=["me"])
    assert answer.stdout == "me\n" and list(calls(answer.run).values()) == [1]


def test_run_is_in_python(kernel):
    kernel.run("%%timeloom\nfib(5)")
    assert kernel.run("[row['visits'] for row in _run.top(5) if row['name'].endswith('fib')]").result == "[15]"
    assert kernel.run("print(_run.tree(1))").stdout.count("\n") == 2
    assert kernel.run("sum(1 for event in _run.events())").result == "32"


def test_nothing_is_left_between_cells(kernel):
    code = ("import sys; (sys.getprofile(), sys.gettrace(), hasattr(sys, 'monitoring') and "
            "[name for i in range(6) if (name := sys.monitoring.get_tool(i))])")
    before = kernel.run(code).result
    kernel.run("%%timeloom\nfib(5)")
    assert kernel.run(code).result == before and "timeloom" not in before


def test_silent_requests_are_no_cells(kernel):
    kernel.run("%timeloom_config measure_every_cell=True")
    answer = kernel.run("fib(3)", silent=True, store_history=False)
    assert answer.shown == []
    answer = kernel.run("fib(3)")
    assert calls(answer.run)["__main__.fib"] == 5
    kernel.run("%timeloom_config measure_every_cell=False")
    assert kernel.run("fib(3)").shown == []


def test_leading_comments_and_blank_lines(kernel):
    answer = kernel.run("\n# a comment\n\n%%timeloom --c-functions\nlen('abc')")
    assert answer.result == "3" and calls(answer.run)["builtins.len"] == 1


@pytest.mark.parametrize(("line", "said"), [
    ("--colour blue", "no such setting"), ("stray", "options begin with --"), ("--output", "--output needs a value [TL630]"),
    ("--mpp=mpi", "cannot be recorded in this kernel"),
    ("--io", "timeloom_kernel.install --io posix"), ("--thread", "timeloom_kernel.install --thread pthread"), ("'", "No closing quotation"),
])  # fmt: skip
def test_wrong_options_are_answered_in_one_line(kernel, line, said):
    answer = kernel.run(f"%%timeloom {line}\nfib(3)")
    assert answer.status == "error" and answer.reply["content"]["ename"] == "UsageError"
    assert answer.stderr.count("\n") <= 1 and said in answer.stderr


def test_an_empty_measured_cell_is_answered(kernel):
    assert "no code" in kernel.run("%%timeloom").shown[0]
    assert kernel.run("%%execute_with_scorep").stderr.startswith("KernelWarning: Path of Instrumentation results")


def test_help_and_completion(kernel):
    assert "measures the cell" in kernel.run("%%timeloom --help").shown[0]
    assert kernel.run("%%timeloom?").status == "ok"
    kernel.client.complete("%%execute_w", 11)
    while (reply := kernel.client.get_shell_msg(timeout=30))["msg_type"] != "complete_reply":
        pass
    assert "%%execute_with_scorep" in reply["content"]["matches"]


def test_runs_and_their_difference(kernel):
    first = kernel.run("%%timeloom\nfib(5)").reply["content"]["execution_count"]
    second = kernel.run("%%timeloom\nfib(7)").reply["content"]["execution_count"]
    listed = kernel.run("%timeloom runs").shown[0].splitlines()
    assert [line.split()[1] for line in listed[-2:]] == [f"[{first}]", f"[{second}]"]
    text = kernel.run(f"%timeloom diff {first} {second}").shown[0]
    assert "calls 15 -> 41" in text and "__main__.fib" in text
    assert "was not measured" in kernel.run("%timeloom diff 1").stderr


def test_runs_have_directories_of_their_own(kernel):
    runs = [kernel.run("%%timeloom\nfib(2)").run for _ in range(3)]
    assert len(set(runs)) == 3 and collections.Counter(run.parent for run in runs)[runs[0].parent] == 3


def test_the_timeline_of_a_run_in_a_frame(kernel):
    kernel.run("%%timeloom\nfib(3)")
    kernel.run("%timeloom wait")
    (frame,) = kernel.run("%timeloom view").of("display_data")
    assert "timeloom view" in frame["data"]["text/plain"]
    page = frame["data"].get("text/html", "<iframe srcdoc=")  # a large page is named only
    assert page.startswith("<iframe srcdoc=") and 'src="http' not in page
    assert "was not measured" in kernel.run("%timeloom view 1").stderr


def test_a_cell_in_a_new_python(kernel):
    kernel.run("factor = 3\nlock = __import__('threading').Lock()")
    answer = kernel.run("%%timeloom --fresh --return product,number\n"
                        "import os\nproduct = factor * 7\nnumber = os.getpid()\nprint('there')")
    assert (answer.status, answer.stdout) == ("ok", "there\n"), answer.stderr
    assert answer.run.name == f"in-{answer.reply['content']['execution_count']}"
    assert calls(answer.run) == {"__main__.<module>": 1}  # nothing of how objects come and go
    assert kernel.run("import os; product, number != os.getpid()").result == "(21, True)"
    assert "cannot be handed to another process" in kernel.run("%%timeloom --fresh\nprint(lock)").stderr
    assert "ended with status 3" in kernel.run("%%timeloom --fresh\nraise SystemExit(3)").stderr
    assert "--ranks takes a number" in kernel.run("%%timeloom --ranks many\n1").stderr


def test_a_block_that_comes_later(kernel):
    """Too many events for the time until the reply: the rest comes as an update, here with the next cell."""
    answer = kernel.run("%%timeloom\nfor _ in range(20_000): fib(1)")
    assert "when the run is woven" in answer.shown[0]
    answer = kernel.run("%timeloom wait")
    updates = answer.of("update_display_data")
    while not updates:  # the run is woven, its block is being made
        updates = kernel.run("import time; time.sleep(0.1)").of("update_display_data")
    assert "20,000" in updates[0]["data"]["text/plain"]


def test_the_code_of_cells_is_kept_beside_their_runs(kernel, timeloom_program):
    """Including cells that were not measured; the timeline shows it when the kernel's files are gone."""
    kernel.run("def kept(n):\n    return n + 1  # by a cell")
    answer = kernel.run("%%timeloom\nkept(1)")
    row = next(row for row in read(answer.run).flat if row["name"] == "__main__.kept")
    file = answer.run.parent / "cells" / row["file"].rsplit("/", 1)[-1]
    assert file.read_text().splitlines()[row["line"]] == "    return n + 1  # by a cell"
    command = [timeloom_program, "view", answer.run, "--html", kernel.cwd / "page.html", "--with-source"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=kernel.cwd)
    assert "with the lines of 2 functions" in done.stderr  # the cell and kept()


def test_code_is_not_written_through_a_link(tmp_path):
    (tmp_path / "1234.py").write_text("x = 1\n")
    for name in ("runs", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "runs" / "cells").symlink_to(tmp_path / "other")
    Sources().keep(str(tmp_path / "runs" / "run"), [str(tmp_path / "1234.py")])
    assert list((tmp_path / "other").iterdir()) == []
