"""Counts the cost of ranks and wrapper libraries, on the interpreter that runs this.

usage: python bench/native.py [--json] [--ranks N,...] [--calls N] [--scratch DIR]

Method
  ranks    N ranks of one job run a program of CALLS calls each, all at once on this machine, as a
           launcher would start them (PMI_RANK, PMI_SIZE, TIMELOOM_JOB), with --no-weave; then
           timeloom weave. Counts of the records: files and bytes, and the nodes of the tree by which
           the ranks find the last one. Counts of the result: files and bytes. Counts of the weave:
           peak memory and CPU seconds, with CALLS and with four times as many calls. The same if
           each rank has converted its events before, as it does at its end without --no-weave (the
           weave is then the last rank's, with --numbers), and the CPU seconds of the conversion, for
           one rank; and the same for packed runs, with the files and bytes that are left between
           the packing of the ranks and the last weave. Ranks send no messages to each other when
           they end.
  calls    instructions of a wrapper library in a call while nothing is measured, counted step by
           step (tests/native/count_steps.c; x86-64); for MPI if there is an mpicc, in one process
  writes   nanoseconds added to a recorded pwrite of one byte to a file in memory, divided by the
           nanoseconds added to a recorded call of an empty Python function; alternately plain and
           measured, in one process
  mpi      the same for MPI calls that send and receive a message of one byte: a process under
           `mpirun -n 1` sends to itself, so that no call waits (Isend, then Recv). Of the rounds of
           500 calls the fastest counts, plain and measured, because MPI's own time varies between
           rounds by more than the cost of a record. null without mpi4py and mpirun; MPI4PY_LIBMPI
           names the library of that mpirun, if there are several
  openmp   CPU microseconds of the process that a recorded parallel region of two threads takes more
           than a plain one, alternately plain and measured, in one process whose threads sleep while
           they wait (OMP_WAIT_POLICY=passive: time in which they spin is not the recorder's); and
           the same for the wrappers while nothing is measured, in two processes

  functions  nanoseconds of a call of an empty C function built with -finstrument-functions: under a hook that only
           reads the clock, at the enter and at the leave, and recorded with --compiler; alternately, of the rounds
           of each the fastest counts (x86-64)

Counts do not depend on the load of the machine; the others do. bench/README.md has the other programs.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = "def step():\n    pass\n\nfor _ in range({calls}):\n    step()\n"
WRAPPED = ("read", "write", "pread", "lseek", "close", "fread", "pthread_mutex_trylock", "pthread_mutex_unlock")
WRAPPED_MPI = ("MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Put", "MPI_Gatherv", "MPI_Sendrecv", "MPI_Get_accumulate",
               "MPI_Initialized", "MPI_Finalized", "MPI_Comm_dup", "MPI_Comm_split")  # fmt: skip
# Of Open MPI: in containers, and without a network.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
            "OMPI_MCA_pml": "ob1"}  # fmt: skip

# Peak memory and CPU time of one command, measured in a separate process: the peak of this process's children would be
# the largest one's.
USAGE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)
"""

WRITES = """
import os, statistics, sys, time
import timeloom
TIMES, CYCLES = 20_000, 7
file = os.memfd_create("file")
def empty():
    pass
def call():
    for _ in range(TIMES):
        empty()
def write(pwrite=os.pwrite):
    for _ in range(TIMES):
        pwrite(file, b"x", 0)
def seconds(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin
ratios = []
for cycle in range(CYCLES):
    plain = {function: seconds(function) for function in (call, write)}
    with timeloom.Measurement(output=f"{sys.argv[1]}/run-{cycle}"):
        added = {function: seconds(function) - plain[function] for function in (call, write)}
    ratios.append(added[write] / added[call])
print(statistics.median(ratios))
"""

