"""Workers of engines have the names that the engines give them. Small modules stand in for the engines."""

import json
import subprocess
import sys
import types

import pytest
from process_runs import Run, measure  # noqa: F401
from streams import environment

import timeloom_follow

pytestmark = pytest.mark.any_python

WORKER = """
import os, sys, types, weakref
from types import SimpleNamespace as Thing

def module(name, **names):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(names)

class Worker:
    _instances = weakref.WeakSet()
    name, address = 1, "tcp://127.0.0.1:34567"

class Counter:
    pass

def after():
    pass
"""

# The engine's code in its worker; the name.
ENGINES = {
    "xdist": ("module('execnet.gateway_base'); os.environ['PYTEST_XDIST_WORKER'] = 'gw3'", "gw3"),
    "what xdist's worker starts": ("os.environ['PYTEST_XDIST_WORKER'] = 'gw3'", "worker.py"),
    "DataLoader": ("module('torch.utils.data._utils.worker', _worker_info=Thing(id=2, num_workers=4))", "DataLoader worker 2"),
    "DataLoader of the parent": ("module('torch.utils.data._utils.worker', _worker_info=None)", "worker.py"),
    "Celery": ("module('billiard.process', _current_process=Thing(_name='ForkPoolWorker-1'))", "ForkPoolWorker-1"),
    "Celery's main process": ("module('billiard.process', _current_process=Thing(_name='MainProcess'))", "worker.py"),
    "Dask": ("one = Worker(); Worker._instances.add(one); module('distributed.worker', Worker=Worker)",
             "Dask worker 1 tcp://127.0.0.1:34567"),
    "two of Dask in one process": ("all = [Worker(), Worker()]; [Worker._instances.add(one) for one in all]\n"
                                   "module('distributed.worker', Worker=Worker)", "worker.py"),
    "Ray": ("module('ray._private.worker', global_worker=Thing(mode=1, worker_id=bytes(range(16)), actors={}))",
            "Ray worker 00010203"),
    "Ray's actor": ("module('ray._private.worker', global_worker=Thing(mode=1, worker_id=bytes(28), actors={'id': Counter()}))",
                    "Ray actor Counter 00000000"),
    "Ray's driver": ("module('ray._private.worker', global_worker=Thing(mode=0, worker_id=bytes(28), actors={}))", "worker.py"),
}  # fmt: skip


def test_workers_are_told_apart(measure, tmp_path):
    """Also where they are killed, as Ray and Dask end theirs."""
    (tmp_path / "worker.py").write_text(WORKER + f"exec({ {name: text for name, (text, _) in ENGINES.items()}!r}[sys.argv[1]])\n"
                                        "after()\nos.kill(os.getpid(), 9)\n")  # fmt: skip
    run, _ = measure(f"""
        import subprocess
        for name in {list(ENGINES)!r}:
            subprocess.run([sys.executable, "worker.py", name])
        """, "--follow", "all")  # fmt: skip
    in_order = sorted(run.groups[1:], key=lambda group: group["process_id"])
    assert [group["name"] for group in in_order] == [name for _, name in ENGINES.values()]


def test_forked_workers_of_a_pool(measure):
    """They have a copy of the modules and variables of their parent."""
    run, _ = measure(WORKER + """
module('billiard.process', _current_process=Thing(_name='MainProcess'))
module('execnet.gateway_base'); os.environ['PYTEST_XDIST_WORKER'] = 'gw3'
for number in (1, 2):
    if os.fork() == 0:
        sys.modules['billiard.process']._current_process = Thing(_name=f'ForkPoolWorker-{number}')
        after()
        os._exit(0)
    os.wait()
""")
    assert [name.rpartition("/")[2] for name in run.names] == ["program.py", "ForkPoolWorker-1", "ForkPoolWorker-2"]


