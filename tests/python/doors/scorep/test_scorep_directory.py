"""The experiment directory: its name, its files, its messages."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from scorep_directories import STAMP, app, contents, directories  # noqa: F401
from scorep_runs import run_scorep

pytestmark = pytest.mark.any_python

NOTHING = {"SCOREP_ENABLE_PROFILING": "false"}


def test_a_profile_is_the_default(app):
    done = run_scorep(app, "app.py")
    assert (done.stdout, done.stderr) == ("", "")
    (name,) = directories(app)
    assert re.fullmatch("scorep-" + STAMP, name)
    assert contents(app / name) == ["MANIFEST.md", "profile.cubex", "scorep.cfg"]
    assert (app / name).stat().st_mode & 0o777 == 0o755 & ~current_umask()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize(
    "profiling, tracing, files",
    [
        ("true", "true", ["profile.cubex", "traces", "traces.def", "traces.otf2"]),
        ("no", "1", ["traces", "traces.def", "traces.otf2"]),
        ("Yes", "0", ["profile.cubex"]),
        ("off", "nonsense", []),
    ],
)
def test_two_variables_decide_what_is_written(app, profiling, tracing, files):
    done = run_scorep(app, "app.py", SCOREP_ENABLE_PROFILING=profiling, SCOREP_ENABLE_TRACING=tracing,
                      SCOREP_EXPERIMENT_DIRECTORY="run")  # fmt: skip
    unread = "scorep: SCOREP_ENABLE_TRACING=nonsense: neither true nor false; it counts as false [TL706]\n"
    assert done.stderr == (unread if tracing == "nonsense" else "")
    assert contents(app / "run") == sorted(["MANIFEST.md", "scorep.cfg", *files])


def test_no_profile_format_no_profile(app):
    run_scorep(app, "app.py", SCOREP_PROFILING_FORMAT="NONE", SCOREP_EXPERIMENT_DIRECTORY="run")
    assert contents(app / "run") == ["MANIFEST.md", "scorep.cfg"]


def test_without_results_the_directory_may_be_left_out(app):
    done = run_scorep(app, "app.py", SCOREP_FORCE_CFG_FILES="false", **NOTHING)
    assert done.stderr.startswith("scorep: neither a profile nor a trace is wanted")
    assert done.stderr.count("\n") == 1 and directories(app) == []


MANIFEST = """# Experiment directory overview

The result directory of this measurement should contain the following files:

   1. Files that should be present even if the measurement aborted:

      * `MANIFEST.md`           This manifest file.
      * `scorep.cfg`            Listing of used environment variables.

   2. Files that will be created by subsystems of the measurement core:

      * Tracing:

        * `traces.otf2`         OTF2 anchor file.
        * `traces.def`          OTF2 global definitions file.
        * `traces/`             Sub-directory containing per location trace
                                data.

      * Profiling:

        * `profile.cubex`       CUBE4 result file of the summary measurement.

# List of Score-P variables that were explicitly set for this measurement

The complete list of Score-P variables used, incl. current default values,
can be found in `scorep.cfg`.

    SCOREP_ENABLE_TRACING
    SCOREP_TOTAL_MEMORY
    SCOREP_EXPERIMENT_DIRECTORY
