"""`timeloom attach`: a running program is recorded from outside."""

import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest
from attached_programs import ROADS, Attaching, Running, until
from profile_files import Profile, visits_by_region
from spool_reader import spools_of

from timeloom import _attach

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

PROGRAM = """
released = threading.Event()
begun = threading.Event()

def leaf(): pass
def calls():
    for _ in range(3): leaf()
def wait():
    begun.set()
    released.wait()
def worker(): wait()
def release():
    released.set()
    thread.join()
def inner(): serve(calls=calls, release=release)
def outer(): inner()

thread = threading.Thread(target=worker, name="waiting")
thread.start()
begun.wait()
outer()
released.set()
thread.join()
"""


@pytest.fixture(autouse=True)
def temporary(monkeypatch):
    """The directory for temporary files, in which nothing stays."""
    with tempfile.TemporaryDirectory(prefix="tl-") as directory:
        monkeypatch.setenv("TMPDIR", directory)
        yield directory
        assert os.listdir(directory) == []


@pytest.fixture(params=ROADS)
def road(request):
    return request.param


@pytest.fixture
def running(tmp_path):
    programs = []

    def start(text=PROGRAM, *flags, **options):
        programs.append(Running(tmp_path, text, *flags, **options))
        return programs[-1]

    yield start
    for program in programs:
        program.kill()


def attach(program, road, *words):
    attaching = Attaching(program.directory, *words, program.pid, real=road)
    attaching.begun()
    return attaching


def names_of(spool, location, *, begin="__main__."):
    """(kind, name) of the program's functions, without the functions of the stand-in for the way in."""
    events = [(kind, name) for kind, name, *_ in spool.events(location) if kind in ("enter", "leave")]
    return [(kind, name.removeprefix(begin)) for kind, name in events
            if name.startswith(begin) and not name.endswith((".take_script", ".serve"))]  # fmt: skip


def test_open_calls_are_entered_and_everything_is_seen_from_then_on(running, road, tmp_path):
    program = running()
    program.call("calls")  # it runs, and this is not recorded
    attaching = attach(program, road, "--output", "run", "--no-weave")
    program.call("calls")
    said = attaching.end()
    assert "not woven yet" in said
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended
    assert spool.lost == 0
    main = names_of(spool, 0)
    assert main[:3] == [("enter", "<module>"), ("enter", "outer"), ("enter", "inner")]
    calls = [("enter", "calls"), *[("enter", "leaf"), ("leave", "leaf")] * 3, ("leave", "calls")]
    assert main[3:] == [*calls, ("leave", "inner"), ("leave", "outer"), ("leave", "<module>")]
    assert spool.threads[1] == "waiting"
    assert names_of(spool, 1) == [("enter", "worker"), ("enter", "wait"), ("leave", "wait"), ("leave", "worker")]
    assert spool.locations() == [0, 1]
    assert program.end() == ("", "")


def test_calls_that_were_open_end_when_they_do(running, road, tmp_path):
    """A thread whose first event is the end of a call that began before."""
    program = running()
    attaching = attach(program, road, "--output", "run", "--no-weave")
    program.call("release")
    attaching.end()
    (spool,) = spools_of(tmp_path / "run")
    all_events = [(kind, name) for kind, name, *_ in spool.events(1)]
    assert all_events[-1] == ("leave", "threading.Thread._bootstrap")
    assert names_of(spool, 1) == [("enter", "worker"), ("enter", "wait"), ("leave", "wait"), ("leave", "worker")]
    assert program.end() == ("", "")


def test_ctrl_c_while_it_says_that_it_records(monkeypatch):
    """The user presses it when the line appears, possibly before the next step."""
    monkeypatch.setattr(_attach, "_print_line", lambda text: signal.raise_signal(signal.SIGINT))
    ours, process = socket.socketpair()
    with ours, process:
        process.sendall(b"it is done\n")
        assert _attach._wait_for_end(ours, "recording") == "it is done"
        assert process.recv(10) == b"end"
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()).isdisjoint({signal.SIGINT, signal.SIGTERM})


