"""`timeloom attach --sampling` and `--sample`: a running program is sampled on all of its threads."""

import json
import math
import subprocess
import sys

import pytest
from attached_programs import ROADS, Attaching, Running, until

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

# Each function of a thread is called before the program is sampled, and by all of them: none begins for the first time
# later. NAME-mark begins the account of their CPU time, NAME-enough ends it when every thread has used so much.
COMMON = """
import collections, time
taken = collections.defaultdict(int)  # (thread, function): ns
ended = False

def sixty(n):
    total = 0
    for i in range(6 * n): total += i * i % 7
    return total
def thirty(n): return sum(square(i) for i in range(n))
def square(i): return i * i % 7
def ten(n):
    i = 0
    while i < n: i += 1
def timed(function):
    before = time.thread_time_ns()
    function(1000)
    taken[threading.current_thread().name, function.__name__] += time.thread_time_ns() - before
def until_ended(*functions):
    while not ended:
        for function in functions: timed(function)
def mark(): taken.clear()
def enough():
    while min(sum(ns for (one, _), ns in list(taken.items()) if one == thread.name) for thread in threads) < SECONDS * 1e9:
        time.sleep(0.01)
    with open("taken", "w") as file:
        json.dump([[*key, ns] for key, ns in list(taken.items())], file)
def started(**threads):
    made = [threading.Thread(target=until_ended, args=of, name=name) for name, of in threads.items()]
    for thread in made: thread.start()
    while {name for name, _ in list(taken)} != set(threads): time.sleep(0.001)
    return made
"""

SHARES = """
SECONDS = 1
threads = started(first=(sixty, thirty, ten), second=(ten, thirty))
serve(mark=mark, enough=enough)
ended = True
for thread in threads: thread.join()
print("the end")
"""


@pytest.fixture
def running(tmp_path):
    """Starts a program in the directory of the test."""
    programs = []

    def start(text, **options):
        programs.append(Running(tmp_path, COMMON + text, **options))
        return programs[-1]

    yield start
    for program in programs:
        program.kill()


def attach(program, *words, road=False):
    attaching = Attaching(program.directory, "--output", "run", *words, program.pid, real=road)
    attaching.begun()
    return attaching


