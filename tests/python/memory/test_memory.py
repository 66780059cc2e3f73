"""Memory: allocations by call path, the peak and the rest at the end, compared with blocks of known sizes."""

import itertools
import json
import subprocess
from pathlib import Path

import pytest
from gpu_runs import events_of

import timeloom as timeloom_module

PROGRAM = Path(__file__).parents[1] / "programs" / "memory_blocks.py"
MB = 1 << 20
modes = pytest.mark.parametrize("mode", [[], ["--profile"]], ids=["trace", "profile"])
pytestmark = pytest.mark.any_python


@pytest.fixture(autouse=True)
def in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def measured(timeloom):
    """The report on a run of the program, and what the program printed: a line a process."""

    def measure(*options, words=()):
        done = timeloom("run", "--quiet", "--memory", *options, "-o", "run", PROGRAM, *words)
        report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
        sizes = [json.loads(line) for line in done.stdout.splitlines()]
        return report, {name: size for line in sizes for name, size in line.items()}

    return measure


def path_of(report, function):
    """The only call path that ends with the function."""
    (path,) = [path for path in report["paths"] if path["path"][-1].endswith(f".{function}")]
    return path


def exact(amount):
    return amount["bytes"], amount["error_bytes"]


@modes
def test_bytes_and_counts_of_a_call_path_are_exact(measured, mode):
    report, sizes = measured(*mode)
    for function in ("leak", "hold_for_a_while", "allocate_in_thread"):
        path = path_of(report, function)
        assert (path["allocations"], path["allocated_bytes"]) == (1, sizes[function])
        assert (path["frees"], path["freed_bytes"]) == (0, 0)
        assert path["largest_bytes"] == sizes[function]
    small = path_of(report, "allocate_small_blocks")
    assert (small["allocations"], small["allocated_bytes"]) == (1000, 1000 * sizes["small"])
    assert (small["frees"], small["freed_bytes"]) == (1000, 1000 * sizes["small"])
    released = path_of(report, "release")
    assert (released["frees"], released["freed_bytes"]) == (1, sizes["hold_for_a_while"])


@modes
def test_peak_and_end_name_the_call_paths_that_held(measured, mode):
    report, sizes = measured(*mode)
    leak, held = path_of(report, "leak"), path_of(report, "hold_for_a_while")
    assert exact(leak["at_peak"]) == exact(leak["at_end"]) == (sizes["leak"], 0)
    assert exact(held["at_peak"]) == (sizes["hold_for_a_while"], 0)
    assert exact(held["at_end"]) == (0, 0)
    (process,) = report["processes"]
    known = sizes["leak"] + sizes["hold_for_a_while"]
    assert known + process["start_bytes"] <= process["peak_bytes"] == report["peak_bytes"]
    assert process["peak_bytes"] < known + process["start_bytes"] + 8 * MB
    assert 0 < process["peak_s"] == report["peak_s"]
    assert process["complete"] and process["lost"] == 0 and not process["foreign_allocator"]


def test_mappings_of_memory_count(measured):
    report, _ = measured()
    mapped = path_of(report, "map_pages")
    assert (mapped["allocated_bytes"], mapped["largest_bytes"]) == (16 * MB, 16 * MB)
    assert path_of(report, "unmap_pages")["freed_bytes"] == 16 * MB
    assert mapped["at_end"]["bytes"] == 0


@modes
def test_allocations_less_frees_are_what_the_process_holds_more(measured, mode):
    report, _ = measured(*mode)
    (process,) = report["processes"]
    amounts = [*report["paths"], process["measurement"], process["elsewhere"]]
    growth = sum(one["allocated_bytes"] - one["freed_bytes"] for one in amounts)
    assert growth == process["end_bytes"] - process["start_bytes"]


