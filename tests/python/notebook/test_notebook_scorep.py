"""The magics of the Score-P kernel: their words, multicell mode, write mode, and a notebook written for it."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("nbclient")

from notebooks import Kernel, execute, lines_of, read

SETTINGS = {"SCOREP_ENABLE_TRACING": "1", "SCOREP_ENABLE_PROFILING": "0", "SCOREP_TOTAL_MEMORY": "3g"}
ENVIRONMENT = "%%scorep_env\n" + "\n".join(f"{name}={value}" for name, value in SETTINGS.items())
MULTICELL = "Multicell mode enabled. The following cells will be marked for instrumented execution."
MARKED = "Cell marked for multicell mode. It will be executed at position "


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    cwd = tmp_path_factory.mktemp("notebook")
    kernel = Kernel(tmp_path_factory.mktemp("jupyter"), cwd)
    yield kernel
    kernel.close()


# Cells of the Score-P kernel's notebook, and the expected lines of each, with {} for varying parts.
NOTEBOOK = [
    (ENVIRONMENT, [f"Score-P environment set successfully: {SETTINGS}"]),
    ("%%scorep_python_binding_arguments\n--noinstrumenter",
     ["Score-P Python binding arguments set successfully: ['--noinstrumenter']"]),
    ("""%%execute_with_scorep
import scorep
class A:
    desc = "This class and method should be..."
    def print_desc(self, x):
        print(self.desc + str(x))

a = A()""", ["Instrumentation results can be found in {}"]),
    ('a.print_desc("known here")', ["This class and method should be...known here"]),
    ('a.desc = "new desc"', []),
    ("print(a.desc)", ["new desc"]),
    ("""%%execute_with_scorep
import scorep
with scorep.instrumenter.enable():
    a.desc = "new desc2\"""", ["Instrumentation results can be found in {}"]),
    ("print(a.desc)", ["new desc2"]),
    ("""%%execute_with_scorep
import scorep
import time

def sleep_and_double(x):
    time.sleep(x / 1000)
    return 2*x

with scorep.instrumenter.enable():
    x = 5
    x = sleep_and_double(x)
    x = sleep_and_double(x)""", ["Instrumentation results can be found in {}"]),
    ("print(x)", ["20"]),
    ("%%enable_multicellmode", [MULTICELL]),
    ("""with scorep.instrumenter.enable():
    class B:
        desc = "This is a class defined in multi cell mode"
        def print_desc(self, x):
            print(self.desc + str(x))""", [MARKED + "0"]),
    ("import scorep\nwith scorep.instrumenter.enable():\n    b = B()", [MARKED + "1"]),
    ('with scorep.instrumenter.enable():\n    b.print_desc("...and this object is initialized and used in it.")',
     [MARKED + "2"]),
    ('b.desc = "modified desc"', [MARKED + "3"]),
    ("print(b.desc)", [MARKED + "4"]),
    ("#%%abort_multicellmode", [MARKED + "5"]),
    ("%%finalize_multicellmode", None),
    ("%%start_writefile myscript.py", ["Started converting to Python script. See files:", "{}", "{}"]),
    (ENVIRONMENT, ["Environment variables recorded."]),
    ("%%scorep_python_binding_arguments\n--noinstrumenter", ["Score-P bindings arguments recorded."]),
    ('print("Cell without instrumentation.")', ["Python commands without instrumentation recorded."]),
    ("""%%execute_with_scorep

import scorep

a = [1, 2, 3]
c = sum(a)""", ["Python commands with instrumentation recorded."]),
    ("%%enable_multicellmode\n\nwith scorep.instrumenter.enable():\n    d = max(a)", []),
    ("with scorep.instrumenter.enable():\n    e = min(a)", ["Python commands with instrumentation recorded."]),
    ("%%abort_multicellmode", ["KernelWarning: Currently in writefile, command ignored."]),
    ("%%finalize_multicellmode", []),
    ("%%end_writefile", ["Finished converting to Python script."]),
]  # fmt: skip


