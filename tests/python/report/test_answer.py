"""timeloom report without further words: the answer in one screen; --by, --function, --slowest."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from archives import make_archive, one_line

pytestmark = pytest.mark.any_python

PROGRAM = """\
import json, time, threading
import timeloom

def small():
    pass

def work(n):
    timeloom.parameter_int("n", n)
    sum(range(2_000_000))
    for _ in range(3):
        small()

def wait():
    time.sleep(0.05)

def other(word):
    timeloom.parameter_string("word", word)
    work(2)

class Outer:
    def method(self):
        def inner():
            work(3)
        inner()

work(1)
other("x")
wait()
Outer().method()
json.dumps({"a": [1, 2, 3]}, indent=1)
"""


@pytest.fixture(scope="module")
def recorded(program, tmp_path_factory):
    """Directory with the run `run` of a trace, and `profile`."""
    directory = tmp_path_factory.mktemp("answer")
    (directory / "app.py").write_text(PROGRAM)
    for options in (["-o", "run"], ["-o", "profile", "--profile"]):
        subprocess.run([program, "run", "--quiet", *options, "app.py"], cwd=directory, check=True)
    return directory


def test_every_name_of_the_package_is_in_its_page():
    import timeloom as package

    page = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
    _, _, table = page.partition("## Every name")
    members = [f"Measurement.{name}" for name in vars(package.Measurement) if not name.startswith("_")]
    for name in [*package.__all__, *members]:
        assert re.search(rf"`{re.escape(name)}(\(|`)", table), name


def lines_of(timeloom, *arguments, **variables):
    return timeloom("report", *arguments, **{"COLUMNS": "80", "LINES": "25", "LANG": "C", **variables}).stdout.splitlines()


@pytest.mark.parametrize("kind", ["run", "profile"])
def test_the_answer_fits_the_screen(timeloom, recorded, kind):
    lines = lines_of(timeloom, recorded / kind)
    assert len(lines) <= 24 and max(map(len, lines)) <= 80  # and the prompt of the shell
    (functions,) = [i for i, line in enumerate(lines) if "where the time went" in line]
    (waiting,) = [i for i, line in enumerate(lines) if line.startswith(" share waiting ")]
    (tree,) = [i for i, line in enumerate(lines) if "call tree" in line]
    rows = lines[functions + 1: waiting]
    shares = [float(row.split("%")[0]) for row in rows]
    assert shares == sorted(shares, reverse=True) and all(share >= 0.5 for share in shares[3:])
    assert len(lines) - 1 - tree >= 3
    row = next(line for line in lines if "__main__.work" in line)
    assert re.search(r"\b3 \*__main__\.work", row), row


def test_the_project_is_bold_on_a_terminal(timeloom, recorded):
    coloured = lines_of(timeloom, "--color", "always", recorded / "run")
    (row,) = [line for line in coloured if "__main__.wait" in line and "\033[1m" in line][:1]
    assert "*" not in row and any("bold: your code" in line for line in coloured)
    assert not any(line.startswith("\033[1m") and "importing" in line for line in coloured)


def test_a_library_is_not_the_code_of_a_short_script(timeloom, program, tmp_path):
    """Unless the program itself is installed."""
    package = tmp_path / "env" / "site-packages" / "library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def solve():\n    return sum(range(3_000_000))\n")
    (package / "__main__.py").write_text("import library\nlibrary.solve()\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "app.py").write_text("import library\nlibrary.solve()\n")
    variables = {**os.environ, "PYTHONPATH": str(package.parent)}
    for name, words in (("script", ["app.py"]), ("installed", ["-m", "library"])):
        subprocess.run([program, "run", "--quiet", "-o", name, *words], cwd=tmp_path / "work", check=True, env=variables)
    stars = {name: ["*" in line for line in lines_of(timeloom, tmp_path / "work" / name) if "library.solve" in line]
             for name in ("script", "installed")}  # fmt: skip
    assert not any(stars["script"]) and all(stars["installed"]) and stars["script"] and stars["installed"]


LIBRARY = """\
import helpers

def table(n):
    return sum(range(n))

TABLE = table(3_000_000)

def solve():
    return first() + second() + helpers.third()

def first():
    return table(2_000_000)

def second():
    return table(1)
