"""The place of the experiment directory: existing entries, allowed places, other writers."""

import os
import re
import subprocess
import sys
import time

import pytest
from scorep_directories import APP, STAMP, app, contents, directories  # noqa: F401
from scorep_runs import run_scorep

pytestmark = pytest.mark.any_python


def test_what_has_the_name_is_renamed(app):
    old = app / "run"
    old.mkdir()
    (old / "mine.txt").write_text("kept")
    then = time.mktime((2020, 2, 3, 4, 5, 6, 0, 0, -1))
    os.utime(old, (then, then))
    run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="run")
    first, second = directories(app)
    assert first == "run" and re.fullmatch(r"run-20200203_0405_\d+", second)
    assert (app / second / "mine.txt").read_text() == "kept"
    assert (app / "run" / "profile.cubex").exists()


def test_what_a_crash_left_is_renamed(app):
    (app / "scorep-measurement-tmp").mkdir()
    (app / "scorep-measurement-tmp" / "old").write_text("kept")
    run_scorep(app, "app.py")
    final, failed = directories(app)
    assert re.fullmatch("scorep-" + STAMP, final)
    assert re.fullmatch("scorep-failed-" + STAMP, failed)
    assert contents(app / failed) == ["old"]


def test_overwriting_can_be_forbidden(app):
    (app / "run").mkdir()
    done = run_scorep(app, "app.py", status=1, SCOREP_EXPERIMENT_DIRECTORY="run",
                      SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY="false")  # fmt: skip
    assert done.stderr.startswith(
        f'scorep: Experiment directory "{app}/run" exists and overwriting is disabled.'
    )
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert contents(app / "run") == []


@pytest.mark.parametrize("overwrite", ["true", "false"])
def test_where_the_user_works_is_never_renamed(app, overwrite):
    work = app / "work"
    for made in (work, app / "scripts", app / "home"):
        made.mkdir()
    (app / "scripts" / "app.py").write_text(APP)
    (app / "link").symlink_to(work)
    (work / "mine.txt").write_text("kept")
    before = sorted(app.rglob("*"))
    for name, what in [
        (".", "is the current directory"),
        ("..", "holds the current directory"),
        (str(work), "is the current directory"),
        (str(app), "holds the current directory"),
        ("../link", "is the current directory"),
        ("../scripts", "is the directory of the program"),
        ("../home", "is the home directory"),
    ]:
        done = run_scorep(work, "../scripts/app.py", status=1, SCOREP_EXPERIMENT_DIRECTORY=name,
                          SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY=overwrite, HOME=str(app / "home"))  # fmt: skip
        path = os.path.normpath(work / name)
        assert done.stdout == ""
        assert done.stderr == (
            f"scorep: the experiment directory cannot be {path}, which {what}; "
            "choose another with SCOREP_EXPERIMENT_DIRECTORY [TL234]\n"
        )
    assert sorted(app.rglob("*")) == before


def test_a_file_in_the_place(app):
    (app / "run").write_text("mine")
    done = run_scorep(app, "app.py", status=1, SCOREP_EXPERIMENT_DIRECTORY="run")
    assert done.stderr.startswith(
        f'scorep: Experiment directory "{app}/run" exists but is not an directory.'
    )
    assert done.stderr.count("\n") == 1 and (app / "run").read_text() == "mine"


def test_the_parent_is_missing(app):
    done = run_scorep(app, "app.py", status=1, SCOREP_EXPERIMENT_DIRECTORY="no/run")
    assert done.stderr == (
        f"scorep: the directory {app}/no for the experiment directory does not exist; make it first [TL235]\n"
    )


def test_nothing_may_be_written_there(app):
    """The user has made no mistake: the program runs."""
    done = run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="/proc/sys/run")
    assert done.stderr == (
        "scorep: nothing is measured: cannot write the experiment directory /proc/sys/run: Permission denied; "
        "choose another with SCOREP_EXPERIMENT_DIRECTORY [TL019]\n"
    )


def test_it_is_where_the_program_began(app):
    (app / "app.py").write_text("import os\nos.mkdir('sub')\nos.chdir('sub')\n")
    run_scorep(app, "app.py")
    assert re.fullmatch("scorep-" + STAMP, directories(app)[0]) and directories(app / "sub") == []


def test_the_name_while_it_is_written(app):
    (app / "app.py").write_text("import scorep._bindings\nprint(scorep._bindings.get_experiment_dir_name())\n")
    done = run_scorep(app, "app.py")
    assert done.stdout == f"{app}/scorep-measurement-tmp\n"


