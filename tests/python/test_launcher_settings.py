"""Where settings come from, which one wins, and that the docs page is up to date."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from timeloom import _core


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


def test_order_of_rules_is_the_order_in_which_they_count():
    pyproject = ("pyproject.toml", {"include": ["b"], "exclude": ["a"]})
    settings, _ = _core.parse_command_line(["--exclude=x", "--include=y", "app.py"], pyproject)
    assert settings["filter"] == [(True, "b"), (False, "a"), (False, "x"), (True, "y")]


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


def test_read_settings_for_a_measurement_of_ones_own(monkeypatch):
    monkeypatch.setenv("TIMELOOM_BUFFER_SIZE", "4M")
    settings = _core.read_settings(
        {"instrumenter": "dummy", "c_functions": True, "exclude": ["a", "b"]}, None
    )
    assert settings == {
        "instrumenter": "dummy",
        "c_functions": True,
        "async_tasks": False,
        "profile": False,
        "profile_depth": 0,
        "exclude": ["a", "b"],
        "include": [],
        "filter": [(False, "a"), (False, "b")],
        "filter_file": "",
        "only_my_code": False,
        "imports": False,
        "max_depth": "",
        "metric_rusage": "",
        "metric_rusage_per_process": "",
        "metric_rusage_sep": ",",
        "metric_papi": "",
        "metric_papi_per_process": "",
        "metric_papi_sep": ",",
        "follow": "workers",
        "from": "",
        "until": "",
        "after": 0,
        "output": "",
        "force": False,
        "weave": True,
        "keep_spool": False,
        "quiet": False,
        "buffer_size": 4 << 20,
        "max_size": "",
        "at_max_size": "stop",
        "paused": False,
        "region_names": "qualified",
        "layout": "timeloom",
        "results": "all",
    }
    with pytest.raises(
        _core.Error, match=r"instrumentor: no such setting; did you mean instrumenter\?"
    ):
        _core.read_settings({"instrumentor": "dummy"}, None)
    with pytest.raises(_core.Error, match="weave: 'x' is not accepted; write on or off"):
        _core.read_settings({"weave": "x"}, None)
    with pytest.raises(_core.Error, match="weave: a value of type list is not accepted"):
        _core.read_settings({"weave": []}, None)


def test_settings_survive_the_way_through_a_dict():
    settings, _ = _core.parse_command_line(
        ["--include=a", "--exclude=b", "--no-weave", "-oX", "app.py"], None
    )
    assert _core.read_settings(settings, None) == settings


def test_page_of_the_docs_is_up_to_date():
    page = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
    assert page.read_text() == _core.settings_page(), (
        f"write it anew: {sys.executable} -c "
        "\"from timeloom import _core; print(_core.settings_page(), end='')\" > docs/settings.md"
    )
