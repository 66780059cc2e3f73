"""`timeloom score` on the command line: its output, its files, and what it refuses."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cube_files import DATA, ROOT
from scorep_runs import run_scorep

pytestmark = pytest.mark.any_python

PROFILE = DATA / "scorep-fib" / "profile.cubex"


@pytest.fixture
def score(timeloom):
    return lambda *arguments, **options: timeloom("score", *arguments, **options)


@pytest.mark.parametrize("name", ["scorep-fib", "scorep-user-regions", "scorep-threads"])
def test_the_table_is_that_of_scorep_score(score, name):
    expected = (DATA / name / "scorep-score-r.txt").read_text()
    assert score("-r", DATA / name / "profile.cubex").stdout == expected
    short = expected[:expected.rindex("\n\n") + 1]
    assert score(DATA / name / "profile.cubex").stdout == short
    assert score(DATA / name).stdout == short


def test_help_wins_over_everything(score):
    for words in ([], ["-h"], ["--help"], ["-x", "nothing", "--help"]):
        said = score(*words)
        assert said.stdout.startswith("usage: scorep-score ") and said.stderr == ""


@pytest.mark.parametrize("words, what", [
    (["none.cubex"], "Input file 'none.cubex' does not exist!"),
    (["-r"], "Input file '-r' does not exist! The profile must be the last argument."),
    (["-f", PROFILE], "No filter file specified"),
    (["-c", PROFILE], "Missing number of hardware counters"),
    (["-c", "-2", PROFILE], "The number of hardware counters cannot be less than zero: '-2'"),
    (["-s", PROFILE], "No sorting mode specified"),
    (["-s", "size", PROFILE], "Unknown sorting choice"),
    (["-d", PROFILE], "Unknown argument: '-d'"),
    (["-g", "visits=1,x=2", PROFILE], 'Invalid filter generation option:"x=2"'),
    (["-f", "none.filter", PROFILE], "Failed to open 'none.filter'"),
    (["-f", "bad.filter", PROFILE], "bad.filter, line 2: Unexpected token 'fib' [TL119]"),
    (["bad.filter"], "Cannot open Cube report 'bad.filter': bad.filter cannot be read as a CUBE4 "
                     "profile: it is not a tar archive, which every CUBE4 file is [TL313]"),
])
def test_what_is_wrong_is_one_line(score, tmp_path, words, what):
    (tmp_path / "bad.filter").write_text("SCOREP_REGION_NAMES_BEGIN\nfib\n")
    said = score(*words, cwd=tmp_path, status=1)
    assert (said.stdout, said.stderr) == ("", f"ERROR: {what}\n")


def test_the_filter_it_writes_can_be_applied(score, tmp_path):
    first = score("-g", PROFILE, cwd=tmp_path)
    assert "'SCOREP_FILTERING_FILE=initial_scorep.filter'" in first.stdout
    text = (tmp_path / "initial_scorep.filter").read_text()
    assert "    MANGLED __main__:fib\n" in text and "__main__:main" not in text
    lines = score("-r", "-f", "initial_scorep.filter", PROFILE, cwd=tmp_path).stdout.splitlines()
    assert " +       FLT     11,160    465    0.00     0.4           0.45  FLT" in lines
    assert " +       USR     11,160    465    0.00     0.4           0.45  __main__:fib" in lines
    assert " -    SCOREP         56      1    0.05    99.4       50536.26  python3.11" in lines
    score("-g", "all", PROFILE, cwd=tmp_path)
    score("-g", PROFILE, cwd=tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 3 and names[0] == "initial_scorep.filter"
    assert names[1].startswith("initial_scorep.filter_2") and names[2] == "max_scorep.filter"


def test_a_run_of_ours_is_scored(score, timeloom, tmp_path):
    (tmp_path / "app.py").write_text("def f():\n    pass\n\nfor _ in range(20):\n    f()\n")
    timeloom("run", "--output", "run", "app.py", cwd=tmp_path)
    table = score("-r", "run", cwd=tmp_path).stdout
    (line,) = [line for line in table.splitlines() if line.endswith("  __main__.f")]
    assert line.split()[:3] == ["USR", str(20 * 24), "20"]
    assert any(line.split()[0] == "SCOREP" for line in table.splitlines() if line)


def test_it_is_installed_under_the_name_of_score_p(program, tmp_path):
    script = Path(program).with_name("scorep-score")
    if not script.exists():  # a program that was built and not installed
        template = (ROOT / "src" / "tools" / "scorep-command.in").read_text()
        script = tmp_path / "scorep-score"
        script.write_text(template.replace("@COMMAND@", "score"))
        script.chmod(0o755)
        shutil.copy(program, tmp_path / "timeloom")
    done = subprocess.run([script, "-r", PROFILE], capture_output=True, text=True, check=True)
    assert done.stdout == (DATA / "scorep-fib" / "scorep-score-r.txt").read_text()


NAMED = """
import timeloom
class Box:
    def size(self): return 1
