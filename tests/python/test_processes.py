"""Child processes, and processes that die: what each of them has recorded, and how it ended.

Programs count what they do; the run has to know the same.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
from streams import environment

# Who starts processes the way a test wants them started.
COMMON = """
import os, signal, sys, time

def work(n):
    for _ in range(n):
        step()

def step():
    pass
"""


class Run:
    """A woven run as its users see it: `timeloom info --json` and callpaths.json."""

    def __init__(self, directory, program):
        self.directory = directory
        done = subprocess.run(
            [program, "info", "--json", directory], capture_output=True, text=True, check=True
        )
        self.info = json.loads(done.stdout)
        self.groups = self.info["groups"]
        self.names = [group["name"] for group in self.groups]

    def visits(self, region):
        """Visits of a region in each process."""
        file = json.loads((self.directory / "callpaths.json").read_text())
        regions = [index for index, one in enumerate(file["regions"]) if one["name"] == region]
        counts = [0] * len(self.groups)
        nodes = {i for i, of in enumerate(file["nodes"]["region"]) if of in regions}
        for location in file["locations"]:
            for node, visits in zip(location["node"], location["visits"]):
                if node in nodes:
                    counts[location["group"]] += visits
        return counts

    @property
    def ending(self):
        return self.info["properties"].get("timeloom::ending", "")


@pytest.fixture
def measure(tmp_path, timeloom_program):
    def measure(text, *options, arguments=(), status=0, before=None):
        program = tmp_path / "program.py"
        program.write_text(COMMON + textwrap.dedent(text))
        run = tmp_path / "run"
        command = [sys.executable, "-m", "timeloom", "--quiet", "-o", run, *options, program, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=200, env=environment(),
            preexec_fn=before,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (status, "")
        return Run(run, timeloom_program), done.stdout

    return measure


def test_forked_children_have_the_parents_call_path(measure):
    run, _ = measure("""
        def fork(n):
            pid = os.fork()
            if pid == 0:
                work(n)
                sys.exit(n)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == n
        work(7)
        for n in (1, 2, 3):
            fork(n)
        """)
    assert [group["creator"] for group in run.groups] == [None, 0, 0, 0]
    assert run.visits("__main__.step") == [7, 1, 2, 3]
    assert run.visits("__main__.fork") == [3, 1, 1, 1]
    assert run.names[1:] == [run.names[0] + " (fork)"] * 3
    assert run.ending == "" and not (run.directory / "spool").exists()


def test_children_of_children(measure):
    run, _ = measure("""
        def descend(n):
            work(n)
            pid = os.fork() if n < 4 else None
            if pid == 0:
                descend(n + 1)
            elif pid:
                os.waitpid(pid, 0)
        descend(1)
        """)
    assert [group["creator"] for group in run.groups] == [None, 0, 1, 2]
    assert run.visits("__main__.step") == [1, 2, 3, 4]


def test_forks_from_threads(measure):
    """50 at once, beside threads that never stop recording."""
    run, output = measure("""
        import threading, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        done = []
        def busy():
            while not done: work(10)
        def fork(n):
            pid = os.fork()
            if pid == 0:
                work(n)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        others = [threading.Thread(target=busy) for _ in range(2)]
        threads = [threading.Thread(target=fork, args=(n,)) for n in range(1, 51)]
        for thread in others + threads: thread.start()
        for thread in threads: thread.join()
        done.append(1)
        """)
    assert sorted(run.visits("__main__.step")[1:]) == list(range(1, 51))
    assert {group["ending"] for group in run.groups[1:]} == {"ended by os._exit(0)"}
    assert {group["creator"] for group in run.groups[1:]} == {0}


STARTS = ["fork", "spawn", "forkserver"]
MULTIPROCESSING = """
import multiprocessing

def task(n):
    work(n)
    return n

def each(pool):
    return sum(pool.map(task, [10] * 8))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
