"""Wrong usage: one line on stderr, status 2, nothing run, nothing written."""

import os
import re
import subprocess
import sys

import pytest

HELLO = "print('ran')\n"


@pytest.fixture(params=["module", "program"])
def door(request):
    """The two ways in; both must print the same."""
    if request.param == "module":
        return [sys.executable, "-m", "timeloom"]
    return [request.getfixturevalue("timeloom_program"), "run"]


@pytest.fixture
def work(tmp_path):
    directory = tmp_path / "work"
    directory.mkdir()
    (directory / "app.py").write_text(HELLO)
    return directory


def run(door, words, work, **environment):
    return subprocess.run(
        [*door, *words],
        cwd=work,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def refused(process, line, work, left=("app.py",)):
    assert (process.returncode, process.stdout, process.stderr) == (2, "", f"timeloom: {line}\n")
    assert sorted(entry.name for entry in work.iterdir()) == sorted(left)


WRONG = {
    "nothing": ([], "no program given; write: timeloom run script.py, or see timeloom run --help [TL426]"),
    "only_options": (
        ["--quiet"],
        "no program given; write: timeloom run script.py, or see timeloom run --help [TL426]",
    ),
    "unknown_option": (
        ["--instrumentor", "frame", "app.py"],
        "unknown option --instrumentor; did you mean --instrumenter? [TL109]",
    ),
    "unknown_letter": (["-Z", "app.py"], "unknown option -Z; see timeloom run --help [TL109]"),
    "unknown_instrumenter": (
        ["--instrumenter=magic", "app.py"],
        "--instrumenter: 'magic' is not accepted; write one of auto, monitoring, frame, profile, trace, dummy [TL101]",
    ),
    "wrong_size": (
        ["--buffer-size", "big", "app.py"],
        "--buffer-size: 'big' is not accepted; write a size such as 1M, 16M or 2G [TL101]",
    ),
    "wrong_switch": (
        ["--weave=perhaps", "app.py"],
        "--weave: 'perhaps' is not accepted; write on or off [TL101]",
    ),
    "no_module_name": (["-m"], "-m needs a value: the name of a module [TL108]"),
    "empty_output": (["--output=", "app.py"], "--output is empty; give a value or leave it out [TL102]"),
    "c_functions_of_frame": (
        ["--instrumenter=frame", "--c-functions", "app.py"],
        '--c-functions: the instrumenter "frame" cannot record C functions; use --instrumenter '
        + ("monitoring" if sys.version_info >= (3, 12) else "profile")
        + " with --c-functions [TL116]",
    ),
}


# The line of the last one depends on the version, and with it each Python shows how a refusal ends.
@pytest.mark.parametrize("name", [
    name if name == "c_functions_of_frame" else pytest.param(name, marks=pytest.mark.any_python) for name in WRONG
])  # fmt: skip
def test_wrong_command_line(name, door, work):
    words, line = WRONG[name]
    refused(run(door, words, work), line, work)


def test_missing_script_is_said_in_the_words_of_python(door, work):
    process = run(door, ["nope.py"], work)
    plain = subprocess.run([sys.executable, "nope.py"], cwd=work, capture_output=True, text=True)
    refused(process, plain.stderr.partition(": ")[2].rstrip("\n"), work)
    assert process.returncode == plain.returncode


def test_command_after_m_timeloom_is_told_how_it_is_written(door, work):
    line = f"can't open file '{work}/report': [Errno 2] No such file or directory; no Python program on PATH "
    line += "has this name either (commands of Timeloom are written without python -m, such as timeloom report)"
    refused(run(door, ["report", "run"], work), line, work)


def test_a_directory_does_not_hide_a_command(work, monkeypatch):
    (work / "bin").mkdir()
    command = work / "bin" / "tool"
    command.write_text(f"#!{sys.executable}\nprint('command')\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{work / 'bin'}:{os.environ['PATH']}")
    (work / "tool").mkdir()
    assert run([sys.executable, "-m", "timeloom"], ["--quiet", "tool"], work).stdout == "command\n"
    (work / "tool" / "__main__.py").write_text("print('directory')\n")
    assert run([sys.executable, "-m", "timeloom"], ["--quiet", "tool"], work).stdout == "directory\n"


def test_a_program_from_a_pipe_is_read_once(work):
    """Also in a directory in which commands of packages lie."""
    (work / "bin").mkdir()
    os.mkfifo(work / "bin" / "app")
    with subprocess.Popen(["sh", "-c", "echo 'print(1)' > bin/app"], cwd=work):
        assert run([sys.executable, "-m", "timeloom"], ["--quiet", "bin/app"], work).stdout == "1\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_script(door, work):
    (work / "app.py").chmod(0)
    line = f"can't open file '{work}/app.py': [Errno 13] Permission denied"
    refused(run(door, ["app.py"], work), line, work)


def test_directory_without_main(door, work):
    (work / "pack").mkdir()
    line = f"can't find '__main__' module in '{work}/pack'"
    refused(run(door, ["pack"], work), line, work, ["app.py", "pack"])


def test_socket_in_place_of_a_script(door, work):
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(work / "s"))
        line = f"can't open file '{work}/s': [Errno 6] No such device or address"
        refused(run(door, ["s"], work), line, work, ["app.py", "s"])


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="has sys.monitoring")
def test_instrumenter_that_this_python_lacks(door, work):
    line = (
        '--instrumenter: the instrumenter "monitoring" needs Python 3.12 or later; use --instrumenter frame or '
        "profile here [TL116]"
    )
    refused(run(door, ["--instrumenter=monitoring", "app.py"], work), line, work)


def test_flag_of_the_interpreter_after_m_timeloom(work):
    door = [sys.executable, "-m", "timeloom"]
    line = "-X is a flag of the interpreter; write: python -X dev -m timeloom ... [TL111]"
    refused(run(door, ["-X", "dev", "app.py"], work), line, work)