def plain(): pass
def outer():
    def local(): pass
    local()
def kept(): pass
for _ in range(50):
    plain(); outer(); Box().size(); kept()
    with timeloom.region("part"): pass
"""
FILTERS = {
    "module:function": "__main__:plain",
    "module.function": "__main__.plain",
    "module.Class:method": "__main__.Box:size",
    "module.Class.method": "__main__.Box.size",
    "module:local": "__main__:local",
    "all qualifications": "MANGLED __main__.outer.\\<locals\\>.local",
    "user region": "user:part",
    "pattern": "__main__*:*",
    "file": None,
}


def measure(timeloom, directory, door, profile, filters=None):
    (directory / "app.py").write_text(NAMED)
    shutil.rmtree(directory / "run", ignore_errors=True)
    if door == "timeloom":
        options = ["--filter-file", filters] if filters else []
        timeloom("run", "--quiet", "--force", *profile, "--output", "run", *options, "app.py", cwd=directory)
    else:
        variables = {"SCOREP_FILTERING_FILE": str(filters)} if filters else {}
        tracing = "false" if profile else "true"
        run_scorep(directory, "app.py", SCOREP_EXPERIMENT_DIRECTORY="run", SCOREP_ENABLE_TRACING=tracing, **variables)


def of_program(timeloom, directory):
    """Visited regions of the program, by the properties that identify them in either door."""
    rows = json.loads(timeloom("report", "--json", "run", cwd=directory).stdout)["flat"]["rows"]
    names = {row["name"] for row in rows if row["file"].endswith("app.py") or "part" in row["name"]}
    return {re.split("[.:]", name)[-1] for name in names} - {"<module>"}


@pytest.mark.parametrize("door", ["timeloom", "scorep"])
@pytest.mark.parametrize("profile", [[], ["--profile"]])
def test_a_filter_leaves_out_what_it_leaves_out_of_a_recording(score, timeloom, tmp_path, door, profile):
    measure(timeloom, tmp_path, door, profile)
    everything = of_program(timeloom, tmp_path)
    assert everything == {"plain", "outer", "local", "size", "kept", "part", "Box"}
    filters, left = tmp_path / "my.filter", {}
    for name, rule in FILTERS.items():
        block = "REGION" if rule else "FILE"
        filters.write_text(f"SCOREP_{block}_NAMES_BEGIN\nEXCLUDE {rule or '*/app.py'}\nSCOREP_{block}_NAMES_END\n")
        lines = [line.split() for line in score("-r", "-f", filters, "run", cwd=tmp_path).stdout.splitlines()]
        left[name] = {re.split("[.:]", line[-1])[-1] for line in lines if line[:2] == ["+", "USR"] or line[:2] == ["+", "COM"]}
    assert all(left.values())
    for name, rule in FILTERS.items():
        block = "REGION" if rule else "FILE"
        filters.write_text(f"SCOREP_{block}_NAMES_BEGIN\nEXCLUDE {rule or '*/app.py'}\nSCOREP_{block}_NAMES_END\n")
        measure(timeloom, tmp_path, door, profile, filters)
        assert everything - of_program(timeloom, tmp_path) == left[name] & everything, name


@pytest.mark.parametrize("door", ["timeloom", "scorep"])
def test_the_filter_it_writes_works_with_either_door(score, timeloom, tmp_path, door):
    measure(timeloom, tmp_path, door, ["--profile"])
    everything = of_program(timeloom, tmp_path)
    score("-g", "visits=50,timepervisit=1000000", "run", cwd=tmp_path)  # however slow the machine is
    filters = tmp_path / "initial_scorep.filter"
    named = [line for line in filters.read_text().splitlines() if "MANGLED" in line and "__main__" in line]
    assert len(named) >= 4
    for other in ("timeloom", "scorep"):
        measure(timeloom, tmp_path, other, ["--profile"], filters)
        assert {"plain", "local", "size", "kept"} <= everything - of_program(timeloom, tmp_path)
