"""timeloom run --memory=all: the bytes that each call path holds, at the peak and at the end, to the byte."""

import json
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "programs" / "memory_owners.py"
pytestmark = pytest.mark.any_python
modes = pytest.mark.parametrize("mode", [[], ["--profile"]], ids=["trace", "profile"])
HELD = ("first", "second", "in_the_middle", "in_thread", "again", "map_pages")


@pytest.fixture(autouse=True)
def in_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def measured(timeloom):
    """The report on a run of the program, and what the program knows: for each process the bytes by function."""

    def measure(*options, words=(), all_blocks="--memory=all", path=PROGRAM):
        done = timeloom("run", "--quiet", all_blocks, *options, "-o", "run", path, *words)
        report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
        return report, [json.loads(line) for line in done.stdout.splitlines()]

    return measure


def held(report, when):
    """Bytes and blocks of each function of the program."""
    found = {}
    for path in report["paths"]:
        name = path["path"][-1].rpartition(".")[2]
        if name in HELD and path[when]["blocks"]:
            assert path[when]["error_bytes"] == 0
            before = found.get(name, [0, 0])
            found[name] = [before[0] + path[when]["bytes"], before[1] + path[when]["blocks"]]
    return found


@modes
def test_bytes_that_are_held_are_exact(measured, mode):
    report, (known,) = measured(*mode)
    assert held(report, "at_peak") == known["peak"]
    assert held(report, "at_end") == known["end"]
    assert sum(blocks for _, blocks in known["peak"].values()) > 20_000


@modes
def test_call_paths_together_hold_what_the_process_holds(measured, mode):
    report, _ = measured(*mode)
    (process,) = report["processes"]
    assert process["all_blocks"] and process["complete"] and process["lost"] == 0
    for when, all_bytes in (("peak", process["peak_bytes"]), ("end", process["end_bytes"])):
        paths = sum(path[f"at_{when}"]["bytes"] for path in report["paths"])
        apart = process["measurement"][f"bytes_at_{when}"] + process["elsewhere"][f"bytes_at_{when}"]
        before = process[f"before_bytes_at_{when}"]
        assert 0 <= before <= process["start_bytes"]
        assert paths + apart + before == all_bytes


def test_forked_child_holds_its_own_blocks(measured):
    report, known = measured(words=["fork"])
    child, parent = sorted(known, key=lambda one: one["end"].get("in_child", [0, 0])[1], reverse=True)
    (path,) = [path for path in report["paths"] if path["path"][-1].endswith(".in_child")]
    assert [path["at_end"]["bytes"], path["at_end"]["blocks"]] == child["end"]["in_child"]
    assert held(report, "at_end") == parent["end"]


def test_killed_process_keeps_what_it_held(program, timeloom):
    text = PROGRAM.read_text().replace("\nmain()\n", "\nfirst(20_000)\nprint(json.dumps(sizes(\"first\")), flush=True)\nos.kill(os.getpid(), 9)\n")
    Path("killed.py").write_text(text)
    command = [program, "run", "--quiet", "--memory=all", "-o", "run", "killed.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    assert held(report, "at_peak") == {"first": json.loads(done.stdout)}


def test_report_marks_nothing_as_an_estimate(measured, timeloom):
    measured("--profile")
    text = timeloom("report", "--memory", "run", COLUMNS="120").stdout
    at_peak = text[text.index("held at the peak") : text.index("allocates most")]
    at_end = text[text.index("still held at the end") : text.index("bytes: of a function")]
    assert "~" not in at_peak + at_end and ".in_the_middle" in at_peak and ".in_the_middle" not in at_end


@pytest.mark.parametrize("option", ["--memory-all", "--memory=all"])
def test_option_has_two_spellings(measured, option):
    report, _ = measured("--profile", all_blocks=option)
    assert report["processes"][0]["all_blocks"]


def test_memory_without_all_goes_on_sampling(measured):
    report, _ = measured("--profile", all_blocks="--memory")
    (process,) = report["processes"]
    assert not process["all_blocks"] and process["before_bytes_at_peak"] == 0


def test_program_without_python(program, timeloom, tmp_path):
    source = r"""
    #include <malloc.h>
    #include <stdio.h>
    #include <stdlib.h>
    static void *kept[5000];
    int main(void) {
      size_t bytes = 0;
      for (int i = 0; i < 5000; ++i) bytes += malloc_usable_size(kept[i] = malloc(i % 300 + 1));
      for (int i = 0; i < 5000; i += 2) bytes -= malloc_usable_size(kept[i]), free(kept[i]);
      fprintf(stderr, "%zu\n", bytes);
      return 0;
    }
    """
    Path("owner.c").write_text(source)
    subprocess.run(["cc", "-O1", "owner.c", "-o", "owner"], check=True)
    command = [program, "run", "--quiet", "--memory=all", "-o", "run", "--program", tmp_path / "owner"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    (process,) = report["processes"]
    assert process["all_blocks"]
    at_end = process["measurement"]["bytes_at_end"] + process["elsewhere"]["bytes_at_end"]
    at_end += sum(path["at_end"]["bytes"] for path in report["paths"])
    assert at_end + process["before_bytes_at_end"] == process["end_bytes"]
    assert at_end >= int(done.stderr.splitlines()[-1])


def test_numpy_arrays(timeloom):
    pytest.importorskip("numpy")
    Path("arrays.py").write_text(
        "import numpy as np\n\n\ndef make():\n    return [np.empty(1000) for _ in range(3000)]\n\n\nkept = make()\n"
    )
    timeloom("run", "--quiet", "--memory=all", "-o", "run", "arrays.py")
    report = json.loads(timeloom("report", "--memory", "--json", "run").stdout)
    paths = [path for path in report["paths"] if "__main__.make" in path["path"]]
    assert sum(path["at_end"]["bytes"] for path in paths) >= 3000 * 8000


# Loaded before the wrapper begins, so that its handler of forks runs while the wrapper is inside its account.
FREES_IN_FORK = r"""
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
static void *kept;
size_t hold(size_t bytes) { return malloc_usable_size(kept = malloc(bytes)); }
static void free_it(void) { free(kept); kept = NULL; }
__attribute__((constructor)) static void begin(void) { pthread_atfork(free_it, NULL, NULL); }
"""


@pytest.mark.parametrize("all_blocks", ["--memory=all", "--memory"])
def test_block_freed_inside_the_account_is_not_held(measured, monkeypatch, tmp_path, all_blocks):
    Path("frees.c").write_text(FREES_IN_FORK)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "frees.c", "-o", "frees.so"], check=True)
    Path("app.py").write_text(
        "import ctypes, os\n\n\ndef keep():\n    return ctypes.CDLL('./frees.so').hold(50_000_000)\n\n\n"
        "size = keep()\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\nprint(size)\n"
    )
    monkeypatch.setenv("LD_PRELOAD", str(tmp_path / "frees.so"))
    report, (size,) = measured(all_blocks=all_blocks, path="app.py")
    paths = [path for path in report["paths"] if "__main__.keep" in path["path"]]
    assert max(path["at_peak"]["bytes"] for path in paths) >= size
    assert sum(path["at_end"]["bytes"] for path in paths) < size