@modes
def test_forked_child_has_an_account_of_its_own(measured, mode):
    report, sizes = measured(*mode, words=["fork"])
    assert len(report["processes"]) == 2
    child = path_of(report, "allocate_in_child")
    assert (child["allocations"], child["allocated_bytes"]) == (1, sizes["allocate_in_child"])
    assert exact(child["at_end"]) == (sizes["allocate_in_child"], 0)
    assert path_of(report, "leak")["allocations"] == 1
    together = sizes["leak"] + sum(one["start_bytes"] for one in report["processes"])
    assert report["peak_bytes"] >= together


TURNS = """
import os, signal, time
def first():
    block = bytearray(100_000_000)
    os.kill(child, signal.SIGUSR1)
    time.sleep(0.2)
def second():
    block = bytearray(150_000_000)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
child = os.fork()
if child == 0:
    signal.sigwait([signal.SIGUSR1])
    signal.sigwait([signal.SIGUSR2])
    second()
    os._exit(0)
first()
os.kill(child, signal.SIGUSR2)
os.waitpid(child, 0)
"""


@modes
def test_who_held_the_peak_of_several_processes(timeloom, mode):
    """The bytes of all call paths are those at one instant: the other process had given back its own."""
    Path("turns.py").write_text(TURNS)
    timeloom("run", "--quiet", "--memory", *mode, "-o", "run", "turns.py")
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    assert 150_000_000 <= report["peak_bytes"] < 200_000_000
    assert path_of(report, "second")["at_peak"]["bytes"] >= 150_000_000
    assert path_of(report, "first")["allocated_bytes"] >= 100_000_000 and path_of(report, "first")["at_peak"]["bytes"] == 0
    assert "; below, all at the peak of the run\n" in timeloom("report", "--memory", "run").stdout


def test_arrays_of_numpy(timeloom):
    numpy = pytest.importorskip("numpy")
    Path("arrays.py").write_text(
        "import numpy as np\n\n\ndef make():\n    return np.empty(10_000_000)\n\n\nmake()\nkept = make()\n"
    )
    timeloom("run", "--quiet", "--memory", "-o", "run", "arrays.py")
    path = path_of(json.loads(timeloom("report", "--memory", "--json", "run").stdout), "make")
    size = numpy.empty(10_000_000).nbytes
    assert size <= path["largest_bytes"] < size + 8192
    assert 2 * size <= path["allocated_bytes"] < 2 * size + 65536
    assert size <= path["at_end"]["bytes"] < size + 8192


def test_report_fits_the_terminal(measured, timeloom):
    measured()
    lines = timeloom("report", "--memory", "run", COLUMNS="80", LINES="25").stdout.splitlines()
    assert len(lines) < 25 and max(map(len, lines)) <= 80
    leak = next(line for line in lines if "__main__.leak" in line)
    assert "33.6 MB" in leak and "~" not in leak
    assert " peak 1" in timeloom("report", "run").stdout.splitlines()[0]


def test_killed_process_keeps_its_peak(program, timeloom):
    Path("killed.py").write_text(PROGRAM.read_text().replace("\nmain()\n", "\nleak()\nos.kill(os.getpid(), 9)\n"))
    subprocess.run([program, "run", "--quiet", "--memory", "-o", "run", "killed.py"], check=False)
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    (process,) = report["processes"]
    assert not process["complete"] and process["peak_bytes"] > 32 * MB
    assert path_of(report, "leak")["at_peak"]["bytes"] >= 32 * MB


KILLED_AFTER_STEPS = """\
import os
kept = []
def step(): kept.append(bytearray(20_000_000))
def pause(): return sum(range(200_000))
for _ in range(5): step(), pause()
os.kill(os.getpid(), 9)
"""


def test_curve_of_a_killed_process_has_the_times_of_its_calls(program):
    Path("killed.py").write_text(KILLED_AFTER_STEPS)
    subprocess.run([program, "run", "--quiet", "--memory", "-o", "run", "killed.py"], check=False)
    subprocess.run([program, "weave", "run"], check=False, capture_output=True)
    locations, steps = events_of(Path("run")), []
    for kind, time, *words in locations["MainThread"]:
        if words == ["__main__.step"]:
            steps.append((kind, time))
    values = [(time, value) for _, time, ((_, value),) in locations["Process memory usage"]]
    grown = [time for (_, before), (time, after) in itertools.pairwise(values) if after - before >= 20_000_000]
    assert [kind for kind, _ in steps] == ["enter", "leave"] * 5 and len(grown) == 5
    for (_, enter), time, (_, leave) in zip(steps[::2], grown, steps[1::2], strict=True):
        assert enter <= time <= leave