"""


@pytest.fixture(scope="module")
def with_library(program, tmp_path_factory):
    """Directory with a run of a script that imports a library, `script`, and one of the library as program, `installed`."""
    directory = tmp_path_factory.mktemp("library")
    packages = directory / "env" / "site-packages"
    (packages / "library").mkdir(parents=True)
    (packages / "library" / "__init__.py").write_text(LIBRARY)
    (packages / "library" / "__main__.py").write_text("import library\nlibrary.solve()\n")
    (packages / "helpers.py").write_text("def third():\n    return 1\n")
    (directory / "app.py").write_text("import library\n\ndef main():\n    library.solve()\n\nmain()\n")
    variables = {**os.environ, "PYTHONPATH": str(packages)}
    for name, words in (("script", ["app.py"]), ("installed", ["-m", "library"])):
        subprocess.run([program, "run", "--quiet", "-o", name, *words], cwd=directory, check=True, env=variables)
    return directory


def functions_of(lines):
    """Return {name: visits} of the first table, in its order, for a terminal high enough for empty lines between
    tables."""
    begin = next(i for i, line in enumerate(lines) if "where the time went" in line) + 1
    rows = lines[begin : lines.index("", begin)]
    found = [re.match(r" *[\d.]+% +\S+ +([\d,]+) [ *]*(.*?)(   .*)?$", row).groups() for row in rows]
    return {name: int(visits.replace(",", "")) for visits, name, _ in found}


def test_what_a_library_calls_while_it_is_imported_is_importing(timeloom, with_library):
    lines = lines_of(timeloom, with_library / "script", COLUMNS="150", LINES="200")
    found = functions_of(lines)
    # Once for TABLE, which is importing, and twice for solve().
    everything = json.loads(timeloom("report", "--json", with_library / "script").stdout)["flat"]["rows"]
    visits = [sum(row["visits"] for row in everything if row["name"] == f"library.{name}") for name in ("table", "solve")]
    assert visits == [3, 1] and found["library.table"] == 2
    assert not any(name.startswith(("library.<module>", "helpers.<module>")) for name in found)
    assert next(iter(found)) == "importing modules"  # with 3 of 5 million numbers


def test_loading_the_modules_of_an_installed_program_is_importing(timeloom, with_library):
    lines = lines_of(timeloom, with_library / "installed", COLUMNS="150", LINES="200")
    assert "library.<module>" not in functions_of(lines)
    assert any(re.search(r"\*\W*library\.solve", line) for line in lines)
    assert not any("*importing" in line for line in lines)


def test_of_which_package_hidden_functions_are(timeloom, with_library):
    (row,) = [line for line in lines_of(timeloom, with_library / "script", COLUMNS="150", LINES="200") if "library.solve" in line and "hidden" in line]
    assert "(3 functions hidden, 2 of library)" in row


@pytest.mark.parametrize("height", [12, 25, 60])
@pytest.mark.parametrize("width", [40, 80, 150])
def test_every_size_of_terminal(timeloom, recorded, width, height):
    lines = lines_of(timeloom, recorded / "run", COLUMNS=str(width), LINES=str(height), LANG="en_US.UTF-8")
    assert max(map(len, lines)) <= max(width, 40)
    assert len(lines) <= max(height - 1, 24)


@pytest.mark.parametrize("kind", ["run", "profile"])
def test_waiting_is_measured_and_of_the_function_that_waits(timeloom, recorded, kind):
    rows = json.loads(timeloom("report", "--by", "module", "--json", recorded / kind).stdout)["rows"]
    (main,) = [row for row in rows if row["name"] == "__main__"]
    assert 0.04 < main["waiting_s"] < main["total_s"] + 1
    one = json.loads(timeloom("report", "--function", "wait", "--json", recorded / kind).stdout)
    assert one["name"] == "__main__.wait" and one["visits"] == 1
    assert 0.04 < one["waiting_s"] <= one["own_s"]
    text = lines_of(timeloom, recorded / kind, LINES="60")  # others may have waited longer for a processor
    assert any("*__main__.wait" in line for line in text[[" waiting" in line for line in text].index(True):])


def test_trace_and_profile_say_the_same_waiting(timeloom, recorded, tmp_path):
    run = shutil.copytree(recorded / "run", tmp_path / "run")
    answers = []
    for _ in range(2):
        answers.append(json.loads(timeloom("report", "--by", "module", "--json", run).stdout))
        (run / "profile.cubex").unlink(missing_ok=True)
    assert answers[0] == answers[1]


def test_without_waiting_nothing_is_said_of_it(program, timeloom, tmp_path):
    subprocess.run([program, "run", "--quiet", "--no-waiting", "-o", "run", "-c", "import time; time.sleep(0.05)"],
                   cwd=tmp_path, check=True)
    assert json.loads(timeloom("info", "--json", tmp_path / "run").stdout)["metrics"] == []
    assert "waiting" not in timeloom("report", tmp_path / "run").stdout


@pytest.mark.parametrize("key", ["module", "package", "file", "thread", "process", "host"])
def test_by(timeloom, recorded, key):
    answer = json.loads(timeloom("report", "--by", key, "--json", recorded / "run").stdout)
    assert (answer["format"], answer["by"]) == ("timeloom-report-by", key)
    names = [row["name"] for row in answer["rows"]]
    assert len(set(names)) == len(names)
    wanted = {"module": "__main__", "package": "__main__", "file": str(recorded / "app.py"),
              "thread": "MainThread", "process": "app.py", "host": os.uname().nodename}[key]
    (row,) = [row for row in answer["rows"] if row["name"] in (wanted, wanted.rsplit("/", 1)[-1])]
    everything = json.loads(timeloom("report", "--json", recorded / "run").stdout)["flat"]["rows"]
    visits = sum(one["visits"] for one in everything if key in ("thread", "process", "host") or one["file"].endswith("app.py"))
    assert row["visits"] == visits
    assert row["project"] == (key in ("module", "package", "file"))
    text = lines_of(timeloom, "--by", key, recorded / "run")
    assert text[0].endswith(key) and max(map(len, text)) <= 80
    total = sum(one["working_s"] + one["waiting_s"] for one in answer["rows"])
    assert total == pytest.approx(sum(one["exclusive_s"] for one in everything), abs=1e-6)


def test_callers_and_callees(timeloom, recorded):
    one = json.loads(timeloom("report", "--function", "work", "--json", recorded / "run").stdout)
    assert (one["name"], one["visits"]) == ("__main__.work", 3)
    assert {(row["name"], row["visits"]) for row in one["callers"]} == {
        ("__main__.<module>", 1), ("__main__.other", 1), ("__main__.Outer.method.<locals>.inner", 1)}
    assert [(row["name"], row["visits"]) for row in one["callees"]] == [("__main__.small", 9)]
    text = "\n".join(lines_of(timeloom, "--function", "__main__.work", recorded / "run"))
    assert "called by" in text and "(its own code)" in text and "3 visits" in text
    (caller,) = json.loads(timeloom("report", "--function", "__main__.<module>", "--json", recorded / "run").stdout)["callers"]
    assert caller["name"] is None


def test_a_name_that_is_not_there_is_answered_with_those_that_are(timeloom, recorded):
    assert "there are __main__.small" in one_line(timeloom("report", "--function", "smal", recorded / "run", status=1))
    assert "__main__.Outer.method" in one_line(timeloom("report", "--function", "metod", recorded / "run", status=1))
    several = one_line(timeloom("report", "--function", "<module>", recorded / "run", status=1))
    assert "functions could be '<module>'" in several
    inner = json.loads(timeloom("report", "--function", "INNER", "--json", recorded / "run").stdout)
    assert inner["name"] == "__main__.Outer.method.<locals>.inner"


def test_recursion_counts_no_time_twice(timeloom, tmp_path):
    events = [(0, "main"), (10, "f"), (20, "f"), (30, "g"), (40, None), (50, None), (60, None), (100, None)]
    run = make_archive(tmp_path / "run", {"main": events})
    one = json.loads(timeloom("report", "--function", "f", "--json", run).stdout)
    assert one["total_s"] == pytest.approx(0.05) and one["own_s"] == pytest.approx(0.04) and one["visits"] == 2
    assert [(row["name"], row["visits"], round(row["total_s"], 6)) for row in one["callers"]] == [("main", 1, 0.05), ("f", 1, 0)]


def test_a_pattern_shows_several_functions_as_one(timeloom, tmp_path):
    events = [(0, "main"), (10, "a.f"), (20, "a.g"), (22, "b.h"), (25, None), (30, None), (40, None),
              (50, "a.g"), (60, None), (100, None)]  # fmt: skip
    run = make_archive(tmp_path / "run", {"main": events})
    all = json.loads(timeloom("report", "--function", "a.?", "--json", run).stdout)
    assert (all["name"], all["names"], all["visits"], all["file"]) == (None, ["a.f", "a.g"], 3, "")
    assert (round(all["own_s"], 6), round(all["total_s"], 6)) == (0.037, 0.04)
    rows = [[(row["name"], row["visits"], round(row["total_s"], 6)) for row in all[key]] for key in ("callers", "callees")]
    assert rows == [[("main", 2, 0.04), ("a.f", 1, 0)], [("b.h", 1, 0.003), ("a.g", 1, 0)]]
    assert timeloom("report", "--function", "a.*", run).stdout.startswith("2 functions: a.f, a.g\n3 visits")
    assert "no function 'c.*'" in one_line(timeloom("report", "--function", "c.*", run, status=1))


def test_slowest_visits_with_their_parameters(timeloom, recorded):
    answer = json.loads(timeloom("report", "--slowest", "--json", recorded / "run").stdout)
    assert {"__main__.wait", "__main__.work"} <= {visit["name"] for visit in answer["visits"][:6]}
    own = [visit["own_s"] for visit in answer["visits"]]
    assert own == sorted(own, reverse=True)
    only = json.loads(timeloom("report", "--slowest", "--function", "work", "--json", recorded / "run").stdout)["visits"]
    assert sorted(visit["parameters"] for visit in only) == ["n=1", "n=2", "n=3"]
    total = [visit["total_s"] for visit in only]
    assert total == sorted(total, reverse=True)
    other = lines_of(timeloom, "--slowest", "--function", "other", recorded / "run")
    assert len(other) == 2 and "{word=x}" in other[1]


def test_a_profile_cannot_say_the_slowest_visits(timeloom, recorded):
    assert "without --profile" in one_line(timeloom("report", "--slowest", recorded / "profile", status=1))


@pytest.mark.parametrize(("waiting", "options", "hints"), [
    ("time.sleep(0.5)", [], 1),  # a function of C: the waiting is its caller's, whose name does not tell
    ("time.sleep(0.5)", ["--causes"], 0),
    ("subprocess.run(['sleep', '0.5'])", [], 0),  # Popen's functions are known to wait
])
def test_waiting_of_unknown_cause_names_the_option_that_records_it(timeloom, program, tmp_path, waiting, options, hints):
    (tmp_path / "app.py").write_text(f"import subprocess, time\ndef fetch():\n    {waiting}\nfetch()\n")
    subprocess.run([program, "run", "--quiet", *options, "-o", "run", "app.py"], cwd=tmp_path, check=True)
    found = [line for line in lines_of(timeloom, tmp_path / "run") if "timeloom run --causes" in line]
    assert len(found) == hints
    for line in found:
        assert re.fullmatch(r"\d+% waiting in functions whose names do not tell why: timeloom run --causes", line)


def test_functions_that_wait_are_known_by_name_where_nothing_was_measured(timeloom, tmp_path):
    events = [(0, "main"), (10, "threading.Condition.wait"), (70, None), (100, None)]
    run = make_archive(tmp_path / "run", {"main": events})
    lines = lines_of(timeloom, run)
    (title,) = [line for line in lines if "known to wait" in line]
    assert "60.0 ms" in title and "100% = 40.0 ms of work" in lines[1]
    assert "threading.Condition.wait" in lines[lines.index(title) + 1]


# 797,161 call paths, more than are kept apart.
MANY_PATHS = """
def a(n):
    if n: a(n - 1); b(n - 1); c(n - 1)
