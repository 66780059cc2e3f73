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


GRID = """
__attribute__((noinline)) int cell(int i) { return i + 1; }
__attribute__((noinline)) int row(int i) { return cell(i) * 2; }
"""
MAIN = """
int row(int i);
__attribute__((noinline)) int step(int i) { return row(i) - 1; }
int main(void) { return step(1) - 3; }
"""


@pytest.fixture(scope="module")
def of_two_files(tmp_path_factory, config):
    """A program of main.c and grid/grid.c, with lines and without."""
    directory = tmp_path_factory.mktemp("two-files")
    (directory / "grid").mkdir()
    (directory / "grid" / "grid.c").write_text(GRID)
    (directory / "main.c").write_text(MAIN)
    for name, debug in (("lines", "-g"), ("bare", "-g0")):
        flags = [*config("--cflags", "--compiler"), debug, "main.c", "grid/grid.c", "-o", name, *config("--libs")]
        output("cc", "-O1", *flags, cwd=directory)
    return directory


def has_libdw():
    return subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libdw.so.1')"], stderr=-3).returncode == 0


@pytest.mark.skipif(not has_libdw(), reason="no libdw")
@pytest.mark.parametrize(
    "rules, expected",
    [
        (["--exclude", "*/grid.c"], "main step. ."),
        (["--exclude", "grid/*"], "main step. ."),
        (["--include", "grid/*"], "row cell. ."),
        (["--exclude", "*/main.c", "--exclude", "cell"], "row."),
        (["--exclude", "*/main.c", "--include", "step"], "step row cell. . ."),
        (["--exclude", "*/other.c"], "main step row cell. . . ."),
        (["--include", "*/lines", "--exclude", "grid/*"], "main step. ."),
    ],
)
def test_rules_for_source_files(of_two_files, record, tmp_path, rules, expected):
    record(of_two_files / "lines", options=(*ALL, *rules))
    assert recorded(tmp_path / "run") == calls(expected)


def test_without_lines_rules_for_files_are_for_objects(of_two_files, record, tmp_path):
    record(of_two_files / "bare", options=(*ALL, "--exclude", "*/grid.c"))
    assert recorded(tmp_path / "run") == calls("main step row cell. . . .")


@pytest.mark.skipif(not has_libdw(), reason="no libdw")
def test_a_filter_file_with_a_source_file(of_two_files, record, tmp_path):
    (tmp_path / "a.filter").write_text("SCOREP_FILE_NAMES_BEGIN\n EXCLUDE */grid.c\nSCOREP_FILE_NAMES_END\n")
    record(of_two_files / "lines", options=(*ALL, "--filter-file", "a.filter"))
    assert recorded(tmp_path / "run") == calls("main step. .")


@pytest.mark.skipif(not has_libdw(), reason="no libdw")
def test_libdw_is_loaded_only_where_a_rule_is_for_files(of_two_files, record, tmp_path):
    loaded = {}
    for name, rule in (("names", "cell"), ("files", "*/grid.c")):
        script = tmp_path / f"{name}.py"
        script.write_text("print('/libdw' in open('/proc/self/maps').read())\n")
        for options in ((), ("--compiler",)):
            words = ["-m", "timeloom", "--no-weave", "--quiet", "--force", *options, "--exclude", rule, "-o", "run", script]
            done = subprocess.run([sys.executable, *map(str, words)], cwd=tmp_path, capture_output=True, text=True,
                                  env=environment(), check=True)  # fmt: skip
            loaded[name, bool(options)] = done.stdout
    assert loaded == {
        ("names", False): "False\n", ("names", True): "False\n", ("files", False): "False\n", ("files", True): "True\n",
    }  # fmt: skip
