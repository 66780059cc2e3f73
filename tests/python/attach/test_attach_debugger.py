"""`timeloom attach` below Python 3.14, where a debugger lets it into the process."""

import ctypes
import mmap
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attached_programs import BY_DEBUGGER, DEBUGGERS, Attaching, Running, until
from profile_files import Profile, visits_by_region
from streams import environment

from timeloom import _debugger, _gdb, _lldb, _memory, _process, _road
from timeloom._memory import TAKEN_BACK, find_functions, find_room, mappings_of, open_memory, read_bytes, write_bytes
from timeloom._process import Refused, find_process

pytestmark = pytest.mark.skipif(not BY_DEBUGGER, reason="for Python 3.12 and 3.13, and there is no debugger")

CYCLES = int(os.environ.get("ATTACH_CYCLES", "3"))
# The C library handles a signal of its own from the first thread on.
CALLS = "thread = threading.Thread(target=len, args=[()]); thread.start(); thread.join()\ndef leaf(): pass\ndef calls():\n    for _ in range(3): leaf()\ndef loads():\n    import _lsprof\nserve(calls=calls, loads=loads)\n"
# Many of them make a debugger exchange many packets with its server.
MANY = """
ends = threading.Event()
for _ in range(int(os.environ["THREADS"])): threading.Thread(target=ends.wait).start()
def loads():
    import _lsprof
serve(loads=loads)
ends.set()
"""


@pytest.fixture
def running(tmp_path):
    programs = []

    def start(text=CALLS, *flags, **options):
        programs.append(Running(tmp_path, text, *flags, **options))
        return programs[-1]

    yield start
    for program in programs:
        program.kill()


@pytest.fixture(params=DEBUGGERS)
def debugger(request, tmp_path, monkeypatch):
    """The name of the only debugger on PATH."""
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / request.param).symlink_to(_debugger.find_debugger(request.param))
    monkeypatch.setenv("PATH", str(tmp_path / "only"))
    return request.param


def road(program):
    return _road.ThroughDebugger(find_process(str(program.pid)))


def reason(program):
    """Return the line with which the process is refused, before a debugger is started."""
    with pytest.raises(Refused) as refused:
        road(program)
    return str(refused.value)


def visits(run):
    profile = Profile(run)
    return visits_by_region(profile, profile.locations[0])


def state(program):
    """Facts about the process that Python knows, and others."""
    maps = [(one.path, one.end - one.begin) for one in mappings_of(program.pid) if one.path.startswith("/")]
    facts = program.facts()
    return facts, maps, read_bytes(program.pid, find_room(program.pid, 1), 256)


def test_many_cycles_leave_nothing_behind(running, tmp_path, debugger):
    """The first one loads Timeloom, which stays."""
    program = running()
    before = program.facts()
    first = None
    for number in range(CYCLES):
        attaching = Attaching(tmp_path, "-o", f"run-{number}", program.pid, real=True)
        attaching.begun()
        program.call("calls")
        attaching.end()
        until(lambda: program.facts()["tasks"] == before["tasks"])
        now = state(program)
        first = first or now
        assert now == first
        assert now[0] == before
        assert not any(now[2])
        assert visits(tmp_path / f"run-{number}")["__main__.leaf"] == 3
        shutil.rmtree(tmp_path / f"run-{number}")
    assert program.end() == ("", "")
    assert program.process.returncode == 0


def test_the_risk_is_printed_before(running, tmp_path, debugger):
    program = running()
    attaching = Attaching(tmp_path, "-o", "run", program.pid, real=True)
    version = ".".join(map(str, sys.version_info[:3]))
    assert attaching.process.stderr.readline() == (
        f"timeloom: process {program.pid} runs Python {version}: {debugger} stops it for a moment to let "
        f"Timeloom in; it may end if {debugger} is killed in this moment [TL095]\n"
    )
    attaching.begun()
    attaching.end()
    assert program.end() == ("", "")


SHADOWED = """
def looking():
    while not os.access("end", os.F_OK): select.select((), (), (), 0.005)
exec = open = compile = io = _thread = BaseException = before = None
before = sorted(globals())
looking()
assert sorted(globals()) == before, set(globals()) ^ set(before)
"""


