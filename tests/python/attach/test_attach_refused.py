"""Cases that `timeloom attach` refuses, with one line each; with every Python."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from attached_programs import until
from streams import environment

from timeloom import _dump, _process
from timeloom._process import Interpreter, Process, Refused, find_process, refuse_other_python, refuse_unwilling

SLEEP = "import time; time.sleep(100)"


def attach(timeloom_program, *words, status=1, cwd=None):
    """Return the line with which the command refuses."""
    done = subprocess.run([timeloom_program, "attach", *map(str, words)], capture_output=True, text=True, timeout=60,
                          env=environment(), cwd=cwd)  # fmt: skip
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.startswith("timeloom: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("timeloom: ").rstrip("\n")


@pytest.fixture
def process():
    """Starts a program that waits."""
    started = []

    def start(*command, **options):
        one = subprocess.Popen(command or [sys.executable, "-c", SLEEP], stdout=subprocess.DEVNULL, **options)
        started.append(one)
        return one

    yield start
    for one in started:
        one.kill()
        one.wait()


def reason(function, *arguments):
    with pytest.raises(Refused) as refused:
        function(*arguments)
    text = str(refused.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(("words", "said"), [
    ([], "no process given; write: timeloom attach PID [TL072]"),
    (["1", "2"], "one process is given by its number; write: timeloom attach PID [TL072]"),
    (["-m", "app"], "one process is given by its number; write: timeloom attach PID [TL072]"),
    (["-O", "1"], "the other Python runs already: there is no flag for it; see timeloom attach --help [TL072]"),
    (["--for", "soon", "1"], "--for: 'soon' is not a time above 0, such as 500ms, 10s or 2min [TL101]"),
    (["--for=-1s", "1"], "--for: '-1s' is not a time above 0, such as 500ms, 10s or 2min [TL101]"),
    (["1", "--within"], "--within needs a value: a time such as 500ms, 10s or 2min [TL108]"),
    (["--dump", "--for", "1s", "1"], "--dump takes no time: leave out --for [TL072]"),
    (["--fro", "1s", "1"], "unknown option --fro; did you mean --for? [TL109]"),
    (["--follow", "all", "1"], "--follow: one process is recorded; attach to its children by their own numbers [TL072]"),
    (["1", "--instrumenter=frame"], "--instrumenter: a running process is observed by the instrumenter "
     '"monitoring" only; leave it out [TL113]'),
    (["--dump"], "--dump takes one process and no other option; write: timeloom attach --dump PID [TL072]"),
    (["--dump", "-o", "x", "1"], "--dump takes one process and no other option; write: timeloom attach --dump PID [TL072]"),
])  # fmt: skip
def test_wrong_usage(timeloom_program, words, said):
    assert attach(timeloom_program, *words, status=2) == said


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 has no such instrumenter")
def test_tasks_are_refused(timeloom_program):
    said = attach(timeloom_program, "--async-tasks", "1", status=2)
    assert said.startswith("--async-tasks: tasks that run already cannot be told apart; leave it out")


def test_help(timeloom_program):
    done = subprocess.run([timeloom_program, "attach", "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: timeloom attach [options] PID\n")
    assert done.stderr == ""


def test_names_that_are_no_text(process):
    """A thread may have any bytes as its name, and a command any locale."""
    one = process(sys.executable, "-c", "import time; open('/proc/self/comm', 'wb').write(b'caf\\xe9'); time.sleep(100)")
    until(lambda: Path(f"/proc/{one.pid}/comm").read_bytes() == b"caf\xe9\n")
    assert find_process(str(one.pid)).pid == one.pid
    assert _dump._name(one.pid, one.pid) == "caf\ufffd"


@pytest.mark.parametrize("option", [[], ["--dump"]])
def test_what_is_no_python_process(timeloom_program, process, option):
    ended = process("true")
    ended.wait()
    assert attach(timeloom_program, *option, ended.pid).startswith(f"there is no process {ended.pid}; ")
    other = process("sleep", "100")
    until(lambda: os.readlink(f"/proc/{other.pid}/exe") == os.path.realpath(shutil.which("sleep") or ""))
    assert attach(timeloom_program, *option, other.pid) == f"process {other.pid} (sleep) is not a Python program [TL615]"
    said = attach(timeloom_program, *option, "app.py")
    assert said == "'app.py' is not the number of a process; write: timeloom attach PID [TL610]"


def test_one_that_its_parent_has_not_noticed(process):
    ended = process("true")
    until(lambda: " Z " in open(f"/proc/{ended.pid}/stat").read())  # noqa: SIM115
    said = reason(find_process, str(ended.pid))
    assert said == f"process {ended.pid} has ended; only its parent, process {os.getpid()}, has not noticed yet [TL614]"


def test_a_thread_and_this_command(process):
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    said = reason(find_process, str(thread.native_id))
    over.set()
    thread.join()
    assert said == f"{thread.native_id} is a thread of process {os.getpid()}; write: timeloom attach {os.getpid()} [TL613]"
    assert reason(find_process, str(os.getpid())) == f"process {os.getpid()} is this command [TL611]"


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python can be reached")
@pytest.mark.parametrize(("option", "oldest"), [([], "3.12"), (["--dump"], "3.14")])
def test_a_python_that_is_too_old(timeloom_program, process, option, oldest, tmp_path):
    if not option and sys.version_info >= (3, 12):
        pytest.skip("this Python can be reached by a debugger")
    one = process()
    version = ".".join(map(str, sys.version_info[:3]))
    expected = f"process {one.pid} runs Python {version}, and one that runs already can be reached from {oldest} on; start it with timeloom run [TL618]"
    if sys.version_info >= (3, 12):
        expected = f"process {one.pid} runs Python {version}, whose stacks can be read from 3.14 on; timeloom attach {one.pid} records its calls [TL618]"
    assert attach(timeloom_program, *option, one.pid, cwd=tmp_path) == expected
    assert os.listdir(tmp_path) == []


def running(process, interpreter=None):
    """Return the process as one of this version that can be reached."""
    interpreter = interpreter or Interpreter(tuple(sys.version_info[:3]), "t" in sys.abiflags)
    with open(f"/proc/{process.pid}/cmdline") as file:
        words = file.read().split("\0")[:-1]
    return Process(process.pid, words, sys.executable, interpreter, os.geteuid())


def test_other_versions(process):
    one = process()
    said = reason(refuse_other_python, running(one, Interpreter((3, 11, 1), False)))
    assert said.startswith(f"process {one.pid} runs Python 3.11.1, and one that runs already can be reached from 3.12 on")
    said = reason(refuse_other_python, running(one, Interpreter((3, 13, 1), False)), (3, 14))
    assert said.endswith(f"runs Python 3.13.1, whose stacks can be read from 3.14 on; timeloom attach {one.pid} records its calls [TL618]")
    said = reason(refuse_other_python, running(one, Interpreter((3, 13, 1), True)))
    assert said.startswith(f"process {one.pid} runs Python 3.13.1t, and one without a GIL can be reached from 3.14 on")
    said = reason(refuse_other_python, running(one, Interpreter(None, False)))
    assert said.startswith(f"process {one.pid} runs Python before 3.11, and ")
    said = reason(refuse_other_python, running(one, Interpreter((3, 99, 1), True)))
    assert said.startswith(f"process {one.pid} runs Python 3.99.1t, this command {sys.version_info.major}.")
    assert f"; write: {sys.executable} -m timeloom._attach" in said


def test_the_version_is_read_from_the_file_of_the_process(process):
    one = process()
    until(lambda: "libc" in open(f"/proc/{one.pid}/maps").read())  # noqa: SIM115
    found = until(lambda: find_process(str(one.pid)))
    assert found.interpreter.version == tuple(sys.version_info[:3])
    assert found.interpreter.free_threaded == ("t" in sys.abiflags)
    assert found.words == [sys.executable, "-c", SLEEP]
    assert found.user == os.geteuid()


@pytest.mark.parametrize(("flags", "variable", "said"), [
    ([], "1", "was started with PYTHON_DISABLE_REMOTE_DEBUG, which keeps everybody out; start it without [TL619]"),
    ([], "", None),
    (["-E"], "1", None),
    (["-X", "disable_remote_debug"], "", "was started with -X disable_remote_debug; start it without [TL619]"),
    (["-Xdisable-remote-debug"], "", "was started with -X disable_remote_debug; start it without [TL619]"),
])  # fmt: skip
def test_a_process_that_keeps_everybody_out(process, flags, variable, said):
    one = process(sys.executable, *flags, "-c", SLEEP, env=environment({"PYTHON_DISABLE_REMOTE_DEBUG": variable}))
    until(lambda: open(f"/proc/{one.pid}/cmdline").read())  # noqa: SIM115
    if said is None:
        refuse_unwilling(running(one))
    else:
        assert reason(refuse_unwilling, running(one)) == f"process {one.pid} {said}"


def as_other_user(function):
    """Return the function's message when another user calls it, in a separate process."""
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the child runs nothing of other threads
        child = os.fork()
    if child == 0:
        try:
            os.setuid(65534)
            os.write(write, function().encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_process_of_another_user(process, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/x/timeloom/_attach.py", "--for", "1s", "4711"])
    one = process()
    said = as_other_user(lambda: reason(find_process, str(one.pid)))
    assert said == f"process {one.pid} belongs to root; write: sudo timeloom attach --for 1s 4711 [TL617]"


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
@pytest.mark.parametrize("option", ["--mount", "--pid"])
def test_a_process_in_another_container(process, option):
    unchanged = ["--propagation", "unchanged"] if option == "--mount" else []
    one = process("unshare", option, *unchanged, "--fork", sys.executable, "-c", SLEEP, start_new_session=True)

    def child():
        if one.poll() is not None:
            pytest.skip("no such namespace can be made here")
        with open(f"/proc/{one.pid}/task/{one.pid}/children") as file:
            numbers = file.read().split()
        if not numbers:
            return None
        with open(f"/proc/{numbers[0]}/cmdline") as file:
            return numbers[0] if file.read().startswith(sys.executable) else None

    pid = until(child)
    within = "1" if option == "--pid" else pid
    said = reason(find_process, pid)
    os.kill(int(pid), signal.SIGKILL)
    assert said == f"process {pid} is in another container; write in that one, which nsenter --target {pid} --all gets into: timeloom attach {within} [TL616]"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_process_with_another_root(process, tmp_path):
    one = process(sys.executable, "-c", f"import os, time; os.chroot({str(tmp_path)!r}); time.sleep(100)")
    until(lambda: os.readlink(f"/proc/{one.pid}/root") != "/")
    assert reason(find_process, str(one.pid)) == (
        f"process {one.pid} has another root directory, {tmp_path}; write in there: timeloom attach {one.pid} [TL616]"
    )


def test_damaged_interpreters(tmp_path):
    from timeloom._symbols import interpreter_in

    whole = open(sys.executable, "rb").read()  # noqa: SIM115
    place = tmp_path / "python"
    for size in (0, 4, 5, 30, 63, 64, 1000, len(whole) // 2):
        place.write_bytes(whole[:size])
        assert interpreter_in(str(place)) is None
    place.write_bytes(b"\x7fELF\x02\x01" + b"\xff" * 500)
    assert interpreter_in(str(place)) is None


def frame(function, line):
    return SimpleNamespace(funcname=function, filename="app.py", location=line)


@pytest.mark.parametrize("shape", ["threads", "interpreters", "locations"])
def test_stacks_are_printed_as_tracebacks_are(shape):
    """In each form that versions of Python return them."""
    line = (lambda n: SimpleNamespace(lineno=n)) if shape == "interpreters" else lambda n: n
    if shape == "locations":
        line = lambda n: (n, n, 0, 5)
    pid = os.getpid()
    main = SimpleNamespace(thread_id=pid, frame_info=[frame("inner", line(3)), frame("<module>", line(9))])
    other = SimpleNamespace(thread_id=1 << 30, frame_info=[])
    trace = [other, main]
    if shape == "interpreters":
        for info in main.frame_info:
            info.lineno, info.location = info.location.lineno, None
        trace = [SimpleNamespace(interpreter_id=0, threads=trace)]
    threads = sorted(_dump._threads(trace), key=lambda thread: thread.id)
    process = Process(pid, ["python", "app.py"], "", Interpreter((3, 14, 0), False), 0)
    with open(f"/proc/{pid}/comm") as file:
        name = file.read().rstrip()
    assert _dump.text_of(process, threads) == (
        f"process {pid}: python app.py\n"
        f"main thread {pid} ({name}):\n  app.py:9 <module>\n  app.py:3 inner\n"
        f"thread {1 << 30} (ended):\n  no Python code\n"
    )


class Reader:
    """As _remote_debugging.RemoteUnwinder: `finds` by whether all threads are asked for."""

    def __init__(self, finds):
        self.finds = finds

    def __call__(self, pid, *, all_threads):
        def get_stack_trace():
            found = self.finds[all_threads]
            if isinstance(found, Exception):
                raise found
            return [SimpleNamespace(thread_id=one, frame_info=[frame("f", 3)]) for one in found]

        return SimpleNamespace(get_stack_trace=get_stack_trace)


@pytest.mark.parametrize(
    ("every", "main", "shown", "said"),
    [
        ([7, 8], [7], [7, 8], ""),
        ([8], [7], [8], "the main thread of process 7 is missing: one with sub-interpreters is not read completely"),
        (RuntimeError("Too many stack frames"), [7], [7], "only the main thread of process 7 is shown"),
        (RuntimeError("Too many stack frames"), RuntimeError("Too many stack frames"), None, "has more calls than"),
        ([], [], None, "finds no thread in process 7: one with sub-interpreters"),
        (RuntimeError("odd"), [7], None, "cannot be read: odd; try it again"),
    ],
)
def test_stacks_that_cannot_all_be_read(monkeypatch, every, main, shown, said):
    reader = SimpleNamespace(RemoteUnwinder=Reader({True: every, False: main}))
    monkeypatch.setitem(sys.modules, "_remote_debugging", reader)
    process = Process(7, ["python"], "", Interpreter((3, 14, 0), False), 0)
    if shown is None:
        with pytest.raises(Refused, match=said):
            _dump.read_stacks(process)
        return
    stacks = _dump.read_stacks(process)
    assert [thread.id for thread in stacks.threads] == shown
    assert stacks.missing.startswith(said)
    assert bool(stacks.missing) is bool(said)


def test_control_characters_are_not_printed():
    process = Process(os.getpid(), ["python", "a\x1b[31m\nb", "\x9b"], "", Interpreter((3, 14, 0), False), 0)
    text = _dump.text_of(process, [_dump.Thread(1 << 30, [_dump.Frame("a\nb.py", 1, "f\x7f")])])
    assert text == f"process {os.getpid()}: python a?[31m?b ?\nthread {1 << 30} (ended):\n  a?b.py:1 f?\n"


def test_the_python_of_an_environment_is_named_as_it_was_called(tmp_path):
    called = tmp_path / "python"
    called.symlink_to(sys.executable)
    real = os.path.realpath(sys.executable)
    for word, expected in ((str(called), str(called)), ("python", real), ("/no/such", real), (real, real)):
        process = Process(7, [word], real, Interpreter((3, 14, 0), False), 0)
        assert _process._python_of(process) == expected


def test_a_stopped_process_is_known(process):
    one = process()
    there = Process(one.pid, [], "", Interpreter((3, 14, 0), False), 0)
    assert not _process.is_stopped(there)
    one.send_signal(signal.SIGSTOP)
    until(lambda: _process.is_stopped(there))
    one.send_signal(signal.SIGCONT)
    until(lambda: not _process.is_stopped(there))
