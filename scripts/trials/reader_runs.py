"""The programs that scripts/trials/real_readers.py measures, and Timeloom's own results for their runs."""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import typing

from scripts import environments

CALLS = """
import threading

def leaf(n):
    return n

def work(n):
    for i in range(n):
        leaf(i)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def main():
    fib(9)
    threads = [threading.Thread(target=work, args=(n,), name=f"worker <{n}>") for n in (3, 50)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

if __name__ == "__main__":
    main()
"""

PROCESSES = """
import multiprocessing

def square(n):
    return sum(n for _ in range(n))

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(sum(pool.map(square, range(40), chunksize=1)))
        pool.close()
        pool.join()
"""

TASKS = """
import asyncio

async def sleeper(n):
    for _ in range(n):
        await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(sleeper(n) for n in range(1, 6)))

asyncio.run(main())
"""

COUNTERS = """
import timeloom

def step(n):
    with timeloom.region("inner"):
        timeloom.parameter_int("n", n % 3)
        timeloom.counter("values", n)

for n in range(20):
    step(n)
"""


class Program(typing.NamedTuple):
    name: str
    text: str
    options: tuple[str, ...] = ()
    door: tuple[str, ...] = ("-m", "timeloom", "--quiet", "--force", "-o", "run")
    # Extra-P and hatchet cannot represent tuples of values; ViTE 1.2 crashes on metrics of a process.
    without: tuple[str, ...] = ()


PROGRAMS = [
    Program("calls", CALLS),
    Program("processes", PROCESSES),
    Program("tasks", TASKS, ("--async-tasks",), without=("timemory",)),  # it has no rows of tasks
    Program("sampled", CALLS, ("--metric-rusage", "all")),
    Program("sampled once", CALLS, ("--metric-rusage-per-process", "ru_maxrss"), without=("vite",)),
    Program("counters", COUNTERS, without=("extrap", "hatchet")),
    Program("scorep", CALLS, door=("-m", "scorep")),
]


class Run:
    """A run with Timeloom's results: visits and exclusive seconds by region."""

    def __init__(self, directory: pathlib.Path, program: Program) -> None:
        self.directory, self.program = directory, program
        self.profile, self.trace = directory / "profile.cubex", directory / "traces.otf2"
        self.timeloom = pathlib.Path(sys.executable).with_name("timeloom")
        self.info = json.loads(self.output("info", "--json"))
        self.visits, self.seconds = self.sums()

    def output(self, command: str, *options: str) -> str:
        words = [str(self.timeloom), command, *options, str(self.directory)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def sums(self, *options: str) -> tuple[collections.Counter[str], dict[str, float]]:
        visits: collections.Counter[str] = collections.Counter()
        seconds: dict[str, float] = collections.defaultdict(float)
        for row in json.loads(self.output("report", "--json", *options))["flat"]["rows"]:
            visits[row["name"]] += row["visits"]
            seconds[row["name"]] += row["exclusive_s"]
        return visits, seconds

    def visits_on(self, location: int) -> collections.Counter[str]:
        return +self.sums("--thread", str(location))[0]

def measure(scratch: pathlib.Path, program: Program) -> Run:
    work = scratch / program.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "app.py").write_text(program.text)
    variables = {**environments.clean_environment(), "SCOREP_ENABLE_TRACING": "true",
                 "SCOREP_EXPERIMENT_DIRECTORY": "run"}  # fmt: skip
    subprocess.run([sys.executable, *program.door, *program.options, "app.py"], cwd=work, env=variables, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return Run(work / "run", program)
