"""Windows: --from, --until and --after by time and by region."""

import json
import subprocess
import sys

import pytest
from spool_reader import spools_of
from streams import INSTRUMENTERS, environment, run_python

pytestmark = pytest.mark.any_python

PROGRAM = """
import sys, threading, time

def leaf(): pass

def train(n):
    leaf()
    if n > 100: train(n - 1)
    return n

def gen():
    leaf()
    yield 1
    leaf()
    yield 2

def other():
    leaf()
    leaf()

def fails():
    leaf()
    raise ValueError

def main():
    other()
    for n in range(4):
        train(n)
        other()
"""


@pytest.fixture
def measure(tmp_path):
    def measure(text, *options, instrumenter="auto", status=0):
        path = tmp_path / "program.py"
        path.write_text(PROGRAM + text)
        process = run_python(
            ["-m", "timeloom", "--no-weave", "--force", "--instrumenter", instrumenter, "-o", "run", *options, path], tmp_path
        )
        assert process.returncode == status, process.stderr
        return [calls_of(spool) for spool in spools_of(tmp_path / "run")], process

    return measure


def calls_of(spool):
    """For each thread: names that are entered, a dot for each leave; | where recording is switched."""
    result = []
    for location in spool.locations():
        words, open_regions = [], []
        for kind, name, *_ in spool.events(location):
            if kind.startswith("recording"):
                words.append("|")
            elif name.startswith("__main__."):
                if kind == "enter":
                    open_regions.append(name)
                else:
                    assert open_regions.pop() == name
                words.append(name.removeprefix("__main__.") if kind == "enter" else ".")
        assert open_regions == []
        result.append(" ".join(words))
    return result


each_instrumenter = pytest.mark.parametrize("instrumenter", INSTRUMENTERS)


def said(process):
    (line,) = [line for line in process.stderr.splitlines() if "recorded was only" in line]
    return line.partition("recorded was only ")[2].removesuffix(" [TL011]")


@each_instrumenter
def test_the_calls_of_a_region(measure, instrumenter):
    ((stream,),), process = measure(
        "main()", "--from", "__main__.train", "--until", "__main__.train", instrumenter=instrumenter
    )
    assert stream == "| " + " ".join(["| train leaf . . |"] * 4)
    assert said(process) == "from __main__.train until __main__.train: 4 times"


@each_instrumenter
def test_from_a_region_after_some_calls(measure, instrumenter):
    ((stream,),), process = measure(
        "main()", "--from", "__main__.train", "--after", "2", instrumenter=instrumenter
    )
    once = "train leaf . . other leaf . leaf . ."
    assert stream == f"| | {once} {once}"
    assert said(process) == "from __main__.train after 2 calls: 1 time"


@each_instrumenter
def test_until_a_region_is_left(measure, instrumenter):
    ((stream,),), _ = measure("main()", "--until", "__main__.train", instrumenter=instrumenter)
    # Regions still open there are left at the end, or when recording continues.
    assert stream.startswith("<module> main other leaf . leaf . . train leaf . . |")
    assert set(stream.partition("|")[2].split()) <= {"."}


@each_instrumenter
def test_from_one_region_until_another(measure, instrumenter):
    ((stream,),), _ = measure(
        "main()", "--from", "__main__.train", "--until", "__main__.other", "--after", "1", instrumenter=instrumenter
    )
    assert stream == "| " + " ".join(["| train leaf . . other leaf . leaf . . |"] * 3)


@each_instrumenter
def test_recursion_exceptions_and_generators(measure, instrumenter):
    """A recursive call is left when the outermost is; each step of a generator is a call."""
    ((stream,),), _ = measure("train(102)\nother()\n", "--from", "__main__.train", "--until", "__main__.train",
                              instrumenter=instrumenter)  # fmt: skip
    assert stream == "| | train leaf . train leaf . train leaf . . . . |"
    ((stream,),), _ = measure("try: fails()\nexcept ValueError: other()\n", "--from", "__main__.fails", "--until",
                              "__main__.fails", instrumenter=instrumenter)  # fmt: skip
    assert stream == "| | fails leaf . . |"
    ((stream,),), _ = measure("for _ in gen(): other()\n", "--from", "__main__.gen", "--until", "__main__.gen",
                              instrumenter=instrumenter)  # fmt: skip
    assert stream == "| | gen leaf . . | | gen leaf . . | | gen . |"


@each_instrumenter
def test_threads(measure, instrumenter):
    """Recording is on for all threads while one is in the region."""
    ((main, worker),), _ = measure("""
ready, go, done = (threading.Event() for _ in range(3))
def run():
    leaf()
    ready.set(); go.wait()
    leaf()
    done.set()
def train():
    go.set(); done.wait()
thread = threading.Thread(target=run)
thread.start(); ready.wait()
other()
train()
thread.join()
other()
""", "--from", "__main__.train", "--until", "__main__.train", "--exclude", "threading.*", instrumenter=instrumenter)  # fmt: skip
    assert main == "| | train . |" and worker.replace("| ", "").replace(" |", "") == "leaf ."


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_a_window_that_never_comes(measure, instrumenter):
    ((stream,),), process = measure("main()", "--from", "__main__.nowhere", instrumenter=instrumenter)
    assert stream == "|"
    assert said(process) == "from __main__.nowhere: that never came"


