"""Threads that already run, that outlive the program, that C code starts; forked children."""

import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from archives import DEBIAN_PYTHON
from converted import READER, events_of
from spool_reader import spools_of
from streams import assert_same, each_instrumenter, measure, plain, run_program, run_python, streams_of, write_program
from test_streams_programs import calls, check, kept

# Threads wait for each other here, so that the records of each are known.
IN_THE_MIDDLE = """
import threading, timeloom

def middle(n):
    if n:
        middle(n - 1)
    else:
        waiting.release()
        go_on.acquire()
        leaf()
    leaf()

def leaf(): pass

def generator():
    leaf()
    yield
    waiting.release()
    go_on.acquire()
    leaf()
    yield

def runs_generator():
    for _ in generator():
        leaf()

def work(function, *arguments):
    function(*arguments)
    leaf()

waiting, go_on = threading.Semaphore(0), threading.Semaphore(0)
threads = [threading.Thread(target=work, args=arguments) for arguments in ((middle, 2), (runs_generator,))]
for thread in threads:
    thread.start()
for thread in threads:
    waiting.acquire()
"""


@each_instrumenter
def test_threads_that_run_already(instrumenter, tmp_path):
    """Recorded from the next function on; functions started before are not recorded."""
    program = IN_THE_MIDDLE + textwrap.dedent(f"""
    with timeloom.Measurement(output="block", instrumenter={instrumenter!r}, weave=False):
        leaf()
        for thread in threads:
            go_on.release()
        for thread in threads:
            thread.join()
        leaf()
    """)
    process = run_program(program, tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    expected = ["leaf. leaf.", "leaf. leaf. leaf. leaf. leaf.", "leaf. leaf. generator. leaf."]
    assert_same(streams_of(tmp_path / "block", kept), [calls(text) for text in expected])


@each_instrumenter
def test_threads_that_go_on_after_the_measurement(instrumenter, tmp_path):
    """Open functions of another thread are left when the measurement ends; a second one records the rest."""
    program = IN_THE_MIDDLE.replace("waiting, go_on", f"first = timeloom.Measurement(output='first', instrumenter={instrumenter!r}, weave=False).start()\nwaiting, go_on") + textwrap.dedent(f"""
    first.finish()
    leaf()
    with timeloom.Measurement(output="second", instrumenter={instrumenter!r}, weave=False):
        for thread in threads:
            go_on.release()
        for thread in threads:
            thread.join()
    """)
    process = run_program(program, tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    expected = ["work middle middle middle. . . .", "work runs_generator generator leaf. . leaf. generator. . ."]
    assert_same(streams_of(tmp_path / "first", kept), [calls(text) for text in expected])
    expected = ["leaf. leaf. leaf. leaf. leaf.", "leaf. leaf. generator. leaf."]
    assert_same(streams_of(tmp_path / "second", kept), [calls(text) for text in expected])


@each_instrumenter
def test_daemon_threads_alive_at_exit(instrumenter, tmp_path):
    program = """
    import sys, threading
    sys.setswitchinterval(1e-5)
    def busy(): ready.release(); spin()
    def spin():
        while True: leaf()
    def leaf(): pass
    def blocked(): ready.release(); threading.Event().wait()
    ready = threading.Semaphore(0)
    for target in (busy, busy, blocked, blocked):
        threading.Thread(target=target, daemon=True).start()
        ready.acquire()
    leaf()
    print("end")
    """
    streams, process = measure(textwrap.dedent(program), instrumenter, tmp_path)
    assert (process.returncode, process.stdout, process.stderr) == (0, "end\n", "")
    main = calls("<module> leaf. .")
    blocked = [stream for stream in streams if ["enter", "__main__.blocked"] in stream]
    busy = [stream for stream in streams if ["enter", "__main__.busy"] in stream]
    assert_same([streams[0], *blocked], [main, calls("blocked."), calls("blocked.")])
    assert len(busy) == 2
    for stream in busy:
        assert stream[:2] == [["enter", "__main__.busy"], ["enter", "__main__.spin"]]
        assert stream[-2:] == [["leave", "__main__.spin"], ["leave", "__main__.busy"]]
        assert all(name == "__main__.leaf" for _, name in stream[2:-2])


FOREIGN = r"""
#include <pthread.h>
#include <stddef.h>
typedef int (*Callback)(int);
static Callback callback;
static void* run(void* argument) {
  for (int i = 0; i < 3; ++i) callback((int)(size_t)argument);
  return NULL;
}
void call_from_threads(Callback function, int count) {
  pthread_t threads[64];
  callback = function;
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, run, (void*)(size_t)i);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}
"""


@each_instrumenter
def test_foreign_threads(instrumenter, tmp_path):
    """Each call from C creates and destroys the thread's state in Python."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "this test needs a C compiler"
    (tmp_path / "foreign.c").write_text(FOREIGN)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "foreign.so", tmp_path / "foreign.c", "-lpthread"], check=True)
    program = """
    import ctypes, timeloom
    def called(n):
        with timeloom.region("user:r"):
            leaf(n)
        return 0
    def leaf(n):
        if n: leaf(n - 1)
    library = ctypes.CDLL("./foreign.so")
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(called)
    library.call_from_threads(callback, 4)
    leaf(0)
    """
    expected = ["<module> leaf. ."]
    for n in range(4):
        expected.append(3 * ("called user:r " + "leaf " * (n + 1) + "." * (n + 1) + " . . "))
    check(program, instrumenter, tmp_path, *expected)


# A thread that the system ends on request, long after Python has forgotten it.
LINGERING = r"""
#include <pthread.h>
#include <semaphore.h>
static pthread_key_t key;
static sem_t over;
static void linger(void* value) { (void)value; sem_wait(&over); }
void prepare(void) { sem_init(&over, 0, 0); pthread_key_create(&key, linger); }
void will_linger(void) { pthread_setspecific(key, &over); }
void end(void) { sem_post(&over); }
"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="join() waits for the system")
@each_instrumenter
def test_a_thread_that_is_joined_before_the_system_has_ended_it(instrumenter, tmp_path):
    (tmp_path / "lingering.c").write_text(LINGERING)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "lingering.so", tmp_path / "lingering.c", "-lpthread"], check=True)
    program = f"""
    import ctypes, threading, timeloom
    def work(): library.will_linger()
    library = ctypes.CDLL("./lingering.so")
    library.prepare()
    with timeloom.Measurement(output="run", instrumenter={instrumenter!r}):
        thread = threading.Thread(target=work, name="lingers")
        thread.start()
        thread.join()
    library.end()
    """
    process = run_program(textwrap.dedent(program), tmp_path)
    assert (process.returncode, process.stdout) == (0, "")
    with open(tmp_path / "events.json", "w") as file:
        subprocess.run([DEBIAN_PYTHON, READER, tmp_path / "run" / "traces.otf2"], stdout=file, check=True)
    numbered = {place[1]: [(kind, words[1]) for kind, *words in events if kind in ("create", "begin", "end", "wait")]
                for place, events in events_of(tmp_path / "run").items()}  # fmt: skip
    (number,) = {number for words in numbered.values() for _, number in words}
    assert numbered == {"MainThread": [("create", number), ("wait", number)], "lingers": [("begin", number), ("end", number)]}


