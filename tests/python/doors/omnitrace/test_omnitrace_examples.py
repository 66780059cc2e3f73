"""The examples of Omnitrace's page on profiling Python scripts, with exactly its columns LABEL, COUNT and DEPTH."""

import re
import subprocess
import sys

import pytest
from omnitrace_runs import COMMAND, run_omnitrace, variables_of

pytestmark = pytest.mark.any_python

FIB = "def fib(n):\n   return n if n < 2 else (fib(n - 1) + fib(n - 2))\n"
INEFFICIENT = """def inefficient(n):
   a = 0
   for i in range(n):
      a += i
      for j in range(n):
            a += j
   return a
"""
RUN = "def run(n):\n   return fib(n) + inefficient(n)\n"
MAIN = 'if __name__ == "__main__":\n'
COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2026, 3632, 5020, 4760, 2942, 1152, 274, 36, 2]
WHOLE = [("run", 1, 0), *(("fib", count, i + 1) for i, count in enumerate(COUNTS)), ("inefficient", 1, 1)]
CONFIG = """   from omnitrace.profiler import config
   from omnitrace import profile

   config.include_args = True
   config.include_filename = False
   config.include_line = False
   config.restrict_functions += ["fib", "run"]

   with profile():
      run(5)
"""
ARGUMENTS = [("run(n=5)", 0), ("fib(n=5)", 1), ("fib(n=4)", 2), ("fib(n=3)", 3), ("fib(n=2)", 4), ("fib(n=1)", 5), ("fib(n=0)", 5),
             ("fib(n=1)", 4), ("fib(n=2)", 3), ("fib(n=1)", 4), ("fib(n=0)", 4), ("fib(n=3)", 2), ("fib(n=2)", 3), ("fib(n=1)", 4),
             ("fib(n=0)", 4), ("fib(n=1)", 3)]  # fmt: skip
PLAIN = (sys.executable,)
SOURCE = f"import sys\nimport omnitrace\n{FIB}\n{INEFFICIENT}\n"

EXAMPLES = {
    "whole program": (f"import sys\n{FIB}\n{INEFFICIENT}\n{RUN}\n{MAIN}   run(20)\n", COMMAND, ["./example.py"], WHOLE),
    "decorated function": (f"import sys\n{FIB}\n@profile\n{INEFFICIENT}\n{RUN}\n{MAIN}   run(20)\n", COMMAND,
                           ["-b", "--", "./example.py"], [("inefficient", 1, 0)]),
    "source, decorator": (f"{SOURCE}\n@omnitrace.profile()\n{RUN}\n{MAIN}   run(20)\n", PLAIN, ["example.py"], WHOLE),
    "source, block": (f"{SOURCE}\n{RUN}\n{MAIN}   with omnitrace.profile():\n      run(20)\n", PLAIN, ["example.py"], WHOLE),
    "source, configuration": (f"import sys\n{FIB}\n{INEFFICIENT}\n{RUN}\n{MAIN}{CONFIG}", PLAIN, ["example.py"],
                              [(label, 1, depth) for label, depth in ARGUMENTS]),
}  # fmt: skip