def b(n):
    if n: a(n - 1); b(n - 1); c(n - 1)
def c(n):
    if n: a(n - 1); b(n - 1); c(n - 1)
a(12)
"""


@pytest.mark.parametrize("options", [[], ["--profile"]], ids=["trace", "profile"])
def test_functions_beyond_the_limit_of_call_paths(timeloom, tmp_path, options):
    """A tree of 797,161 call paths: visits of functions and the sum of own times are exact, from profile and trace."""
    (tmp_path / "app.py").write_text(MANY_PATHS)
    timeloom("run", "--quiet", *options, "-o", "run", "app.py", cwd=tmp_path)
    reports = []
    for _ in range(1 if options else 2):
        text = timeloom("report", "--flat", "--json", "--min-percent", "0", "run", cwd=tmp_path).stdout
        reports.append(json.loads(text))
        (tmp_path / "run" / "profile.cubex").unlink(missing_ok=True)
    assert reports[0]["flat"] == reports[-1]["flat"]
    rows = {row["name"]: row for row in reports[0]["flat"]["rows"]}
    inner = (3**12 - 1) // 2  # calls that call
    assert {name: row["visits"] for name, row in rows.items() if row["visits"]} == {
        "__main__.<module>": 1, "__main__.a": inner + 1, "__main__.b": inner, "__main__.c": inner}  # fmt: skip
    total = sum(row["exclusive_s"] for row in rows.values() if row["visits"])
    assert total == pytest.approx(reports[0]["total_s"])


def facts_of(timeloom, tmp_path, text, function):
    (tmp_path / "app.py").write_text(text)
    timeloom("run", "--quiet", "--force", "-o", "run", "app.py", cwd=tmp_path)
    return json.loads(timeloom("report", "--function", function, "--json", "run", cwd=tmp_path).stdout)


def test_what_a_recursive_function_calls_is_at_most_its_total(timeloom, tmp_path):
    facts = facts_of(timeloom, tmp_path, "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(12)\n", "fib")
    (itself,) = facts["callees"]
    assert (itself["name"], itself["total_s"], itself["visits"]) == ("__main__.fib", 0, 464)
    facts = facts_of(timeloom, tmp_path, """
