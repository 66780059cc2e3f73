"""The cost of a sample of CPU time (`--sample`) beside the same signal with an empty handler.

usage: python bench/sampler.py [--json] [--rounds N] [--period MICROSECONDS] [--scratch DIR]

Method
  A loop in C runs in one process by turns: plain, with an event of the kernel whose handler only counts,
  and while Timeloom samples with the same period and records nothing else. The CPU time of the thread is
  taken around the loop, and the loops of each kind with the least CPU time are compared. A handler costs
  the additional time by the number of its samples. The limit of `cost` is 1.5 times the empty handler,
  on an idle machine. Writes nothing.
"""

import argparse
import ctypes
import json
import pathlib
import subprocess
import tempfile
import time

import startup

import timeloom

ROUNDS = 15
STEPS = 10_000_000
LIMIT = 1.5

C_CODE = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile double number = 1;
static volatile long ticks = 0;
static int event = -1;

void work(long steps) {
  for (long i = 0; i < steps; ++i) number = number * 0.999 + 1;
}

static void on_tick(int signal) {
  (void)signal;
  ++ticks;
}

/* False where the system has no such events. */
int start_empty(unsigned long period_ns) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGRTMIN + 5, &action, 0);
  struct perf_event_attr wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_TASK_CLOCK;
  wanted.sample_period = period_ns;
  wanted.disabled = wanted.exclude_kernel = wanted.exclude_hv = 1;
  wanted.wakeup_events = 1;
  event = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (event < 0) return 0;
  struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
  ticks = 0;
  return fcntl(event, F_SETSIG, SIGRTMIN + 5) == 0 && fcntl(event, F_SETOWN_EX, &owner) == 0 &&
         fcntl(event, F_SETFL, fcntl(event, F_GETFL) | O_ASYNC) == 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

long stop_empty(void) {
  close(event);
  return ticks;
}
"""


def build(scratch: pathlib.Path) -> ctypes.CDLL:
    (scratch / "loop.c").write_text(C_CODE, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", scratch / "loop.so", scratch / "loop.c"], check=True)
    library = ctypes.CDLL(str(scratch / "loop.so"))
    library.work.argtypes = [ctypes.c_long]
    library.start_empty.argtypes = [ctypes.c_ulong]
    library.stop_empty.restype = ctypes.c_long
    return library


def loop_ns(library: ctypes.CDLL) -> int:
    before = time.thread_time_ns()
    library.work(STEPS)
    return time.thread_time_ns() - before


def with_empty_handler(library: ctypes.CDLL, period_us: int) -> tuple[int, int]:
    """The CPU time of the loop, and the number of samples."""
    if not library.start_empty(1000 * period_us):
        raise SystemExit("sampler.py: this system has no events for samples (perf_event_paranoid)")
    taken = loop_ns(library)
    return taken, library.stop_empty()


def with_samples(library: ctypes.CDLL, period_us: int, scratch: pathlib.Path) -> tuple[int, int]:
    run = scratch / "run"
    with timeloom.Measurement(
        output=str(run), force=True, instrumenter="dummy", sample=f"{period_us}us", quiet=True
    ), timeloom.region("loop"):
        taken = loop_ns(library)
    command = [startup.program(), "report", "--native", "--json", str(run)]
    return taken, json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["samples"]


def measure(rounds: int, period_us: int, scratch: pathlib.Path) -> dict[str, float]:
    library = build(scratch)
    plain, empty, sampled = [], [], []
    for _ in range(rounds):
        plain.append(loop_ns(library))
        empty.append(with_empty_handler(library, period_us))
        sampled.append(with_samples(library, period_us, scratch))
    base = min(plain)
    costs = [(taken - base) / max(samples, 1) for taken, samples in (min(empty), min(sampled))]
    return {
        "plain_ms": round(base / 1e6, 3), "samples": min(sampled)[1],
        "empty_handler_ns": round(costs[0]), "sample_ns": round(costs[1]), "cost": round(costs[1] / costs[0], 2),
        "limit": LIMIT, "share": round(min(sampled)[0] / base - 1, 4),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--period", type=int, default=1000)
    parser.add_argument("--scratch", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
        figures = measure(arguments.rounds, arguments.period, pathlib.Path(scratch))
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:>18} {value:g}")


if __name__ == "__main__":
    main()
