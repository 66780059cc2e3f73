"""PySpark as it is: each task in a Python worker is a region with Spark's numbers, and is counted by the program as well."""

import collections
import json
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from process_runs import Run
from streams import environment

import timeloom as package

pyspark = pytest.importorskip("pyspark")
pytestmark = [pytest.mark.any_python, pytest.mark.engine_suite]

# Every function that runs in a worker writes its name with the numbers of its task, which the program prints in the end.
PROGRAM = """
import os, signal, sys
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import pandas_udf, udf

HERE = os.getcwd()

def note(name):
    task = TaskContext.get()
    numbers = task.taskAttemptId(), task.stageId(), task.partitionId(), task.attemptNumber()
    with open(os.path.join(HERE, "calls"), "a") as file:
        file.write(" ".join(map(str, (name, *numbers))) + "\\n")

def first_time(name):
    try:
        os.close(os.open(os.path.join(HERE, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True

def twice(n):
    note("twice")
    return 2 * half(2 * n)

def half(n):
    note("half")
    return n // 2

def words(line):
    note("words")
    return line.split()

def pair(word):
    note("pair")
    return word, 1

def add(a, b):
    note("add")
    return a + b

def start(master="local[2]", **settings):
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for name, value in {"spark.driver.host": "127.0.0.1", "spark.log.level": "OFF", **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
"""


def run_program(directory, text, *options, **variables):
    (directory / "program.py").write_text(PROGRAM + textwrap.dedent(text))
    command = [sys.executable, "-m", "timeloom", "-o", "run", *options, "program.py"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=500,
                          env={**environment(), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **variables})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "EOFError" not in done.stderr, done.stderr  # of a thread of pyspark that outlives the JVM
    return done.stdout, [line for line in done.stderr.splitlines() if line.startswith("timeloom")]


def calls(directory):
    """The calls that the program has counted, by function, and the tasks in which a function ran: id, stage, ..."""
    lines = [line.split() for line in (directory / "calls").read_text().splitlines()]
    return collections.Counter(name for name, *_ in lines), lambda *names: sorted(
        {tuple(map(int, numbers)) for name, *numbers in lines if name in names})  # fmt: skip


def tasks_of(run, prefix):
    tasks = [task for task in package.read(run.directory).tasks() if task["prefix"] == prefix]
    return sorted((int(task["key"]), task["stage"], task["partition"], task["attempt"]) for task in tasks)


def rows_by(timeloom, run, key):
    rows = json.loads(timeloom("report", "--by", key, "--json", run.directory).stdout)["rows"]
    return {row["name"]: row["tasks"] for row in rows}


def functions_in(run, *prefixes):
    return [row["name"] for row in package.read(run.directory).flat if row["name"].startswith(prefixes)]


def check_counts(run, counted):
    assert {name: sum(run.visits(f"__main__.{name}")) for name in counted} == counted


def test_functions_of_columns_and_collections(tmp_path, timeloom, timeloom_program):
    """The program does not stop its session: Spark ends when the program has ended."""
    output, lines = run_program(tmp_path, """
        if __name__ == "__main__":
            spark = start()
            column = udf(twice, "long", useArrow=False)
            print(spark.range(0, 40, 1, 4).select(column("id").alias("twice")).groupBy().sum("twice").collect()[0][0])
            lines = spark.sparkContext.parallelize(["a b c", "b c", "c"] * 4, 3)
            print(sorted(lines.flatMap(words).map(pair).reduceByKey(add, 2).collect()))
        """)  # fmt: skip
    assert output == "1560\n[('a', 4), ('b', 8), ('c', 12)]\n"
    counted, tasks_with = calls(tmp_path)
    run = Run(tmp_path / "run", timeloom_program)
    check_counts(run, counted)
    assert counted["twice"] == 40
    assert tasks_of(run, "twice") == tasks_with("twice") and len(tasks_with("twice")) == 4
    assert tasks_of(run, "words, pair, add") == tasks_with("words") and len(tasks_with("words")) == 3
    assert len(tasks_of(run, "add")) == 2
    assert rows_by(timeloom, run, "task") == {"twice": 4, "words, pair, add": 3, "add": 2}
    workers = rows_by(timeloom, run, "worker")
    assert set(workers) <= {f"Spark worker {n + 1}" for n in range(9)} and sum(workers.values()) == 9
    assert any(line.endswith("(Spark), 9 tasks") for line in lines) and "TL" not in "".join(lines), lines
    assert run.ending == ""
    assert functions_in(run, "py4j.", "pyspark.worker", "pyspark.daemon", "__main__.worker") == []


