"""The types for users of the package: the extension's stub is correct, and type checkers use it for programs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from converted import made_once

import timeloom

PACKAGE = Path(timeloom.__file__).parent

GOOD = """\
from contextlib import AbstractContextManager

import scorep.user
import timeloom

@timeloom.region
def bare(n: int) -> str:
    return str(n)

@timeloom.region("named")
async def named(n: int) -> str:
    return bare(n).upper()

@scorep.user.region()
def theirs() -> bool:
    return True

@scorep.instrumenter.enable("quiet")
def switched(n: int) -> int:
    return n

switch: AbstractContextManager[None] = timeloom.pause()
with timeloom.Measurement(output="run") as measurement, switch, timeloom.region("main"):
    timeloom.counter("load", 1.5, unit="K")
run: str | None = measurement.run
if totals := measurement.totals:
    events: int = totals["events"] + totals["folded_events"]
lengths: list[int] = [len(bare(1)), switched(2), int(theirs())]
"""
WRONG = {
    "timeloom.region(5)": "call-overload",
    "timeloom.parameter_int('n', 'text')": "arg-type",
    "timeloom.Measurement().totals['event']": "index",
    "timeloom.stop().undo()": "attr-defined",
    "scorep.user.region_begin(7)": "arg-type",
}
# Timeloom's own types need none of other packages, and reading these takes mypy ten seconds.
SETTINGS = """\
[mypy]
[mypy-IPython.*,ipykernel.*,mcp.*,networkx.*,numpy.*,pandas.*,polars.*,pyarrow.*,pytest.*,_pytest.*]
follow_imports = skip
follow_imports_for_stubs = True
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    pytest.importorskip("mypy", reason="the types are checked with the version that has mypy (pyproject.toml)")
    directory = tmp_path_factory.mktemp("types")
    (directory / "mypy.ini").write_text(SETTINGS)
    return directory


def ask_mypy(directory):
    (directory / "mypy.ini").write_text(SETTINGS)
    (directory / "good.py").write_text(GOOD)
    (directory / "wrong.py").write_text("import scorep.user\nimport timeloom\n" + "\n".join(WRONG))
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "cache"]
    done = subprocess.run([*command, "good.py", "wrong.py"], cwd=directory, capture_output=True, text=True)
    assert done.stderr == ""
    (directory / "remarks").write_text(done.stdout)


@pytest.fixture(scope="module")
def remarks(directory):
    """The lines of mypy about two programs, (the name of the file, line)."""
    text = (made_once("types", ask_mypy) / "remarks").read_text()
    return [(line.partition(":")[0], line) for line in text.splitlines()]


def test_the_stub_says_what_the_extension_has(directory):
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", "mypy.ini", "--concise", "timeloom._core"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_uses_the_package_is_well_typed(remarks):
    assert [line for file, line in remarks if file != "wrong.py"] == []


def test_what_is_wrong_in_a_program_is_found(remarks):
    found = {int(line.split(":")[1]): line for file, line in reversed(remarks) if file == "wrong.py" and ": error: " in line}
    for number, (code, kind) in enumerate(WRONG.items(), 3):
        assert found[number].endswith(f"[{kind}]"), (code, found)


def fields_of_totals() -> set[str]:
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    classes = [node for node in stub.body if isinstance(node, ast.ClassDef) and "Totals" in node.name]
    return {ast.unparse(field).partition(":")[0] for one in classes for field in one.body}


def test_the_totals_have_the_fields_of_their_type(tmp_path):
    with timeloom.Measurement(output=tmp_path / "run", quiet=True, weave=False) as measurement:
        pass
    assert set(measurement.totals) == fields_of_totals()