class Sampled:
    """The run of a program that was sampled, read by the command."""

    def __init__(self, directory, program):
        self.directory = directory
        self.program = program

    def command(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, cwd=self.directory)

    def output(self, *words):
        done = self.command(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def paths(self, *options):
        """{call path: (own seconds, samples)}, without what Python's own threads have above."""
        answer = json.loads(self.output("report", "--json", "--tree", "--min-percent", "0", *options, "run"))
        names, found = {}, {}
        for row in answer["tree"]["rows"]:
            path = names[row["id"]] = (*names.get(row["parent"], ()), row["name"].replace("__main__.", ""))
            seconds, samples = found.get(path, (0, 0))
            found[path] = (seconds + row["exclusive_s"], samples + row["samples"])
        return found


@pytest.fixture
def sampled(tmp_path, timeloom_program):
    return Sampled(tmp_path, timeloom_program)


def below(paths):
    """({function that is called by `timed`: seconds}, samples in them)."""
    seconds, samples = {}, 0
    for path, (own, count) in paths.items():
        name = path[path.index("timed") + 1] if "timed" in path[:-1] else ""
        if name in ("sixty", "thirty", "ten"):
            seconds[name] = seconds.get(name, 0) + own
            samples += count
    return seconds, samples


def assert_shares(seconds, taken, samples):
    """The shares are those that the program has measured, within what so few samples allow."""
    all_seconds, all_taken = sum(seconds.values()), sum(taken.values())
    assert set(seconds) == set(taken)
    for name, own in taken.items():
        expected = own / all_taken
        error = 5 * math.sqrt(expected * (1 - expected) / samples) + 0.04
        assert abs(seconds[name] / all_seconds - expected) < error, (name, seconds, taken, samples)


def taken_by(directory, thread):
    return {function: ns for name, function, ns in json.loads((directory / "taken").read_text()) if name == thread}


@pytest.mark.parametrize("road", ROADS)
def test_threads_that_run_already_have_their_shares(running, road, tmp_path, sampled):
    """No function begins for the first time while they are sampled."""
    program = running(SHARES)
    attaching = attach(program, "--sampling", road=road)
    program.call("mark")
    program.call("enough")
    assert " of 3 threads" in attaching.end()
    for thread in ("first", "second"):
        seconds, samples = below(sampled.paths("--thread", thread))
        assert samples >= 80
        assert_shares(seconds, taken_by(tmp_path, thread), samples)
    assert ("first", "thirty") not in sampled.paths()
    known = {path for path in sampled.paths("--thread", "second") if path[-1] == "square"}
    assert any(path[-5:] == ("until_ended", "timed", "thirty", "thirty.<locals>.<genexpr>", "square") for path in known)
    assert program.end() == ("the end\n", "")
    assert program.process.returncode == 0


def test_nothing_is_left_behind(running):
    program = running(SHARES.replace("SECONDS = 1", "SECONDS = 0.05"))
    program.call("mark")
    before = left_behind(program)
    for number in range(3):
        attaching = Attaching(program.directory, "--output", f"run{number}", "--sampling", program.pid)
        attaching.begun()
        assert left_behind(program) != before
        program.call("mark")
        program.call("enough")
        attaching.end()
        until(lambda: program.facts()["tasks"] == before["tasks"])
        assert left_behind(program) == before
    assert program.end() == ("the end\n", "")


def left_behind(program):
    """What the program has, with its timers and the kinds of its descriptors."""
    facts = program.facts()
    kinds = subprocess.run(
        ["readlink", *(f"/proc/{program.pid}/fd/{number}" for number in range(2000))],
        capture_output=True, text=True,
    ).stdout  # fmt: skip
    facts["events"] = kinds.count("perf_event")
    return facts


def test_every_view_marks_its_figures(running, sampled):
    program = running(SHARES)
    attaching = attach(program, "--sampling")
    program.call("mark")
    program.call("enough")
    attaching.end()
    assert program.end() == ("the end\n", "")
    report = sampled.output("report", "run")
    assert "samples" in report and "visits" not in report and "sampled: " in report.splitlines()[0]
    native = json.loads(sampled.output("report", "--native", "--json", "run"))
    assert "__main__.sixty" in {caller["function"] for one in native["functions"] for caller in one["callers"]}
    assert "program.py" in sampled.output("report", "--lines", "run")
    assert "stacks of Python taken in the handler of the signal" in sampled.output("info", "run")
    collapsed = sampled.output("convert", "--to", "collapsed", "-o", "-", "run")
    assert any(";__main__.until_ended;__main__.timed;__main__.sixty " in line for line in collapsed.splitlines())
    assert sampled.command("convert", "--to", "speedscope", "--samples", "-o", "x.json", "run").returncode == 0
    assert "visits" not in sampled.output("diff", "run", "run")
    assert sampled.command("check", "run", "self(__main__.sixty) > 0.1s").returncode == 0
    assert sampled.command("view", "--html", "x.html", "run").returncode == 0


SUSPENDED = """
SECONDS = 0.5
def numbers():
    while True:
        yield ten(100000)
async def steps():
    while True:
        await pause()
        sixty(1000)
class pause:
    def __await__(self): yield
one, other = numbers(), steps()
def both():
    for _ in range(20):
        next(one)
        other.send(None)
both()
threads = []
def work():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end: both()
serve(work=work)
"""


def test_generators_and_coroutines_that_have_begun_before(running, sampled):
    program = running(SUSPENDED)
    attaching = attach(program, "--sampling")
    program.call("work")
    attaching.end()
    assert program.end() == ("", "")
    paths = sampled.paths()
    assert any(path[-3:] == ("both", "numbers", "ten") for path in paths)
    assert any(path[-3:] == ("both", "steps", "sixty") for path in paths)


ENDS = """
SECONDS = 0.3
threads = started(first=(ten, thirty))
def replace():
    global ended, threads
    ended = True
    for thread in threads: thread.join()
    ended = False
    taken.clear()
    threads = started(later=(ten, thirty))
serve(mark=mark, enough=enough, replace=replace)
ended = True
for thread in threads: thread.join()
"""


def test_threads_that_end_and_begin_while_they_are_sampled(running, sampled):
    program = running(ENDS)
    attaching = attach(program, "--sampling")
    for name in ("mark", "enough", "replace", "enough", "replace", "enough"):
        program.call(name)
    attaching.end()
    assert program.end() == ("", "")
    assert sum(own for own, _ in sampled.paths("--thread", "first").values()) > 0.2
    assert sum(own for own, _ in sampled.paths("--thread", "later").values()) > 0.4


FORKS = """
SECONDS = 0.05
def left():
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    return status["SigCgt"].strip(), len(os.listdir("/proc/self/fd"))
def fork():
    child = os.fork()
    if child == 0:
        print(*left(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
thread = threading.Thread(target=int)  # the first one of a process makes glibc handle a signal
thread.start()
thread.join()
serve(fork=fork)
"""


@pytest.mark.parametrize("option", ["--sampling", "--sample=1ms"])
def test_a_forked_child_keeps_nothing(running, option):
    program = running(FORKS)
    program.call("fork")
    attaching = attach(program, option)
    program.call("fork")
    attaching.end()
    (out, error) = program.end()
    before, while_sampled = out.splitlines()
    assert (while_sampled, error) == (before, "")


def test_the_program_ends_first(running, sampled):
    program = running(SHARES)
    attaching = attach(program, "--sampling")
    program.call("mark")
    program.call("enough")
    assert program.end() == ("the end\n", "")
    assert program.process.returncode == 0
    assert "next: timeloom report run" in attaching.end(interrupt=False)
    assert below(sampled.paths())[1] >= 160


def test_the_program_is_killed(running, sampled):
    program = running(SHARES)
    attaching = attach(program, "--sampling")
    program.call("mark")
    program.call("enough")
    program.kill()
    assert f"timeloom: process {program.pid} has ended" in attaching.end(interrupt=False)
    assert below(sampled.paths())[1] >= 160


USES = """
SECONDS = 0.2
count = 0
def handle(*_):
    global count
    count += 1
def take(): signal.signal(signal.SIGURG, handle)
def send(): os.kill(os.getpid(), signal.SIGURG)
threads = started(first=(ten, sixty))
if BEFORE: take()
serve(mark=mark, enough=enough, take=take, send=send)
ended = True
for thread in threads: thread.join()
print(count, signal.getsignal(signal.SIGURG) is handle)
"""


def test_a_program_that_uses_the_signal(running, sampled):
    program = running("BEFORE = True" + USES)
    refused = Attaching(program.directory, "--output", "run", "--sampling", program.pid).refused()
    assert refused == (
        f"process {program.pid} is not recorded: no samples can be taken: the program uses their signal itself; "
        "--sample-signal names another one [TL623]"
    )
    assert not (program.directory / "run").exists()
    attaching = attach(program, "--sampling", "--sample-signal", "winch")
    program.call("mark")
    program.call("enough")
    program.call("send")
    attaching.end()
    assert below(sampled.paths())[1] >= 15
    assert program.end() == ("1 True\n", "")


def test_a_program_that_takes_the_signal_later(running, sampled):
    """It gets its own signals alone, and no line of Timeloom: the run has it."""
    program = running("BEFORE = False" + USES)
    attaching = attach(program, "--sampling")
    for name in ("mark", "enough", "take", "mark", "enough", "send"):
        program.call(name)
    attaching.end()
    line = "! from some time on no samples were taken: the program uses its signal itself [TL085]"
    assert line in sampled.output("report", "run")
    assert below(sampled.paths())[1] >= 15
    assert program.end() == ("1 True\n", "")


WITHOUT_EVENTS = """
SECONDS = 0.3
import hashlib
def hash_without_end():
    while not ended: hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 20000)
thread = threading.Thread(target=hash_without_end, name="hashing")
thread.start()
def some():
    clock = time.pthread_getcpuclockid(thread.ident)
    end = time.clock_gettime(clock) + SECONDS
    while time.clock_gettime(clock) < end: time.sleep(0.01)
serve(some=some)
ended = True
thread.join()
"""


def test_samples_beside_calls_of_a_thread_that_records_nothing(running, sampled):
    """Its only call of a function runs all the time."""
    program = running(WITHOUT_EVENTS)
    attaching = attach(program, "--sample", "1ms")
    program.call("some")
    attaching.end()
    assert program.end() == ("", "")
    native = json.loads(sampled.output("report", "--native", "--json", "run"))
    seconds = sum(
        caller["seconds"] for one in native["functions"] for caller in one["callers"]
        if caller["function"] == "__main__.hash_without_end"
    )  # fmt: skip
    assert seconds > 0.15