def test_a_notebook_of_the_score_p_kernel(tmp_path):
    cwd = tmp_path / "here"
    cwd.mkdir()
    notebook = execute([code for code, _ in NOTEBOOK], tmp_path, cwd)
    for cell, (code, expected) in zip(notebook.cells, NOTEBOOK):
        lines = lines_of(cell.outputs)
        if expected is None:
            continue
        pattern = [re.escape(line).replace(r"\{\}", ".+") for line in expected]
        assert len(lines) == len(pattern) and all(map(re.fullmatch, pattern, lines)), (code, lines)
    finalized = lines_of(notebook.cells[17].outputs)
    said = ["This is a class defined in multi cell mode...and this object is initialized and used in it.", "modified desc"]
    assert [line for line in finalized if line in said] == said
    assert finalized[0] == "Executing cell 0" and finalized[-1].startswith("Instrumentation results can be found in")
    doubled = lines_of(notebook.cells[8].outputs)[0].rsplit(" ", 1)[1]
    assert {row["name"]: row["visits"] for row in read(doubled).flat} == {
        "In [9]": 1, "__main__:sleep_and_double": 2}
    subprocess.run([sys.executable, "-m", "py_compile", "myscript.py"], cwd=cwd, check=True)
    assert (cwd / "myscript_run.sh").read_text().startswith("#!/bin/bash\n") and os.access(cwd / "myscript_run.sh", os.X_OK)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("SCOREP_")}
    done = subprocess.run(["./myscript_run.sh"], cwd=cwd, capture_output=True, text=True, env=variables, timeout=60)
    assert (done.returncode, done.stdout) == (0, "Cell without instrumentation.\n"), done.stderr


@pytest.mark.parametrize(("code", "stdout", "stderr"), [
    ("%%serializer_settings\nSERIALIZER=dill", "Deprecated. Use: %%marshalling_settings\n[MARSHALLER=]\n[MODE=]", ""),
    ("%%finalize_multicellmode", "", "KernelWarning: Currently in default, ignore command"),
    ("%%abort_multicellmode", "", "KernelWarning: Currently in default, command ignored."),
    ("%%end_writefile", "", "KernelWarning: Currently in default, command ignored."),
    ("%%abort_writefile", "", "KernelWarning: Currently in default, command ignored."),
    ("%%disable_vampir_launch", "Vampir launching disabled.", ""),
    ("%%kernel_debug", "Kernel current state:\n", ""),
    ("%%scorep_python_binding_arguments\n--io=posix --thread=pthread",
     "Score-P Python binding arguments set successfully: ['--io=posix', '--thread=pthread']", ""),
    ("%%scorep_python_binding_arguments", "Score-P Python binding arguments set successfully: []", ""),
])  # fmt: skip
def test_the_words_of_a_magic(kernel, code, stdout, stderr):
    answer = kernel.run(code)
    assert (answer.status, answer.stdout, answer.stderr) == ("ok", stdout, stderr)


@pytest.mark.parametrize(("code", "stdout", "stderr"), [
    ("MARSHALLER=pickle\nMODE=disk", "Kernel uses 'pickle' marshaller in 'disk' mode.", ""),
    ("MARSHALLER=nothing_of_this_name\nMODE=memory", "Kernel uses 'json' marshaller in 'memory' mode.",
     "Marshaller 'nothing_of_this_name' is not available or compatible, kernel will use 'json'."),
    ("MODE=tape", "Kernel uses 'json' marshaller in 'memory' mode.",
     "Marshalling mode 'tape' is not recognized, kernel will use 'memory'."),
    ("", "Kernel uses 'json' marshaller in 'memory' mode.", ""),
])  # fmt: skip
def test_marshalling_settings(kernel, code, stdout, stderr):
    kernel.run("%%marshalling_settings\nMARSHALLER=json\nMODE=memory")
    answer = kernel.run(f"%%marshalling_settings\n{code}")
    assert (answer.status, answer.stdout, answer.stderr) == ("ok", stdout, stderr)


def test_variables_are_set_here_too(kernel):
    answer = kernel.run("%%scorep_env\n\nSCOREP_VERBOSE=a=b")
    assert answer.stdout.startswith("Score-P environment set successfully: {") and "'SCOREP_VERBOSE': 'a=b'" in answer.stdout
    assert kernel.run("import os; os.environ.pop('SCOREP_VERBOSE')").result == "'a=b'"
    assert "write NAME=VALUE" in kernel.run("%%scorep_env\nSCOREP").stderr


def test_vampir_is_not_there(kernel):
    answer = kernel.run("%%enable_vampir_launch_on_scorep_instrumented")
    assert answer.stderr.startswith("KernelError: Vampir binary not found in PATH.") and answer.stdout == ""
    assert kernel.run("%%disable_vampir_launch").stdout == "Vampir launching disabled."


def test_a_named_directory_is_said_as_it_was_written_and_the_older_one_is_kept(kernel):
    kernel.run("%env SCOREP_EXPERIMENT_DIRECTORY=my_scorep_data")
    try:
        for _ in range(2):
            answer = kernel.run("%%execute_with_scorep\nx = 1")
            assert answer.stdout == "Instrumentation results can be found in my_scorep_data"
        assert len(list(kernel.cwd.glob("my_scorep_data*"))) == 2
    finally:
        kernel.run("import os; del os.environ['SCOREP_EXPERIMENT_DIRECTORY']")


def test_nothing_wanted_nothing_saved(kernel):
    kernel.run("%%scorep_env\nSCOREP_ENABLE_PROFILING=0")
    answer = kernel.run("%%execute_with_scorep\nx = 1")
    kernel.run("import os; del os.environ['SCOREP_ENABLE_PROFILING']")
    assert answer.status == "ok" and answer.stderr.startswith("KernelWarning: Path of Instrumentation results")
    assert kernel.run("x").result == "1"


