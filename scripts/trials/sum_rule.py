"""Twenty programs whose CPU time, as the kernel counts it, is compared with the sum of what the report shows.

usage: PYTHON -m scripts.trials.sum_rule [--only NAME]... [--keep DIR]

PYTHON is the interpreter of an environment with Timeloom. Each program reads the CPU clocks of its process (and of
its children, which do the same) when it begins and when it ends, less the threads of Timeloom, by their names in
/proc. The report shows working time by function, native threads by their names, and threads that ended unseen. Both
sums must agree within 2 %. The exit status is 1 if they do not for one program.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

MOST = 0.02  # of the kernel's sum
LEAST = 0.005  # seconds, of very short programs

# Around each program: it writes the CPU seconds of its process into a file of its own.
FRAME = '''
import atexit, os, time

def of_timeloom():
    total = 0
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as comm, open(f"/proc/self/task/{task}/schedstat") as stat:
                total += int(stat.read().split()[0]) if comm.read().startswith("timeloom") else 0
        except OSError:
            pass
    return total / 1e9

def own_cpu():
    return time.process_time() - of_timeloom()

begin = [own_cpu()]

def forget():
    begin[0] = own_cpu()

def write_own():
    with open(os.path.join(os.environ["SUM_RULE"], str(os.getpid())), "w") as out:
        out.write(str(own_cpu() - begin[0]))

os.register_at_fork(after_in_child=forget)

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(500))
'''

PROGRAMS = {
    "loop": "def work():\n    total = 0\n    for value in range(12_000_000): total += value\nwork()",
    "fib": "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(27)",
    "strings": "def work():\n    for n in range(200_000): str(n).upper().split('1')\nwork()",
    "json": "import json\ndata = {str(n): list(range(50)) for n in range(900)}\n"
            "def work():\n    for _ in range(25): json.loads(json.dumps(data))\nwork()",
    "sort": "import random\nvalues = [random.random() for _ in range(400_000)]\n"
            "def work():\n    for _ in range(4): sorted(values)\nwork()",
    "regex": "import re\ntext = 'abc 123 def ' * 20_000\n"
             "def work():\n    for _ in range(10): re.findall(r'(\\w+) (\\d+)', text)\nwork()",
    "classes": "class Point:\n    def __init__(self, x): self.x = x\n    def moved(self): return Point(self.x + 1)\n"
               "def work():\n    point = Point(0)\n    for _ in range(300_000): point = point.moved()\nwork()",
    "generators": "def numbers(n):\n    for value in range(n): yield value\n"
                  "def work(): sum(numbers(1_500_000))\nwork()",
    "exceptions": "def fails(): raise ValueError\ndef work():\n    for _ in range(200_000):\n        try: fails()\n"
                  "        except ValueError: pass\nwork()",
    "garbage": "def work():\n    for _ in range(60):\n        rows = [[] for _ in range(20_000)]\n"
               "        for row in rows: row.append(row)\nwork()",
    "files": "import tempfile\ndef work():\n    with tempfile.TemporaryFile() as out:\n"
             "        for _ in range(300): out.write(b'x' * 1_000_000); out.seek(0)\nwork()",
    "zlib": "import zlib\ndata = bytes(range(256)) * 8_000\n"
            "def work():\n    for _ in range(12): zlib.compress(data, 9)\nwork()",
    "sleep": "def work():\n    for _ in range(20):\n        time.sleep(0.02)\n        spin(0.02)\nwork()",
    "threads": "import threading\nthreads = [threading.Thread(target=spin, args=(0.25,)) for _ in range(3)]\n"
               "for one in threads: one.start()\nfor one in threads: one.join()",
    "native-threads": "import threading, hashlib\ndata = bytes(4_000_000)\n"
                      "def work():\n    for _ in range(12): hashlib.sha256(data)\n"
                      "threads = [threading.Thread(target=work) for _ in range(2)]\n"
                      "for one in threads: one.start()\nfor one in threads: one.join()",
    "pool": "import concurrent.futures\nwith concurrent.futures.ThreadPoolExecutor(4) as pool:\n"
            "    list(pool.map(spin, [0.05] * 10))",
    "raw-threads": "import _thread\nlocks = []\ndef work(lock):\n    spin(0.2)\n    lock.release()\n"
                   "for _ in range(2):\n    lock = _thread.allocate_lock()\n    lock.acquire()\n"
                   "    locks.append(lock)\n"
                   "    _thread.start_new_thread(work, (lock,))\nfor lock in locks: lock.acquire()",
    "asyncio": "import asyncio\nasync def task(n):\n    for _ in range(5):\n        spin(0.01)\n"
               "        await asyncio.sleep(0.005)\n"
               "async def main(): await asyncio.gather(*(task(n) for n in range(10)))\nasyncio.run(main())",
    "fork": "if (child := os.fork()) == 0:\n    spin(0.4)\n    write_own()\n    raise SystemExit\n"
            "spin(0.2)\nos.waitpid(child, 0)",
    "processes": "import multiprocessing\ndef job(_):\n    spin(0.2)\n    write_own()\n"
                 "children = [multiprocessing.get_context('fork').Process(target=job, args=(n,)) for n in range(2)]\n"
                 "for one in children: one.start()\nfor one in children: one.join()",
}  # fmt: skip


def compare(name: str, place: pathlib.Path) -> tuple[float, float]:
    """The CPU seconds of the kernel, and of the report."""
    sums = place / "sums"
    sums.mkdir(parents=True)
    program = place / "program.py"
    program.write_text(f"{FRAME}\n{PROGRAMS[name]}\nwrite_own()\n")
    timeloom = str(pathlib.Path(sys.executable).with_name("timeloom"))
    command = ["env", f"SUM_RULE={sums}", timeloom, "run", "--quiet", "--follow", "all", "-o", str(place / "run")]
    subprocess.run([*command, str(program)], check=True, cwd=place)
    kernel = sum(float(one.read_text()) for one in sums.iterdir())
    shown = [timeloom, "report", "--json", "--flat", "--min-percent", "0", str(place / "run")]
    report = json.loads(subprocess.run(shown, check=True, capture_output=True, text=True).stdout)
    working = sum(row["working_s"] for row in report["flat"]["rows"])
    native = sum(one["cpu_s"] for one in report.get("native_threads", []))
    return kernel, working + native + report.get("unseen_cpu_s", 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=PROGRAMS)
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in arguments.only or PROGRAMS:
            kernel, shown = compare(name, (arguments.keep or pathlib.Path(scratch)) / name)
            right = abs(kernel - shown) <= max(MOST * kernel, LEAST)
            failed += not right
            print(f"{name:15} kernel {kernel:6.3f} s, report {shown:6.3f} s, {shown / kernel - 1:+6.1%}"
                  f"{'' if right else '  DIFFERS'}", flush=True)  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
