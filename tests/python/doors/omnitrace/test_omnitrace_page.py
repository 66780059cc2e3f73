"""Every option, property and variable has its row in docs/omnitrace.md, and every row is true."""

import re
import sys
from pathlib import Path

import pytest
from omnitrace_runs import COMMAND, run_omnitrace

from omnitrace import _command_line, _config

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs" / "omnitrace.md").read_text()


def rows(heading):
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_option_has_a_row():
    options = [", ".join(f"`{name}`" for name in (option.short, option.long) if name) for option in _command_line.OPTIONS]
    assert [row[0] for row in rows("The command line")] == options


def test_every_property_has_its_name():
    (row,) = [row for row in rows("In Python") if "config" in row[0]]
    assert set(re.findall(r"`(\w+)`", row[1])) == set(_config._values)


def test_every_variable_has_a_row():
    table = (ROOT / "src" / "doors" / "omnitrace" / "settings" / "omnitrace_table.cpp").read_text()
    names = re.findall(r'OmnitraceVariable\{\s*"(\w+)",\s+k\w+,\s+"([^"]*)"', table)
    assert len(names) > 70
    assert [(row[0].strip("`"), "" if row[1] == "–" else row[1].strip("`")) for row in rows("Variables")] == names


@pytest.mark.parametrize("name, default, state", [(row[0].strip("`"), row[1].strip("`"), row[3]) for row in rows("Variables")])
def test_every_variable(tmp_path, name, default, state):
    """An option without effect is named on stderr if it requests something; others are not."""
    (tmp_path / "app.py").write_text("print('here')\n")
    (tmp_path / "files.cfg").write_text("")
    (tmp_path / "empty.json").write_text("{}")
    words = {"OMNITRACE_TIMEMORY_COMPONENTS": "trip_count", "OMNITRACE_TIMING_UNITS": "msec", "OMNITRACE_MEMORY_UNITS": "KB",
             "OMNITRACE_CONFIG_FILE": "files.cfg", "OMNITRACE_VERBOSE": "-2", "OMNITRACE_PAPI_EVENTS": "",
             "OMNITRACE_TRACE_PERIODS": "0:9", "OMNITRACE_ENABLE_CATEGORIES": "python,user", "OMNITRACE_DISABLE_CATEGORIES": "user"}  # fmt: skip
    value = words.get(name, {"ON": "OFF", "OFF": "ON"}.get(default, "7" if re.fullmatch(r"-?[\d.]+", default) else "x"))
    if name in ("OMNITRACE_USE_PERFETTO", "OMNITRACE_USE_TIMEMORY"):
        value = "ON"
    if name == "OMNITRACE_TRACE_DELAY":
        value = "0.5"
    done = run_omnitrace(tmp_path, "app.py", **{name: value})
    assert done.stdout.startswith("here\n") or name == "OMNITRACE_COUT_OUTPUT"
    without = state.startswith("accepted, without effect: ")
    said = [line for line in done.stderr.splitlines() if name in line]
    if without and value != "OFF":
        assert said == [f"omnitrace: {name}={value}: {state.removeprefix('accepted, without effect: ')} [TL708]"]
    elif "old name" not in " ".join(said):
        assert said == []


@pytest.mark.parametrize(
    "variable, value, line",
    [
        ("OMNITRACE_TRACE", "maybe", "maybe"),
        ("OMNITRACE_MAX_DEPTH", "deep", "deep"),
        ("OMNITRACE_CONFIG_FILE", "nothere.cfg", "nothere.cfg"),
        ("OMNITRACE_TIMEMORY_COMPONENTS", "wall_clock,nothing", "no metric is called 'nothing'"),
        ("ROCPROFSYS_PROFILE", "perhaps", "perhaps"),
        ("OMNITRACE_TRACE_PERIODS", "1:x", "'1:x' cannot be read"),
        ("OMNITRACE_TRACE_PERIODS", "1", "'1' cannot be read"),
    ],
)
def test_wrong_values_are_one_line_before_the_program(tmp_path, variable, value, line):
    (tmp_path / "app.py").write_text("print('here')\n")
    done = run_omnitrace(tmp_path, "app.py", status=2, **{variable: value})
    assert done.stdout == "" and done.stderr.startswith("omnitrace: ") and done.stderr.count("\n") == 1
    assert line in done.stderr