@each_instrumenter
def test_forked_children(instrumenter, tmp_path):
    """Not followed, they record nothing and end as usual; the parent's run is complete."""
    program = """
    import multiprocessing, os, sys, threading, time, timeloom
    def f(n):
        if n: f(n - 1)
    def child():
        f(3)
        with timeloom.region("user:r"):
            f(1)
        timeloom.counter("c", 1)
        timeloom.marker("m")
        with timeloom.stop():
            f(1)
        timeloom.disable_recording()
        timeloom.enable_recording()
        threading.Thread(target=f, args=(2,)).start()
        sys.exit(7)
    def forks():
        forking.append(True)
        time.sleep(0.002)
        pid = os.fork()
        if pid == 0:
            child()
        forking.clear()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    def busy():
        # In the middle of its calls at every fork; idle in between, where more of them prove no more.
        while not done:
            if forking: f(1)
            else: time.sleep(0.001)
    def square(n):
        f(1)
        return n * n
    forking, done = [], []
    print(forks(), flush=True)
    thread = threading.Thread(target=busy)
    thread.start()
    print([forks() for _ in range(5)], flush=True)
    done.append(1)
    thread.join()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(square, range(5)))
    f(1)
    """
    program = textwrap.dedent(program)
    streams, process = measure(program, instrumenter, tmp_path, "--follow", "none", keep=kept)
    undisturbed = plain(program, tmp_path)
    assert process.returncode == 0
    without_ids = lambda text: re.sub(r"pid=\d+", "", text)
    assert without_ids(process.stderr) == without_ids(undisturbed.stderr)
    assert process.stdout == undisturbed.stdout
    main, busy = streams[0], streams[-1]
    assert_same([main], [calls("<module>" + " forks." * 6 + " f f. . .")])
    assert busy[0] == ["enter", "__main__.busy"] and ["enter", "__main__.square"] not in busy