def test_names_of_the_program_do_not_matter(running, tmp_path):
    """The text is executed in its module __main__, and binds no name there."""
    program = running(SHADOWED)
    attaching = Attaching(tmp_path, "-o", "run", program.pid, real=True)
    attaching.begun()
    attaching.end()
    assert visits(tmp_path / "run")["__main__.looking"] == 1
    assert program.end() == ("", "")


BUSY = """
def leaf(): pass
def busy():
    while not ended: leaf()
ended = False
def end(*_):
    global ended
    ended = True
signal.signal(signal.SIGUSR1, end)
for _ in range(int(os.environ["OTHERS"])): threading.Thread(target=busy).start()
busy()
"""


@pytest.mark.parametrize("others", [0, 2])
def test_threads_that_never_wait(running, tmp_path, debugger, others):
    program = running(BUSY, env={"OTHERS": str(others)})
    attaching = Attaching(tmp_path, "--for", "100ms", "-o", "run", "--profile", program.pid, real=True)
    attaching.begun()
    attaching.end(interrupt=False)
    assert visits(tmp_path / "run")["__main__.leaf"] > 0
    os.kill(program.pid, signal.SIGUSR1)
    assert program.end() == ("", "")


IN_C = """
os.mkfifo("fifo")
def calls(): pass
os.close(os.open("waits", os.O_CREAT))
os.close(os.open("fifo", os.O_RDONLY))
serve(calls=calls)
"""


def test_a_main_thread_in_c_finds_nothing_to_do_later(running, tmp_path):
    program = running(IN_C)
    until((tmp_path / "waits").exists)
    refused = Attaching(tmp_path, "--within", "100ms", program.pid, real=True).refused()
    assert "was not reached in 0.1 s: nothing was changed in it" in refused
    assert not list(tmp_path.glob("timeloom-*"))
    os.close(os.open(tmp_path / "fifo", os.O_WRONLY))
    program.call("calls")
    attaching = Attaching(tmp_path, "-o", "run", program.pid, real=True)
    attaching.begun()
    program.call("calls")
    attaching.end()
    assert visits(tmp_path / "run")["__main__.calls"] == 1
    assert program.end() == ("", "")


# ---- Refusals


def test_no_debugger(running, monkeypatch):
    program = running()
    monkeypatch.setenv("PATH", "/nowhere:.:bin")
    version = ".".join(map(str, sys.version_info[:3]))
    assert reason(program) == (
        f"process {program.pid} runs Python {version}, which only a debugger reaches, and there is none: "
        "install gdb or lldb, or start the program with timeloom run [TL096]"
    )


def test_a_process_that_is_traced(running):
    program = running()
    libc = ctypes.CDLL(None, use_errno=True)
    attach, detach = 16, 17
    assert libc.ptrace(attach, program.pid, None, None) == 0
    os.waitpid(program.pid, 0)
    try:
        assert reason(program) == (
            f"process {program.pid} is traced by process {os.getpid()}, such as a debugger or strace; end that [TL099]"
        )
    finally:
        libc.ptrace(detach, program.pid, None, None)
    assert program.end() == ("", "")


def test_a_process_that_is_stopped(running):
    program = running()
    program.process.send_signal(signal.SIGSTOP)
    until(lambda: _process.is_stopped(find_process(str(program.pid))))
    assert reason(program).endswith(f"is stopped: nothing was changed in it; kill -CONT {program.pid} lets it go on [TL621]")
    program.process.send_signal(signal.SIGCONT)
    assert program.end() == ("", "")


def test_a_python_whose_file_was_replaced(running, monkeypatch):
    program = running()
    process = find_process(str(program.pid))
    with pytest.raises(Refused, match=r"the file of its Python was replaced, or has no symbols; .* \[TL097\]"):
        _road.ThroughDebugger(process._replace(file="/bin/true"))
    monkeypatch.setattr(_road, "find_room", lambda *_: 0)
    assert "no library has unused bytes behind its variables" in reason(program)
    assert program.end() == ("", "")


def test_programs_of_another_processor(tmp_path):
    header = bytearray(Path("/bin/true").read_bytes()[:20])
    for place, value in ((4, 1), (18, 183)):
        other = tmp_path / f"other-{place}"
        other.write_bytes(header[:place] + bytes([value]) + header[place + 1 :])
        assert _process._machine_of(str(other)) != _process._machine_of("/proc/self/exe")
    assert _process._machine_of("/bin/true") == _process._machine_of("/proc/self/exe")