def test_pandas(tmp_path, timeloom, timeloom_program):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    output, _ = run_program(tmp_path, """
        def plus_one(column):
            note("plus_one")
            return column + 1

        def positive(parts):
            note("positive")
            for part in parts:
                yield part[part.n > 10]

        if __name__ == "__main__":
            spark = start()
            numbers = spark.range(0, 20, 1, 2).select(pandas_udf(plus_one, "long")("id").alias("n"))
            print(sorted(row.n for row in numbers.mapInPandas(positive, "n long").collect()))
            spark.stop()
        """)  # fmt: skip
    assert output == f"{list(range(11, 21))}\n"
    counted, tasks_with = calls(tmp_path)
    run = Run(tmp_path / "run", timeloom_program)
    assert sum(run.visits("__main__.plus_one")) == counted["plus_one"] > 0
    assert tasks_of(run, "plus_one") == tasks_with("plus_one") and len(tasks_with("plus_one")) == 2
    assert tasks_of(run, "positive") == tasks_with("positive") and len(tasks_with("positive")) == 2


def test_failures_and_two_sessions(tmp_path, timeloom, timeloom_program):
    """One task fails once, another one kills its worker; the second session counts its tasks anew."""
    output, _ = run_program(tmp_path, """
        def fail_once(n):
            note("fail_once")
            if n == 3 and first_time("failed"):
                raise ValueError(n)
            return half(n)

        def die_once(n):
            note("die_once")
            if n == 5 and first_time("died"):
                os.kill(os.getpid(), signal.SIGKILL)
            return half(n)

        if __name__ == "__main__":
            for function in (fail_once, die_once):
                spark = start("local[2,3]")
                print(spark.sparkContext.parallelize(range(8), 2).map(function).sum())
                spark.stop()
        """)  # fmt: skip
    assert output == "12\n12\n"
    counted, tasks_with = calls(tmp_path)
    run = Run(tmp_path / "run", timeloom_program)
    check_counts(run, counted)
    for function in ("fail_once", "die_once"):
        assert tasks_of(run, function) == tasks_with(function) and len(tasks_with(function)) == 3
    assert [attempt for *_, attempt in tasks_with("fail_once")].count(1) == 1
    for task in package.read(run.directory).tasks():  # a task that is repeated is in the queue when it is sent
        assert 0 <= task["at_worker_s"] <= task["queued_s"] < task["start_s"]
        assert task["attempt"] == 0 or task["at_worker_s"] == task["queued_s"]
    endings = {group["ending"] for group in run.groups if group["name"].startswith("Spark worker")}
    assert "ended by Spark" in endings <= {"", "ended by Spark", "ended by SIGHUP", "ended by os._exit(0)"}


WORK = """
        import time

        def work(n):
            started = time.monotonic_ns()
            while time.monotonic_ns() - started < 50_000_000:
                half(n)
            with open(os.path.join(HERE, "times"), "a") as file:
                file.write(f"{TaskContext.get().taskAttemptId()} {started} {time.monotonic_ns()}\\n")
            return n
"""


def test_time_in_the_queue(tmp_path, timeloom, timeloom_program):
    """One task at a time: the others of its stage wait, and their workers are there when Spark sends them."""
    output, _ = run_program(tmp_path, WORK + """
        if __name__ == "__main__":
            spark = start("local[1]")
            spark.range(10).count()  # tasks without Python have ids as well
            before = time.monotonic_ns()
            print(spark.sparkContext.parallelize(range(4), 4).map(work).sum())
            print(before)
        """)  # fmt: skip
    total, before = map(int, output.split())
    assert total == 6
    ran = [tuple(map(int, line.split())) for line in (tmp_path / "times").read_text().splitlines()]
    run = Run(tmp_path / "run", timeloom_program)
    tasks = package.read(run.directory).tasks()
    assert [task["key"] for task in tasks] == [str(key) for key, *_ in ran] and len(tasks) == 4
    rounding = 2e-3  # Spark's times are whole milliseconds
    waited = 0
    for task, (_, started, _), last in zip(tasks, ran, [before, *(ended for *_, ended in ran)], strict=False):
        assert waited - rounding < task["queued_s"] < (started - before) * 1e-9 + rounding
        assert 0 <= task["at_worker_s"] < (started - last) * 1e-9 + rounding
        waited += task["end_s"] - task["start_s"]
    queues = json.loads(timeloom("report", "--tasks", "--json", run.directory).stdout)["queues"]
    assert [(row["name"], row["tasks"]) for row in queues] == [("work", 4)]
    assert queues[0]["queued_s"] == pytest.approx(sum(task["queued_s"] for task in tasks))
    assert sum(run.visits("times of tasks")) == 1