"""


def test_manifest_and_settings(app):
    run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="it's!", SCOREP_TOTAL_MEMORY="64 mb",
               SCOREP_ENABLE_TRACING="on")  # fmt: skip
    assert (app / "it's!" / "MANIFEST.md").read_text() == MANIFEST
    cfg = (app / "it's!" / "scorep.cfg").read_text()
    lines = cfg.splitlines()
    assert lines[:6] == [
        "SCOREP_ENABLE_PROFILING=true", "SCOREP_ENABLE_TRACING=true", "SCOREP_VERBOSE=false",
        "SCOREP_TOTAL_MEMORY=64M", "SCOREP_PAGE_SIZE=8K",
        "SCOREP_EXPERIMENT_DIRECTORY='it'\\''s'\\!''",
    ]  # fmt: skip
    assert lines[-1] == "SCOREP_SELECTIVE_CONFIG_FILE=''" and len(lines) == 41
    shell = subprocess.run(
        ["sh", "-c", ". ./scorep.cfg; printf %s \"$SCOREP_EXPERIMENT_DIRECTORY\""],
        cwd=app / "it's!", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert shell.stdout == "it's!"


def test_verbose_messages(app):
    (app / "run").mkdir()
    done = run_scorep(app, "app.py", "a b", SCOREP_VERBOSE="yes", SCOREP_EXPERIMENT_DIRECTORY="run")
    assert done.stderr == "[Score-P] running in verbose mode\n[Score-P] program: app.py a b\n"
    (previous,) = [name for name in directories(app) if name != "run"]
    assert done.stdout == (
        f"[Score-P] experiment directory: {app}/run\n"
        f"[Score-P] previous experiment directory: {app}/{previous}\n"
        f"[Score-P] final experiment directory: {app}/run\n"
    )


def test_the_bindings_modules_are_there_after_import_scorep(app):
    text = "import scorep\nprint(scorep._bindings.abspath('/a/../b'), scorep.subsystem.__name__, scorep.helper.__name__)\n"
    (app / "app.py").write_text(text + "print(hasattr(scorep, 'other'))\n")
    plain = subprocess.run([sys.executable, "app.py"], cwd=app, text=True, capture_output=True)
    assert run_scorep(app, "app.py").stdout == plain.stdout == "/b scorep.subsystem scorep.helper\nFalse\n"


@pytest.mark.parametrize(
    "end, status",
    [
        ("import os; os._exit(4)", 4),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
        ("raise KeyboardInterrupt", -2),
        ("import os; os.abort()", -6),
    ],
)
@pytest.mark.parametrize("tracing", ["true", "false"])
def test_nothing_is_lost_when_the_program_dies(app, timeloom, end, status, tracing):
    (app / "app.py").write_text(f"def f():\n    pass\nfor _ in range(7):\n    f()\n{end}\n")
    run_scorep(app, "app.py", status=status, SCOREP_EXPERIMENT_DIRECTORY="run",
               SCOREP_ENABLE_TRACING=tracing)  # fmt: skip
    timeloom("info", app / "run")  # weaves an unwoven run
    report = timeloom("report", "--json", app / "run").stdout
    rows = json.loads(report)["flat"]["rows"]
    assert [row["visits"] for row in rows if row["name"] == "__main__:f"] == [7]
    files = contents(app / "run")
    assert "profile.cubex" in files
    assert (app / "run" / "MANIFEST.md").read_text().startswith("# Experiment directory overview")


def test_report_reads_the_profile_in_place_of_the_trace(app, timeloom):
    run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING="true",
               SCOREP_PROFILING_BASE_NAME="mine")  # fmt: skip
    expected = timeloom("report", "--csv", app / "run").stdout
    assert (app / "run" / "mine.cubex").exists()
    shutil.rmtree(app / "run" / "traces")
    done = timeloom("report", "--csv", app / "run")
    assert (done.stdout, done.stderr) == (expected, "timeloom: 2 files of the trace missing, cut off or damaged; its profile is read [TL259]\n")


@pytest.mark.parametrize(
    "name, value, what",
    [
        ("SCOREP_TOTAL_MEMORY", "64X", "a size"),
        ("SCOREP_TOTAL_MEMORY", "", "a size"),
        ("SCOREP_PAGE_SIZE", "99999999999999999999", "a size"),
        ("SCOREP_PROFILING_MAX_CALLPATH_DEPTH", "ten", "a whole number"),
        ("SCOREP_PROFILING_MAX_CALLPATH_DEPTH", "10 20", "a whole number"),
        ("SCOREP_TIMER", "sundial", "one of tsc"),
        ("SCOREP_PROFILING_FORMAT", "xml", "one of cube4"),
        ("SCOREP_MPI_ENABLE_GROUPS", "all,nonsense", "a list of"),
    ],
)
def test_a_value_that_cannot_be_read(app, name, value, what):
    done = run_scorep(app, "app.py", status=1, **{name: value})
    assert done.stdout == "" and directories(app) == []
    assert done.stderr.startswith(f"scorep: variable {name}: '{value}' cannot be read; write {what}")
    assert done.stderr.endswith("see scorep-info config-vars --full [TL701]\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("tracing", ["false", "true"])
def test_a_depth_limit_is_told_of(app, timeloom, tracing):
    (app / "app.py").write_text("def f(n):\n    n and f(n - 1)\nf(150)\n")
    done = run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING=tracing)
    assert done.stdout == ""
    assert done.stderr == (
        "scorep: the limit of 100 levels of call paths was exceeded. The deepest had 152 levels. "
        "Consider setting SCOREP_PROFILING_MAX_CALLPATH_DEPTH to 152. [TL010]\n"
    )
    done = run_scorep(app, "app.py", SCOREP_PROFILING_MAX_CALLPATH_DEPTH="152",
                      SCOREP_ENABLE_TRACING=tracing)  # fmt: skip
    assert done.stderr == ""
    done = run_scorep(app, "app.py", SCOREP_ENABLE_TRACING="true", **NOTHING)
    assert done.stderr == ""


def test_plain_python_needs_nothing(app):
    (app / "app.py").write_text(
        "import scorep\n"
        "with scorep.user.region('a'): pass\n"
        "scorep.user.region_begin('b'); scorep.user.region_end('c')\n"
        "scorep.user.rewind_begin('r'); scorep.user.rewind_end('x', True)\n"
        "scorep.user.parameter_int('i', 1); scorep.user.parameter_uint('u', 1)\n"
        "scorep.user.parameter_string('s', 't')\n"
        "scorep.user.disable_recording(); scorep.user.enable_recording()\n"
        "with scorep.instrumenter.enable('e'), scorep.instrumenter.disable('d'): pass\n"
        "scorep.instrumenter.register(); scorep.instrumenter.unregister()\n"
        "scorep.user.force_finalize(); scorep.user.reregister_exit_handler()\n"
        "print(scorep.instrumenter.get_instrumenter().get_registered())\n"
    )
    done = subprocess.run([sys.executable, "app.py"], cwd=app, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")
    assert contents(app) == ["app.py"]


def test_the_layout_is_a_setting_of_ours_too(app, timeloom):
    done = timeloom("run", "--layout", "scorep", "--quiet", "app.py", cwd=app,
                    SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING="true")  # fmt: skip
    assert done.stderr == ""
    files = ["MANIFEST.md", "profile.cubex", "scorep.cfg", "traces", "traces.def", "traces.otf2"]
    assert contents(app / "run") == files
    (app / "block.py").write_text(
        "import timeloom\n"
        "with timeloom.Measurement(layout='scorep', output='block'):\n"
        "    pass\n"
    )
    variables = {**os.environ, "SCOREP_ENABLE_TRACING": "true"}
    subprocess.run([sys.executable, "block.py"], cwd=app, check=True, timeout=60, env=variables)
    assert "traces.otf2" in contents(app / "block")
    assert (app / "block" / "MANIFEST.md").read_text().startswith("# A run measured by Timeloom\n")


NEXT = re.compile(r"^timeloom: next: (timeloom report (\S+))$", re.M)


@pytest.mark.parametrize("weave", ["--weave", "--no-weave"])
@pytest.mark.parametrize("output, name", [([], "scorep-" + STAMP), (["-o", "deep/mine"], "deep/mine")])
def test_the_next_command_names_what_is_there_at_the_end(app, timeloom, weave, output, name):
    done = timeloom("run", "--layout", "scorep", weave, *output, "app.py", cwd=app)
    command, directory = NEXT.search(done.stderr).groups()
    assert re.fullmatch(name, directory)
    assert ("not woven yet" in done.stderr) == (weave == "--no-weave")
    assert " 1 thread, 4 events, " in timeloom(*command.split()[1:], "--full", cwd=app).stdout
    assert contents(app / directory) == ["MANIFEST.md", "profile.cubex", "scorep.cfg"]
    assert directories(app) == [directory.split("/")[0]]


def test_names_of_results(app, timeloom):
    """SCOREP_MACHINE_NAME, SCOREP_EXECUTABLE, SCOREP_PROFILING_BASE_NAME, SCOREP_TIMER: each in the written files."""
    for tracing in ("false", "true"):
        done = run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING=tracing,
                          SCOREP_MACHINE_NAME="Deep Thought", SCOREP_EXECUTABLE="/opt/app/start",
                          SCOREP_PROFILING_BASE_NAME="summary", SCOREP_TIMER="clock_gettime")  # fmt: skip
        assert done.stderr == ""
        run = app / "run"
        files = {path.name for path in run.iterdir()}
        assert "summary.cubex" in files and "profile.cubex" not in files
        assert ("traces.otf2" in files) == (tracing == "true")
        assert "`summary.cubex`       CUBE4" in (run / "MANIFEST.md").read_text()
        for source in (run, run / "summary.cubex"):
            info = json.loads(timeloom("info", "--json", source).stdout)
            assert info["machine"] == "Deep Thought" and info["program"] == "start app.py"
            assert not [key for key in info["properties"] if "_name" in key]
        assert json.loads(timeloom("report", "--json", run).stdout)["flat"]["rows"]
        assert timeloom("weave", run).stdout.endswith("is woven already: nothing to do\n")


@pytest.mark.parametrize("timer, counter", [("tsc", True), ("clock_gettime", False), ("gettimeofday", False)])
def test_the_clock_is_that_of_the_timer(app, timer, counter):
    """As in the spool: 0 is CLOCK_MONOTONIC; another one if the machine has a reliable counter."""
    run_scorep(app, "--keep-files", "app.py", SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_TIMER=timer)
    (definitions,) = (app / "run" / "spool").glob("*/defs")
    used = int.from_bytes(definitions.read_bytes()[10:12], "little")
    trusted = "tsc" in Path("/sys/devices/system/clocksource/clocksource0/available_clocksource").read_text().split()
    assert (used != 0) == (counter and (trusted or os.uname().machine == "aarch64"))


@pytest.mark.parametrize("name, mend", [("", ""), ("a/b", ""), ("..", " and a dot in front")])
def test_a_base_name_is_no_path(app, name, mend):
    done = run_scorep(app, "app.py", status=1, SCOREP_PROFILING_BASE_NAME=name)
    assert done.stdout == "" and directories(app) == []
    assert done.stderr == (
        f"scorep: SCOREP_PROFILING_BASE_NAME: '{name}' is not accepted; "
        f"write the name of a file, without a directory{mend} [TL702]\n"
    )


def test_names_that_scripts_search_for(app, timeloom):
    text = "import threading\nclass K:\n    def m(self):\n        pass\n"
    text += "one = threading.Thread(target=K().m, name='mine')\none.start()\none.join()\n"
    (app / "app.py").write_text(text)
    run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING="true")
    lines = subprocess.run(
        ["otf2-print", "-G", app / "run" / "traces.otf2"], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    def names(kind):
        return [re.search(r'Name: "(.*?)"', line)[1] for line in lines if re.match(kind + r"\s+\d", line)]

    assert names("LOCATION_GROUP") == ["Process"]
    assert names("LOCATION") == ["Master thread", "Orphan thread 1"]
    assert {"__main__", "__main__.K", "threading.Thread"} <= set(names("GROUP"))
    assert not [name for name in names("REGION") if name.startswith("threading.Thread:_bootstrap")]
    assert "__main__.K:m" in names("REGION")
    properties = [line for line in lines if "Python name" in line and "PROPERTY" in line]
    assert [re.search(r'Value: "(.*?)"', line)[1] for line in properties] == ["app.py", "MainThread", "mine"]
    names_here = ["app.py", "MainThread", "mine"]
    for path in (app / "run", app / "run" / "profile.cubex"):
        info = json.loads(timeloom("info", "--json", path).stdout)
        assert [one["name"] for one in info["groups"] + info["locations"]] == names_here
    with tarfile.open(app / "run" / "profile.cubex") as archive:
        anchor = archive.extractfile("anchor.xml").read().decode()
    assert re.findall(r"<name>(Master thread|Orphan thread \d|Process.*?)</name>", anchor) == [
        "Process", "Master thread", "Orphan thread 1"
    ]  # fmt: skip
    assert "<url>@mirror@scorep_metrics.html#visits</url>" in anchor and "<murl>https://" in anchor