MPI_CALLS = """
import json, sys, time
import timeloom
from mpi4py import MPI
TIMES, ROUNDS, CYCLES = 500, 50, 7
comm = MPI.COMM_WORLD
# With number and type, for which mpi4py asks MPI otherwise: a second call.
buffers = [(bytearray(1), 1, MPI.BYTE) for _ in range(TIMES)]
requests = [None] * TIMES
def empty():
    pass
def call():
    for _ in range(TIMES):
        empty()
def send(isend=comm.Isend):
    for i in range(TIMES):
        requests[i] = isend(buffers[i], 0)
def receive(recv=comm.Recv, room=(bytearray(1), 1, MPI.BYTE)):
    for _ in range(TIMES):
        recv(room, 0)
def seconds(least):
    for _ in range(ROUNDS):
        for function in least:
            begin = time.perf_counter()
            function()
            least[function] = min(least[function], time.perf_counter() - begin)
        MPI.Request.Waitall(requests)
plain, measured = (dict.fromkeys((call, send, receive), 1e9) for _ in range(2))
for cycle in range(CYCLES):
    seconds(plain)
    with timeloom.Measurement(output=f"{sys.argv[1]}/run-{cycle}", weave=False):
        seconds(measured)
added = {function.__name__: measured[function] - plain[function] for function in plain}
print(json.dumps({name: added[name] / added["call"] for name in ("send", "receive")}))
"""

TEAMS = """
void teams(int count) {
  for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2)
    __asm__ volatile("");
  }
}
"""

OPENMP = """
import ctypes, json, statistics, sys, time
import timeloom
TIMES, CYCLES = 20_000, 7
teams = ctypes.CDLL(sys.argv[2]).teams
def seconds():
    begin = time.process_time()
    teams(TIMES)
    return time.process_time() - begin
seconds()
plain, measured = [], []
for cycle in range(CYCLES):
    plain.append(seconds())
    if sys.argv[3] == "measured":
        with timeloom.Measurement(output=f"{sys.argv[1]}/run-{cycle}", weave=False):
            measured.append(seconds())
added = [after - before for before, after in zip(plain, measured)]
print(json.dumps({"plain": min(plain) / TIMES * 1e6, "added": statistics.median(added or [0]) / TIMES * 1e6}))
"""


FUNCTION = """
#include <stdio.h>
#include <time.h>
#define PLAIN __attribute__((no_instrument_function))
enum { TIMES = 1000000, ROUNDS = 10 };
__attribute__((noinline)) static void empty(void) { __asm__ volatile(""); }
PLAIN static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}
PLAIN int main(void) {
  double least = 1e9;
  for (int round = 0; round < ROUNDS; ++round) {
    const double begin = now();
    for (int i = 0; i < TIMES; ++i) empty();
    const double each = (now() - begin) / TIMES;
    if (each < least) least = each;
  }
  printf("%f", least);
  return 0;
}
"""
CLOCK_HOOK = """
static unsigned long long g_sum;
void __cyg_profile_func_enter(void* function, void* caller) { g_sum += __builtin_ia32_rdtsc(); }
void __cyg_profile_func_exit(void* function, void* caller) { g_sum += __builtin_ia32_rdtsc(); }
"""


def program_of(name: str) -> str:
    beside = pathlib.Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name) or name


def files_and_bytes(directory: pathlib.Path) -> tuple[int, int]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files)


def record(directory: pathlib.Path, ranks: int, calls: int, *options: str) -> pathlib.Path:
    """The run that the ranks leave, not woven."""
    directory.mkdir(exist_ok=True)
    (directory / "app.py").write_text(PROGRAM.format(calls=calls), encoding="utf-8")
    command = [sys.executable, "-m", "timeloom", "--quiet", "--no-weave", "--no-mpi", *options, "-o", "run", "app.py"]
    variables = {"PMI_SIZE": str(ranks), "MPI_LOCALNRANKS": "1", "TIMELOOM_JOB": "bench"}
    started = [
        subprocess.Popen(command, cwd=directory, env={**os.environ, **variables, "PMI_RANK": str(rank)})
        for rank in range(ranks)
    ]
    if any(process.wait() != 0 for process in started):
        raise SystemExit(f"native.py: a rank of {ranks} has failed")
    return directory / "run"