# ---- The debugger, the command and the call end at a bad moment

KILLS = """
import os, signal
from timeloom import _gdb, _lldb
def kill_before(kind):
    real_call = kind.call
    def call(self, *arguments):
        os.kill({}, signal.SIGKILL)
        return real_call(self, *arguments)
    kind.call = call
kill_before(_gdb.Gdb)
kill_before(_lldb.Lldb)
"""


@pytest.mark.parametrize("killed", ["self._process.pid", "os.getpid()"])
@pytest.mark.parametrize("threads", [0, 200])
def test_a_kill_before_the_call_leaves_nothing(running, tmp_path, debugger, killed, threads):
    program = running(MANY, env={"THREADS": str(threads)})
    before = state(program)
    driver = KILLS.format(killed) + "import sys\nfrom timeloom import _attach\nsys.exit(_attach.main(sys.argv[1:]))\n"
    done = subprocess.run([sys.executable, "-c", driver, "-o", "run", str(program.pid)], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True, timeout=60)  # fmt: skip
    if killed == "os.getpid()":
        assert done.returncode == -signal.SIGKILL
    else:
        assert done.returncode == 1
        assert f"timeloom: {debugger} could not let Timeloom into process {program.pid}: {debugger} has ended [TL098]\n" in done.stderr
    until(lambda: not _process.is_stopped(find_process(str(program.pid))))
    assert state(program) == before
    program.call("loads")  # a debugger's breakpoint in the dynamic linker would end the program
    assert program.end() == ("", "")


STOPS_AND_DIES = """#!{python}
import ctypes, os, signal, sys
for line in sys.stdin:
    if "-target-attach" in line:
        assert ctypes.CDLL(None).ptrace(16, int(line.split()[-1]), None, None) == 0
        os.kill(os.getpid(), signal.SIGKILL)
    print(line[:len(line) - len(line.lstrip("0123456789"))] + "^done", flush=True)
"""


def test_a_process_that_a_killed_gdb_has_stopped_goes_on(running, tmp_path, monkeypatch):
    """The SIGSTOP with which gdb attaches outlives it."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gdb").write_text(STOPS_AND_DIES.format(python=sys.executable))
    (tmp_path / "bin" / "gdb").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    program = running()
    for _ in range(CYCLES):
        refused = Attaching(tmp_path, "-o", "run", program.pid, real=True).refused()
        assert refused == f"gdb could not let Timeloom into process {program.pid}: gdb has ended [TL098]"
        program.call("calls")  # which it cannot do while it is stopped
    assert program.end() == ("", "")


KILLS_AFTER = """
import os, signal, sys
from timeloom import _attach, _gdb, _lldb
def kill_after(kind):
    real_call = kind.call
    def call(self, thread, function, *arguments):
        result = real_call(self, thread, function, *arguments)
        if arguments: os.kill(self._process.pid, signal.SIGKILL)
        return result
    kind.call = call