def test_nothing_is_left_behind(running, road, temporary):
    program = running()
    before = program.facts()
    attaching = attach(program, road, "--output", "first")
    program.call("calls")
    during = program.facts()
    assert during["tasks"] > before["tasks"]
    attaching.end()
    until(lambda: program.facts()["tasks"] == before["tasks"])
    assert program.facts() == before
    attach(program, road, "--output", "second").end()  # and once more
    until(lambda: program.facts()["tasks"] == before["tasks"])
    assert program.facts() == before
    assert os.listdir(temporary) == []
    assert program.end() == ("", "")
    assert program.process.returncode == 0


def visits(run):
    profile = Profile(run)
    return visits_by_region(profile, profile.locations[0])


@pytest.mark.parametrize("option", ["--no-profile", "--profile"])
def test_the_run_is_woven_by_the_command(running, road, tmp_path, option):
    program = running()
    attaching = attach(program, road, option)
    program.call("calls")
    said = attaching.end()
    (run,) = tmp_path.glob("timeloom-program-*")
    assert f"next: timeloom report {run.name}" in said
    assert " of 2 threads" in said
    assert (run / "traces.otf2").exists() == (option == "--no-profile")
    assert not (run / "spool").exists()
    counted = visits(run)
    assert (counted["__main__.leaf"], counted["__main__.calls"], counted["__main__.outer"]) == (3, 1, 1)
    assert run.stat().st_uid == os.geteuid()
    assert program.end() == ("", "")


def test_for_so_long(running, road, tmp_path):
    program = running()
    attaching = attach(program, road, "--for", "100ms", "--output", "run")
    said = attaching.end(interrupt=False)
    assert "next: timeloom report run" in said
    assert visits(tmp_path / "run")["__main__.outer"] == 1
    assert program.end() == ("", "")


def test_filters_and_settings(running, road, tmp_path):
    program = running()
    attaching = attach(program, road, "--exclude", "__main__.leaf", "--exclude=__main__.outer", "-o", "run")
    program.call("calls")
    attaching.end()
    counted = visits(tmp_path / "run")
    assert "__main__.leaf" not in counted
    assert "__main__.outer" not in counted
    assert counted["__main__.inner"] == 1
    assert counted["__main__.calls"] == 1
    assert program.end() == ("", "")


def test_the_program_ends_first(running, road, tmp_path):
    program = running()
    attaching = attach(program, road, "--output", "run")
    program.call("calls")
    assert program.end() == ("", "")
    said = attaching.end(interrupt=False)
    assert "next: timeloom report run" in said
    assert visits(tmp_path / "run")["__main__.leaf"] == 3


def test_the_program_is_killed(running, road, tmp_path):
    program = running()
    attaching = attach(program, road, "--output", "run")
    program.call("calls")
    program.kill()
    said = attaching.end(interrupt=False)
    assert f"timeloom: process {program.pid} has ended" in said
    assert "0.000 s" not in said
    assert visits(tmp_path / "run")["__main__.leaf"] == 3


def test_the_command_is_killed(running, road, tmp_path):
    """The recording ends by itself, and the run can be woven."""
    program = running()
    before = program.facts()
    attaching = attach(program, road, "--output", "run")
    program.call("calls")
    attaching.process.kill()
    attaching.process.wait()
    until(lambda: program.facts()["tasks"] == before["tasks"])
    assert program.facts() == before
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended
    assert program.end() == ("", "")


def test_a_second_command_is_refused(running, road, tmp_path):
    program = running()
    attaching = attach(program, road, "--output", "run")
    second = Attaching(tmp_path, "--output", "other", program.pid, real=road)
    assert second.refused() == (
        f"process {program.pid} is not recorded: it is recorded already, into {tmp_path}/run [TL623]"
    )
    assert not (tmp_path / "other").exists()
    attaching.end()
    assert program.end() == ("", "")