@each_instrumenter
def test_times(measure, instrumenter):
    text = """
def before(): pass
def inside(): pass
def after(): pass
import timeloom
def wait(on):
    while timeloom._core.recording() != on: time.sleep(0.001)
before(); wait(True); inside(); wait(False); after()
"""
    ((stream,),), process = measure(text, "--from", "600ms", "--until", "1.6s", instrumenter=instrumenter)
    assert "inside ." in stream and "before" not in stream and "after" not in stream
    assert stream.count("|") == 3
    assert said(process) == "from 0.6s until 1.6s: 1 time"


def test_times_and_forks(measure):
    """The alarm is a thread of Timeloom, which a fork must not notice."""
    streams, process = measure("""
import os, timeloom
def inside(): pass
for _ in range(20):
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
pid = os.fork()
while not timeloom._core.recording(): time.sleep(0.001)
inside()
if pid == 0: os._exit(0)
os.waitpid(pid, 0)
""", "--from", "500ms")  # fmt: skip
    assert "Warning" not in process.stderr
    assert sorted("inside" in stream for (stream,) in streams)[-2:] == [True, True]


def test_forked_children_await_it_too(measure):
    streams, _ = measure("""
import os
for n in range(3):
    pid = os.fork()
    if pid == 0:
        main()
        os._exit(0)
    os.waitpid(pid, 0)
""", "--from", "__main__.train", "--until", "__main__.train")  # fmt: skip
    assert sorted(stream.count("train leaf . .") for (stream,) in streams) == [0, 4, 4, 4]
    assert all("other" not in stream for (stream,) in streams)


def test_the_program_has_the_last_word(measure):
    ((stream,),), _ = measure("""
import timeloom
other()
timeloom.enable_recording()
leaf()
timeloom.disable_recording()
other()
""", "--from", "__main__.nowhere")  # fmt: skip
    assert stream == "| | leaf . |"


def test_in_the_run(measure, tmp_path, timeloom_program):
    measure("main()", "--from", "__main__.train")
    info = subprocess.run([timeloom_program, "info", "--json", tmp_path / "run"], capture_output=True, text=True)
    properties = json.loads(info.stdout)["properties"]
    assert properties["timeloom::window"] == "from __main__.train" and properties["timeloom::windows"] == "1"


@pytest.mark.parametrize("region, came", [("train", "1 time"), ("nowhere", "that never came")])
def test_reports_say_that_it_is_only_a_window(measure, tmp_path, timeloom_program, region, came):
    measure("main()", "--from", f"__main__.{region}")
    line = f"! recorded was only from __main__.{region}: {came} [TL011]"
    for command in (["report"], ["report", "--full"], ["info"]):
        done = subprocess.run([timeloom_program, *command, tmp_path / "run"], capture_output=True, text=True, check=True)
        assert line in done.stdout.splitlines(), command
    for command in ("report", "info"):
        done = subprocess.run([timeloom_program, command, "--json", tmp_path / "run"], capture_output=True, check=True)
        assert json.loads(done.stdout)["losses"] == [line.removeprefix("! ")]


def test_the_windows_of_all_processes_are_counted(measure, tmp_path, timeloom_program):
    measure("import os\nmain()\nif os.fork() == 0: main(); os._exit(0)\nos.wait()\nmain()",
            "--from", "__main__.train", "--until", "__main__.train")  # fmt: skip
    done = subprocess.run([timeloom_program, "info", tmp_path / "run"], capture_output=True, text=True, check=True)
    assert "! recorded was only from __main__.train until __main__.train: 12 times" in done.stdout


def test_two_measurements_with_other_windows(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM + """
import timeloom
for window in ({}, {"from": "__main__.train", "until": "__main__.train"}, {"from": "__main__.other"}, {}):
    with timeloom.Measurement(output="run", force=True, weave=False, **window) as m: main()
    print(m.totals["window"], m.totals["windows"], m.totals["events"])
""")  # fmt: skip
    done = run_python(["program.py"], tmp_path)
    assert done.stderr == ""
    first, second, third, fourth = done.stdout.splitlines()
    assert (first.split()[-1], fourth) == (fourth.split()[-1], first)
    assert second == "from __main__.train until __main__.train 4 25"
    assert third.startswith("from __main__.other 1 ") and int(first.split()[-1]) < 60


@pytest.mark.parametrize(
    "options, said",
    [
        (["--from", "5x"], "--from: '5x' is not accepted; write a time such as"),
        (["--from", "-1s"], "--from: '-1s' is not accepted; write a time such as"),
        (["--until", "1e99s"], "--until: '1e99s' is not accepted"),
        (["--after", "2"], "--after counts calls of the region of --from"),
        (["--after", "2", "--from", "2s"], "--after counts calls of the region of --from"),
        (["--from", "2s", "--until", "1s"], "--until: the window ends before it begins"),
        (["--until", "a.b", "--exclude", "a.*"], "--until: a.b is not recorded by the rules"),
    ],
)
def test_wrong_values(options, said):
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", *options, "-c", "print('ran')"], capture_output=True, text=True, env=environment()
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
