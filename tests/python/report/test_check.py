"""`timeloom check`: rules for a run, and its output about them."""

import json
import re
import struct

import pytest
from archives import one_line
from cube_files import DATA, needs_tool, write

pytestmark = pytest.mark.any_python

PROGRAM = """
import timeloom

def load(n):
    return n

def pages():
    for n in range(5):
        load(n)

class Store:
    def load(self):
        return sum(range(100_000))

with timeloom.region("solve it"):
    pages()
    Store().load()
    Store().load()
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory, timeloom_program):
    import subprocess

    directory = tmp_path_factory.mktemp("check")
    (directory / "app.py").write_text(PROGRAM)
    for options in ([], ["--profile"]):
        subprocess.run([timeloom_program, "run", *options, "--output", f"run{len(options)}", "app.py"],
                       cwd=directory, check=True, capture_output=True)
    return directory


@pytest.mark.parametrize("run", ["run0", "run1", "run0/traces.otf2", "run1/profile.cubex"])
def test_what_is_said_of_a_run(timeloom, measured, run):
    rules = ["visits(__main__.load) <= 3", 'region "solve it" visits == 1', "visits(*.load) >= 3",
             "any visits(*.load) >= 3", "total(__main__.*) < 10min", "processes == 1"]
    done = timeloom("check", run, *rules, cwd=measured, status=1)
    assert done.stdout.splitlines()[:4] + done.stdout.splitlines()[5:] == [
        "FAIL   visits(__main__.load) <= 3     5",
        'PASS   region "solve it" visits == 1  1',
        "FAIL   visits(*.load) >= 3            2, __main__.Store.load; 1 of 2 regions do not hold",
        "PASS   any visits(*.load) >= 3        5, __main__.load; 1 of 2 regions hold",
        "PASS   processes == 1                 1",
        "4 of 6 rules hold",
    ]
    total = done.stdout.splitlines()[4]
    assert total.startswith("PASS   total(__main__.*) < 10min      ")
    assert total.endswith(("s, __main__.<module>; all 5 regions hold", "min, __main__.<module>; all 5 regions hold"))
    assert done.stderr == ""
    timeloom("check", run, *rules[1:2], *rules[3:], cwd=measured)


def test_the_overhead_is_that_of_the_summary(timeloom, program, tmp_path):
    (tmp_path / "app.py").write_text(PROGRAM + "\nfor i in range(20000):\n    load(i)\n")
    for options in ((), ("--profile",), ("--no-weave",)):
        said = timeloom("run", *options, "--force", "-o", "run", "app.py", cwd=tmp_path).stderr
        share = float(said.partition("estimated overhead ")[2].partition(" %")[0])
        assert share > 0
        done = timeloom("check", "--json", "run", "overhead < 10000%", cwd=tmp_path)
        (rule,) = json.loads(done.stdout)["rules"]
        assert rule["measured"] * 100 == pytest.approx(share, abs=0.051)
        assert rule["least"] <= rule["measured"] * 0.7 and rule["most"] >= min(rule["measured"] * 2, 1)


def test_a_limit_near_the_estimated_overhead_is_undecided(timeloom, program, tmp_path):
    (tmp_path / "app.py").write_text("def f(): pass\nfor i in range(20000): f()\n")
    timeloom("run", "--quiet", "-o", "run", "app.py", cwd=tmp_path)
    overhead = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["overhead"]
    least, most = 100 * overhead["least_share_of_cpu"], 100 * overhead["most_share_of_cpu"]
    assert 0 <= least < 100 * overhead["share_of_cpu"] < most
    for limit, status, outcome in ((0.9 * most, 4, "UNDECIDED"), (1.1 * most, 0, "PASS"), (0.9 * least, 1, "FAIL")):
        if limit <= 0:
            continue
        done = timeloom("check", "run", f"overhead < {limit:.6f}%", "wall > 0s", cwd=tmp_path, status=status)
        assert done.stdout.startswith(outcome)


def test_the_parts_of_the_overhead(timeloom, tmp_path):
    program = "import os\ndef f(): pass\nfor i in range(50000): f()\nif os.fork() == 0:\n    for i in range(50000): f()\nelse: os.wait()\n"
    (tmp_path / "app.py").write_text(program)
    timeloom("run", "--quiet", "-o", "run", "app.py", cwd=tmp_path)
    info = json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)
    overhead = info["overhead"]
    parts = ("events_seconds", "functions_seconds", "start_seconds", "recorder_seconds")
    assert sum(overhead[part] for part in parts) == pytest.approx(overhead["cpu_seconds"])
    assert all(overhead[part] > 0 for part in (*parts, "weave_seconds"))
    # 200,000 events of 8 bytes; an event of the child counts as much as one of its parent.
    assert 1e-9 < overhead["events_seconds"] / 200_000 < 1e-5
    assert overhead["cpu_seconds"] / overhead["program_cpu_seconds"] == pytest.approx(overhead["share_of_cpu"])


def test_a_file_of_rules(timeloom, measured, tmp_path):
    (tmp_path / "rules.toml").write_text(
        'rules = [\n  "visits(__main__.load) == 5",  # five pages\n  \'region "solve it" total < 10min\',\n]\n')
    done = timeloom("check", measured / "run0", tmp_path / "rules.toml", "processes == 1")
    assert [line[:5] for line in done.stdout.splitlines()] == ["PASS "] * 3 + ["3 of "]


def test_json(timeloom, measured):
    done = timeloom("check", "--json", "run0", "any visits(*.load) > 4", "wall > 10min", "min(x) < 2s",
                    cwd=measured, status=3)
    said = json.loads(done.stdout)
    assert list(said) == ["format", "version", "run", "holds", "losses", "rules"]
    assert (said["format"], said["version"], said["run"], said["holds"]) == (
        "timeloom-check", 1, "run0", False)
    first, wall, unknown = said["rules"]
    assert {key: value for key, value in first.items() if key != "regions"} == {
        "rule": "any visits(*.load) > 4", "outcome": "pass", "quantity": "visits", "unit": "count",
        "limit": 4, "measured": 5, "text": "5, __main__.load; 1 of 2 regions hold"}
    assert [(one["name"], one["line"], one["measured"], one["holds"]) for one in first["regions"]] == [
        ("__main__.load", 4, 5, True), ("__main__.Store.load", 12, 2, False)]
    assert (wall["outcome"], wall["unit"], wall["limit"], wall["regions"]) == ("fail", "s", 600, [])
    assert (unknown["outcome"], unknown["measured"]) == ("error", None)


def test_a_rule_that_names_no_region_has_a_status_of_its_own(timeloom, measured):
    done = timeloom("check", "run0", "visits(lod) < 9", "wall < 0ns", "visits(gone) == 0",
                    cwd=measured, status=3)
    lines = done.stdout.splitlines()
    assert lines[0] == ("ERROR  visits(lod) < 9    no region of the run has this name; did you mean "
                        "__main__.load?")
    assert lines[1].startswith("FAIL   wall < 0ns         ")
    assert lines[2:] == ["PASS   visits(gone) == 0  not in the run", "1 of 3 rules hold"]


def test_one_rule_holds(timeloom, measured):
    done = timeloom("check", "run0", "visits(gone) == 0", cwd=measured)
    assert done.stdout.splitlines() == ["PASS   visits(gone) == 0  not in the run", "1 of 1 rule holds"]


def test_a_profile_of_another_tool(timeloom):
    done = timeloom("check", DATA / "scorep-fib" / "profile.cubex", "visits(__main__:fib) == 465",
                    "overhead < 5%", status=3)
    assert done.stdout.splitlines() == [
        "PASS   visits(__main__:fib) == 465  465",
        "ERROR  overhead < 5%                the run does not say what measuring it cost",
        "1 of 2 rules hold"]


@needs_tool
def test_the_numbers_of_a_profile_made_by_hand(timeloom, tmp_path):
    """Two processes; main calls load (3 + 1 visits) and solve (1 + 1); seconds are exclusive."""
    visits = {1: (1, 1), 2: (3, 1), 3: (1, 1)}
    seconds = {1: (0.5, 0.25), 2: (1.5, 0.125), 3: (2.0, 4.0)}
    rows = lambda values, code: {str(node): struct.pack(f"<2{code}", *row).hex()
                                 for node, row in values.items()}
    write(tmp_path / "a.cubex", {
        "metrics": [{"name": "visits", "dtype": "UINT64", "kind": "EXCLUSIVE"},
                    {"name": "time", "dtype": "DOUBLE", "kind": "EXCLUSIVE"}],
        "regions": ["program", "main", "load", "solve"],
        "cnodes": [{"parent": None, "region": 0, "parameters": []},
                   {"parent": 0, "region": 1, "parameters": []},
                   {"parent": 1, "region": 2, "parameters": []},
                   {"parent": 1, "region": 3, "parameters": []}],
        "locations": [[0, "a"], [1, "b"]],
        "values": {"0": rows(visits, "Q"), "1": rows(seconds, "d")},
    })
    done = timeloom("check", tmp_path / "a.cubex", "total(main) < 8.375s", "self(main) == 750ms",
                    "visits(load) <= 3", "total(load) == 1625ms", "mean(solve) == 3s", "min(load) < 1s",
                    "processes == 2", "threads == 2", status=3)
    assert done.stdout.splitlines() == [
        "FAIL   total(main) < 8.375s   8.375 s",
        "PASS   self(main) == 750ms    750 ms",
        "FAIL   visits(load) <= 3      4",
        "PASS   total(load) == 1625ms  1625 ms",
        "PASS   mean(solve) == 3s      3 s",
        "ERROR  min(load) < 1s         the profile does not say it of load",
        "PASS   processes == 2         2",
        "PASS   threads == 2           2",
        "5 of 8 rules hold"]


def test_wrong_rules_are_a_line_each(timeloom, measured, tmp_path):
    done = timeloom("check", "run0", "visits(load)", "overhead < 5", "wall < 1s", cwd=measured, status=2)
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "timeloom: rule 'visits(load)': a comparison is missing: one of <, <=, >, >=, == [TL407]",
        "timeloom: rule 'overhead < 5': overhead takes a percentage, such as 5% [TL407]"]
    assert "no rules; write " in one_line(timeloom("check", "run0", cwd=measured, status=2))
    missing = one_line(timeloom("check", "run0", "none.toml", cwd=measured, status=2))
    assert missing == "timeloom: cannot read none.toml; name a TOML file with rules [TL405]\n"
    with open(tmp_path / "big.toml", "wb") as big:
        big.truncate((64 << 20) + 1)
    assert one_line(timeloom("check", "run0", tmp_path / "big.toml", cwd=measured, status=2)) == (
        f"timeloom: cannot read {tmp_path}/big.toml: it is larger than 64 MiB; name a TOML file with rules [TL405]\n")
    (tmp_path / "bad.toml").write_text("rules = ['wall < 1s'\nmore")
    assert "bad.toml, line 2: " in one_line(timeloom("check", measured / "run0", tmp_path / "bad.toml", status=2))
    one_line(timeloom("check", status=2))
    one_line(timeloom("check", "--nothing", "run0", "wall < 1s", status=2))


def test_a_run_that_cannot_be_read(timeloom, tmp_path):
    assert "does not exist" in one_line(timeloom("check", tmp_path / "none", "wall < 1s", status=1))
    (tmp_path / "a.cubex").write_bytes(b"no profile")
    assert "cannot be read as a CUBE4 profile" in one_line(
        timeloom("check", tmp_path / "a.cubex", "wall < 1s", status=1))


def test_the_overhead_of_processes_that_were_killed_is_not_known(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("""
import os
for _ in range(2):
    child = os.fork()
    if child == 0: os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
""")
    said = timeloom("run", "-o", "run", "app.py", cwd=tmp_path).stderr
    assert ", without 2 processes that did not record it" in said
    done = timeloom("check", "run", "overhead < 100%", cwd=tmp_path, status=3)
    assert "2 processes of the run (killed, become another program, or still running) did not say it" in done.stdout
    assert json.loads(timeloom("info", "--json", "run", cwd=tmp_path).stdout)["overhead"]["unknown_processes"] == 2
    info = timeloom("info", "run", cwd=tmp_path).stdout
    assert re.search(r", recorder [\d.]+ .?s\n +not of 2 processes: killed, become another program, or running\n", info)