FORKS = """
def leaf(): pass
def fork():
    child = os.fork()
    if child == 0:
        leaf()
        os._exit(len(os.listdir("/proc/self/fd")))
    print(os.waitpid(child, 0)[1] >> 8, len(os.listdir("/proc/self/fd")))
def serving(): serve(fork=fork)
serving()
"""


def test_forked_children_are_not_recorded_and_keep_nothing(running, road, tmp_path):
    """Python does not warn of the fork because of a thread of Timeloom either."""
    program = running(FORKS, "-Werror")
    program.call("fork")
    attaching = attach(program, road, "--output", "run", "--no-weave")
    program.call("fork")
    attaching.end()
    (spool,) = spools_of(tmp_path / "run")
    assert ("enter", "leaf") not in names_of(spool, 0)
    program.call("fork")
    out, error = program.end()
    counts = [line.split() for line in out.splitlines()]
    assert error == ""
    assert counts[0] == counts[2]
    assert counts[1][0] == counts[0][0]


def test_a_process_that_ends_at_once(running, road, tmp_path):
    program = running("""
def leave(): os._exit(7)
def serving(): serve(leave=leave)
serving()
""")
    attaching = attach(program, road, "--output", "run")
    (tmp_path / "leave-wanted").touch()
    assert "next: timeloom report run" in attaching.end(interrupt=False)
    assert program.process.wait() == 7
    assert visits(tmp_path / "run")["__main__.leave"] == 1


def test_a_program_that_measures_itself(running, road, tmp_path):
    program = running("""
import timeloom
measurement = timeloom.Measurement(output="own").start()
serve()
measurement.finish()
""")
    until((tmp_path / "own").exists)
    refused = Attaching(tmp_path, program.pid, real=road).refused()
    assert refused == f"process {program.pid} is not recorded: it is recorded already, into {tmp_path}/own [TL623]"
    assert program.end() == ("", "")


def test_another_version_in_the_process(running, road, tmp_path):
    program = running("""
import timeloom
timeloom.__version__ = "0.0.1"
serve()
""")
    program.facts()
    refused = Attaching(tmp_path, program.pid, real=road).refused()
    assert refused.startswith(f"process {program.pid} is not recorded: it uses Timeloom 0.0.1, this is ")
    assert program.end() == ("", "")


def test_a_module_of_the_same_name(running, road, tmp_path):
    program = running("sys.modules['timeloom'] = signal\nserve()\n")
    program.facts()
    refused = Attaching(tmp_path, program.pid, real=road).refused()
    assert "it uses another module of the name timeloom, this is " in refused
    assert program.end() == ("", "")


def test_the_package_is_found_where_the_process_has_none(running, road, tmp_path):
    program = running(PROGRAM, "-I", "-S")
    before = program.facts()
    attaching = attach(program, road, "--output", "run")
    program.call("calls")
    attaching.end()
    assert visits(tmp_path / "run")["__main__.leaf"] == 3
    until(lambda: program.facts()["tasks"] == before["tasks"])
    assert program.facts() == before
    assert program.end() == ("", "")


BLOCKED = """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.mkfifo("fifo")
pipe = os.open("fifo", os.O_RDWR)
def blocked():
    os.close(os.open("blocked", os.O_CREAT))
    os.read(pipe, 1)  # in C
blocked()
serve()
"""


def test_a_main_thread_in_c_is_left_alone(running, road, tmp_path, temporary):
    """The command withdraws; when the thread returns later, nothing happens in it."""
    program = running(BLOCKED)
    until((tmp_path / "blocked").exists)
    refused = Attaching(tmp_path, "--within", "300ms", "--output", "run", program.pid, real=road).refused()
    causes, look = "C code", f"gdb -p {program.pid} -batch -ex bt"
    if sys.version_info >= (3, 14):
        causes, look = "C code, or it has sub-interpreters", f"timeloom attach --dump {program.pid}"
    assert refused == (
        f"the main thread of process {program.pid} runs {causes}, or a signal handler has raised an exception in the "
        f"way, and was not reached in 0.3 s: nothing was changed in it; {look} shows where it is, --within 1min waits "
        "longer [TL622]"
    )
    assert not (tmp_path / "run").exists()
    assert os.listdir(temporary) == []
    (tmp_path / "fifo").write_bytes(b".")
    facts = program.facts()
    assert facts["tasks"] == 1
    assert program.end() == ("", "")