def usage_of_weave(*words: str) -> tuple[int, float]:
    """Bytes of peak memory, and seconds of CPU time."""
    command = [sys.executable, "-c", USAGE, program_of("timeloom"), "weave", *words]
    peak, seconds = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(peak), round(float(seconds), 3)


def convert(run: pathlib.Path) -> float:
    """Each rank's part of the weave; returns the mean of their CPU seconds."""
    spools = [path.parent for path in (run / "spool").glob("rank-*/*/defs")]
    return round(sum(usage_of_weave("--convert", str(len(spools)), str(spool))[1] for spool in spools) / len(spools), 3)


def of_ranks(ranks: int, calls: int, scratch: str | None) -> dict[str, float]:
    figures: dict[str, float] = {"ranks": ranks, "calls": calls}
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        run = record(pathlib.Path(name), ranks, calls)
        figures["nodes"] = sum(1 for _ in (run / "spool" / "ended").iterdir())
        figures["record_files"], figures["record_bytes"] = files_and_bytes(run / "spool")
        apart = pathlib.Path(name) / "apart"
        shutil.copytree(run, apart)
        figures["weave_peak_bytes"], figures["weave_seconds"] = usage_of_weave(str(apart))
        figures["convert_seconds"] = convert(run)
        figures["joining_peak_bytes"], figures["joining_seconds"] = usage_of_weave("--numbers", str(run))
        figures["result_files"], figures["result_bytes"] = files_and_bytes(run)
        packed = record(pathlib.Path(name) / "packed", ranks, calls, "--trace-format", "packed")
        shutil.copytree(packed, apart := packed.with_name("apart"))
        figures["packed_peak_bytes"], figures["packed_seconds"] = usage_of_weave(str(apart))
        figures["pack_seconds"] = convert(packed)
        figures["packed_record_files"], figures["packed_record_bytes"] = files_and_bytes(packed / "spool")
        usage = usage_of_weave("--numbers", str(packed))
        figures["packed_joining_peak_bytes"], figures["packed_joining_seconds"] = usage
        figures["packed_files"], figures["packed_bytes"] = files_and_bytes(packed)
    return figures


def preload(*options: str) -> str:
    command = [program_of("timeloom"), "preload", "--print", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def instructions(scratch: str | None) -> dict[str, int]:
    counts = instructions_with(scratch, ["cc"], WRAPPED, "--io", "posix", "--thread", "pthread")
    if shutil.which("mpicc") is not None:
        counts |= instructions_with(scratch, ["mpicc", "-DWITH_MPI"], WRAPPED_MPI, "--mpi")
    return counts


def instructions_with(
    scratch: str | None, compiler: list[str], functions: tuple[str, ...], *options: str
) -> dict[str, int]:
    loaded = {**os.environ, **OPEN_MPI, "LD_PRELOAD": preload(*options)}
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        counter = os.path.join(name, "count_steps")
        source = str(ROOT / "tests" / "native" / "count_steps.c")
        subprocess.run([*compiler, "-O1", source, "-o", counter, "-pthread"], check=True)
        return {
            function: int(subprocess.run([counter, function], check=True, capture_output=True, env=loaded).stdout)
            for function in functions
        }


def write_ratio(scratch: str | None) -> float:
    loaded = {**os.environ, "LD_PRELOAD": preload("--io", "posix")}
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        command = [sys.executable, "-c", WRITES, name]
        return float(subprocess.run(command, check=True, capture_output=True, env=loaded).stdout)


def mpi_ratios(scratch: str | None) -> dict[str, float] | None:
    """Returns nothing without MPI."""
    launcher = shutil.which("mpirun")
    if launcher is None or importlib.util.find_spec("mpi4py") is None:
        return None
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # of Open MPI, in containers
    loaded = {**os.environ, **allowed, "TIMELOOM_BENCH_PRELOAD": preload("--mpi")}
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        # The launcher itself is not measured.
        command = [launcher, "-n", "1", "sh", "-c", 'LD_PRELOAD=$TIMELOOM_BENCH_PRELOAD exec "$@"', "sh",
                   sys.executable, "-c", MPI_CALLS, name]  # fmt: skip
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, env=loaded, text=True)
    if done.returncode != 0:
        print("native.py: mpirun and mpi4py do not fit each other; see MPI4PY_LIBMPI", file=sys.stderr)
        return None
    ratios: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return ratios


