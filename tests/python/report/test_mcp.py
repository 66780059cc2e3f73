"""timeloom mcp: the answers to an agent, their size, and the questions that it refuses."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest
from agents import Server
from test_findings import CONVOY, QUADRATIC, SLOW_WORKER

pytestmark = [pytest.mark.any_python, pytest.mark.one_python]

PROGRAMS = {"convoy": CONVOY, "quadratic": QUADRATIC, "workers": SLOW_WORKER}


def record(program, directory, name, source):
    (directory / f"{name}.py").write_text(source)
    words = [program, "run", "--quiet", "-o", f"runs/{name}", f"{name}.py"]
    subprocess.run(words, check=True, cwd=directory, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def project(timeloom_program, tmp_path_factory):
    """A directory with the three programs and a run of each."""
    directory = tmp_path_factory.mktemp("project")
    for name, source in PROGRAMS.items():
        record(timeloom_program, directory, name, source)
    return directory


@pytest.fixture(scope="module")
def start(timeloom_program):
    """A function that starts a server in a directory; pytest ends it."""
    pytest.importorskip("mcp_types")
    with contextlib.ExitStack() as stack:
        yield lambda *directories: stack.enter_context(Server(timeloom_program, *directories))


@pytest.fixture(scope="module")
def server(start, project):
    return start(project)


def own(facts, *names):
    """Return the values of these keys, without times."""
    return [facts.get(name) for name in names]


def test_every_tool_describes_its_arguments(server):
    tools = {tool.name: tool for tool in server.tools()}
    assert list(tools) == [
        "list_runs", "findings", "where_time_goes", "time_by", "function", "call_path", "slowest_calls", "compare", "source",
    ]  # fmt: skip
    for tool in tools.values():
        assert tool.annotations.read_only_hint and tool.input_schema["additionalProperties"] is False
        assert all(one["description"] for one in tool.input_schema["properties"].values())
    assert tools["function"].input_schema["required"] == ["run", "name"]


def test_runs_are_listed_the_newest_first(server, project):
    answer = server.facts("list_runs", directory="runs")
    assert answer["directory"] == str(project / "runs")
    rows = [own(row, "run", "program", "processes", "threads", "problem") for row in answer["runs"]]
    places = [str(project / "runs" / name) for name in ("workers", "quadratic", "convoy")]
    assert [row[0] for row in rows] == places
    assert [row[2:] for row in rows] == [[5, 5, None], [1, 1, None], [1, 7, None]]
    assert [os.path.basename(row[1].split()[-1]) for row in rows] == ["workers.py", "quadratic.py", "convoy.py"]
    short = server.facts("list_runs", directory="runs", rows=1)
    assert [row["run"] for row in short["runs"]] == places[:1] and short["left_out"] == {"runs": 2}


@pytest.mark.parametrize("name", PROGRAMS)
def test_findings_are_those_of_the_report(server, project, timeloom, name):
    answer = server.facts("findings", run=f"runs/{name}")
    # The commands name the run, which the server opens by its whole path.
    report = json.loads(timeloom("report", "--json", project / "runs" / name, cwd=project).stdout)
    wanted = report["findings"]
    assert [one["rule"] for one in wanted][:1] == [{"convoy": "lock-convoy", "quadratic": "growing-calls", "workers": "imbalance"}[name]]
    for one, other in zip(answer["findings"], wanted, strict=True):
        assert own(one, "rule", "text", "command") == own(other, "rule", "text", "command")
        assert one["evidence"] == pytest.approx(other["evidence"], rel=1e-5)
        assert one["at_stake_s"] == pytest.approx(other["at_stake_s"], rel=1e-5)
    assert answer["losses"] == answer["notes"] == [] and "left_out" not in answer
    assert answer["wall_s"] == pytest.approx(report["wall_s"], rel=1e-5)


def test_the_time_is_the_answer_of_the_report(server, project, timeloom):
    size = {"COLUMNS": "110", "LINES": "40", "LC_ALL": "C.UTF-8"}
    for options, arguments in (
        ([], {}),
        (["--from=0s", "--to=0.1s"], {"from_s": 0, "to_s": 0.1}),
        (["--thread=MainThread"], {"thread": "MainThread"}),
        (["--group=0"], {"process": "0"}),
    ):
        report = timeloom("report", *options, project / "runs" / "convoy", cwd=project, **size).stdout
        assert server.ask("where_time_goes", run="runs/convoy", **arguments) == report.rstrip("\n")


def test_time_by_thread(server):
    rows = server.facts("time_by", run="runs/workers", by="process")["rows"]
    assert sorted(row["name"] for row in rows[1:])[:2] == ["sim-0", "sim-1"] and rows[0]["name"] == "sim-2"
    assert rows[0]["working_s"] > 2 * rows[1]["working_s"]


def test_a_function_has_its_callers_and_callees(server, project):
    answer = server.facts("function", run="runs/quadratic", name="remember")
    assert own(answer, "names", "file", "line", "visits") == [["__main__.remember"], str(project / "quadratic.py"), 1, 6000]
    assert {row["name"]: row["visits"] for row in answer["callers"]} == {"__main__.orders": 3000, "__main__.bills": 3000}
    assert answer["callees"] == answer["native"] == []
    assert answer["own_s"] == pytest.approx(answer["working_s"] + answer.get("waiting_s", 0), rel=1e-4)
    for place in ("quadratic.py:3", f"{project}/quadratic.py:1"):
        assert server.facts("function", run="runs/quadratic", name=place) == answer
    one = server.facts("function", run="runs/quadratic", name="remember", rows=1)
    assert len(one["callers"]) == 1 and one["left_out"] == {"callers": 1} and "--function" in one["more"]


def test_a_call_path_goes_down_to_the_work(server):
    run = {"run": "runs/quadratic"}
    roots = server.facts("call_path", **run)
    assert [row["name"] for row in roots["callees"]] == ["__main__.<module>"] and roots["callers"] == []
    assert "path" not in roots and roots["goes_on"][0]["name"] == "__main__.<module>"
    module = server.facts("call_path", path=str(roots["callees"][0]["id"]), **run)
    assert {row["name"] for row in module["callees"]} >= {"__main__.orders", "__main__.bills"}
    path = server.facts("call_path", path="<module> > orders > remember", **run)
    assert own(path["path"], "name", "visits") == ["__main__.remember", 3000]
    assert [row["name"] for row in path["callers"]] == ["__main__.orders", "__main__.<module>"]
    assert path["callees"] == path["goes_on"] == []
    assert server.facts("call_path", path=str(path["path"]["id"]), **run) == path


def test_slowest_calls(server):
    visits = server.facts("slowest_calls", run="runs/workers", function="simulate", rows=5)["visits"]
    assert len(visits) == 5 and {own(row, "name")[0] for row in visits} == {"__main__.simulate"}
    times = [row["total_s"] for row in visits]
    assert times == sorted(times, reverse=True)


def test_two_runs_are_compared(server, project, program):
    (project / "later").mkdir()
    record(program, project / "later", "quadratic", QUADRATIC.replace("range(3000)", "range(1500)"))
    answer = server.facts("compare", before="runs/quadratic", after="later/runs/quadratic")
    first = answer["functions"][0]
    assert own(first, "name", "change", "file") == ["__main__.remember", "faster", str(project / "later" / "quadratic.py")]
    assert (first["before"]["visits"], first["after"]["visits"]) == (6000, 3000) and answer["change_s"] < 0
    same = server.facts("compare", before="runs/convoy", after="runs/convoy")
    assert same["functions"] == [] and "change_s" not in same
    assert "'runs/none' cannot be read" in server.refusal("compare", before="runs/convoy", after="runs/none")


def test_source_is_that_of_the_function(server, project):
    lines = QUADRATIC.splitlines()[:6]
    head = f"{project}/quadratic.py: __main__.remember, lines 1 to 3"
    numbered = [f"{number} {line}" for number, line in enumerate(lines, 1)]
    for place in ("remember", "quadratic.py:2"):
        assert server.ask("source", run="runs/quadratic", place=place).splitlines() == [head, *numbered]
    assert server.ask("source", run="runs/quadratic", place="remember", first_line=5).splitlines() == [head, *numbered[4:]]
    elsewhere = server.refusal("source", run="runs/workers", place="multiprocessing.process.BaseProcess.start")
    assert "is not below the working folder" in elsewhere


def test_questions_change_no_file_of_a_run(server, project):
    def contents():
        return {path: path.read_bytes() for path in (project / "runs").rglob("*") if path.is_file() and path.name != "view.timeloom"}

    before = contents()
    server.ask("where_time_goes", run="runs/convoy", from_s=0.0, to_s=0.05)
    server.ask("slowest_calls", run="runs/convoy")
    server.ask("source", run="runs/convoy", place="post")
    assert contents() == before


@pytest.fixture(scope="module")
def many(timeloom_program, tmp_path_factory):
    """A run with many functions that have long names, and callers and callees of one of them."""
    directory = tmp_path_factory.mktemp("many")
    source = ["import timeloom", "def hub(n):", "    for k in range(150):",
              "        with timeloom.region('callee ' + str(k) + ' \u03c0' * 500):", "            sum(range(2000))",
              "for n in range(150):", "    with timeloom.region('caller ' + str(n) + ' \U0001f600' * 500):", "        hub(n)"]  # fmt: skip
    record(timeloom_program, directory, "many", "\n".join(source))
    return directory


def test_answers_are_bounded_and_count_the_rest(start, many):
    server = start(many)
    run = {"run": "runs/many", "rows": 100}
    for tool, arguments, lists in (
        ("function", {"name": "hub"}, {"callers": 150, "callees": 150}),
        ("call_path", {"path": "<module>", "min_percent": 0}, {"callees": 150}),
        ("time_by", {"by": "file"}, {}),
        ("slowest_calls", {}, {}),
    ):
        answer = server.facts(tool, **run, **arguments)
        for name, count in lists.items():
            assert 0 < len(answer[name]) < count and answer["left_out"][name] + len(answer[name]) >= count
            assert "--json" in answer["more"]
    assert server.facts("findings", run="runs/many")["findings"] == []
    server.ask("where_time_goes", **run)


def test_long_sources_go_on_at_another_line(start, program, tmp_path):
    body = "\n".join(f"    value = {number} + {'1 + ' * 20}1" for number in range(2, 302))
    record(program, tmp_path, "long", f"def long():\n{body}\n\nlong()\n")
    server = start(tmp_path)
    first = server.ask("source", run="runs/long", place="long").splitlines()
    assert first[1] == "1 def long():" and first[-1].startswith("(") and "first_line" in first[-1]
    number = len(first) - 1
    then = server.ask("source", run="runs/long", place="long", first_line=number).splitlines()
    assert then[1].startswith(f"{number}     value = {number} + ")


OUTSIDE = ["../outside", "runs/../../outside", "link", "link/../outside", "/etc/passwd", "/", "~/run", "none", "-o", "runs/\x1b[31m"]


def test_paths_outside_are_refused(start, project, tmp_path):
    pytest.importorskip("mcp_types")
    shutil.copytree(project / "runs" / "convoy", tmp_path / "outside")
    inside = tmp_path / "inside"
    (inside / "runs").mkdir(parents=True)
    os.symlink(tmp_path / "outside", inside / "link")
    os.symlink(tmp_path / "outside", inside / "runs" / "linked")
    server = start(inside)
    paths = [*OUTSIDE, str(tmp_path / "outside"), f"{inside}/../outside"]
    for tool, name in (("findings", "run"), ("where_time_goes", "run"), ("list_runs", "directory")):
        for path in paths:
            text = server.refusal(tool, **{name: path})
            assert "\x1b" not in text and "[TL496]" in text
    assert server.facts("list_runs", directory="runs")["runs"] == []
    allowed = start(inside, tmp_path / "outside", inside)
    assert [one["rule"] for one in allowed.facts("findings", run=str(tmp_path / "outside"))["findings"]] == ["lock-convoy"]
    assert allowed.facts("findings", run="link")["findings"]


def test_sources_outside_are_refused(start, project, tmp_path):
    """A run names a file elsewhere, and a link below the folder that leads there."""
    pytest.importorskip("mcp_types")
    shutil.copytree(project / "runs" / "quadratic", tmp_path / "inside" / "run")
    server = start(tmp_path / "inside")
    question = {"run": "run", "place": "remember"}
    text = server.refusal("source", **question)
    assert "is not below the working folder" in text and "timeloom mcp DIR..." in text
    os.symlink(project / "quadratic.py", tmp_path / "inside" / "quadratic.py")
    assert server.refusal("source", **question) == text
    assert "def remember" in start(tmp_path / "inside", ".", project).ask("source", **question)


def test_damaged_runs_give_one_line(start, project, tmp_path):
    pytest.importorskip("mcp_types")
    for name, damage in (
        ("cut", lambda data: data[: len(data) // 2]),
        ("flipped", lambda data: bytes(byte ^ 0x55 for byte in data)),
        ("empty", lambda data: b""),
    ):
        run = shutil.copytree(project / "runs" / "convoy", tmp_path / name)
        for file in ("traces.otf2", "traces.def", "profile.cubex"):
            (run / file).write_bytes(damage((run / file).read_bytes()))
    server = start(tmp_path)
    rows = server.facts("list_runs")["runs"]
    assert len(rows) == 3 and all(row["problem"].endswith("]") for row in rows)
    for name in ("cut", "flipped", "empty"):
        for tool, arguments in (
            ("findings", {"run": name}),
            ("where_time_goes", {"run": name}),
            ("function", {"run": name, "name": "post"}),
            ("call_path", {"run": name}),
            ("compare", {"before": name, "after": name}),
            ("source", {"run": name, "place": "post"}),
        ):
            assert name in server.refusal(tool, **arguments)
    assert (tmp_path / "errors").read_text() == ""


def test_names_that_command_a_terminal(start, program, tmp_path):
    pytest.importorskip("mcp_types")
    name = "red\x1b[31m \u202e\u2028 \x9b31m"
    record(program, tmp_path, "names", f"import timeloom\nwith timeloom.region({name!r}):\n    sum(range(10**6))\n")
    server = start(tmp_path)
    name = name.replace("\x1b", "\u241b")  # as runs have it
    function = server.ask("function", run="runs/names", name=name)
    path = server.ask("call_path", run="runs/names", path=f"<module> > {name}")
    for text in (function, path, server.ask("where_time_goes", run="runs/names")):
        assert not set(text) & set("\x1b\u202e\u2028\x9b")
    assert json.loads(function)["names"] == [name] and json.loads(path)["path"]["name"] == name


WRONG = [
    ("function", {"run": "runs/convoy"}, "function: name is missing; its arguments are run, name, from_s,"),
    ("function", {"run": "runs/convoy", "function": "post"}, "there is no argument 'function'"),
    ("function", {"run": "runs/convoy", "name": "nothing"}, "no function 'nothing' in this run"),
    ("function", {"run": "runs/convoy", "name": "post\0"}, "none of them NUL"),
    ("function", {"run": "runs/convoy", "name": 7}, "name is a text"),
    ("function", {"run": "runs/convoy", "name": "--help"}, "no function '--help' in this run"),
    ("function", {"run": "runs/convoy", "name": "post", "rows": 0}, "rows is from 1 to 100"),
    ("function", {"run": "runs/convoy", "name": "post", "rows": True}, "rows is a whole number"),
    ("function", {"run": "runs/convoy", "name": "post", "from_s": -1}, "from_s is from 0 to"),
    ("where_time_goes", {"run": "runs/convoy", "from_s": 2, "to_s": 1}, "--to is before --from"),
    ("where_time_goes", {"run": "runs/convoy", "from_s": 1e6}, "is beyond the end of the run"),
    ("where_time_goes", {"run": "runs/convoy", "thread": "nobody"}, "no thread 'nobody' in this run"),
    ("time_by", {"run": "runs/convoy", "by": "colour"}, "by is one of thread, process, host, module, package, file"),
    ("call_path", {"run": "runs/convoy", "path": "post > nothing"}, "there is no call path 'post > nothing'"),
    ("list_runs", {"directory": "convoy.py"}, "is not a directory"),
    ("call_path", {"run": "runs/convoy", "path": "no", "min_percent": 2.5}, "call path 'no' with 2.5 % of the time or more;"),
    ("function", {"run": "runs/convoy", "name": ""}, "function: name is empty; its arguments are run, name, from_s,"),
    ("source", {"run": "runs/convoy", "place": ""}, "source: place is empty"),
    ("findings", {"run": ""}, "findings: run is empty"),
    ("findings", {"run": "runs"}, "contains runs, but is not a run; name one of them"),
    ("findings", {"run": "convoy.py"}, "is not a run"),
    ("source", {"run": "runs/convoy", "place": "nothing.py:7"}, "no function 'nothing.py:7' in this run"),
    ("nothing", {}, "there is no tool 'nothing'; there are list_runs, findings,"),
]


def test_wrong_questions_get_one_line_with_the_remedy(server, project):
    for tool, arguments, wanted in WRONG:
        assert wanted in server.refusal(tool, **arguments)
    assert (project / "errors").read_text() == ""


def test_without_the_package_one_line_names_it(tmp_path):
    (tmp_path / "mcp_types.py").write_text("raise ImportError('none here')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "timeloom._mcp"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "timeloom: the package mcp, version 2 or later, is not installed (none here); install it: "
        f"{sys.executable} -m pip install 'timeloom[mcp]' [TL495]\n"
    )


def test_a_directory_that_is_missing(program, tmp_path):
    pytest.importorskip("mcp_types")
    done = subprocess.run([program, "mcp", "none"], capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "timeloom: cannot open the directory none: No such file or directory; name one with runs [TL496]\n"
    done = subprocess.run([program, "mcp"], capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
