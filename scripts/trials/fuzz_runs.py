#!/usr/bin/env python3
"""Damages runs at random and opens them with every command that reads one.

usage: python3 -m scripts.trials.fuzz_runs [--inputs 400] [--seed N] [--one] [--keep DIR]

Runs of small programs, finished, killed, and with profiles only, are changed as an attacker would:
bytes, sizes, links to files elsewhere, names in definitions with correct checksums. No command may
change anything outside of the run, crash, hang or take more than 200 MB. Failures are printed with
the number of their input; --seed N --one runs that one again. The interpreter is the one that runs
this; the `timeloom` program is the one beside it, or TIMELOOM_PROGRAM.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

from scripts.trials.world import snapshot

TIMELOOM = os.environ.get("TIMELOOM_PROGRAM") or str(pathlib.Path(sys.executable).with_name("timeloom"))
MOST_MEMORY = 200 << 10  # KiB
LONGEST = 120  # seconds; only a hang takes so long
COMMANDS = [["report"], ["report", "--json"], ["info", "--json"], ["weave"], ["weave", "--keep-spool"], ["score"],
            ["convert", "--to", "perfetto", "-o", "/dev/null"], ["convert", "--to", "json", "-o", "/dev/null"],
            ["convert", "--to", "chrome", "--from", "1ms", "-o", "/dev/null"]]  # fmt: skip

PROGRAM = """
import os, signal, sys, threading
def leaf(n): return n
def work():
    for n in range(300): leaf(n)
thread = threading.Thread(target=work); thread.start(); work(); thread.join()
if os.fork() == 0:
    work(); os._exit(0)
os.wait()
if sys.argv[1] == "killed": os.kill(os.getpid(), signal.SIGKILL)
"""
KINDS = {
    "finished": [],
    "spool": ["--no-weave"],
    "killed": [],
    "folded": ["--profile", "--no-weave"],
    "kept": ["--keep-spool"],
    "scorep": ["--layout", "scorep", "--no-weave"],
    "converted": ["--no-weave"],  # of two ranks
}
RANKS = 2


class Fallen(Exception):
    """A command that did something forbidden."""


def make_runs(directory: pathlib.Path) -> None:
    """One run of each kind in `directory`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TIMELOOM_", "SCOREP_"))}
    for name, options in KINDS.items():
        words = [sys.executable, "-W", "ignore", "-m", "timeloom", "--quiet", "-o", str(directory / name), *options,
                 "-c", PROGRAM, name]  # fmt: skip
        for rank in range(RANKS if name == "converted" else 1):
            job = {"PMI_RANK": str(rank), "PMI_SIZE": str(RANKS), "TIMELOOM_JOB": "fuzz"} if name == "converted" else {}
            subprocess.run(words, env={**environment, **job}, check=name != "killed", stderr=subprocess.DEVNULL)
    for defs in (directory / "converted").glob("spool/rank-*/*/defs"):
        subprocess.run([TIMELOOM, "weave", "--convert", str(RANKS), str(defs.parent)], check=True)
    if len(list((directory / "converted").glob("spool/rank-*/*/converted/result"))) != RANKS:
        raise SystemExit("fuzz_runs.py: the ranks have not converted their events")


def checksum(data: bytes, value: int = 2166136261) -> int:
    """The checksum of definitions (docs/formats/spool.md)."""
    for byte in data:
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def words_check(data: bytes) -> int:
    """The checksum of a rank's conversion (src/core/checksum.hpp)."""
    most = (1 << 64) - 1
    lanes = [1, 2, 3, 4]
    for number, (word,) in enumerate(struct.iter_unpack("<Q", data)):
        lanes[number % 4] = (lanes[number % 4] ^ word) * 0x9FB21C651E98DF25 & most
    value = len(data) // 8
    for lane in lanes:
        value = (value ^ lane) * 0xFF51AFD7ED558CCD & most
        value ^= value >> 32
    return value


def record(kind: int, payload: bytes) -> bytes:
    head = struct.pack("<IHH", len(payload), kind, 0)
    return head + struct.pack("<I", checksum(payload, checksum(head))) + payload