def openmp_microseconds(scratch: str | None) -> dict[str, float]:
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        source, library = (os.path.join(name, file) for file in ("teams.c", "teams.so"))
        pathlib.Path(source).write_text(TEAMS, encoding="utf-8")
        subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", source, "-o", library], check=True)

        def run(how: str, **variables: str) -> dict[str, float]:
            environment = {**os.environ, "OMP_WAIT_POLICY": "passive", **variables}
            command = [sys.executable, "-c", OPENMP, name, library, how]
            done = subprocess.run(command, check=True, capture_output=True, env=environment)
            figures: dict[str, float] = json.loads(done.stdout)
            return figures

        wrapped = {"LD_PRELOAD": preload("--thread", "omp")}
        dormant = [(run("plain")["plain"], run("plain", **wrapped)["plain"]) for _ in range(3)]
        return {"recorded": run("measured", **wrapped)["added"], "dormant": min(after for _, after in dormant) - min(
            before for before, _ in dormant)}  # fmt: skip


def built(directory: pathlib.Path, name: str, source: str, *flags: str) -> str:
    (directory / f"{name}.c").write_text(source, encoding="utf-8")
    subprocess.run(["cc", "-O2", *flags, f"{name}.c", "-o", name], cwd=directory, check=True)
    return str(directory / name)


def function_calls(scratch: str | None) -> dict[str, float]:
    """Nanoseconds of a call, under each of the two hooks."""
    least = {"clock": 1e9, "recorded": 1e9}
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        directory = pathlib.Path(name)
        program = built(directory, "function", FUNCTION, "-finstrument-functions")
        hook = built(directory, "hook.so", CLOCK_HOOK, "-shared", "-fPIC")
        record = [program_of("timeloom"), "run", "--quiet", "--no-weave", "--force", "-o", f"{name}/run",
                  "--max-size", "64M", "--at-max-size", "ring", "--no-pack-early",
                  "--compiler", "--program"]  # fmt: skip
        for _ in range(5):
            for kind, words, preloaded in (("clock", [], {"LD_PRELOAD": hook}), ("recorded", record, {})):
                variables = {**os.environ, **preloaded}
                done = subprocess.run([*words, program], check=True, capture_output=True, env=variables)
                least[kind] = min(least[kind], float(done.stdout))
    return {kind: round(value, 1) for kind, value in least.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ranks", default="4,16,64")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--scratch")
    parts = ["ranks", "calls", "functions", "writes", "mpi", "openmp"]
    parser.add_argument("--only", type=lambda text: text.split(","), default=parts)
    options = parser.parse_args()
    result: dict[str, object] = {}
    if "ranks" in options.only:
        result["ranks"] = [
            of_ranks(int(ranks), calls, options.scratch)
            for ranks in options.ranks.split(",") for calls in (options.calls, 4 * options.calls)
        ]  # fmt: skip
    if "calls" in options.only:
        result["instructions"] = instructions(options.scratch)
    if "functions" in options.only:
        result["function_ns"] = function_calls(options.scratch)
    if "writes" in options.only:
        result["write_over_call"] = write_ratio(options.scratch)
    if "mpi" in options.only:
        result["mpi_call_over_call"] = mpi_ratios(options.scratch)
    if "openmp" in options.only:
        result["openmp_team_microseconds"] = openmp_microseconds(options.scratch)
    print(json.dumps(result, indent=None if options.json else 1))


if __name__ == "__main__":
    main()