def ping(n):
    if n: pong(n - 1); small()
def pong(n):
    if n: ping(n - 1); small()
def small(): pass
for _ in range(9): ping(30)
""", "ping")  # fmt: skip
    callees = {one["name"]: one for one in facts["callees"]}
    assert {name: one["visits"] for name, one in callees.items()} == {"__main__.pong": 135, "__main__.small": 135}
    assert sum(one["total_s"] for one in callees.values()) < facts["total_s"] < 1.001 * (
        sum(one["total_s"] for one in callees.values()) + facts["own_s"])  # fmt: skip
    text = timeloom("report", "--function", "ping", "run", cwd=tmp_path).stdout.partition(" calls\n")[2]
    shares = [float(line.split("%")[0]) for line in text.splitlines()]
    assert len(shares) == 3
    assert sum(shares) == pytest.approx(100, abs=0.3)


def test_callers_beyond_the_limit_of_call_paths_are_not_made_up(timeloom, tmp_path):
    facts = facts_of(timeloom, tmp_path, MANY_PATHS, "c")
    callers = {one["name"]: one["visits"] for one in facts["callers"]}
    assert set(callers) == {"__main__.a", "__main__.b", "__main__.c", "(more call paths)"}
    assert sum(callers.values()) == facts["visits"] == (3**12 - 1) // 2
    text = timeloom("report", "--function", "c", "run", cwd=tmp_path).stdout.partition(" calls\n")[2]
    assert sum(float(line.split("%")[0]) for line in text.splitlines()) == pytest.approx(100, abs=0.3)


def test_options_without_effect_are_refused(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("pass\n")
    timeloom("run", "--quiet", "-o", "run", "app.py", cwd=tmp_path)
    for words in (("--by=module", "--csv"), ("--function=main", "--csv"), ("--slowest", "--csv"), ("--by=file", "--slowest"),
                  ("--by=file", "--function=main"), ("--by=file", "--sort=visits"), ("--by=file", "--depth=1"),
                  ("--by=file", "--min-percent=50"), ("--by=file", "--tree"), ("--io", "--mpi"), ("--io", "--flat"),
                  ("--by=file", "--metric=x")):  # fmt: skip
        done = timeloom("report", *words, "run", cwd=tmp_path, status=2)
        first, second = (word.partition("=")[0] for word in sorted(words, key=lambda word: not word.startswith(("--by", "--io"))))
        assert "does not go with" in done.stderr and first in done.stderr and second in done.stderr
    for table in ("--mpi", "--gpu", "--omp", "--memory", "--locks"):
        done = timeloom("report", table, "--thread=MainThread", "run", cwd=tmp_path, status=2)
        assert f"{table} is of the whole run: it does not go with --thread and --group" in done.stderr
    timeloom("report", "--slowest", "--function=<module>", "run", cwd=tmp_path)


def test_a_command_of_a_package_is_that_packages(timeloom, tmp_path):
    """Also if its first call belongs to another one."""
    site = tmp_path / "venv" / "lib" / "site-packages"
    for package, text in (("helper", "def run(f): sum(range(3_000_000)); f()\n"),
                          ("tool", "import helper\ndef main(): helper.run(work)\ndef work(): sum(range(300_000))\n")):  # fmt: skip
        (site / package).mkdir(parents=True)
        (site / package / "__init__.py").write_text(text)
    (tmp_path / "venv" / "bin").mkdir()
    script = tmp_path / "venv" / "bin" / "tool"
    script.write_text(f"#!/usr/bin/python3\nimport sys\nsys.path.insert(0, {str(site)!r})\nfrom tool import main\nsys.exit(main())\n")
    timeloom("run", "--quiet", "-o", "run", str(script), cwd=tmp_path)
    rows = json.loads(timeloom("report", "--by", "package", "--json", "run", cwd=tmp_path).stdout)["rows"]
    assert {row["name"]: row["project"] for row in rows if row["name"] in ("tool", "helper")} == {"tool": True, "helper": False}