def test_two_at_once_do_not_disturb_each_other(app):
    """A measured program that starts another one in the same directory."""
    (app / "outer.py").write_text(
        "import subprocess, sys\n"
        "sys.exit(subprocess.run([sys.executable, '-m', 'scorep', 'app.py']).returncode)\n"
    )
    for settings, names in [
        ({}, ["scorep-" + STAMP] * 2),
        ({"SCOREP_EXPERIMENT_DIRECTORY": "run"}, ["run", r"run\.\d+"]),
    ]:
        before = directories(app)
        done = run_scorep(app, "outer.py", **settings)
        assert done.stderr.count("another process writes") == 1
        made = [name for name in directories(app) if name not in before]
        assert len(made) == 2
        for name, pattern in zip(made, names):
            assert re.fullmatch(pattern, name)
            assert "profile.cubex" in contents(app / name)


def test_output_names_the_directory_wherever_it_is_set(app, timeloom):
    run = ["run", "--layout", "scorep", "--quiet"]
    timeloom(*run, "app.py", cwd=app, TIMELOOM_OUTPUT="variable")
    (app / "pyproject.toml").write_text("[tool.timeloom]\noutput = 'key'\n")
    timeloom(*run, "app.py", cwd=app)
    timeloom(*run, "-o", "option", "app.py", cwd=app, SCOREP_EXPERIMENT_DIRECTORY="not-this")
    run_scorep(app, "app.py", SCOREP_EXPERIMENT_DIRECTORY="of-scorep")
    assert directories(app) == ["key", "of-scorep", "option", "variable"]
    for name in directories(app):
        assert f"SCOREP_EXPERIMENT_DIRECTORY='{name}'\n" in (app / name / "scorep.cfg").read_text()
    run_scorep(app, "app.py")
    assert len(directories(app)) == 5 and any(re.fullmatch("key-" + STAMP, name) for name in directories(app))


def test_output_keeps_its_rules_for_what_is_in_the_way(app, timeloom):
    run = ["run", "--layout", "scorep", "--quiet", "-o"]

    def refused(name, why, *options):
        done = timeloom(*run, name, *options, "app.py", cwd=app, status=2)
        line = re.escape(f"timeloom: {why} choose another with --output")
        assert re.fullmatch(line + r" \[TL\d{3}\]\n", done.stderr), done.stderr

    (app / "empty").mkdir()
    timeloom(*run, "empty", "app.py", cwd=app)
    assert directories(app) == ["empty"]
    (app / "empty").rename(app / "mine")
    (app / "mine" / "notes").write_text("kept")
    refused("mine", f"the run {app}/mine exists; give it another name with --force or")
    (app / "sources").mkdir()
    (app / "sources" / "a.py").write_text("mine")
    for options in ([], ["--force"]):
        refused("sources", f"{app}/sources exists and is not a run;", *options)
        refused("app.py", f"{app}/app.py exists and is not a directory;", *options)
        refused(".", f"the experiment directory cannot be {app}, which is the current directory;", *options)
    timeloom(*run, "mine", "--force", "app.py", cwd=app)
    first, second, third = directories(app)
    assert (first, third) == ("mine", "sources") and re.fullmatch("mine-" + STAMP, second)
    assert "notes" in contents(app / second) and "notes" not in contents(app / first)


def test_of_programs_that_start_together_one_runs(app):
    """With overwriting forbidden, as if the others had started later."""
    (app / "app.py").write_text("import time\nprint('ran', flush=True)\ntime.sleep(0.5)\n")
    (app / "outer.py").write_text(
        "import subprocess, sys\n"
        "words = [sys.executable, '-m', 'scorep', 'app.py']\n"
        "started = [subprocess.Popen(words, stdout=-1, stderr=-1, text=True) for _ in range(6)]\n"
        "for one in started:\n"
        "    print(*one.communicate(), one.returncode)\n"
    )
    done = subprocess.run(
        [sys.executable, "outer.py"], cwd=app, text=True, capture_output=True, check=True,
        env={**os.environ, "SCOREP_EXPERIMENT_DIRECTORY": "run", "SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY": "false"},
    )  # fmt: skip
    assert done.stdout.count("ran") == 1
    assert done.stdout.count("exists and overwriting is disabled") == 5
    assert directories(app) == ["run"] and "profile.cubex" in contents(app / "run")