def text(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


class Attack:
    """Changes one run, by numbers from `rng`."""

    def __init__(self, run: pathlib.Path, outside: pathlib.Path, rng: random.Random):
        self.run, self.outside, self.rng = run, outside, rng
        self.done: list[str] = []

    def entries(self) -> list[pathlib.Path]:
        return sorted(path for path in self.run.rglob("*") if not path.is_symlink())

    def files(self) -> list[pathlib.Path]:
        return [path for path in self.entries() if path.is_file() and path.stat().st_size < 1 << 26]

    def bytes_changed(self) -> None:
        path = self.rng.choice(self.files())
        data = bytearray(path.read_bytes())
        for _ in range(self.rng.choice([1, 1, 8, 64]) if data else 0):
            at = min(int(self.rng.expovariate(1 / 400)), len(data) - 1)
            data[self.rng.choice([at, self.rng.randrange(len(data))])] = self.rng.randrange(256)
        path.write_bytes(data)

    def cut_or_grown(self) -> None:
        path = self.rng.choice(self.files())
        size = path.stat().st_size
        os.truncate(path, self.rng.choice([0, self.rng.randrange(size + 1), size + 4096, 3 << 30, 40 << 30]))

    def link(self) -> None:
        path = self.rng.choice(self.entries())
        remove(path)
        path.symlink_to(self.rng.choice([self.outside / "file", self.outside / "directory", self.outside / "new"]))

    def extra_link(self) -> None:
        names = ["traces.otf2", "traces.def", "traces", "profile.cubex", "MANIFEST.md", ".weaving", ".woven",
                 "spool/running", "scorep.cfg", "callpaths.json"]  # fmt: skip
        path = self.run / self.rng.choice(names)
        if path.parent.is_dir():
            remove(path)
            path.symlink_to(self.rng.choice([self.outside / "file", self.outside / "directory", self.outside / "new"]))

    def other_kind(self) -> None:
        path = self.rng.choice(self.entries())
        remove(path)
        kind = self.rng.choice(["fifo", "directory", "empty", "nothing"])
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "directory":
            path.mkdir()
        elif kind == "empty":
            path.touch()

    def swapped(self) -> None:
        one, other = self.rng.choice(self.files()), self.rng.choice(self.files())
        one.write_bytes(other.read_bytes())

    def definitions(self) -> None:
        """Definitions with correct checksums, but with names and numbers that cannot be trusted."""
        names = [b"../victim", bytes(self.outside / "file"), b"..", b"x\0y", b"a/b", b".hidden", b"n" * 5000, b"\xff"]
        name, number = self.rng.choice(names), self.rng.choice([0, 7, 2**31, 2**32 - 1])
        keys = [b"timeloom::profile_base_name", b"timeloom::layout", b"timeloom::results", b"timeloom::machine_name"]
        records = [
            record(9, text(self.rng.choice(keys)) + text(name)),
            record(9, text(name) + text(name)),
            record(5, struct.pack("<IQ", number, number) + text(name)),
            record(4, struct.pack("<I", number) + 4 * text(name) + struct.pack("<IIBB", number, number, 255, 255)),
            record(1, struct.pack("<Q", number) + 3 * text(name) + struct.pack("<I", 1) + 2 * text(name)),
            record(2, struct.pack("<QQQ", number << 31, number, number)),
            record(11, struct.pack("<II", number, number)),
            record(10, struct.pack("<QQQIQ", number, number << 20, number, number, number)),
        ]
        for path in self.files():
            if path.name != "defs":
                continue
            with open(path, "ab") as file:
                file.write(b"".join(self.rng.sample(records, 3)))

    def conversion(self) -> None:
        """Conversions with correct checksums, but with numbers that cannot be trusted; src/weave/ranks/rank_result.cpp
        has the head."""
        for path in self.run.glob("spool/rank-*/*/converted/result"):
            data = bytearray(path.read_bytes()) if path.is_file() and not path.is_symlink() else bytearray()
            if len(data) <= 64 or len(data) % 8 != 0 or len(data) > 1 << 22:
                continue
            for _ in range(self.rng.choice([1, 1, 3, 10])):
                at = 64 + 8 * min(int(self.rng.expovariate(1 / 40)), (len(data) - 64) // 8 - 1)
                at = self.rng.choice([at, 64 + 8 * self.rng.randrange((len(data) - 64) // 8)])
                values = [0, 1, 7, 2**16, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1, self.rng.randrange(2**64)]
                struct.pack_into("<Q", data, at, self.rng.choice(values))
            struct.pack_into("<Q", data, 24, words_check(bytes(data[64:])))
            path.write_bytes(data)

    def damage(self) -> None:
        ways: list[Callable[[], None]] = [self.bytes_changed, self.cut_or_grown, self.link, self.extra_link,
                                          self.other_kind, self.swapped, self.definitions,
                                          self.conversion, self.conversion]  # fmt: skip
        for way in self.rng.choices(ways, k=self.rng.choice([1, 1, 2, 4])):
            if self.files():
                self.done.append(way.__name__)
                way()


def remove(path: pathlib.Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# Starts a command and prints its exit status and memory in KiB. The memory of a process includes its parent's at the
# start, so this program is small.
STARTER = """
import os, sys
names = os.environ["TIMELOOM_KEPT"].split()
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], {name: os.environ[name] for name in names})
_, status, usage = os.wait4(pid, 0)
os.write(int(sys.argv[1]), f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss}".encode())
"""


def start(words: list[str], world: pathlib.Path) -> tuple[int, int, str]:
    """Exit status, memory in KiB and output of a command, with its home in the watched directory."""
    home = str(world / "outside")
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": home, "TMPDIR": home}
    kept = {**environment, "TIMELOOM_KEPT": " ".join(environment)}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as answer:
        command = [sys.executable, "-I", "-S", "-c", STARTER, str(answer.fileno()), TIMELOOM, *words]
        process = subprocess.Popen(command, cwd=home, env=kept, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, pass_fds=[answer.fileno()],
                                   start_new_session=True)  # fmt: skip
        timer = threading.Timer(LONGEST, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        process.wait()
        timer.cancel()
        answer.seek(0)
        status, memory = map(int, answer.read().split() or (process.returncode, 0))
        output.seek(0)
        return status, memory, output.read().decode(errors="replace")


def attack_one(seed: int, runs: pathlib.Path, keep: pathlib.Path | None = None) -> list[str]:
    """The changes and the commands of input `seed`. Raises Fallen."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="timeloom-fuzz-") as directory:
        world = pathlib.Path(directory)
        outside, run = world / "outside", world / "run"
        (outside / "directory").mkdir(parents=True)
        for precious in (outside / "file", outside / "directory" / "file", outside / "victim.cubex"):
            precious.write_text("precious")
        shutil.copytree(runs / rng.choice(sorted(KINDS)), run)
        attack = Attack(run, outside, rng)
        attack.damage()
        before = snapshot(outside)
        beside = sorted(os.listdir(world))
        for command in rng.sample(COMMANDS, 3):
            status, memory, output = start([*command, str(run)], world)
            said = f"input {seed} ({', '.join(attack.done)}), {' '.join(command)}: "
            wrong = ""
            if snapshot(outside) != before or sorted(os.listdir(world)) != beside:
                wrong = "something outside of the run has changed"
            elif status not in (0, 1):
                wrong = f"ended with {status}: {output[-500:]}"
            elif memory > MOST_MEMORY:
                wrong = f"took {memory >> 10} MB"
            if wrong:
                if keep:
                    shutil.copytree(run, keep / str(seed), symlinks=True)
                raise Fallen(said + wrong)
        return attack.done


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1, help="number of the first input")
    parser.add_argument("--one", action="store_true", help="this input only")
    parser.add_argument("--keep", type=pathlib.Path, help="directory for the runs on which a command fell")
    options = parser.parse_args()
    fallen = 0
    with tempfile.TemporaryDirectory(prefix="timeloom-runs-") as directory:
        make_runs(pathlib.Path(directory))
        count = 1 if options.one else options.inputs
        for seed in range(options.seed, options.seed + count):
            try:
                attack_one(seed, pathlib.Path(directory), options.keep)
            except Fallen as problem:
                fallen += 1
                print(problem, flush=True)
    print(f"{count} inputs, {fallen} of them wrong")
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
