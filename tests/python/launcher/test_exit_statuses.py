"""docs/exit-statuses.md: one command ends with the status of each row."""

import subprocess
import sys
from pathlib import Path

import pytest
from streams import environment

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]
PYTHON = [sys.executable, "-m"]
EXITS = ["-c", "import sys; sys.exit(5)"]
OF_THE_PROGRAM, OF_THE_COMMAND = "of the program", "of the command"

# By the first command of a row and its status: words, the first of which is looked for beside the program under test.
CASES = {
    ("timeloom", "0"): ["timeloom", "--version"],
    ("timeloom", "2"): ["timeloom", "nosuch"],
    ("timeloom run", OF_THE_PROGRAM): ["timeloom", "run", "--quiet", "-o", "exits", *EXITS],
    ("timeloom run", "2"): ["timeloom", "run", "--max-size=many", *EXITS],
    ("timeloom run --program", OF_THE_PROGRAM): ["timeloom", "run", "--program", "sh", "-c", "exit 5"],
    ("timeloom run --program", "128 + N"): ["timeloom", "run", "--program", "sh", "-c", "kill -9 $$"],
    ("timeloom run --program", "2"): ["timeloom", "run", "--program", "/nosuch/program"],
    ("timeloom attach", "0"): ["timeloom", "attach", "--help"],
    ("timeloom attach", "1"): ["timeloom", "attach", "999999999"],
    ("timeloom attach", "2"): ["timeloom", "attach"],
    ("timeloom report", "0"): ["timeloom", "report", "run"],
    ("timeloom report", "1"): ["timeloom", "report", "nosuch"],
    ("timeloom report", "2"): ["timeloom", "report", "--nosuch"],
    ("timeloom diff", "0"): ["timeloom", "diff", "--fail-above", "20", "run", "run"],
    ("timeloom diff", "1"): ["timeloom", "diff", "run", "nosuch"],
    ("timeloom diff", "2"): ["timeloom", "diff", "run"],
    ("timeloom check", "0"): ["timeloom", "check", "run", "visits(fib) == 3"],
    ("timeloom check", "1"): ["timeloom", "check", "run", "visits(fib) == 4"],
    ("timeloom check", "2"): ["timeloom", "check", "run", "visits(fib)"],
    ("timeloom check", "3"): ["timeloom", "check", "run", "visits(nosuch) == 4", "visits(fib) == 4"],
    ("timeloom top", "0"): ["timeloom", "top", "--help"],
    ("timeloom top", "1"): ["timeloom", "top", "run"],
    ("timeloom top", "2"): ["timeloom", "top", "--looks", "none"],
    ("timeloom explain", "0"): ["timeloom", "explain", "TL201"],
    ("timeloom explain", "2"): ["timeloom", "explain", "TL999"],
    ("timeloom mcp", "0"): ["timeloom", "mcp", "--help"],
    ("timeloom mcp", "1"): ["timeloom", "mcp", "nosuch"],
    ("timeloom mcp", "2"): ["timeloom", "mcp", "--nosuch"],
    ("timeloom score", "0"): ["timeloom", "score", "--help"],
    ("timeloom score", "1"): ["timeloom", "score", "--nosuch"],
    ("python -m timeloom", OF_THE_PROGRAM): [*PYTHON, "timeloom", "--quiet", "-o", "exits", *EXITS],
    ("python -m timeloom", "2"): [*PYTHON, "timeloom", "--nosuch"],
    ("python -m scorep", OF_THE_PROGRAM): [*PYTHON, "scorep", "exits.py"],
    ("python -m scorep", "1"): [*PYTHON, "scorep", "nosuch.py"],
    ("python -m omnitrace", OF_THE_PROGRAM): [*PYTHON, "omnitrace", "--", "exits.py"],
    ("python -m omnitrace", "2"): [*PYTHON, "omnitrace", "--", "nosuch.py"],
    ("scorep", OF_THE_COMMAND): [*PYTHON, "scorep._wrapper", "sh", "-c", "exit 5"],
    ("scorep", "1"): [*PYTHON, "scorep._wrapper"],
    ("scorep-info", "0"): ["scorep-info", "config-summary"],
    ("scorep-info", "1"): ["scorep-info", "nosuch"],
    ("scorep-preload-init", "0"): ["scorep-preload-init", "--nosuch"],
    ("timeloom-config", "0"): ["timeloom-config", "--cflags"],
    ("timeloom-config", "2"): ["timeloom-config", "--nosuch"],
    ("python -m timeloom_kernel.install", "1"): [*PYTHON, "timeloom_kernel.install", "--prefix", "/dev/null/nosuch"],
    ("python -m timeloom_kernel.install", "2"): [*PYTHON, "timeloom_kernel.install", "--nosuch"],
}  # fmt: skip
# The rows of which a test of the command itself has an example.
ELSEWHERE = {
    ("timeloom diff", "4"): ("report/test_losses.py", '"--fail-above", "1e9", "whole", "lost", status=4'),
    ("timeloom check", "4"): ("report/test_losses.py", '"visits(__main__.f) >= 1000", status=4'),
    ("pytest --timeloom", "of pytest"): ("plugin/test_pytest_limits.py", '== (1, {"passed": 1, "failed": 1})'),
    ("python -m timeloom_kernel.install", "0"): ("notebook/test_notebook_hosts.py", "timeloom_kernel.install"),
}


def rows():
    for line in (ROOT / "docs" / "exit-statuses.md").read_text().splitlines():
        if line.startswith("| `"):
            command, status = line.split("|")[1:3]
            yield command.split("`")[1], status.strip()


def expected(status):
    return {OF_THE_PROGRAM: 5, OF_THE_COMMAND: 5, "128 + N": 137}.get(status) or int(status)


def test_each_row_has_an_example():
    listed = list(rows())
    assert len(listed) == len(set(listed))
    assert set(listed) == CASES.keys() | ELSEWHERE.keys()
    for file, text in ELSEWHERE.values():
        assert text in (ROOT / "tests" / "python" / file).read_text(), file


@pytest.mark.parametrize("row", CASES, ids=" ".join)
def test_command_ends_with_the_status_of_its_row(timeloom_program, run, row):
    (run.parent / "exits.py").write_text("raise SystemExit(5)\n")
    first, *others = CASES[row]
    command = [Path(timeloom_program).parent / first, *others]  # an absolute path stays as it is
    done = subprocess.run(command, cwd=run.parent, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == expected(row[1]), (done.stdout, done.stderr)
