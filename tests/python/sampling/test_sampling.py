"""Samples of CPU time (`--sample`): functions of libraries below functions of Python."""

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest
from streams import environment

# Samples are of threads and libraries, whatever the version of Python.
pytestmark = pytest.mark.any_python

NATIVE = Path(__file__).resolve().parents[2] / "native"
NAMES = ("sixty", "thirty", "ten")

COMMON = """
import ctypes, json, os, signal, sys, threading, time
busy = ctypes.CDLL("./busy.so")
for function in (busy.sixty, busy.thirty, busy.ten, busy.indirect, busy.undisturbed):
    function.argtypes = [ctypes.c_long]
    function.restype = ctypes.c_long
taken = dict.fromkeys(("sixty", "thirty", "ten"), 0)

def timed(name, rounds):
    before = time.thread_time_ns()
    getattr(busy, name)(rounds)
    taken[name] += time.thread_time_ns() - before

def until(cpu_seconds, call):
    while time.thread_time() < cpu_seconds:
        call()
"""


class Sampled:
    def __init__(self, directory, program):
        self.directory = directory
        self.program = program
        done = subprocess.run([program, "info", "--json", directory], capture_output=True, text=True, check=True)
        self.properties = json.loads(done.stdout)["properties"]

    def report(self, *options):
        command = [self.program, "report", self.directory, *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def functions(self):
        """The seconds of each function of the library, by what called it."""
        seconds = Counter()
        for function in json.loads(self.report("--native", "--json"))["functions"]:
            if function["library"] != "busy.so":
                continue
            for caller in function["callers"]:
                seconds[function["function"], caller["function"]] += caller["seconds"]
        return seconds

    def native(self):
        """The same over all callers."""
        seconds = Counter()
        for (name, _), time in self.functions().items():
            seconds[name] += time
        return seconds


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    path = tmp_path_factory.mktemp("built") / "busy.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", NATIVE / "busy.c", "-o", path], check=True)
    return path


@pytest.fixture
def library(built, tmp_path_factory):
    """A copy, which a test may strip."""
    return Path(shutil.copy(built, tmp_path_factory.mktemp("busy")))


@pytest.fixture
def sample(tmp_path, timeloom_program, library):
    """Runs a program with samples, and returns its run, its output and its standard error."""

    def sample(text, *options, status=0, period="1ms", before=()):
        (tmp_path / "busy.so").write_bytes(library.read_bytes())
        program = tmp_path / "program.py"
        program.write_text(COMMON + textwrap.dedent(text))
        run = tmp_path / "run"
        command = [
            *before, sys.executable, "-m", "timeloom", "--quiet", "-o", run, "--sample", period, *options, program
        ]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=300, env=environment()
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return Sampled(run, timeloom_program), done.stdout, done.stderr

    return sample


def assert_shares(seconds, taken, samples):
    """The shares are those that the program has measured, within what so few samples allow."""
    all_seconds, all_taken = sum(seconds[name] for name in NAMES), sum(taken.values())
    for name in NAMES:
        expected = taken[name] / all_taken
        error = 4 * math.sqrt(expected * (1 - expected) / samples) + 0.02
        assert abs(seconds[name] / all_seconds - expected) < error, (name, dict(seconds), taken, samples)