@each_instrumenter
def test_measurement_in_a_forked_child(instrumenter, tmp_path):
    """A measurement that the child starts is its own."""
    program = f"""
    import os, timeloom
    def f(): pass
    def in_child():
        with timeloom.Measurement(output="child", force=True, instrumenter={instrumenter!r}, weave=False):
            f()
    f()
    pid = os.fork()
    if pid == 0:
        in_child()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    f()
    """
    streams, process = measure(textwrap.dedent(program), instrumenter, tmp_path, "--follow", "none", keep=kept)
    assert (process.returncode, process.stdout) == (0, "0\n")
    assert_same(streams, [calls("<module> f. f. .")])
    assert_same(streams_of(tmp_path / "child"), [calls("f.")])

    followed = tmp_path / "followed"
    program_path = write_program(tmp_path, textwrap.dedent(program))
    process = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", followed, program_path], tmp_path)
    assert (process.returncode, process.stdout) == (0, "0\n")
    assert len(spools_of(followed)) == 2
    assert_same(streams_of(tmp_path / "child"), [calls("f.")])


@each_instrumenter
def test_thread_names(instrumenter, tmp_path):
    program = """
    import threading, _thread
    def f(): lock.release()
    lock = threading.Semaphore(0)
    threading.Thread(target=f, name="named").start()
    lock.acquire()
    class Own(threading.Thread):
        def run(self): self.name = "renamed"; f()
    own = Own(name="before"); own.start(); own.join()
    def stays(): lock.release(); forever.acquire()
    forever = threading.Lock(); forever.acquire()
    late = threading.Thread(target=stays, name="early", daemon=True); late.start()
    lock.acquire(); lock.acquire()
    late.name = "late"
    """
    run = tmp_path / f"run-{instrumenter}"
    measure(textwrap.dedent(program), instrumenter, tmp_path)
    (spool,) = spools_of(run)
    assert [spool.threads[location] for location in spool.locations()] == ["MainThread", "named", "before", "late"]


@pytest.mark.parametrize("thread", ["MainThread", "worker"])
def test_an_archive_of_one_thread_defines_what_its_events_refer_to(tmp_path, timeloom, thread):
    (tmp_path / "program.py").write_text(
        "import threading\nworker = threading.Thread(target=int, name='worker')\nworker.start()\nworker.join()\n")
    timeloom("run", "--quiet", "-o", "run", "program.py", cwd=tmp_path)
    timeloom("convert", "--to", "otf2", "--thread", thread, "-o", "part", "run", cwd=tmp_path)
    text = "import otf2, sys\nwith otf2.reader.open(sys.argv[1]) as trace:\n" \
           "    print({e.thread_contingent.name for _, e in trace.events if hasattr(e, 'thread_contingent')})"
    done = subprocess.run([DEBIAN_PYTHON, "-c", text, tmp_path / "part" / "traces.otf2"], capture_output=True, text=True, check=True)
    assert done.stdout == "{'Threads'}\n"