def test_spark_does_not_tell_its_times(tmp_path, timeloom_program):
    """It is of another version, for one: nothing of this shows in the program."""
    output, lines = run_program(tmp_path, """
        if __name__ == "__main__":
            spark = start("local[1]")
            print(spark.sparkContext.parallelize(range(4), 1).map(half).sum())
            spark.sparkContext._jvm = None
            spark.stop()
        """)  # fmt: skip
    assert output == "2\n" and [line for line in lines if "TL" in line and "TL169" not in line] == []
    tasks = package.read(tmp_path / "run").tasks()
    assert [(task["queued_s"], task["at_worker_s"]) for task in tasks] == [(None, None)]


def test_daemon_of_the_user(tmp_path, timeloom, timeloom_program):
    """It is left as it is, and its workers are measured."""
    (tmp_path / "own_daemon.py").write_text("""
import os
from pyspark import daemon
open("daemon-was-here", "w").close()
if __name__ == "__main__":
    daemon.manager()
""")
    output, _ = run_program(tmp_path, """
        if __name__ == "__main__":
            spark = start(**{"spark.python.daemon.module": "own_daemon"})
            print(spark.sparkContext.parallelize(range(8), 2).map(half).sum())
            spark.stop()
        """, PYTHONPATH=os.fspath(tmp_path))  # fmt: skip
    assert output == "12\n" and (tmp_path / "daemon-was-here").exists()
    run = Run(tmp_path / "run", timeloom_program)
    assert tasks_of(run, "half") == calls(tmp_path)[1]("half") and len(tasks_of(run, "half")) == 2


def test_without_a_daemon_and_with_functions_of_spark(tmp_path, timeloom, timeloom_program):
    run_program(tmp_path, """
        if __name__ == "__main__":
            spark = start("local[1]", **{"spark.python.use.daemon": "false"})
            print(spark.sparkContext.parallelize(range(8), 2).map(half).sum())
            spark.stop()
        """, "--engine-functions")  # fmt: skip
    run = Run(tmp_path / "run", timeloom_program)
    assert tasks_of(run, "half") == calls(tmp_path)[1]("half") and len(tasks_of(run, "half")) == 2
    assert "pyspark.util.fail_on_stopiteration.<locals>.wrapper" in functions_in(run, "pyspark.")


@pytest.fixture
def standalone(tmp_path):
    """A cluster of Spark's own, whose processes do not have the environment of the program; its address."""
    start = Path(pyspark.__file__).parent / "bin" / "spark-class"
    variables = {**environment(), "SPARK_HOME": os.fspath(start.parents[1]), "SPARK_LOCAL_IP": "127.0.0.1"}
    place, log = "org.apache.spark.deploy.", tmp_path / "master"
    words = {"master.Master": ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"],
             "worker.Worker": ["--cores", "1", "--memory", "600m", "--webui-port", "0", "--work-dir", tmp_path / "work"]}  # fmt: skip
    started = []

    def run(name, output, *more):
        command = [start, place + name, *words[name], *more]
        started.append(subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=output))

    try:
        with log.open("w") as output:
            run("master.Master", output)
            while not (found := re.search(r"Starting Spark master at (\S+)", log.read_text())):
                assert started[0].poll() is None, log.read_text()
                time.sleep(0.1)
            run("worker.Worker", subprocess.DEVNULL, found[1])
            yield found[1]
    finally:
        for one in started:
            one.terminate()
            one.wait()


def test_executors_of_a_cluster(tmp_path, standalone, timeloom, timeloom_program):
    """Spark tells its workers where the run is."""
    _, lines = run_program(tmp_path, f"""
        if __name__ == "__main__":
            spark = start({standalone!r}, **{{"spark.executor.memory": "512m"}})
            spark.sparkContext.parallelize(range(6), 3).map(twice).count()
            spark.stop()
        """)  # fmt: skip
    counted, _ = calls(tmp_path)
    run = Run(tmp_path / "run", timeloom_program)
    assert counted["half"] == sum(run.visits("__main__.half")) == 6
    assert "timeloom: 1 worker (Spark), 3 tasks" in lines
