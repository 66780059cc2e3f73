"""timeloom run --memory: other allocators, handlers of signals that fork, calls that fail, limits."""

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from streams import environment

HERE = Path(__file__).parent
pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")]

CALLS = """
import ctypes, os
library = ctypes.CDLL(os.environ["HOSTILE"])
def work():
    print(library.{call}, flush=True)
work()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Compile a file as a library; returns its path."""
    directory = tmp_path_factory.mktemp("libraries")

    def build(source, *flags):
        path = directory / (source + "".join(flags) + ".so")
        if not path.exists():
            subprocess.run(["c++", "-O1", "-fno-builtin", "-shared", "-fPIC", *flags, HERE / source, "-o", path], check=True)
        return path

    return build


@pytest.fixture
def record(built, program, timeloom, tmp_path):
    """Run a call of the library; returns the process, and the report on its memory."""

    def run(call, *options, status=0, **variables):
        (tmp_path / "app.py").write_text(CALLS.format(call=call))
        command = [program, "run", "--quiet", *options, "-o", "run", "app.py"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment({"HOSTILE": built("hostile.cpp"), **variables}), check=False,
            capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done, json.loads(timeloom("report", "--memory", "--json", "run", cwd=tmp_path).stdout)

    return run


def path_of(report, function):
    (path,) = [path for path in report["paths"] if path["path"][-1].endswith("." + function)]
    return path


@pytest.mark.parametrize("option", ["--memory", "--memory=all"])
def test_a_handler_of_a_signal_may_fork(record, option):
    done, report = record("fork_in_handlers(100)", option)
    assert int(done.stdout) >= 100 and path_of(report, "work")["allocations"] > 100


@pytest.mark.parametrize("own", [False, True], ids=["of the library", "of an allocator"])
def test_operators_of_c_plus_plus(record, built, own):
    """Operators that do not call malloc() are seen as well, and each block counts once."""
    _, report = record("use_operators()", "--memory=all", **({"LD_PRELOAD": built("allocators.cpp")} if own else {}))
    held = path_of(report, "work")["at_end"]
    assert 40 <= held["blocks"] < 140 and 4_000_000 <= held["bytes"] < 4_500_000
    (process,) = report["processes"]
    assert 10_000_000 <= process["peak_bytes"] - process["start_bytes"] < 14_000_000


def test_an_allocator_without_sizes_is_not_seen(record, built, tmp_path, timeloom):
    done, report = record("use_operators()", "--memory", LD_PRELOAD=built("allocators.cpp", "-DNO_SIZES"))
    assert done.stderr == ""
    (process,) = report["processes"]
    assert process["foreign_allocator"] and process["peak_bytes"] < 100_000_000
    assert "[TL466]" in timeloom("report", "--memory", "run", cwd=tmp_path).stdout


def test_wrong_calls_of_munmap_free_nothing(record):
    done, report = record("wrong_unmaps()", "--memory=all")
    assert done.stdout == "-2\n"
    assert path_of(report, "work")["at_end"]["bytes"] >= 8 << 20


@pytest.mark.thorough
def test_a_full_log_of_blocks_holds_nothing_that_was_freed(record, tmp_path, timeloom):
    """Each block in the log has a place for its end: freed blocks are not held."""
    _, report = record("hold_while_others_come(4_300_000)", "--memory", "--profile")
    (process,) = report["processes"]
    assert process["lost"] > 0 and process["end_bytes"] < 50_000_000
    assert path_of(report, "work")["at_end"]["bytes"] < 50_000_000
    assert "[TL465]" in timeloom("report", "--memory", "run", cwd=tmp_path).stdout
    said = timeloom("check", "run", "held(memory) < 100MB", cwd=tmp_path, status=4).stdout
    assert "undecided" in said.lower()


PATHS = """
import ctypes
allocate = ctypes.CDLL(None).malloc
def define(number):
    def call(depth):
        if depth == 0: allocate(100)
        else:
            for one in calls: one(depth - 1)
    call.__code__ = call.__code__.replace(co_qualname=f"call{number}", co_name=f"call{number}")
    return call
calls = [define(number) for number in range(12)]
for one in calls: one(4)
"""


@pytest.mark.thorough
def test_allocations_whose_call_path_has_no_place_are_counted(timeloom, tmp_path):
    (tmp_path / "app.py").write_text(PATHS)
    timeloom("run", "--quiet", "--memory", "--profile", "-o", "run", "app.py", cwd=tmp_path)
    report = json.loads(timeloom("report", "--memory", "--json", "run", cwd=tmp_path).stdout)
    (process,) = report["processes"]
    known = sum(path["allocations"] for path in report["paths"] if path["path"][-1].startswith("__main__.call"))
    assert 100_000 < known < 12**5
    assert 12**5 - known <= process["lost"] <= 12**5 - known + 5_000


def limited(kind, size):
    return lambda: resource.setrlimit(kind, (size, size))


def test_a_limit_of_address_space(program, timeloom, tmp_path):
    """The file of the measurement takes little of it."""
    (tmp_path / "app.py").write_text("block = bytearray(50_000_000)\nprint(len(block))\n")
    for option in ([], ["--memory"]):
        command = [program, "run", "--quiet", *option, "-o", "run" + "".join(option), "app.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False,
                              preexec_fn=limited(resource.RLIMIT_AS, 400 << 20))  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "50000000\n", "")
    assert json.loads(timeloom("report", "--memory", "--json", "run--memory", cwd=tmp_path).stdout)["processes"]


def test_no_place_for_the_file_is_told(program, tmp_path):
    (tmp_path / "app.py").write_text("print(1)\n")
    done = subprocess.run([program, "run", "--quiet", "--memory", "--buffer-size=1M", "-o", "run", "app.py"], cwd=tmp_path,
                          capture_output=True, text=True, check=False,
                          preexec_fn=limited(resource.RLIMIT_FSIZE, 24 << 20))  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert "memory is not recorded: no place for its file: File too large [TL063]" in done.stderr


def test_a_block_without_the_library_is_told(tmp_path):
    text = "import timeloom\nfor number in range(2):\n    with timeloom.Measurement(memory=True, output=f'run{number}'): list(range(9))\n"
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment())
    lines = [line for line in done.stderr.splitlines() if "[TL024]" in line]
    assert lines == ["timeloom: memory is not recorded: start Python with LD_PRELOAD=$(timeloom preload --print --memory) [TL024]"]