def test_the_block_of_a_profile(kernel):
    """Without variables Score-P writes a profile, and so does Timeloom."""
    kernel.run("%%scorep_python_binding_arguments")
    kernel.run("def g(): pass\ndef f():\n    g()")
    answer = kernel.run("%%execute_with_scorep\nfor _ in range(7): f()")
    rows = {line.split()[-2]: line.split()[0] for line in answer.shown[0].splitlines() if "__main__" in line}
    assert rows == {"__main__:f": "7", "__main__:g": "7"}


# ---- multicell mode


def test_a_cell_that_fails_ends_the_batch_and_nothing_is_kept(kernel):
    for code in ("%%enable_multicellmode", "first = 1", "1/0", "third = 3"):
        assert kernel.run(code).status == "ok"
    answer = kernel.run("%%finalize_multicellmode")
    assert answer.status == "error" and answer.reply["content"]["ename"] == "ZeroDivisionError"
    assert kernel.run("first, 'third' in globals()").result == "(1, False)"
    kernel.run("%%enable_multicellmode")
    kernel.run("second = 2")
    assert kernel.run("%%finalize_multicellmode").status == "ok"
    assert kernel.run("second").result == "2"


def test_each_marked_cell_has_a_region(kernel):
    quotes = "text = '''a\\n'''\nprint(text)"
    for code in ("%%enable_multicellmode", "def f(): pass\nf()", quotes, "import asyncio\nawait asyncio.sleep(0)\nf()"):
        kernel.run(code)
    answer = kernel.run("%%finalize_multicellmode")
    assert answer.status == "ok" and quotes in answer.stdout
    number = answer.reply["content"]["execution_count"]
    directory = re.search(r"Instrumentation results can be found in (\S+)", answer.stdout)[1]
    tree = {(row["depth"], row["name"]): row["visits"] for row in read(directory).tree}
    assert {name for depth, name in tree if depth == 0} == {f"In [{number}] cell {i}" for i in range(3)}
    assert tree[1, "__main__:f"] == 1


def test_marked_cells_are_listed_and_dropped(kernel):
    for code in ("%%enable_multicellmode", "one = 1", "two = 2"):
        kernel.run(code)
    assert "already been enabled" in kernel.run("%%enable_multicellmode").stderr
    assert "command ignored" in kernel.run("%%scorep_env\nA=b").stderr
    kernel.run("silent = 1", silent=True, store_history=False)
    assert kernel.run("%%abort_multicellmode").stdout == "Multicell mode aborted."
    assert kernel.run("silent, 'one' in globals()").result == "(1, False)"


# ---- write mode


def test_a_script_of_difficult_cells(kernel):
    cells = [
        "from __future__ import annotations\ntext = '''two\nlines'''", "# only a comment", "%%html\n<b>x</b>", "%time y = len(text)", "files = !ls",
        "%env A_VARIABLE=with blanks", "%env SCOREP_MACHINE_NAME=my machine", "%timeit -n1 -r1 y",
        "print(repr(text), y, __import__('os').environ['A_VARIABLE'])", "if y:\n    !echo no", "await nothing", "x = ",
    ]  # fmt: skip
    assert kernel.run("%%start_writefile difficult").status == "ok"
    assert "already been enabled" in kernel.run("%%start_writefile").stderr
    for code in cells:
        answer = kernel.run(code)
        assert answer.status == "ok" and answer.stderr == "", (code, answer.stderr)
    kernel.run("hidden = 1", silent=True, store_history=False)
    assert kernel.run("%%end_writefile").stdout == "Finished converting to Python script."
    script, runner = (kernel.cwd / "difficult.py").read_text(), (kernel.cwd / "difficult_run.sh").read_text()
    compile(script, "difficult.py", "exec")
    assert "hidden" not in script and "export SCOREP_MACHINE_NAME='my machine'" in runner and '"$@"' in runner
    done = subprocess.run(["./difficult_run.sh"], cwd=kernel.cwd, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "'two\\nlines' 9 with blanks\n"), done.stderr


def test_a_directory_that_is_not_there_leaves_the_mode_off(kernel):
    answer = kernel.run("%%start_writefile nowhere/at/all.py")
    assert answer.status == "error" and "cannot be written" in answer.stderr
    assert kernel.run("1 + 1").result == "2"


def test_aborted_files_are_deleted(kernel):
    kernel.run("%%start_writefile gone.py")
    assert (kernel.cwd / "gone.py").exists()
    assert kernel.run("%%abort_writefile").stdout == "Writefile mode aborted."
    assert not list(kernel.cwd.glob("gone*"))