def test_the_command_of_a_worker_is_not_the_users_code(measure):
    run, _ = measure("""
        import multiprocessing
        if __name__ == "__main__":
            exec("work(1)")
            worker = multiprocessing.get_context("spawn").Process(target=exec, args=("x = 1",))
            worker.start()
            worker.join()
        """)
    assert run.visits("multiprocessing.<command>") == [0, 1]
    assert run.visits("__main__.<module>") == [2, 0]  # the script and its text; in the worker it is __mp_main__


def test_functions_that_cloudpickle_ships_are_one_row(measure, tmp_path, timeloom):
    """It creates code with this file name again in the worker, and globals with the names of the module."""
    (tmp_path / "worker.py").write_text(f"""if True:
        import types
        def work(): pass
        code = work.__code__.replace(co_filename="<dynamic-code>", co_firstlineno=3)
        for _ in range(3):  # each time it is shipped
            names = {{"__name__": "shop", "__file__": {str(tmp_path / "shop.py")!r}, "__builtins__": __builtins__}}
            types.FunctionType(code, names)()
        """)
    (tmp_path / "shop.py").write_text("\n\ndef work(): pass\n")
    run, _ = measure("""
        import shop, subprocess
        shop.work()
        subprocess.run([sys.executable, "worker.py"])
        """, "--follow", "all")  # fmt: skip
    assert run.visits("shop.work") == [1, 3]
    rows = json.loads(timeloom("report", "--json", run.directory).stdout)["flat"]["rows"]
    assert [(row["visits"], row["file"]) for row in rows if row["name"] == "shop.work"] == [(4, str(tmp_path / "shop.py"))]


def test_names_that_the_locale_cannot_decode_are_bytes(tmp_path, timeloom_program):
    script = tmp_path.joinpath(b"caf\xe9.py".decode("utf-8", "surrogateescape"))
    script.write_text("def f(): pass\nf()\n")
    command = [sys.executable, "-m", "timeloom", "--quiet", "-o", "run", script.name]
    subprocess.run(command, cwd=tmp_path, check=True, env={**environment(), "LC_ALL": "C.UTF-8"})
    definitions = (tmp_path / "run" / "traces.def").read_bytes()
    assert str(tmp_path).encode() + b"/caf\xe9.py\0" in definitions and b"udce9" not in definitions
    report = subprocess.run([timeloom_program, "report", "--json", "run"], cwd=tmp_path, capture_output=True, check=True)
    assert json.loads(report.stdout)["run"] == "run"
    assert Run(tmp_path / "run", timeloom_program).visits("__main__.f") == [1]


@pytest.mark.parametrize(
    ("command", "role"),
    [
        ("-m pyspark.daemon pyspark.worker", "daemon"),
        ("-m pyspark.daemon", "daemon"),  # before Spark 3.4
        ("-m own_daemon pyspark.worker", "daemon"),  # spark.python.daemon.module
        ("-m pyspark.worker", "spark"),  # spark.python.use.daemon=false
        ("/lib/pyspark/find_spark_home.py", None),
        ("program.py -m pyspark.daemon", "program"),
        ("-m pyspark.sql", "program"),
    ],
)
def test_pythons_that_spark_starts(command, role):
    assert timeloom_follow.role_of(["python3", *command.split()]) == role


def test_workers_of_spark_are_told_of_the_run_of_now(monkeypatch):
    """A second measurement in one process has another run; values of the program stay."""
    from timeloom._engines import _spark_workers

    own, told = types.SimpleNamespace(environment={"TIMELOOM_PARENT": "mine"}), types.SimpleNamespace(environment={})
    for run in ("first", "second", None):
        for name in ("TIMELOOM_PARENT", "TIMELOOM_RUN_ID"):
            monkeypatch.setenv(name, run) if run else monkeypatch.delenv(name)
        _spark_workers.tell_workers(own)
        _spark_workers.tell_workers(told)
        assert told.environment == ({"TIMELOOM_PARENT": run, "TIMELOOM_RUN_ID": run} if run else {})
        assert own.environment["TIMELOOM_PARENT"] == "mine"