kill_after(_gdb.Gdb)
kill_after(_lldb.Lldb)
sys.exit(_attach.main(sys.argv[1:]))
"""


def test_a_kill_after_the_call_takes_it_back(running, tmp_path, debugger):
    """The text of the script does not stay, and the next command gets in."""
    program = running()
    place = find_room(program.pid, 320)
    done = subprocess.run([sys.executable, "-c", KILLS_AFTER, "-o", "run", str(program.pid)], cwd=tmp_path,
                          env=environment(), capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, f"{debugger} has ended [TL098]" in done.stderr) == (1, True), done.stderr
    left = read_bytes(program.pid, place, 320)
    assert left == TAKEN_BACK.ljust(320, b"\0")
    attaching = Attaching(tmp_path, "-o", "run", program.pid, real=True)
    attaching.begun()
    program.call("calls")
    attaching.end()
    assert visits(tmp_path / "run")["__main__.leaf"] == 3
    assert program.end() == ("", "")


def test_a_call_that_does_not_return_is_taken_back(running, debugger):
    """The process goes on as if nothing had been."""
    program = running()
    before = state(program)
    through = road(program)
    libc = next(one for one in mappings_of(program.pid) if "libc.so" in one.path)
    pause = find_functions(program.pid, libc.path, libc.path, ("pause",))["pause"]
    # As in a command that attaches, which must not end before the process runs again.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        with pytest.raises(Refused, match="the call did not return, and was taken back"), through._stopped() as stopped:
            stopped.call(stopped.threads()[program.pid], pause.address, seconds=0.3)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    assert state(program) == before
    assert program.end() == ("", "")


def test_the_room_is_not_within_the_linker(running):
    program = running()
    room = find_room(program.pid, 256)
    owner = next(one for one in mappings_of(program.pid) if one.begin <= room < one.end)
    assert owner.writable
    assert "ld-linux" not in owner.path


def test_files_without_variables_have_no_room(tmp_path, monkeypatch):
    """Behind a mapped file of data, nothing is mapped."""
    (tmp_path / "data").write_bytes(bytes(4096))
    with (tmp_path / "data").open() as file, mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ):
        starts = [one for one in mappings_of(os.getpid()) if one.offset == 0 and one.path.startswith("/")]
        starts.sort(key=lambda one: one.path != str(tmp_path / "data"))
        assert starts[0].path == str(tmp_path / "data")
        monkeypatch.setattr(_memory, "_starts", lambda _: starts)
        assert find_room(os.getpid(), 64) > 0


def test_the_room_begins_behind_texts_that_were_taken_back(running):
    """The main thread may execute them yet, and no other library may have room."""
    program = running()
    first = find_room(program.pid, 320)
    memory = open_memory(program.pid)
    write_bytes(memory, first, TAKEN_BACK)
    os.close(memory)
    assert find_room(program.pid, 304) == first + 16


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home directory with a file for the Python that is in a debugger."""
    for minor in range(9, 20):
        packages = tmp_path / f".local/lib/python3.{minor}/site-packages"
        packages.mkdir(parents=True)
        (packages / "usercustomize.py").write_text(f"open({str(tmp_path / 'read')!r}, 'w').close()\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif("gdb" not in DEBUGGERS, reason="there is no gdb")
def test_gdb_reads_no_file_of_the_user(tmp_path, home):
    (tmp_path / ".gdbinit").write_text(f"shell touch {tmp_path}/read\n")
    (tmp_path / ".gdbearlyinit").write_text(f"shell touch {tmp_path}/read\n")
    gdb = _gdb.Gdb(_debugger.find_debugger("gdb"))
    assert gdb.do("-gdb-show auto-load gdb-scripts") == 'value="off"'
    with pytest.raises(_debugger.DebuggerError, match="Undefined"):
        gdb.do("-no-such-command")
    gdb.close()
    assert not (tmp_path / "read").exists()


@pytest.mark.skipif("lldb" not in DEBUGGERS, reason="there is no lldb")
def test_lldb_reads_no_file_of_the_user(tmp_path, home):
    (tmp_path / ".lldbinit").write_text(f"platform shell touch {tmp_path}/read\n")
    lldb = _lldb.Lldb(_debugger.find_debugger("lldb"))
    assert lldb.do("settings show target.load-script-from-symbol-file").endswith("= false")
    with pytest.raises(_debugger.DebuggerError, match="not a valid command"):
        lldb.do("no-such-command")
    lldb.close()
    assert not (tmp_path / "read").exists()


@pytest.mark.parametrize("threads", [0, 200])
def test_no_page_of_the_debugger_stays(running, debugger, threads):
    """For a call lldb allocates pages in the process, of which one can be written and executed."""
    program = running(MANY, env={"THREADS": str(threads)})
    program.facts()  # after which its own memory does not change
    before = [(one.begin, one.end, one.path) for one in mappings_of(program.pid)]
    through = road(program)
    with through._stopped() as stopped:
        ready = through._calls["Py_IsInitialized"].address
        assert stopped.call(stopped.threads()[program.pid], ready) == 1
        during = [(one.begin, one.end, one.path) for one in mappings_of(program.pid)]
    assert [(one.begin, one.end, one.path) for one in mappings_of(program.pid)] == before
    assert (during == before) == (debugger == "gdb")
    assert program.end() == ("", "")