def table(directory, metric="trip_count"):
    """(label, count, depth) of the rows of the one table of the metric."""
    (path,) = directory.rglob(f"{metric}-*.txt")
    found = (re.match(r"\| \|0>>> +(?:\|_)?(.*?) +\| +(\d+) \| +(\d+) \| ", line) for line in path.read_text().splitlines())
    return [(row[1], int(row[2]), int(row[3])) for row in found if row]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(tmp_path, name):
    text, command, words, expected = EXAMPLES[name]
    (tmp_path / "example.py").write_text(text)
    done = run_omnitrace(
        tmp_path, *words, command=command, OMNITRACE_PROFILE="ON", OMNITRACE_TIMEMORY_COMPONENTS="trip_count"
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert table(tmp_path) == expected
    assert [path.parent.name for path in tmp_path.rglob("trip_count-*.txt")] == ["omnitrace-example-output"]


def test_what_is_written_is_said(tmp_path):
    (tmp_path / "example.py").write_text(EXAMPLES["whole program"][0])
    done = run_omnitrace(tmp_path, "example.py", OMNITRACE_PROFILE="ON", OMNITRACE_VERBOSE="0", OMNITRACE_USE_PID="OFF")
    lines = [line.partition("]> ")[2] for line in done.stderr.splitlines()]
    assert lines[0].endswith("omnitrace-example-output/wall_clock.txt'")
    assert done.stdout == ""
    assert (tmp_path / "omnitrace-example-output" / "wall_clock.json").is_file()
    assert not list(tmp_path.rglob("perfetto*"))


def test_a_perfetto_trace_is_what_is_written_first_of_all(tmp_path):
    (tmp_path / "example.py").write_text(EXAMPLES["whole program"][0])
    run_omnitrace(tmp_path, "example.py", OMNITRACE_USE_PID="OFF")
    assert (tmp_path / "omnitrace-example-output" / "perfetto-trace.proto").stat().st_size > 1000
    assert not list(tmp_path.rglob("wall_clock*"))


def test_a_program_that_was_killed_has_its_files_later(tmp_path, timeloom_program):
    text = "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGKILL)\nf()\n"
    (tmp_path / "example.py").write_text(text)
    run_omnitrace(tmp_path, "-R", "^f$", "--", "example.py", status=-9, OMNITRACE_PROFILE="ON", OMNITRACE_TIMEMORY_COMPONENTS="trip_count")
    (run,) = tmp_path.rglob("timeloom-run-*")
    assert not list(tmp_path.rglob("trip_count*"))
    subprocess.run([timeloom_program, "weave", run], check=True, capture_output=True)
    assert table(tmp_path) == [("f", 1, 0)]


def test_tables_are_printed_where_that_is_asked_for(tmp_path):
    (tmp_path / "example.py").write_text("def f(): pass\nf()\n")
    done = run_omnitrace(tmp_path, "example.py", OMNITRACE_PROFILE="ON", OMNITRACE_COUT_OUTPUT="ON",
                         OMNITRACE_TIMEMORY_COMPONENTS="trip_count")  # fmt: skip
    (path,) = tmp_path.rglob("trip_count-*.txt")
    assert done.stdout == path.read_text()


MANY = """import threading, multiprocessing
def leaf(n): return n
def work(n):
    for i in range(n): leaf(i)
def main():
    for _ in range(2):
        thread = threading.Thread(target=work, args=(3,))
        thread.start(); thread.join()
    process = multiprocessing.get_context("METHOD").Process(target=work, args=(5,))
    process.start(); process.join()
if __name__ == "__main__": main()
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_threads_have_rows_and_processes_files_of_their_own(tmp_path, method):
    (tmp_path / "example.py").write_text(MANY.replace("METHOD", method))
    run_omnitrace(tmp_path, "-MR", r"/example\.py$", "--", "example.py", OMNITRACE_PROFILE="ON", OMNITRACE_TIMEMORY_COMPONENTS="trip_count")
    tables = sorted(path.read_text() for path in tmp_path.rglob("trip_count-*.txt"))
    labels = [re.findall(r"^\| (\|\d>>> +(?:\|_)?\w+) +\| +(\d+)", text, re.MULTILINE) for text in tables]
    threads = [("|0>>> main", "1"), *((f"|{i}>>> {name}", n) for i in (1, 2) for name, n in (("|_work", "1"), ("  |_leaf", "3")))]
    # Regions open at the fork were called in the parent only.
    assert sorted(labels) == sorted([threads, [("|0>>> work", "1"), ("|0>>> |_leaf", "5")]])


def test_the_layout_of_timeloom_run(tmp_path, timeloom_program):
    (tmp_path / "example.py").write_text("def f(): pass\nf()\n")
    command = [timeloom_program, "run", "--layout", "omnitrace", "-o", "out", "--quiet", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=variables_of(tmp_path, OMNITRACE_USE_PID="OFF"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"metadata.json", "perfetto-trace.proto", "timeloom-run"}