"""


@pytest.mark.parametrize("method", STARTS)
def test_multiprocessing_processes(measure, method):
    run, _ = measure(MULTIPROCESSING + """
    children = [context.Process(target=task, args=(n,), name=f"child {n}") for n in (3, 4)]
    for child in children: child.start()
    for child in children: child.join()
    assert [child.exitcode for child in children] == [0, 0]
    """, arguments=[method])  # fmt: skip
    steps = dict(zip(run.names, run.visits("__main__.step")))
    steps.update(zip(run.names, map(sum, zip(run.visits("__main__.step"), run.visits("__mp_main__.step")))))
    assert len(run.groups) == 3 and (steps["child 3"], steps["child 4"]) == (3, 4)
    assert [group["creator"] for group in run.groups] == [None, 0, 0]


def tasks_of(run):
    return map(max, run.visits("__main__.task"), run.visits("__mp_main__.task"))


def total(run, region):
    return sum(sum(run.visits(f"{module}.{region}")) for module in ("__main__", "__mp_main__"))


@pytest.mark.parametrize("method", STARTS)
def test_pools(measure, method):
    """Ended by SIGTERM while they wait: every event that they recorded is there."""
    run, output = measure(MULTIPROCESSING + """
    with context.Pool(3) as pool:
        print(each(pool))
    """, arguments=[method])  # fmt: skip
    assert output == "80\n" and total(run, "step") == 80 and total(run, "task") == 8
    # A worker may be ended before it has begun, and has no name yet.
    worked = [name for name, tasks in zip(run.names, tasks_of(run)) if tasks]
    assert worked and all("PoolWorker-" in name for name in worked) and len(run.groups) <= 4
    endings = {group["ending"] for group, tasks in zip(run.groups, tasks_of(run)) if tasks}
    assert endings <= {"", "ended by SIGTERM", "ended by os._exit(0)"}


@pytest.mark.parametrize("method", STARTS)
def test_executors(measure, method):
    run, output = measure(MULTIPROCESSING + """
    import concurrent.futures
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        print(sum(pool.map(task, [10] * 8)))
    """, arguments=[method])  # fmt: skip
    assert output == "80\n" and total(run, "step") == 80
    assert run.ending == ""


def test_manager_and_shared_memory(measure):
    run, output = measure(MULTIPROCESSING + """
    from multiprocessing import shared_memory
    with context.Manager() as manager:
        shared = manager.list()
        shared.append(task(5))
        print(list(shared))
    block = shared_memory.SharedMemory(create=True, size=100)
    block.close(); block.unlink()
    """, arguments=["spawn"])  # fmt: skip
    assert output == "[5]\n" and total(run, "step") == 5
    assert any("Manager" in name for name in run.names)


PYTHONS = """
import subprocess
me = [sys.executable, __file__]
todo = sys.argv[1] if len(sys.argv) > 1 else ""
if todo == "leaf": work(2)
elif todo == "middle": work(3); subprocess.run([*me, "leaf"], check=True)
elif todo == "exec": work(4); os.execv(sys.executable, [*me, "leaf"])
elif todo == "module": work(5)
else:
    subprocess.run([*me, "middle"], check=True)
    subprocess.run([*me, "exec"], check=True)
    subprocess.run([sys.executable, "-m", "program", "module"], check=True)
    assert os.waitpid(os.posix_spawn(sys.executable, [*me, "leaf"], os.environ), 0)[1] == 0
