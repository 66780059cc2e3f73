"""Child processes: the records of each.

Programs count their own calls; the run must have the same numbers.
"""

import os

import pytest
from process_runs import Run, measure  # noqa: F401

pytestmark = pytest.mark.any_python


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
    assert run.visits("__main__.fork") == [3, 0, 0, 0]  # see test_forks.py
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


@pytest.mark.race
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


@pytest.mark.race
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


@pytest.mark.race
@pytest.mark.parametrize("method", STARTS)
def test_pools(measure, method):
    """Ended by SIGTERM while they wait: every recorded event is there."""
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


@pytest.mark.race
@pytest.mark.parametrize("method", STARTS)
def test_executors(measure, method):
    run, output = measure(MULTIPROCESSING + """
    import concurrent.futures
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        print(sum(pool.map(task, [10] * 8)))
    """, arguments=[method])  # fmt: skip
    assert output == "80\n" and total(run, "step") == 80
    assert run.ending == ""


@pytest.mark.race
def test_joblib(measure):
    """Its workers (loky) are neither forked nor of multiprocessing, and outlive the work."""
    pytest.importorskip("joblib")
    run, output = measure(MULTIPROCESSING + """
    import joblib
    for _ in range(2):
        print(sum(joblib.Parallel(n_jobs=2)(joblib.delayed(task)(10) for _ in range(8))))
    """, arguments=["spawn"])  # fmt: skip
    assert output == "80\n80\n" and total(run, "step") == 160 and total(run, "task") == 16
    assert {group["creator"] for group in run.groups[1:]} == {0}


@pytest.mark.race
def test_workers_that_are_killed(measure):
    """One of a pool of an executor; the others are ended for it."""
    run, output = measure(MULTIPROCESSING + """
    import concurrent.futures
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        print(sum(pool.map(task, [10] * 8)))
        try: pool.submit(os.abort).result()
        except concurrent.futures.process.BrokenProcessPool: print("broken")
    """, arguments=["fork"])  # fmt: skip
    assert output == "80\nbroken\n" and total(run, "step") == 80
    assert "ended by SIGABRT" in {group["ending"] for group in run.groups}


@pytest.mark.race
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
                        "[v for v in os.environ if v.startswith('TIMELOOM') and v != 'TIMELOOM_GC'])"], check=True)
        """)
    assert output == "[] []\n"


RANKS = """
import subprocess, threading
if "RANK" in os.environ:
    work(10 * (int(os.environ["RANK"]) + 1))
    if sys.argv[1:] == ["nested"]:
        subprocess.run([sys.executable, "-m", "program"], env={**os.environ, "RANK": "7"}, check=True)
    sys.exit()

def launch(rank):
    words = ["nested"] if rank == 3 else []
    subprocess.run([sys.executable, "-u", "-m", "program", *words], check=True,
                   env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "8"})

threads = [threading.Thread(target=launch, args=(rank,)) for rank in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


@pytest.mark.race
def test_launchers_of_ranks(measure):
    """As torchrun does it: each rank is this Python once more, started from threads."""
    run, _ = measure(RANKS, "--follow", "all")
    steps = dict(zip(run.names[1:], run.visits("__main__.step")[1:]))
    assert steps == {f"program rank {rank}": 10 * (rank + 1) for rank in (0, 1, 2, 3, 7)}
    creators = {name: group["creator"] for name, group in zip(run.names, run.groups)}
    assert creators["program rank 7"] == run.names.index("program rank 3")
    assert {creators[f"program rank {rank}"] for rank in range(4)} == {0}


def test_a_run_of_its_own_inside_a_run(measure, tmp_path, timeloom_program):
    run, _ = measure(f"""
        import subprocess
        inner = [sys.executable, "-m", "timeloom", "--quiet", "-o", {str(tmp_path / "inner")!r}, "-c", "def f(): pass\\nf()"]
        subprocess.run(inner, check=True)
        """, "--follow", "all")  # fmt: skip
    assert len(run.groups) == 1
    assert Run(tmp_path / "inner", timeloom_program).visits("__main__.f") == [1]


def test_many_children(measure):
    """More processes than the limit on open files."""
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


@pytest.mark.race
@pytest.mark.parametrize("end", ["exit", "kill"])
def test_alive_when_the_parent_ends(measure, timeloom_program, end):
    """Woven with its records so far, and again when it has ended."""
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