@pytest.mark.parametrize("command, program", [
    (COMMAND, "import sys\ndef f(): print('here', file=sys.stderr)\nf()\n"),
    ((sys.executable,), "import omnitrace, sys\ndef f(): print('here', file=sys.stderr)\nwith omnitrace.profile(): f()\n"),
], ids=["command", "import"])  # fmt: skip
def test_units_that_nobody_knows_are_lines_before_the_program(tmp_path, command, program):
    """And none after it, where the reports have them."""
    (tmp_path / "app.py").write_text(program)
    done = run_omnitrace(tmp_path, "app.py", command=command, OMNITRACE_PROFILE="ON", OMNITRACE_TIMING_UNITS="parsec",
                         ROCPROFSYS_MEMORY_UNITS="acre")  # fmt: skip
    assert done.stderr.splitlines() == ["omnitrace: OMNITRACE_TIMING_UNITS=parsec: there is no such unit; times are in sec [TL708]",
                                        "omnitrace: OMNITRACE_MEMORY_UNITS=acre: there is no such unit; memory is in MB [TL708]",
                                        "here"]  # fmt: skip
    (report,) = tmp_path.rglob("wall_clock-*.txt")
    assert "| sec " in report.read_text()


def test_a_configuration_file_of_the_command_line(tmp_path):
    (tmp_path / "app.py").write_text("print('here')\n")
    (tmp_path / "one.cfg").write_text("OMNITRACE_OUTPUT_PATH = one\nOMNITRACE_USE_PID = OFF\n")
    (tmp_path / "two.cfg").write_text("OMNITRACE_OUTPUT_PATH = two\n")
    run_omnitrace(tmp_path, "-c", "two.cfg", "--", "app.py", OMNITRACE_CONFIG_FILE="one.cfg")
    assert (tmp_path / "two" / "timeloom-run" / "traces.otf2").exists()
    (tmp_path / "wrong.cfg").write_text("OMNITRACE_OUTPUT_PAHT = x\n")
    done = run_omnitrace(tmp_path, "-c", "wrong.cfg", "--", "app.py", status=2)
    assert "OMNITRACE_OUTPUT_PAHT" in done.stderr and done.stderr.count("\n") == 1


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "app.py").write_text("print('here')\n")
    (tmp_path / "out").write_text("a file")
    done = run_omnitrace(tmp_path, "app.py", OMNITRACE_OUTPUT_PATH="out/x")
    assert done.stdout == "here\n"
    assert done.stderr == "omnitrace: cannot write to out/x: Not a directory; the files go to ./ [TL721]\n"
    assert len(list(tmp_path.glob("timeloom-run-*"))) == 1


def test_nothing_is_measured_where_that_is_asked_for(tmp_path):
    (tmp_path / "app.py").write_text("print('here')\nraise SystemExit(3)\n")
    done = run_omnitrace(tmp_path, "app.py", status=3, OMNITRACE_ENABLED="OFF")
    assert (done.stdout, done.stderr) == ("here\n", "")
    assert not list(tmp_path.glob("omnitrace-*"))


def test_a_run_of_the_same_name_is_replaced(tmp_path):
    (tmp_path / "app.py").write_text("def f(): pass\nf()\n")
    for _ in range(2):
        done = run_omnitrace(tmp_path, "app.py", OMNITRACE_USE_PID="OFF")
        assert done.stderr == ""
    assert [path.name for path in tmp_path.rglob("timeloom-run*")] == ["timeloom-run"]