@pytest.mark.parametrize("options", [(), ("--profile",), ("--instrumenter", "profile")])
def test_three_functions_have_their_shares(sample, options):
    run, out, err = sample(
        """
        def first(): timed("sixty", 10)
        def second(): timed("thirty", 10); timed("ten", 10)
        def both(): first(); second()
        until(1.5, both)
        print(json.dumps(taken))
        """,
        *options,
    )
    assert err == ""
    taken = json.loads(out)
    functions = run.functions()
    assert {key for key, time in functions.items() if time > 0.02} == {
        ("sixty", "__main__.timed"), ("thirty", "__main__.timed"), ("ten", "__main__.timed"),
    }  # fmt: skip
    samples = int(run.properties["timeloom::samples"])
    assert_shares(run.native(), taken, samples)
    # The weights are CPU time: nothing is missing, but up to one period of the timer at each end.
    assert sum(run.native().values()) == pytest.approx(sum(taken.values()) / 1e9, rel=0.1, abs=0.05)
    parts = json.loads(run.report("--function", "timed", "--json"))["native"]
    assert parts[0]["library"] == "busy" and parts[0]["function"] == "sixty"
    assert "busy: sixty" in run.report()
    assert "busy: sixty" in run.report("--function", "timed")
    assert re.search(r"busy: sixty +__main__\.timed\n", run.report("--native"))
    with (run.directory / "samples.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["samples"]) for row in rows) == samples


def test_threads_and_a_forked_child(sample):
    run, out, err = sample(
        """
        def one(): until(0.8, lambda: timed("sixty", 2))
        def other(): until(0.8, lambda: timed("thirty", 2))
        threads = [threading.Thread(target=target) for target in (one, other)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        child = os.fork()
        if child == 0:
            until(time.thread_time() + 0.5, lambda: timed("ten", 2))
            print(json.dumps(taken), flush=True)
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert err == ""
    taken = json.loads(out)
    assert_shares(run.native(), taken, int(run.properties["timeloom::samples"]))
    assert int(run.properties["timeloom::sample_threads"]) == 4


def test_a_kill_keeps_the_samples(sample):
    run, _, _ = sample(
        """
        until(1, lambda: timed("sixty", 2))
        os.kill(os.getpid(), signal.SIGKILL)
        """,
        status=-9,
    )
    assert run.native()["sixty"] > 0.7


def test_nothing_of_python_is_interrupted(sample):
    run, out, err = sample(
        """
        import select
        reader, writer = os.pipe()
        poll = select.poll()
        poll.register(reader)
        for _ in range(500):
            busy.ten(1)
            assert poll.poll(1) == []
        busy.undisturbed(200)
        fds = os.open("kept", os.O_CREAT | os.O_WRONLY)
        os.write(fds, b"as it was")
        os.close(fds)
        """
    )
    assert (out, err) == ("", "")
    assert (run.directory.parent / "kept").read_bytes() == b"as it was"


def test_a_program_that_closes_all_descriptors(sample):
    _, out, err = sample(
        """
        until(time.thread_time() + 0.2, lambda: timed("ten", 2))
        os.closerange(3, 4096)
        files = [os.open("kept", os.O_CREAT | os.O_RDWR) for _ in range(1000)]
        until(time.thread_time() + 0.5, lambda: timed("ten", 2))
        print(len(files), os.write(files[-1], b"as it was"))
        """
    )
    assert (out, err) == ("1000 9\n", "")


def test_a_program_that_executes_another(sample):
    _, out, err = sample(
        """
        until(time.thread_time() + 0.2, lambda: timed("ten", 2))
        os.execv("/bin/echo", ["echo", "it ran"])
        """
    )
    assert (out, err) == ("it ran\n", "")


def test_a_program_that_uses_the_signal_gets_it(sample):
    run, out, err = sample(
        """
        until(time.thread_time() + 0.3, lambda: timed("ten", 2))
        received = []
        signal.signal(signal.SIGURG, lambda *_: received.append(1))
        until(time.thread_time() + 0.3, lambda: timed("thirty", 2))
        of_samples = len(received)
        os.kill(os.getpid(), signal.SIGURG)
        print(of_samples, len(received))
        """
    )
    assert err == "timeloom: no samples are taken from here on: the program uses its signal itself [TL085]\n"
    assert out == "0 1\n"
    assert set(run.native()) == {"ten"}


@pytest.mark.parametrize("name", ["urg", "winch"])
def test_a_program_that_resets_the_signal_goes_on(sample, name):
    run, out, err = sample(
        f"""
        until(time.thread_time() + 0.3, lambda: timed("ten", 2))
        ctypes.CDLL(None).signal(signal.SIG{name.upper()}, 0)  # nobody sees it
        until(time.thread_time() + 0.5, lambda: timed("thirty", 2))
        time.sleep(1.2)
        print("ran")
        """,
        "--sample-signal",
        name,
    )
    assert err == "timeloom: no samples are taken from here on: the program uses its signal itself [TL085]\n"
    assert out == "ran\n"
    assert run.native()["ten"] > 0.2


def test_a_program_that_uses_the_signal_at_the_start(sample, tmp_path):
    (tmp_path / "ignoring.py").write_text(
        "import os, signal, sys\nsignal.signal(signal.SIGURG, signal.SIG_IGN)\nos.execv(sys.executable, sys.argv[1:])"
    )
    run, out, err = sample(
        """
        until(time.thread_time() + 0.3, lambda: timed("ten", 2))
        print("ran")
        """,
        before=(sys.executable, tmp_path / "ignoring.py"),
    )
    assert out == "ran\n"
    assert err == (
        "timeloom: no samples are taken: the program uses their signal itself; --sample-signal names another one "
        "[TL086]\n"
    )


FILTER = """
import struct
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
machine = os.uname().machine
forbidden = {"x86_64": (16, 222, 298, 226), "aarch64": (29, 107, 241, 111)}[machine]  # ioctl, timers, perf
code = struct.pack("=HBBI", 0x20, 0, 0, 0)
for i, number in enumerate(forbidden):
    code += struct.pack("=HBBI", 0x15, len(forbidden) - i, 0, number)
code += struct.pack("=HBBI", 0x06, 0, 0, 0x7fff0000) + struct.pack("=HBBI", 0x06, 0, 0, 0x80000000)
program = Program(len(code) // 8, code)
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0
"""


def test_a_program_that_forbids_itself_calls(sample):
    """Its filter kills the process at any call that starts or ends samples."""
    run, out, err = sample(
        textwrap.dedent("""
            until(time.thread_time() + 0.3, lambda: timed("ten", 2))
        """) + FILTER + textwrap.dedent("""
            until(time.thread_time() + 0.3, lambda: timed("thirty", 2))
            time.sleep(1.5)
            until(time.thread_time() + 0.3, lambda: timed("sixty", 2))
            thread = threading.Thread(target=lambda: timed("sixty", 2))
            thread.start()
            thread.join()
            os.write(1, b"ran")
        """)
    )  # fmt: skip
    assert out == "ran"
    assert "no samples are taken from here on: the program has forbidden itself calls" in err
    assert run.native()["ten"] > 0.2 and "sixty" not in run.native()


def test_threads_without_a_clock(sample):
    """One line for all threads that can have neither an event nor a timer."""
    run, out, err = sample(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))
        barrier = threading.Barrier(12)
        def one():
            barrier.wait()
            timed("ten", 5)
            barrier.wait()
        threads = [threading.Thread(target=one) for _ in range(12)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        until(time.thread_time() + 0.2, lambda: timed("thirty", 2))
        """
    )
    assert err.count("a thread of the program cannot be sampled: ") == 1 and err.count("\n") == 1
    assert run.native()["thirty"] > 0.1


def test_threads_beyond_a_quarter_of_the_descriptors_have_timers(sample):
    run, out, err = sample(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
        barrier = threading.Barrier(12)
        def one():
            barrier.wait()
            until(time.thread_time() + 0.1, lambda: timed("ten", 2))
            barrier.wait()
        threads = [threading.Thread(target=one) for _ in range(12)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """
    )
    assert err == ""
    assert int(run.properties["timeloom::sample_threads"]) == 13
    assert int(run.properties["timeloom::sample_timers"]) >= 7  # 24 / 4 have events, at most
    assert run.native()["ten"] > 0.9


def test_a_stripped_library(sample, library):
    subprocess.run(["strip", "--strip-all", library], check=True)
    run, _, err = sample("""until(0.5, lambda: busy.indirect(10))""")
    assert err == ""
    names = {name for (name, _), time in run.functions().items() if time > 0.1}
    assert len(names) == 1 and re.fullmatch(r"busy\.so\+0x[0-9a-f]+", *names)
    assert next(iter(names)) in run.report()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sample", "50us"), "--sample: '50us' is not accepted; write a time from 100us to 10s, such as 1ms [TL101]"),
        (("--sample", "often"), "--sample: 'often' is not accepted"),
        (("--sample", "1ms", "--sample-signal", "9"), "--sample-signal: '9' is not accepted; write one of urg, winch"),
    ],
)
def test_wrong_settings(tmp_path, options, message):
    (tmp_path / "x.py").write_text("print(1)")
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", *options, "x.py"],
        cwd=tmp_path, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""


def test_a_run_without_samples(tmp_path, timeloom_program):
    (tmp_path / "x.py").write_text("def f(): pass\nf()")
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", "x.py"]
    subprocess.run(command, cwd=tmp_path, check=True, env=environment())
    assert not os.path.exists(tmp_path / "run/samples.csv")
    done = subprocess.run(
        [timeloom_program, "report", "--native", "run"], cwd=tmp_path, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 1 and "has no samples; timeloom run --sample 1ms takes them [TL461]" in done.stderr


def test_damaged_samples_leave_the_report_of_calls(timeloom, tmp_path):
    (tmp_path / "app.py").write_text("def work():\n    return sum(range(3_000_000))\nwork()\n")
    timeloom("run", "--quiet", "--sample", "1ms", "-o", "run", "app.py", cwd=tmp_path)
    (tmp_path / "run" / "samples.csv").write_text("function,file\n")
    for words in (("report",), ("report", "--function", "work")):
        done = timeloom(*words, "run", cwd=tmp_path)
        assert "__main__.work" in done.stdout and "samples.csv" in done.stderr and done.stderr.endswith("[TL460]\n")
    timeloom("report", "--native", "run", cwd=tmp_path, status=1)
    told = timeloom("report", "--metric", "sampled time", "run", cwd=tmp_path, status=1).stderr
    assert told.endswith("; --native shows the sampled time [TL422]\n")


def test_csv_of_names_that_are_not_utf_8(timeloom, tmp_path):
    text = "code = compile('def work():\\n    return sum(range(9_000_000))\\n', '/tmp/sur\\udcff.py', 'exec')\nexec(code)\nwork()\n"
    (tmp_path / "app.py").write_text(text)
    timeloom("run", "--quiet", "--sample", "1ms", "-o", "run", "app.py", cwd=tmp_path)
    for table in ("--native", "--lines"):
        assert "sur\ufffd.py" in timeloom("report", table, "--csv", "run", cwd=tmp_path).stdout


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("change", ["os.unlink('own.so')", "open('other.so', 'w').close(); os.rename('other.so', 'own.so')"])
def test_functions_of_a_library_that_is_gone_are_told_apart(timeloom, tmp_path, change):
    subprocess.run(["cc", "-O0", "-shared", "-fPIC", "-o", tmp_path / "own.so", NATIVE / "busy.c"], check=True)
    (tmp_path / "app.py").write_text(
        "import ctypes, os\nown = ctypes.CDLL('./own.so')\n"
        f"for name in ('sixty', 'thirty', 'ten'): getattr(own, name)(ctypes.c_long(500))\n{change}\n")
    timeloom("run", "--quiet", "--sample", "1ms", "-o", "run", "app.py", cwd=tmp_path)
    rows = list(csv.DictReader(timeloom("report", "--native", "--csv", "run", cwd=tmp_path).stdout.splitlines()))
    named = {row["library function"] for row in rows if row["library"] == "own.so"}
    assert len(named) >= 2 and all(re.fullmatch(r"own\.so\+0x[0-9a-f]+00", name) for name in named)
    text = timeloom("report", "run", cwd=tmp_path).stdout
    assert "! samples show addresses in place of functions, since these files were removed or changed: own.so [TL064]" in text.replace("\n", " ")