def test_interrupting_the_wait_withdraws(running, road, tmp_path, temporary):
    program = running(BLOCKED)
    until((tmp_path / "blocked").exists)
    attaching = Attaching(tmp_path, "--within", "60min", "--output", "run", program.pid, real=road)
    until(lambda: os.listdir(temporary))
    until((tmp_path / "run").exists)
    attaching.process.send_signal(signal.SIGINT)
    attaching.process.communicate(timeout=60)
    assert attaching.process.returncode == 1
    assert os.listdir(temporary) == []
    assert not (tmp_path / "run").exists()


# The signal comes as soon as there is a directory.
INTERRUPTED = """
import os, signal, tempfile

def interrupted(*words, make=tempfile.mkdtemp, **named):
    directory = make(*words, **named)
    os.kill(os.getpid(), signal.INTERRUPT)
    return directory

tempfile.mkdtemp = interrupted
"""


@pytest.mark.parametrize("interrupt", ["SIGINT", "SIGTERM"])
def test_interrupting_the_begin_withdraws(running, tmp_path, temporary, interrupt):
    program = running(BLOCKED)
    until((tmp_path / "blocked").exists)
    before = INTERRUPTED.replace("INTERRUPT", interrupt)
    attaching = Attaching(tmp_path, "--within", "60min", "--output", "run", program.pid, before=before)
    assert attaching.process.communicate(timeout=60) == ("", "")
    assert attaching.process.returncode == 1
    assert os.listdir(temporary) == []
    assert not (tmp_path / "run").exists()


# A signal comes while the process waits for the command, whose answer it does not see.
SIGNALLED = """
import os, signal, socket
from timeloom import _attach

def begin(connection, process, begin=_attach._begin):
    os.kill(process.pid, signal.SIGUSR1)
    connection.recv(1, socket.MSG_PEEK)
    begin(connection, process)

_attach._begin = begin
"""
RAISES = """
class Alarm(Exception): pass
def handle(*_): raise Alarm
signal.signal(signal.SIGUSR1, handle)
ended = alarms = 0
while not ended:
    try:
        serve()
        ended = 1
    except Alarm:
        alarms += 1
print(alarms)
"""


def test_a_signal_handler_that_raises(running, tmp_path, temporary):
    """The program gets its exception, and the command prints the reason."""
    program = running(RAISES)
    refused = Attaching(tmp_path, "--output", "run", program.pid, before=SIGNALLED).refused()
    assert refused == (
        f"process {program.pid} is not recorded: a signal handler of the program has raised Alarm; try it again [TL623]"
    )
    assert not (tmp_path / "run").exists()
    assert program.end() == ("1\n", "")


INTERPRETERS = """
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters
CALLS = "def inner(): pass\\nfor _ in range(100): inner()"
def outer():
    one = interpreters.create()
    interpreters.run_string(one, CALLS)
    interpreters.run_string(old, CALLS)
    interpreters.destroy(one)
old = interpreters.create()
serve(outer=outer)
interpreters.destroy(old)
"""


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="sys.remote_exec does not reach them")
def test_sub_interpreters_are_counted(running, road, tmp_path, timeloom_program):
    """An older one, and two that begin while the process is recorded: the environment of the process is not touched."""
    program = running(INTERPRETERS)
    attaching = attach(program, road, "--output", "run")
    program.call("outer")
    program.call("outer")
    assert "timeloom: 3 sub-interpreters not recorded [TL002]\n" in attaching.end()
    done = subprocess.run([timeloom_program, "report", "run"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "! 3 sub-interpreters not recorded [TL002]" in done.stdout
    assert program.end() == ("", "")
