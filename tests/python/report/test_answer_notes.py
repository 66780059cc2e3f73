"""The remarks of timeloom report beside its numbers: warnings, and time that may be in C
(tests/unit/tools/answer_test.cpp)."""

import re
import subprocess

import pytest

pytestmark = pytest.mark.any_python

SCREEN = {"COLUMNS": "80", "LINES": "25", "LANG": "C"}
IN_C = """\
DATA = [str(i) for i in range(50_000)]
def fetch():
    return sorted(DATA)
def main():
    for _ in range(20):
        fetch()
main()
"""


def record(program, directory, text, *options):
    (directory / "app.py").write_text(text)
    subprocess.run([program, "run", "--quiet", "--force", "-o", "run", *options, "app.py"], cwd=directory, check=True)
    return directory / "run"


@pytest.mark.parametrize(
    ("text", "options", "warning", "lines"),
    [("import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n", [], "1 Python process not measured", 1),
     ("def f(n):\n    if n: f(n - 1)\nf(50)\n", ["--profile-depth", "10"], "the limit of 10 levels of call paths", 2),
     # A table of the waiting, and a line about its cause.
     ("import time\ndef f(n):\n    f(n - 1) if n else time.sleep(0.05)\nf(50)\n", ["--profile-depth", "10"],
      "the limit of 10 levels of call paths", 2)],
    ids=["children", "depth", "waiting"],
)  # fmt: skip
def test_warnings_take_their_lines_from_the_rest(timeloom, program, tmp_path, text, options, warning, lines):
    many = "".join(f"def f{i}():\n    return sum(range(1000))\nf{i}()\n" for i in range(40))
    said = timeloom("report", record(program, tmp_path, many + text, *options), **SCREEN).stdout.splitlines()
    assert said[1].startswith(f"! {warning}")
    assert len(said) + lines - 1 <= 24


@pytest.mark.parametrize(("options", "said"), [([], True), (["--c-functions"], False), (["--sample", "1ms"], False)])
def test_time_in_functions_that_call_c_is_said_with_the_option(timeloom, program, tmp_path, options, said):
    lines = timeloom("report", record(program, tmp_path, IN_C, *options), **SCREEN).stdout.splitlines()
    hints = [line for line in lines if "(run --sample 1ms)" in line]
    assert [bool(re.match(r"\d+% where Python calls are 5 us or more apart", line)) for line in hints] == [True] * said


@pytest.mark.parametrize(
    ("options", "end"),
    [([], ". Functions written in C are recorded with --c-functions"), (["--c-functions"], "")],
)
def test_a_function_of_c_that_is_asked_for(timeloom, program, tmp_path, options, end):
    run = record(program, tmp_path, "sorted([])", *options)
    said = timeloom("report", "--function", "cursor_fetchall", run, status=1).stderr
    assert said == f"timeloom: no function 'cursor_fetchall' in this run; timeloom report --flat lists them{end} [TL421]\n"
