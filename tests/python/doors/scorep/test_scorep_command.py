"""`python -m scorep` as a command, and that every row of docs/scorep.md is true."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scorep_runs import run_scorep

from timeloom import _core, _scorep_words

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[4]
OFF = {"SCOREP_ENABLE_PROFILING": "false", "SCOREP_FORCE_CFG_FILES": "true"}


@pytest.fixture
def app(tmp_path):
    (tmp_path / "app.py").write_text("import sys\nprint(sys.argv)\n")
    return tmp_path


@pytest.mark.parametrize(
    "words, argv",
    [
        (["app.py"], ["app.py"]),
        (["app.py", "--mpi", "-v"], ["app.py", "--mpi", "-v"]),
        (["--", "app.py", "--", "x"], ["app.py", "--", "x"]),
        (["--nocompiler", "--thread=pthread", "--mpp=none", "--user", "app.py", ""], ["app.py", ""]),
        (["--instrumenter-type", "trace", "app.py"], ["app.py"]),
        (["--nopython", "app.py"], ["app.py"]),
        (["-c", "import sys; print(sys.argv)", "x"], ["-c", "x"]),
    ],
)
def test_words_of_the_program(app, words, argv):
    done = run_scorep(app, *words)
    assert (done.stdout, done.stderr) == (f"{argv}\n", "")


def test_a_module(app):
    done = run_scorep(app, "-m", "app", "x")
    assert (done.stdout, done.stderr) == (f"{[str(app / 'app.py'), 'x']}\n", "")


def test_flags_of_the_interpreter_stay(app):
    (app / "app.py").write_text("import sys\nprint(sys.flags.optimize, sys.flags.utf8_mode, sys.warnoptions)\n")
    done = run_scorep(app, "app.py", python=["-O", "-X", "utf8", "-W", "error"])
    assert done.stdout == "1 1 ['error']\n"


@pytest.mark.parametrize(
    "words, line",
    [
        ([], "Did not find a script to run"),
        (["--"], "Did not find a script to run"),
        (["--nopython"], "Did not find a script to run"),
        ([""], "the name of the script is empty [TL110]"),
        (["-m"], "-m needs a value: the name of a module [TL108]"),
        (["missing.py"], "Cannot run file 'missing.py' because: [Errno 2] No such file or directory: 'missing.py'"),
        (["--instrumenter-type"], "--instrumenter-type needs a value: write --instrumenter-type=... [TL108]"),
        (["--instrumenter-type=", "app.py"], "--instrumenter-type needs a value: write --instrumenter-type=... [TL108]"),
        (["--instrumenter-type=foo", "app.py"],
         'instrumenter_type "foo" unkown; write one of ' + ", ".join(_scorep_words.TYPES)),
        (["--instrumenter-file=missing.py", "app.py"],
         "Cannot run file 'missing.py' because: [Errno 2] No such file or directory: 'missing.py'"),
        (["--nocompilr", "app.py"], "unknown option --nocompilr; did you mean --nocompiler? [TL109]"),
        (["--quux", "app.py"], "unknown option --quux; see python -m scorep --help [TL109]"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line(app, words, line):
    done = run_scorep(app, *words, status=1)
    assert (done.stdout, done.stderr) == ("", f"scorep: {line}\n")
    assert [entry.name for entry in app.iterdir()] == ["app.py"]


def test_help(app):
    done = run_scorep(app, "--help")
    assert done.stderr == ""
    assert done.stdout.startswith("Usage: python -m scorep [options] [--] <script> [args]\n")
    for option in _scorep_words.OPTIONS:
        assert f"  {option}" in done.stdout


def test_errors_of_the_program_are_its_own(app):
    """An OSError is not reported as "Cannot run file", and the traceback has none of Timeloom's frames."""
    (app / "app.py").write_text("def f():\n    open('missing')\nf()\n")
    done = run_scorep(app, "app.py", status=1)
    plain = subprocess.run([sys.executable, "app.py"], cwd=app, capture_output=True, text=True)
    assert done.stderr == plain.stderr and plain.stderr.count("File ") == 2