@pytest.mark.any_python
def test_existing_run_is_refused_and_replaced_by_force(door, work):
    words = ["--quiet", "--no-weave", "--output", "run", "app.py"]
    assert run(door, words, work).stdout == "ran\n"
    line = f"the run {work}/run exists; replace it with --force or choose another with --output [TL224]"
    refused(run(door, words, work), line, work, ["app.py", "run"])
    (work / "run" / "traces.otf2").write_text("old")
    (work / "run" / "results.csv").write_text("not ours")
    again = run(door, ["--force", *words], work)
    assert (again.returncode, again.stdout, again.stderr) == (0, "ran\n", "")
    assert sorted(e.name for e in (work / "run").iterdir()) == ["MANIFEST.md", "results.csv", "scorep.cfg", "spool"]


@pytest.mark.any_python
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_foreign_directory_is_never_touched(door, work, force):
    (work / "mine").mkdir()
    (work / "mine" / "thesis.txt").write_text("years of work")
    line = f"{work}/mine exists and is not a run of Timeloom; choose another with --output [TL223]"
    refused(run(door, [*force, "--output", "mine", "app.py"], work), line, work, ["app.py", "mine"])
    assert (work / "mine" / "thesis.txt").read_text() == "years of work"


@pytest.mark.any_python
def test_output_is_a_file(door, work):
    line = f"{work}/app.py exists and is not a directory; choose another with --output [TL222]"
    refused(run(door, ["--force", "--output", "app.py", "app.py"], work), line, work)


@pytest.mark.any_python
def test_empty_directory_is_taken(door, work):
    (work / "empty").mkdir()
    process = run(door, ["--quiet", "--no-weave", "-oempty", "app.py"], work)
    assert (process.returncode, process.stdout, process.stderr) == (0, "ran\n", "")
    assert (work / "empty" / "spool").is_dir()


@pytest.mark.any_python
def test_output_that_cannot_be_made_does_not_stop_the_program(door, work):
    process = run(door, ["--output", "app.py/run", "app.py"], work)
    line = (
        f"nothing is measured: cannot write the run to {work}/app.py/run: Not a directory; "
        "choose another directory with --output [TL019]"
    )
    assert (process.returncode, process.stdout, process.stderr) == (
        0,
        "ran\n",
        f"timeloom: {line}\n",
    )


@pytest.mark.any_python
def test_wrong_variable(door, work):
    line = "variable TIMELOOM_QUIET: 'loud' is not accepted; write on or off [TL101]"
    refused(run(door, ["app.py"], work, TIMELOOM_QUIET="loud"), line, work)


@pytest.mark.any_python
def test_misspelt_variable_does_not_stop_the_program(door, work):
    options = ["--quiet", "--no-weave", "app.py"]
    process = run(door, options, work, TIMELOOM_OUTPTU="run", TIMELOOM_PYTHONS="/gone")
    line = "TIMELOOM_OUTPTU is not a setting; did you mean TIMELOOM_OUTPUT? [TL104]"
    assert (process.returncode, process.stdout) == (0, "ran\n")
    assert process.stderr == f"timeloom: {line}\n"
    assert not (work / "run").exists()


PYPROJECT = {
    "unknown": (
        "qiuet = true",
        "{path} [tool.timeloom] qiuet: no such setting; did you mean quiet? [TL104]",
    ),
    "wrong_value": (
        'weave = "later"',
        "{path} [tool.timeloom] weave: 'later' is not accepted; write on or off [TL101]",
    ),
    "wrong_type": (
        "output = 1.5",
        "{path} [tool.timeloom] output: a value of type float is not accepted [TL121]",
    ),
    "table": (
        "[tool.timeloom.deep]",
        "{path} [tool.timeloom] deep: no such setting; see timeloom run --help [TL104]",
    ),
    "no_toml": ("= 1", "{path}: Invalid statement (at line 2, column 1) [TL125]"),
}


@pytest.mark.any_python
@pytest.mark.parametrize("name", PYPROJECT)
def test_wrong_pyproject(name, door, work):
    text, line = PYPROJECT[name]
    (work / "pyproject.toml").write_text("[tool.timeloom]\n" + text + "\n")
    path = work / "pyproject.toml"
    refused(run(door, ["app.py"], work), line.format(path=path), work, ["app.py", "pyproject.toml"])


def test_help_and_version_go_to_stdout(door, work):
    process = run(door, ["--help"], work)
    assert process.returncode == 0 and process.stderr == ""
    assert process.stdout.startswith("usage: timeloom run [interpreter flags] [options] PROGRAM")
    # Five options are described, the others named; `all` describes each.
    assert re.findall(r"^  (?:-\w, )?--([\w-]+)(?: [A-Z]+)?(?:   .*)?$", process.stdout, re.MULTILINE)[:5] == [
        "output", "overhead", "only-my-code", "profile", "memory",
    ]  # fmt: skip
    assert "--no-waiting" in process.stdout and "do not measure how long threads wait" not in process.stdout
    process = run(door, ["--help", "all"], work)
    assert (process.returncode, process.stderr) == (0, "")
    assert "  --no-waiting          do not measure how long threads wait" in process.stdout
    process = run(door, ["--version"], work)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("timeloom ")


def test_missing_module_ends_as_under_python(door, work):
    process = run(door, ["--quiet", "--no-weave", "-m", "no_such_module"], work)
    plain = subprocess.run(
        [sys.executable, "-m", "no_such_module"], cwd=work, capture_output=True, text=True
    )
    said = process.stderr.partition(": ")[2]
    assert (process.returncode, said) == (plain.returncode, plain.stderr.partition(": ")[2])
