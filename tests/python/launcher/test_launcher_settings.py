"""The sources of settings, their precedence, and that the docs page is up to date."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from timeloom import _core

pytestmark = pytest.mark.any_python


def settings_of(run: Path) -> dict[str, str]:
    lines = (run / "scorep.cfg").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def measure(directory, *options, **environment):
    (directory / "app.py").write_text("print('ran')\n")
    run = directory.parent / "run"
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "timeloom",
            "--no-weave",
            "--force",
            f"--output={run}",
            *options,
            "app.py",
        ],
        cwd=directory,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (process.returncode, process.stdout) == (0, "ran\n"), process.stderr
    return settings_of(run), process.stderr


@pytest.fixture
def work(tmp_path):
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


def test_stronger_sources_win(work):
    (work / "pyproject.toml").write_text(
        '[tool.timeloom]\ninstrumenter = "profile"\nbuffer-size = "2M"\nquiet = true\n'
    )
    settings, said = measure(work)
    assert settings["TIMELOOM_INSTRUMENTER"] == "profile"
    assert settings["TIMELOOM_BUFFER_SIZE"] == str(2 << 20)
    assert said == ""
    settings, said = measure(work, TIMELOOM_INSTRUMENTER="trace", TIMELOOM_QUIET="off")
    assert settings["TIMELOOM_INSTRUMENTER"] == "trace"
    assert said != ""
    settings, _ = measure(work, "--instrumenter", "dummy", TIMELOOM_INSTRUMENTER="trace")
    assert settings["TIMELOOM_INSTRUMENTER"] == "dummy"


def test_rules_of_all_sources_add_up(work):
    (work / "pyproject.toml").write_text(
        '[tool.timeloom]\nexclude = ["a.*", "b"]\ninclude = "a.b"\n'
    )
    settings, _ = measure(work, "--exclude", "d", "--exclude", "e,f", TIMELOOM_EXCLUDE="c")
    assert settings["TIMELOOM_EXCLUDE"] == "a.*,b,c,d,e,f"
    assert settings["TIMELOOM_INCLUDE"] == "a.b"


def test_order_of_rules_is_the_order_in_which_they_count(work):
    (work / "pyproject.toml").write_text('[tool.timeloom]\ninclude = ["b"]\nexclude = ["a"]\n')
    measure(work, "--exclude=x", "--include=y")
    records = (work.parent / "run" / "spool" / "settings").read_bytes().split(b"\0")
    rules = [record.partition(b"_")[2] for record in records if b"CLUDE=" in record]
    assert rules == [b"INCLUDE=b", b"EXCLUDE=a", b"EXCLUDE=x", b"INCLUDE=y"]


def test_nearest_pyproject_upward_is_read(work):
    (work / "pyproject.toml").write_text('[tool.timeloom]\ninstrumenter = "profile"\n')
    deep = work / "a" / "b"
    deep.mkdir(parents=True)
    assert measure(deep)[0]["TIMELOOM_INSTRUMENTER"] == "profile"
    (work / "a" / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    assert measure(deep)[0]["TIMELOOM_INSTRUMENTER"] == "auto"


@pytest.mark.parametrize("text", [
    "[ tool . timeloom ]\nquiet = true\n",
    "[tool]\ntimeloom.quiet = true\n",
    "tool = { timeloom = { quiet = true } }\n",
])  # fmt: skip
def test_a_table_is_a_table_however_it_is_written(work, text):
    (work / "pyproject.toml").write_text(text)
    command = [sys.executable, "-m", "timeloom", "--output", "run", "-c", "pass"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_is_nested_too_deep_is_refused_in_one_line(work):
    (work / "pyproject.toml").write_text("[tool.timeloom]\nexclude = " + "[" * 5000)
    command = [sys.executable, "-m", "timeloom", "--output", "run", "-c", "print('ran')"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"timeloom: {work}/pyproject.toml: ")


@pytest.mark.parametrize("value", ["3", "true", "[3]", '["a", false]'])
def test_a_pattern_is_a_string(work, value):
    (work / "pyproject.toml").write_text(f"[tool.timeloom]\nexclude = {value}\n")
    command = [sys.executable, "-m", "timeloom", "--output", "run", "-c", "print('ran')"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    kind = "bool" if "e" in value.replace("[3]", "") else "int"
    assert (done.returncode, done.stdout, done.stderr) == (
        2, "", f"timeloom: {work}/pyproject.toml [tool.timeloom] exclude: a value of type {kind} is not accepted; "
        "write a list of strings [TL121]\n")  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
@pytest.mark.parametrize("kind", ["file", "link", "second name"])
def test_a_file_of_another_user_is_not_read(work, kind):
    """It could lead a run anywhere, or replace one."""
    file = work / "pyproject.toml"
    own = work.parent / f"{work.name}.toml" if kind != "file" else file
    own.write_text('[tool.timeloom]\noutput = "precious"\nforce = true\ninstrumenter = "profile"\n')
    inside = work / "inside"
    inside.mkdir()
    if kind == "link":
        file.symlink_to(own)
    elif kind == "second name":
        file.hardlink_to(own)
        os.chown(work, 65534, 65534)
    if kind != "second name":
        os.chown(file, 65534, 65534, follow_symlinks=False)
    program = inside / "app.py"
    program.write_text("pass\n")
    (inside / "precious").mkdir()

    def run(*words):
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "--force", *words]
        done = subprocess.run(command, cwd=inside, capture_output=True, text=True, check=True)
        return done.stderr, settings_of(inside / "run")["TIMELOOM_INSTRUMENTER"]

    said = (f"timeloom: {file} is of user 65534: it is not read; give its settings as options, as variables TIMELOOM_…, "
            "or in a file of your own [TL126]\n")  # fmt: skip
    for words in (["-c", "pass"], ["app.py"], ["-m", "timeit", "-n1", "-r1"]):
        assert run(*words)[1] == "auto"
    assert run("app.py") == (said, "auto")
    block = "import timeloom\nwith timeloom.Measurement(output='run', force=True): pass\n"
    done = subprocess.run([sys.executable, "-c", block], cwd=inside, capture_output=True, text=True, check=True)
    assert said in done.stderr
    assert list((inside / "precious").iterdir()) == []
    # Files of the program's owner count, as in a container; their other files do not.
    (inside / "data.py").write_text("")
    os.chown(inside / "data.py", 65534, 65534)
    assert run("app.py", "data.py") == (said, "auto")
    os.chown(program, 65534, 65534)
    assert run("app.py") == ("", "profile")
    assert run(program) == ("", "profile")
    if kind == "file":
        os.chown(file, 0, 0)
        assert run("-c", "pass") == ("", "profile")


def test_a_file_of_any_size_keeps_no_program_from_running(work):
    with (work / "pyproject.toml").open("wb") as file:
        file.truncate(1 << 40)
    command = [sys.executable, "-m", "timeloom", "--quiet", "-c", "print('ran')"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    said = f"timeloom: {work}/pyproject.toml is larger than 16 MiB: it is not read [TL126]\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", said)


def test_pyproject_of_others_is_not_parsed(work):
    (work / "pyproject.toml").write_bytes(b"this is = no TOML \xff\n")
    assert measure(work)[0]["TIMELOOM_INSTRUMENTER"] == "auto"


def test_reading_pyproject_leaves_no_modules_behind(work):
    script = "import sys; print(sorted(m for m in sys.modules if not m.startswith('timeloom')))"
    command = [sys.executable, "-m", "timeloom", "--quiet", "--no-weave", "-c", script]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    options = {"cwd": work, "env": environment, "capture_output": True, "text": True, "timeout": 60}
    without = subprocess.run(command, **options)
    (work / "pyproject.toml").write_text("[tool.timeloom]\nc-functions = false\n")
    assert subprocess.run(command, **options).stdout == without.stdout != ""


def test_settings_of_a_measurement_of_ones_own(work):
    given = {"instrumenter": "profile", "c_functions": True, "exclude": ["a", "b"], "weave": False}
    program = f"import timeloom\nwith timeloom.Measurement(output='run', **{given}): pass\n"
    variables = {**os.environ, "TIMELOOM_BUFFER_SIZE": "2M"}
    subprocess.run([sys.executable, "-c", program], cwd=work, env=variables, check=True, timeout=60)
    lines = {
        "INSTRUMENTER": "profile",
        "PAUSED": "off",
        "C_FUNCTIONS": "on",
        "ASYNC_TASKS": "off",
        "TASK_LAYOUT": "lanes",
        "PROFILE": "off",
        "PROFILE_DEPTH": "0",
        "EXCLUDE": "a,b",
        "INCLUDE": "",
        "FILTER_FILE": "",
        "FUNCTION_RESTRICT": "",
        "FUNCTION_INCLUDE": "",
        "FUNCTION_EXCLUDE": "",
        "MODULE_RESTRICT": "",
        "MODULE_INCLUDE": "",
        "MODULE_EXCLUDE": "",
        "SAY_FILTERED": "0",
        "ONLY_MY_CODE": "off",
        "IMPORTS": "off",
        "MAX_DEPTH": "",
        "METRIC_RUSAGE": "",
        "METRIC_RUSAGE_PER_PROCESS": "",
        "METRIC_RUSAGE_SEP": ",",
        "METRIC_PAPI": "",
        "METRIC_PAPI_PER_PROCESS": "",
        "METRIC_PAPI_SEP": ",",
        "RECORD_ARGUMENTS": "masked",
        "OVERHEAD": "",
        "SAMPLE": "",
        "SAMPLING": "off",
        "SAMPLE_SIGNAL": "urg",
        "WAITING": "on",
        "FOLLOW": "workers",
        "WORKERS": "",
        "ENGINE_FUNCTIONS": "off",
        "IO": "none",
        "MPI": "off",
        "GC": "off",
        "CAUSES": "off",
        "LOCKS": "off",
        "LOGGING": "off",
        "COMPILER": "off",
        "KOKKOS": "off",
        "MEMORY": "off",
        "MEMORY_PYTHON": "off",
        "MEMORY_ALL": "off",
        "MEMORY_EVENTS": "off",
        "GPU": "off",
        "GPU_RECORDS": "",
        "THREAD": "none",
        "THREAD_LOCKS": "",
        "FROM": "",
        "UNTIL": "",
        "AFTER": "0",
        "REGION_NAMES": "qualified",
        "LABEL": "",
        "LOCATION_NAMES": "python",
        "OUTPUT": "run",
        "FORCE": "off",
        "LAYOUT": "timeloom",
        "RESULTS": "all",
        "TRACE_FORMAT": "otf2",
        "WEAVE": "off",
        "KEEP_SPOOL": "off",
        "QUIET": "off",
        "BUFFER_SIZE": str(2 << 20),
        "MAX_SIZE": "",
        "AT_MAX_SIZE": "stop",
        "PACK_EARLY": "off",
    }
    assert settings_of(work / "run") == {f"TIMELOOM_{name}": value for name, value in lines.items()}


@pytest.mark.parametrize("settings, message", [
    ({"instrumentor": "dummy"}, "instrumentor: no such setting; did you mean instrumenter? [TL104]"),
    ({"weave": "x"}, "weave: 'x' is not accepted; write on or off [TL101]"),
    ({"weave": []}, "weave: a value of type list is not accepted [TL121]"),
    ({"output": "a\0b"}, "output: a zero byte is not accepted [TL103]"),
])  # fmt: skip
def test_a_measurement_with_a_wrong_setting(settings, message):
    with pytest.raises(_core.Error) as error:
        _core.output_of_block(settings, None)
    assert str(error.value) == message


def test_page_of_the_docs_is_up_to_date():
    page = Path(__file__).resolve().parents[3] / "docs" / "settings.md"
    assert page.read_text() == _core.settings_page(), (
        f"write it anew: {sys.executable} -c "
        "\"from timeloom import _core; print(_core.settings_page(), end='')\" > docs/settings.md"
    )
