"""Filters for compiled code: by the names of functions and of objects, with and without Python."""

import shutil
import subprocess
import sys

import pytest
from native_programs import calls, config, output, record
from spool_reader import spools_of
from streams import environment
from test_compiled_code import ALL, MODULE, NOT_LINKED, build, module, named, of_module, recorded

__all__ = ["build", "config", "module", "record"]  # fixtures

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")]


@pytest.fixture(params=[False, True], ids=["wrapper", "linked"])
def program(request, build):
    return build("compiled.c", linked=request.param), ALL if request.param else NOT_LINKED


@pytest.mark.parametrize(
    "rules, expected",
    [
        (["--exclude", "leaf"], "main twice. ."),
        (["--exclude", "twi*"], "main leaf. leaf. ."),
        (["--exclude", "*", "--include", "twice"], "twice."),
        (["--include", "twice"], "twice."),
        (["--include", "main", "--include", "*/compiled.c-*", "--exclude", "leaf"], "main twice. ."),
        (["--exclude", "compiled.c-*", "--include", "leaf"], "leaf. leaf."),
        (["--exclude", "nothing", "--exclude", "lea"], "main twice leaf. leaf. . ."),
        (["--exclude", "*/compiled.c-*"], ""),
        (["--no-compiler"], ""),
        (["--include", "twice", "--no-compiler"], ""),
    ],
)
def test_the_last_rule_that_matches_decides(build, record, tmp_path, rules, expected):
    record(build("compiled.c", linked=True), "calls", options=(*ALL, *rules))
    assert recorded(tmp_path / "run") == calls(expected)


def test_a_program_that_is_not_linked(build, record, tmp_path):
    record(build("compiled.c"), "calls", options=(*NOT_LINKED, "--exclude", "leaf"))
    assert recorded(tmp_path / "run") == calls("main twice. .")


def test_a_filter_file(program, record, tmp_path):
    path, options = program
    (tmp_path / "a.filter").write_text(
        "SCOREP_REGION_NAMES_BEGIN\n EXCLUDE *\n INCLUDE main leaf\nSCOREP_REGION_NAMES_END\n"
    )
    record(path, "calls", options=(*options, "--filter-file", "a.filter"))
    assert recorded(tmp_path / "run") == calls("main leaf. leaf. .")


def test_a_wrong_filter_file_starts_nothing(build, timeloom_program, tmp_path):
    (tmp_path / "a.filter").write_text("EXCLUDE\n")
    words = [timeloom_program, "run", "--filter-file", "a.filter", "--program", build("compiled.c"), "calls"]
    done = subprocess.run([*map(str, words)], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert (done.returncode, done.stdout) == (2, "") and "a.filter, line 1" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a.filter"]


def test_names_of_c_plus_plus_are_demangled(build, record, tmp_path):
    path = build("compiled.cpp", linked=True, compiler="c++")
    record(path, options=(*ALL, "--exclude", "solver::*", "--include", "solver::Grid::sum"))
    assert recorded(tmp_path / "run") == calls("main sum. .")


def test_a_forked_child_has_the_filter(program, record, tmp_path):
    path, options = program
    record(path, "fork", options=(*options, "--exclude", "main"))
    spools = [named(spool) for spool in spools_of(tmp_path / "run")]
    names = {name for spool in spools for location in spool.locations() for _, name, *_ in spool.events(location)}
    assert "main" not in names and "silent" in names


def test_functions_of_a_stripped_program_match_no_name(build, record, tmp_path):
    stripped = tmp_path / "stripped"
    output("strip", "-o", stripped, build("compiled.c", linked=True))
    record(stripped, "calls", options=(*ALL, "--exclude", "leaf"))
    (spool,) = spools_of(tmp_path / "run")
    assert sum(kind == "enter" for kind, *_ in spool.events(0)) >= 4


@pytest.mark.parametrize(
    "rule, expected",
    [("step", "caller run callback run . . . ."), ("run", "caller step. callback step. step. . step. .")],
)
def test_functions_below_python(module, tmp_path, rule, expected):
    (tmp_path / "app.py").write_text(MODULE)
    words = ["-m", "timeloom", "--no-weave", "--quiet", "--compiler", "--exclude", rule, "-o", "run", "app.py"]
    variables = environment({"PYTHONPATH": str(module)})
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, env=variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert of_module(tmp_path / "run") == calls(expected)