"""


def test_every_python_on_request(measure):
    run, _ = measure(PYTHONS, "--follow", "all")
    assert sorted(run.visits("__main__.step")) == [0, 2, 2, 2, 3, 4, 5]
    assert sorted(group["creator"] or 0 for group in run.groups)[:5] == [0] * 5
    endings = dict(zip(run.visits("__main__.step"), (group["ending"] for group in run.groups)))
    assert endings == {0: "", 2: "", 3: "", 4: "became another program (exec)", 5: ""}


@pytest.mark.parametrize("follow", ["workers", "none"])
def test_other_pythons_are_left_alone(measure, follow):
    run, _ = measure(PYTHONS, "--follow", follow)
    assert len(run.groups) == 1


def test_what_a_child_that_is_not_followed_sees(measure):
    _, output = measure("""
        import subprocess
        subprocess.run([sys.executable, "-c", "import os, sys; print([m for m in sys.modules if 'timeloom' in m], "
                        "[v for v in os.environ if v.startswith('TIMELOOM')])"], check=True)
        """)
    assert output == "[] []\n"


def test_a_run_of_its_own_inside_a_run(measure, tmp_path, timeloom_program):
    run, _ = measure(f"""
        import subprocess
        inner = [sys.executable, "-m", "timeloom", "--quiet", "-o", {str(tmp_path / "inner")!r}, "-c", "def f(): pass\\nf()"]
        subprocess.run(inner, check=True)
        """, "--follow", "all")  # fmt: skip
    assert len(run.groups) == 1
    assert Run(tmp_path / "inner", timeloom_program).visits("__main__.f") == [1]


DEATHS = {
    "os._exit": ("os._exit(3)", 3, "ended by os._exit(3)"),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -15, "ended by SIGTERM"),
    "SIGHUP": ("os.kill(os.getpid(), signal.SIGHUP)", -1, "ended by SIGHUP"),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -9, "ended before the measurement could be finished"),
    "SIGSEGV": ("import ctypes; ctypes.string_at(0)", -11, "ended by SIGSEGV"),
    "abort": ("os.abort()", -6, "ended by SIGABRT"),
    "SIGUSR1": ("os.kill(os.getpid(), signal.SIGUSR1)", -10, "ended by SIGUSR1"),
    "exec": ("os.execv('/bin/sh', ['sh', '-c', 'exit 5'])", 5, "became another program (exec)"),
    "handled": ("signal.signal(15, lambda *_: sys.exit(6)); os.kill(os.getpid(), 15)", 6, ""),
    "default again": (
        "signal.signal(15, signal.SIG_IGN); signal.signal(15, signal.SIG_DFL); os.kill(os.getpid(), 15)",
        -15, "ended before the measurement could be finished",
    ),
}  # fmt: skip


@pytest.mark.parametrize("death", DEATHS)
def test_ways_to_die(measure, death):
    """Of the program itself, and of a child: the last event before the end is there."""
    text, status, ending = DEATHS[death]
    run, _ = measure(f"work(1000)\n{text}\n", status=status)
    assert run.visits("__main__.step") == [1000]
    assert (run.groups[0]["ending"], run.ending) == (ending, ending)


@pytest.mark.parametrize("death", DEATHS)
def test_ways_to_die_of_a_child(measure, death):
    text, status, ending = DEATHS[death]
    run, _ = measure(f"""
        pid = os.fork()
        if pid == 0:
            work(1000)
            {text}
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """)  # fmt: skip
    assert run.visits("__main__.step") == [0, 1000]
    assert run.groups[1]["ending"] == ending


def test_signal_handlers_are_the_programs_own(measure):
    """What Python says of them, and what it gives back, is as without us."""
    _, output = measure("""
        print([signal.getsignal(s) for s in (1, 10, 15)], signal.signal(15, signal.SIG_IGN))
        """)
    assert output == f"{[signal.SIG_DFL] * 3} {signal.SIG_DFL}\n"


def test_exec_that_fails_changes_nothing(measure):
    run, _ = measure("""
        work(3)
        try: os.execv("/nowhere", ["x"])
        except FileNotFoundError: work(4)
        """)
    assert run.visits("__main__.step") == [7] and run.ending == ""


def test_all_descriptors_closed(measure):
    """As daemons do it: nothing of ours goes into files of the program, nothing is lost."""
    run, output = measure("""
        work(10)
        os.closerange(3, 5000)
        files = [os.open(f"own{n}", os.O_CREAT | os.O_RDWR) for n in range(20)]
        for n in range(600, 620): os.dup2(files[0], n)
        exec("".join(f"def named{n}(): pass\\nnamed{n}()\\n" for n in range(100)))
        work(1_500_000)
        print([os.fstat(f).st_size for f in files])
        """)
    assert output == f"{[0] * 20}\n"
    assert run.visits("__main__.step") == [1_500_010] and run.visits("__main__.named99") == [1]
    assert run.ending == "" and run.info["losses"] == []


def test_run_directory_deleted(measure, tmp_path):
    """Children of a program whose run is gone record nothing and say nothing."""
    program = tmp_path / "p.py"
    program.write_text(COMMON + textwrap.dedent("""
        import shutil
        shutil.rmtree("run")
        pid = os.fork()
        work(5)
        if pid: print(os.waitpid(pid, 0)[1])
        """))  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "-o", "run", program],
        cwd=tmp_path, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0\n")
    assert "the run was removed meanwhile" in done.stderr and not (tmp_path / "run" / "spool").exists()


def test_many_children(measure):
    """More processes than there may be open files."""
    import resource

    def few_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    run, _ = measure("""
        for n in range(300):
            pid = os.fork()
            if pid == 0:
                work(1)
                os._exit(0)
            os.waitpid(pid, 0)
        """, before=few_files)  # fmt: skip
    assert run.visits("__main__.step") == [0] + [1] * 300


def test_forked_while_paused_or_not_recording(measure):
    run, _ = measure("""
        import timeloom
        def fork(n):
            pid = os.fork()
            if pid == 0:
                work(n)
                timeloom.resume(); timeloom.enable_recording()
                work(1)
                os._exit(0)
            os.waitpid(pid, 0)
        timeloom.pause()
        fork(100)
        timeloom.resume()
        timeloom.disable_recording()
        fork(100)
        timeloom.enable_recording()
        work(2)
        """)
    assert run.visits("__main__.step") == [2, 1, 1]


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_alive_when_the_parent_ends(measure, timeloom_program, end):
    """Woven with what it had by then, and once more when it has ended."""
    run, output = measure(f"""
        read, write = os.pipe()
        os.mkfifo("go")
        pid = os.fork()
        if pid == 0:
            os.setsid()
            for n in range(3): os.close(n)
            work(10)
            os.write(write, b".")
            os.read(os.open("go", os.O_RDONLY), 1)
            work(5)
            {"sys.exit()" if end == "exit" else "os.kill(os.getpid(), 9)"}
        print(pid)
        os.read(read, 1)
        """)  # fmt: skip
    assert run.visits("__main__.step") == [0, 10]
    assert "1 process still running" in run.ending and run.groups[1]["ending"] == "still running"
    fifo = run.directory.parent / "go"
    with open(fifo, "w") as file:
        file.write("x")
    while os.path.exists(f"/proc/{output.strip()}"):
        pass
    run = Run(run.directory, timeloom_program)
    assert run.visits("__main__.step") == [0, 15]
    assert not (run.directory / "spool").exists()