def test_a_source_in_another_encoding(app):
    (app / "app.py").write_bytes("# -*- coding: latin-1 -*-\nprint(len('\xe4'))\n".encode("latin-1"))
    assert run_scorep(app, "app.py", LC_ALL="C", PYTHONUTF8="0").stdout == "1\n"


def test_a_file_like_a_module_of_python(app):
    (app / "dis.py").write_text("raise SystemExit('mine')\n")
    assert run_scorep(app, "app.py").stdout == "['app.py']\n"


def test_an_older_job_script(app):
    """Preloading by hand, with nothing to preload."""
    script = 'LD_PRELOAD=$(scorep-preload-init --user --value-only $PWD/app) "$0" -u -m scorep app.py'
    tools = Path(sys.executable).with_name("scorep-preload-init")
    if not tools.exists():
        pytest.skip("the commands are not installed beside this Python")
    done = subprocess.run(
        ["sh", "-ec", f"PATH={tools.parent}:$PATH; {script}", sys.executable],
        cwd=app, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (
        0, "['app.py']\n", "scorep-preload-init: warning: option not suitable for uninstrumented applications: '--user'\n")


def test_keep_files(app):
    run_scorep(app, "--keep-files", "app.py", SCOREP_EXPERIMENT_DIRECTORY="run")
    assert (app / "run" / "spool").is_dir()


def test_info_and_config(timeloom):
    names = timeloom("scorep-info", "config-vars").stdout.splitlines()
    assert names[0] == "SCOREP_ENABLE_PROFILING" and len(names) == len(set(names)) == 62
    full = timeloom("scorep-info", "config-vars", "--full").stdout
    assert full.startswith(
        "SCOREP_ENABLE_PROFILING\n"
        "  Description: write a call-path profile\n"
        "  Type: Boolean\n"
        "  Default: true\n\n"
    )
    assert "Type: Option\n  Default: 'tsc'\n  Values: tsc, gettimeofday, clock_gettime\n" in full
    assert timeloom("scorep-info", "config-summary").stdout == _core.scorep_summary()
    assert "--full" in timeloom("scorep-info", "config-var", status=1).stderr
    assert timeloom("scorep-config", "--version").stdout == _core.SCOREP_VERSION + "\n"
    assert timeloom("scorep-config", "--mpp=none", "--user", "--nocompiler", "--ldflags").stdout == "\n"
    for command in ("scorep-info", "scorep-config", "scorep-preload-init"):
        assert timeloom(command, "--help").stdout.startswith(f"Usage: {command}")
        assert timeloom(command, "-h").stdout == timeloom(command, "--help").stdout
    assert "unknown option '--nonsense'" in timeloom("scorep-config", "--nonsense", status=1).stderr


def rows(heading):
    """(first cell, state) of the table below a heading of docs/scorep.md."""
    page = (ROOT / "docs" / "scorep.md").read_text()
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(.+?)` \| (.+?) \|$", section, re.MULTILINE)


STATES = {"supported": "supported", "accepted": "accepted, without effect", "does nothing": "accepted, without effect",
          "message": "accepted, with a message"}  # fmt: skip


def short_table():
    """The table "In short" of the same page: each state has a column, each module a row."""
    cells = {}
    for heading in ("Options", "Names", "Variables"):
        for name, state in rows(heading):
            column = next(column for begin, column in STATES.items() if state.startswith(begin))
            module, _, attribute = name.partition("(")[0].rpartition(".")
            row = f"`{module}`" if heading == "Names" else heading.lower()
            word = f"`{(attribute if heading == 'Names' else name).removeprefix('SCOREP_')}`"
            cells.setdefault(row, {}).setdefault(column, []).append(word)
    columns = list(dict.fromkeys(STATES.values()))
    yield "| | " + " | ".join(columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for row, by_column in cells.items():
        head = row.replace("variables", "variables `SCOREP_…`")
        yield f"| {head} | " + " | ".join(" ".join(by_column.get(column, "–")) for column in columns) + " |"


def test_the_short_table_has_every_row():
    page = (ROOT / "docs" / "scorep.md").read_text()
    section = page.split("\n## In short\n")[1].split("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("|")] == list(short_table())


def test_no_row_is_missing():
    assert [name for name, _ in rows("Options")] == [*_scorep_words.OPTIONS, *_scorep_words.CONFIG_OPTIONS]
    full = subprocess.run(
        [Path(sys.executable).with_name("timeloom"), "scorep-info", "config-vars"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [name for name, _ in rows("Variables")] == full.stdout.splitlines()


@pytest.mark.parametrize("option, state", rows("Options"))
def test_every_option(app, option, state):
    values = {"--instrumenter-type=": "trace", "--instrumenter-file=": "empty.py", "-m": "app",
              "-c": "print(['app.py'])"}  # fmt: skip
    (app / "empty.py").write_text("")
    words = [option + values.get(option, "")] if option.endswith("=") else [option]
    words += [values[option]] if option in ("-m", "-c") else ["app.py"]
    done = run_scorep(app, *words, **OFF)
    assert done.stdout == _scorep_words.help_text() if option == "--help" else "app.py']" in done.stdout
    if state.startswith("message: "):
        missing = state.removeprefix("message: ").removesuffix(" is not recorded")
        assert f"scorep: {option}: {missing} is not recorded; leave the option out [TL708]\n" in done.stderr
        assert done.stderr.count("\n") == 1
    elif option != "--verbose":
        deprecated = "scorep: Warning: The option '--mpi' is deprecated and will be removed in future.\n"
        less = _scorep_words.OPENMP.get(option)
        assert done.stderr == (deprecated if option == "--mpi" else f"scorep: {option}: {less} [TL708]\n" if less else "")


@pytest.fixture(scope="module")
def full(program):
    """All variables, as scorep-info prints them."""
    words = [program, "scorep-info", "config-vars", "--full"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name, state", rows("Variables"))
def test_every_variable(app, full, name, state):
    entry = full.split(name + "\n  ")[1].split("\n\n")[0]
    kind, text = state.split(": ", 1)
    if kind == "supported":
        assert f"Description: {text}\n" in entry and "Effect:" not in entry
    else:
        assert entry.endswith(f"Effect: none, {text}")
    if kind == "message":
        value = "true" if "Type: Boolean" in entry else "something"
        done = run_scorep(app, "app.py", **OFF, SCOREP_EXPERIMENT_DIRECTORY="run", **{name: value})
        shown = value if value == "true" else f"'{value}'"
        assert done.stderr == f"scorep: {name}={shown}: {text} [TL708]\n"
        default = re.search(r"Default: (.*)", entry)[1]
        cfg = (app / "run" / "scorep.cfg").read_text().splitlines()
        assert [line for line in cfg if line.startswith(name + "=")] in ([], [f"{name}={default}"])


def test_what_changes_nothing_is_said_when_asked(app):
    variables = {"SCOREP_TOTAL_MEMORY": "16M", "SCOREP_PROFILING_FORMAT": "tau_snapshot", "SCOREP_IO_POSIX": "no"}
    done = run_scorep(app, "app.py", **variables, SCOREP_EXPERIMENT_DIRECTORY="run")
    line = "scorep: SCOREP_PROFILING_FORMAT='tau_snapshot': the profile is written as CUBE4 [TL708]\n"
    assert done.stderr == line
    assert "SCOREP_PROFILING_FORMAT='cube4'\n" in (app / "run" / "scorep.cfg").read_text()
    done = run_scorep(app, "app.py", **variables, **OFF, SCOREP_VERBOSE="true")
    assert line in done.stderr
    assert "scorep: SCOREP_TOTAL_MEMORY=16M: raw records go to disk and have no such limit [TL708]\n" in done.stderr
    groups = "scorep: SCOREP_MPI_ENABLE_GROUPS='p2p': functions of MPI of all groups are recorded [TL708]\n"
    assert run_scorep(app, "app.py", **OFF, SCOREP_MPI_ENABLE_GROUPS="p2p").stderr == groups
    assert run_scorep(app, "app.py", **OFF, SCOREP_MPI_ENABLE_GROUPS="all").stderr == ""
    for form in ("cube4", "default"):
        assert run_scorep(app, "app.py", **OFF, SCOREP_PROFILING_FORMAT=form).stderr == ""


def test_options_with_lists_and_values(app):
    def said(option):
        return run_scorep(app, option, "app.py", **OFF).stderr

    assert said("--mpp=mpi,shmem") == (
        "scorep: --mpp=mpi,shmem: SHMEM is not recorded; leave the option out [TL708]\n"
    )
    for option in ("--io=posix,isoc", "--io=runtime:posix,isoc"):
        assert said(option) == ""
    assert said("--mutex=omp") == "scorep: --mutex=omp: locks are not recorded [TL708]\n"
    assert said("--libwrap=fftw") == "scorep: --libwrap=fftw: calls of libraries are not recorded [TL708]\n"
    assert "threads of this kind" in said("--thread=tbb")
    for option in ("--mpp=mpi,mpich", "--io=posix,"):
        assert "unknown option " + option in run_scorep(app, option, "app.py", status=1, **OFF).stderr
    assert run_scorep(app, "--user=x", "app.py", status=1, **OFF).stderr == "scorep: --user takes no value [TL106]\n"
    assert "needs a value" in run_scorep(app, "--mpp", "mpi", "app.py", status=1, **OFF).stderr


def test_papi_without_its_library(app):
    done = run_scorep(app, "app.py", **OFF, SCOREP_METRIC_PAPI="PAPI_TOT_CYC")
    assert done.stdout == "['app.py']\n"
    if _core_has_papi():
        pytest.skip("this machine has libpapi")
    assert done.stderr == (
        "scorep: SCOREP_METRIC_PAPI: there is no libpapi here; its events are not counted [TL705]\n"
    )


def _core_has_papi():
    import ctypes.util

    return ctypes.util.find_library("papi") is not None


def test_scorep_as_a_command(app):
    def scorep(*words):
        return subprocess.run([sys.executable, "-m", "scorep._wrapper", *words], cwd=app, capture_output=True, text=True)

    assert scorep("--version").stdout == f"Score-P {_core.SCOREP_VERSION}\n"
    assert scorep("-h").stdout == scorep("--help").stdout and scorep("-h").stdout.startswith("Usage: scorep")
    done = scorep("--user", "--mpp=none", "echo", "-c", "x")
    assert (done.returncode, done.stdout) == (0, "-c x\n")
    assert done.stderr == "scorep: native code is not instrumented; the command runs as it is [TL725]\n"
    done = scorep("--nocompiler", "app.py", "x")
    assert (done.stdout, done.stderr) == ("['app.py', 'x']\n", "")
    assert scorep().returncode == 1 and "there is no command" in scorep().stderr
    done = scorep("no-such-compiler")
    assert done.returncode == 1 and "cannot run no-such-compiler: No such file" in done.stderr


@pytest.mark.parametrize("name, state", rows("Names"))
def test_every_name(name, state):
    module, _, attribute = name.partition("(")[0].rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    assert state.startswith(("supported", "does nothing"))
    if "(" in name:
        assert callable(found)
        import inspect

        wanted = [part.partition("=")[0].strip() for part in name[name.index("(") + 1 : -1].split(",")]
        try:
            signature = inspect.signature(found)
        except ValueError:
            return  # of C
        assert list(signature.parameters) == [word for word in wanted if word]


@pytest.mark.parametrize("option", ["--mpi", "--io=posix"])
def test_remarks_are_said_once(app, option):
    """Also if the process is started again, to load a wrapper."""
    done = run_scorep(app, "--mpp=shmem", option, "app.py")
    assert done.stderr.count("--mpp=shmem: ") == 1
    assert done.stderr.count("deprecated") == (option == "--mpi")
