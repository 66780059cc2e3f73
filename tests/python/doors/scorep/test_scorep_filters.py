"""SCOREP_FILTERING_FILE and SCOREP_METRIC_*: the variables of the door, and their effect on a run."""

import json
import subprocess
import sys
import textwrap

import pytest
from scorep_runs import TYPES, inside, of_program, run_scorep, trace

pytestmark = pytest.mark.any_python

PROGRAM = textwrap.dedent("""
    import scorep.user

    class K:
        def m(self):
            leaf()

    def leaf():
        pass

    def outer():
        K().m()
        leaf()
        with scorep.user.region("part"):
            leaf()

    outer()
""")


def write_filter(directory, *lines):
    (directory / "my.filter").write_text("\n".join(lines) + "\n")
    return {"SCOREP_FILTERING_FILE": "my.filter"}


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    "rules, calls",
    [
        (["EXCLUDE __main__:outer"],
         [("__main__.K:m", "__main__:leaf"), "__main__:leaf", ("user:part", "__main__:leaf")]),
        (["EXCLUDE *:leaf user:*"], [("__main__:outer", "__main__.K:m")]),
        (["EXCLUDE *", "INCLUDE __main__.K:*"], ["__main__.K:m"]),
        (["EXCLUDE __main__.K:m"],
         [("__main__:outer", "__main__:leaf", "__main__:leaf", ("user:part", "__main__:leaf"))]),
    ],
)  # fmt: skip
def test_what_a_filter_leaves_out_keeps_its_callees(tmp_path, type_, rules, calls):
    variables = write_filter(tmp_path, "SCOREP_REGION_NAMES_BEGIN", *rules, "SCOREP_REGION_NAMES_END")
    done, woven = trace(tmp_path, PROGRAM, f"--instrumenter-type={type_}", **variables)
    assert done.stderr == ""
    left = [call for call in woven.calls(of_program) if ":<module>" not in call and call[1:] != "__main__:K"]
    assert left == inside(*calls)
    assert (tmp_path / "run" / "scorep.filter").read_bytes() == (tmp_path / "my.filter").read_bytes()
    manifest = (tmp_path / "run" / "MANIFEST.md").read_text()
    assert "      * `scorep.filter`         Copy of the applied filter file.\n" in manifest


def test_files_are_filtered_for_good(tmp_path):
    variables = write_filter(
        tmp_path, "SCOREP_FILE_NAMES_BEGIN EXCLUDE */app.py SCOREP_FILE_NAMES_END",
        "SCOREP_REGION_NAMES_BEGIN INCLUDE * SCOREP_REGION_NAMES_END",
    )  # fmt: skip
    _, woven = trace(tmp_path, PROGRAM, **variables)
    assert woven.calls(of_program) == []


@pytest.mark.parametrize(
    "text, line",
    [
        ("SCOREP_REGION_NAMES_BEGIN\nfoo\n", "my.filter, line 2"),
        ("SCOREP_REGION_NAMES_BEGIN EXCLUDE a \\\nb SCOREP_REGION_NAMES_END\n", "my.filter, line 1"),
        ("SCOREP_FILE_NAMES_BEGIN SCOREP_REGION_NAMES_END\n", "my.filter, line 1"),
        ("EXCLUDE a\n", "my.filter, line 1"),
    ],
)
def test_errors_in_filters(tmp_path, text, line):
    (tmp_path / "app.py").write_text("print('never')\n")
    (tmp_path / "my.filter").write_text(text)
    done = run_scorep(tmp_path, "app.py", status=1, SCOREP_FILTERING_FILE="my.filter")
    assert done.stdout == "" and done.stderr.startswith("scorep: ") and line in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["app.py", "my.filter"]


def test_a_filter_that_is_not_there(tmp_path):
    (tmp_path / "app.py").write_text("print('never')\n")
    done = run_scorep(tmp_path, "app.py", status=1, SCOREP_FILTERING_FILE="no.filter")
    assert done.stdout == "" and "no.filter" in done.stderr and done.stderr.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["app.py"]


@pytest.mark.parametrize("profiling, tracing", [("true", "false"), ("true", "true"), ("false", "true")])
def test_metrics_are_recorded_whatever_is_written(tmp_path, timeloom, profiling, tracing):
    (tmp_path / "app.py").write_text("def f():\n    return sum(range(10000))\nfor _ in range(3):\n    f()\n")
    done = run_scorep(tmp_path, "app.py", SCOREP_METRIC_RUSAGE="ru_utime,ru_maxrss",
                      SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_PROFILING=profiling,
                      SCOREP_ENABLE_TRACING=tracing)  # fmt: skip
    assert done.stderr == ""
    files = {entry.name for entry in (tmp_path / "run").iterdir()}
    assert ("profile.cubex" in files, "traces.otf2" in files) == (profiling == "true", tracing == "true")
    assert '"__main__:f"' in timeloom("report", "--json", tmp_path / "run").stdout


def test_an_unknown_metric(tmp_path):
    (tmp_path / "app.py").write_text("print('never')\n")
    done = run_scorep(tmp_path, "app.py", status=1, SCOREP_METRIC_RUSAGE="ru_nonsense")
    assert done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("scorep: variable SCOREP_METRIC_RUSAGE: 'ru_nonsense' is not accepted; ")


def test_each_measurement_has_its_own_filter(tmp_path, timeloom):
    """Also for a region that is used again, and for its name."""
    (tmp_path / "my.filter").write_text("SCOREP_REGION_NAMES_BEGIN EXCLUDE user:part SCOREP_REGION_NAMES_END\n")
    (tmp_path / "block.py").write_text(textwrap.dedent("""
        import scorep.user, timeloom

        again = scorep.user.region("part")
        for output, settings in [("one", {}), ("two", {"filter_file": "my.filter"}), ("three", {})]:
            with timeloom.Measurement(output=output, **settings):
                with again:
                    pass
                with scorep.user.region("part"):
                    pass
    """))
    subprocess.run([sys.executable, "block.py"], cwd=tmp_path, check=True, timeout=60)
    visits = []
    for output in ("one", "two", "three"):
        rows = json.loads(timeloom("report", "--json", tmp_path / output).stdout)["flat"]["rows"]
        visits.append([row["visits"] for row in rows if row["name"] == "user:part"])
    assert visits == [[2], [], [2]]