def test_read_has_the_amounts_of_each_call_path(measured):
    report, sizes = measured()
    rows = timeloom_module.read("run").memory()
    assert [list(row["path"]) for row in rows] == [path["path"] for path in report["paths"]]
    (leak,) = [row for row in rows if row["name"].endswith(".leak")]
    assert (leak["allocations"], leak["frees"], leak["held_error_bytes"]) == (1, 0, 0)
    assert leak["allocated_bytes"] == leak["largest_bytes"] == leak["held_bytes"] == sizes["leak"]


def test_run_without_memory_names_the_option(timeloom, program):
    Path("plain.py").write_text("print(1)\n")
    timeloom("run", "--quiet", "-o", "run", "plain.py")
    done = subprocess.run([program, "report", "--memory", "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.rstrip().endswith("[TL467]")


@modes
def test_rules_about_memory(measured, program, mode):
    _, sizes = measured(*mode)
    rules = {
        f"allocated(*.leak) == {sizes['leak']}B": "PASS",
        "held(*.leak) > 1MB": "PASS",
        f"held(*.main) <= {sizes['leak'] - 1}B": "FAIL",  # with its callees
        f"held(*.hold_for_a_while) < {2 * MB}B": "PASS",
        f"held(*.hold_for_a_while) < {MB}B": "UNDECIDED",
        "allocations(*.allocate_small_blocks) == 1000": "PASS",
        "allocations(*.release) == 0": "PASS",
        "peak(memory) < 96MiB": "FAIL",
        "peak > 96MiB": "PASS",
        "held(memory) < 16MiB": "FAIL",
        "held(*.nothing) < 1MB": "ERROR",
    }
    done = subprocess.run([program, "check", "run", *rules], capture_output=True, text=True, check=False)
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == list(rules.values())


def test_rule_near_an_estimate_is_undecided(timeloom, program):
    Path("many.py").write_text("kept = [bytearray(1000) for _ in range(30000)]\n")
    timeloom("run", "--quiet", "--memory", "-o", "run", "many.py")

    def judged(*rules):
        done = subprocess.run([program, "check", "--json", "run", *rules], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["rules"], done.returncode

    (first,), _ = judged("held > 1MB")
    (near, far), status = judged(f"held < {first['measured']}B", "held < 300MB")
    assert (near["outcome"], far["outcome"], status) == ("undecided", "pass", 4)
    assert 0 < near["least"] < near["measured"] <= near["most"] < 60e6 and near["unit"] == "bytes"


def test_small_blocks_that_no_sample_has_seen_are_undecided(timeloom, program):
    """Held bytes are not 0 for certain where nothing was sampled, but at most all that was allocated."""
    Path("few.py").write_text("def few():\n    return [bytearray(1000) for _ in range(9)]\nkept = few()\n")
    for attempt in range(5):  # one run of 50 samples a block
        timeloom("run", "--quiet", "--memory", "-o", f"run{attempt}", "few.py")
        report = json.loads(timeloom("report", "--memory", "--json", f"run{attempt}").stdout)
        if path_of(report, "few")["at_end"]["blocks"] == 0:
            break
    asked = [program, "check", f"run{attempt}", "held(*.few) < 5kB", "held(*.few) < 50kB"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert [line.split()[0] for line in done.stdout.splitlines()[:-1]] == ["UNDECIDED", "PASS"]


def test_rule_about_memory_needs_a_run_with_it(timeloom, program):
    Path("plain.py").write_text("print(1)\n")
    timeloom("run", "--quiet", "-o", "run", "plain.py")
    done = subprocess.run([program, "check", "run", "peak < 1GB"], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "ERROR  peak < 1GB  the run has no allocations (the peak RSS is another number); record it with timeloom run --memory" in done.stdout


GROWING = """
import sys
MB = 1 << 20
KEPT = []
def table(size): return bytearray(size)
def keep(size): KEPT.append(bytearray(size))
def same():
    for _ in range(100): bytearray(4096)
def main():
    big = table(int(sys.argv[1]) * MB)
    keep(int(sys.argv[2]) * MB)
    same()
main()
"""


@pytest.fixture
def differences(timeloom):
    """`timeloom diff` of the memory of runs of GROWING with the words of each side."""

    def compare(before, after, *options):
        Path("growing.py").write_text(GROWING)
        sides = []
        for name, words in (("before", before), ("after", after)):
            sides.append([f"{name}{number}" for number in range(len(words))])
            for run, sizes in zip(sides[-1], words):
                timeloom("run", "--quiet", "--memory", "-o", run, "growing.py", *sizes)
        done = timeloom("diff", *options, *sides[0], "--", *sides[1], COLUMNS="80")
        return json.loads(done.stdout)["memory"] if "--json" in options else done.stdout

    return compare


def rows_of(memory):
    return {row["name"].rpartition(".")[2]: row for row in memory["regions"]}


def test_diff_names_the_functions_that_grew(differences):
    memory = differences([("64", "16")], [("96", "48")], "--json")
    rows = rows_of(memory)
    assert set(rows) >= {"table", "keep"} and "same" not in rows
    for name, held_later in (("table", 0), ("keep", 32 * MB)):
        row = rows[name]
        assert row["allocated_bytes"]["after"] - row["allocated_bytes"]["before"] == pytest.approx(32 * MB, rel=1e-3)
        assert row["allocations"] == {"before": 1, "after": 1, "changed": False}
        assert row["bytes_at_peak"]["changed"]
        end = row["bytes_at_end"]
        assert (end["after"] - end["before"], end["changed"]) == (pytest.approx(held_later, rel=1e-3), held_later > 0)
    peak = memory["peak_bytes"]
    assert peak["after"] - peak["before"] == pytest.approx(64 * MB, rel=0.01)


def test_diff_of_several_runs_shows_what_is_beyond_their_spread(differences):
    """Of `keep` the runs of both sides overlap: the difference of its medians does not count."""
    before, after = [("32", "16"), ("32", "48"), ("32", "16")], [("64", "16"), ("64", "48"), ("64", "48")]
    text = differences(before, after, "--flat")
    table = text[text.index("Memory") :]
    assert ".table" in table and ".keep" not in table and ".same" not in table
    assert "whose change is within its error, or the spread of the runs" in table


def test_diff_has_no_memory_where_one_run_has_none(timeloom):
    Path("growing.py").write_text(GROWING)
    timeloom("run", "--quiet", "--memory", "-o", "with", "growing.py", "1", "1")
    timeloom("run", "--quiet", "-o", "without", "growing.py", "1", "1")
    assert "Memory" not in timeloom("diff", "with", "without").stdout
    assert "memory" not in json.loads(timeloom("diff", "--json", "with", "without").stdout)


def test_trace_has_the_bytes_that_each_process_holds_over_time(timeloom):
    """On a location of its own, which is not a thread; the largest value is the peak."""
    Path("forks.py").write_text("""
import os
def more():
    return bytearray(20_000_000)
block = bytearray(30_000_000)
if os.fork() == 0:
    more()
else:
    os.wait()
""")
    timeloom("run", "--quiet", "--memory", "-o", "run", "forks.py")
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    rows = json.loads(timeloom("convert", "run", "--to", "json", "--events", "-o", "-").stdout)
    values = {}
    for row in rows:
        if row["thread"] == "Process memory usage":
            assert (row["event"], row["name"]) == ("metric", "Process memory usage")
            values.setdefault(row["process"], []).append((row["time_ns"], row["number"]))
    assert len(values) == len(report["processes"]) == 2
    for process in report["processes"]:
        curve = values[process["name"]]
        assert curve == sorted(curve, key=lambda one: one[0])
        assert (curve[0][1], max(value for _, value in curve), curve[-1][1]) == (
            process["start_bytes"], process["peak_bytes"], process["end_bytes"])
    assert json.loads(timeloom("info", "--json", "run").stdout)["threads"] == 2


def test_profile_has_no_location_of_memory(timeloom):
    Path("growing.py").write_text(GROWING)
    timeloom("run", "--quiet", "--memory", "--profile", "-o", "run", "growing.py", "1", "1")
    assert [one["name"] for one in json.loads(timeloom("info", "--json", "run").stdout)["locations"]] == ["MainThread"]


def test_share_of_temporary_blocks(timeloom):
    Path("brief.py").write_text("""
def scratch():
    for _ in range(400): bytearray(200_000)
def keep():
    return [bytearray(200_000) for _ in range(100)]
scratch()
kept = keep()
""")
    timeloom("run", "--quiet", "--memory", "-o", "run", "brief.py")
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    scratch, keep = path_of(report, "scratch"), path_of(report, "keep")
    error = scratch["temporary"]["error_bytes"]
    assert scratch["temporary"]["bytes"] == pytest.approx(scratch["allocated_bytes"], abs=5 * error)
    assert keep["temporary"] == {"bytes": 0, "blocks": 0, "error_bytes": 0}
    (line,) = [line for line in timeloom("report", "--memory", "run", COLUMNS="80").stdout.splitlines()
               if line.endswith(".scratch  < __main__.<module>") and "400" in line]
    assert "~" in line and "< 1 ms" in timeloom("report", "--memory", "run").stdout


ALLOCATES = """
#include <stdio.h>
#include <stdlib.h>
OWN
int main(void) {
  void *(*volatile allocate)(size_t) = malloc; // where not position-independent, an address in the program
  printf("%d\\n", allocate(10) != NULL);
  return 0;
}
"""
OWN = """
void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes) { return __libc_malloc(bytes); }
"""


@pytest.mark.parametrize(("own", "is_foreign"), [("", False), (OWN, True)])
def test_an_allocator_of_the_program_is_told_from_an_address_of_malloc(timeloom, own, is_foreign):
    Path("program.c").write_text(ALLOCATES.replace("OWN", own))
    subprocess.run(["cc", "-O1", "-no-pie", "-fno-pie", "-fno-builtin", "program.c", "-o", "program"], check=True)
    assert timeloom("run", "--quiet", "--memory", "-o", "run", "--program", "./program").stdout == "1\n"
    (process,) = json.loads(timeloom("report", "--memory", "--json", "run").stdout)["processes"]
    assert process["foreign_allocator"] == is_foreign


POOL = """
#include <string.h>
static char pool[1 << 26];
static size_t used;
void *malloc(size_t bytes) {
  bytes = (bytes + 15) & ~15ul;
  size_t *block = (size_t *)(pool + __atomic_fetch_add(&used, bytes + 16, __ATOMIC_RELAXED)) + 2;
  block[-1] = bytes;
  return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void *realloc(void *block, size_t bytes) {
  void *moved = malloc(bytes);
  if (block) memcpy(moved, block, ((size_t *)block)[-1] < bytes ? ((size_t *)block)[-1] : bytes);
  return moved;
}
"""


@pytest.mark.parametrize("option", ["--memory", "--memory=all", "--memory=events"])
def test_no_figure_is_below_zero(timeloom, option):
    """Blocks that the loader has allocated are freed, but the allocations of the program are not seen."""
    Path("program.c").write_text(ALLOCATES.replace("OWN", POOL))
    subprocess.run(["cc", "-O1", "-fno-builtin", "program.c", "-o", "program"], check=True)
    assert timeloom("run", "--quiet", option, "-o", "run", "--program", "./program").stdout == "1\n"
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    (process,) = report["processes"]
    assert process["foreign_allocator"] and report["losses"] == []
    assert max(process["peak_bytes"], process["start_bytes"], process["end_bytes"]) < 1 << 26
    assert timeloom("check", "run", "peak(memory) < 64MB").returncode == 0
