"""Races on files that commands write: an attacker swaps links for them meanwhile.

The attacker may write in the directory of runs and files: another user if the superuser runs this, who also lets an
attacker of the same user act in every second round. Files outside have the same names as files in runs. None of them
may change, and nothing may be created beside them.
"""

import contextlib
import mmap
import os
import pathlib
import random
import shutil
import signal
import time
from typing import Any

from scripts.trials import world

STRANGER = 65534  # nobody
PLANTED = ["settings", "defs", "log", "log-1", "ring", "life", "unmeasured", "workers", "profile-0", "probe", "running",
           "view.timeloom", ".view.timeloom", "MANIFEST.md", "scorep.cfg", "traces.otf2", "profile.cubex"]  # fmt: skip
AWAY = ".away-"  # in the names of entries that the attacker has moved away

APP = """
import multiprocessing, os, subprocess, sys, time

def work():
    return sum(range(1000))

if __name__ == "__main__":
    for _ in range(3):
        child = os.fork()
        if child == 0:
            work()
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.01)
    process = multiprocessing.get_context("spawn").Process(target=work)
    process.start()
    process.join()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    print("done")
"""


class Swapper:
    """The attacker: a forked process of a user that swaps entries of `base` until stop()."""

    def __init__(self, base: pathlib.Path, outside: pathlib.Path, user: int, seed: int):
        self.base, self.outside, self.user = str(base), str(outside), user
        self.chance = random.Random(seed)
        self.names = sorted(path.name for path in outside.iterdir() if path.is_file())
        self.swaps = mmap.mmap(-1, 8)
        self.parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            try:
                self.run()
            finally:
                os._exit(1)

    def stop(self) -> int:
        """The number of swaps."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        return int.from_bytes(self.swaps[:], "little")

    def run(self) -> None:
        if self.user != os.geteuid():
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)
        count = 0
        while os.getppid() == self.parent:
            paths = self.paths()
            top = [path for path in paths if os.path.dirname(path) == self.base]
            chosen = self.chance.choice([top or paths, paths])
            count += bool(chosen) and self.swap(self.chance.choice(chosen))
            self.swaps[:] = count.to_bytes(8, "little")
            time.sleep(self.chance.choice([0, 0.0005, 0.005]))

    def paths(self) -> list[str]:
        """The paths that may be swapped, including names that do not exist yet."""
        found = [f"{self.base}/run", f"{self.base}/file.omnitrace"]
        for path, directories, files in os.walk(self.base):
            names = directories + files + (PLANTED if path != self.base else [])
            found += [os.path.join(path, name) for name in names if AWAY not in name]
            directories[:] = [name for name in directories if AWAY not in name and is_open(os.path.join(path, name))]
        if self.user == os.geteuid():  # a command follows a link of its own user to a run and to its output
            found = [path for path in found if path.startswith(f"{self.base}/run/")]
        return found

    def swap(self, path: str) -> bool:
        if not os.path.realpath(os.path.dirname(path)).startswith(self.base):
            return False  # a link of this attack leads there
        hidden = f"{path}{AWAY}{self.chance.random()}"
        try:
            is_directory = self.chance.random() < 0.5
            if os.path.lexists(path):
                is_directory = os.path.isdir(path) and not os.path.islink(path)
                os.rename(path, hidden)  # in the same directory, as it may belong to another user
        except OSError:
            return False
        linked = self.link(path, is_directory)
        time.sleep(self.chance.choice([0, 0, 0.0005, 0.005]))
        if self.chance.random() < 0.9:
            with contextlib.suppress(OSError):
                os.unlink(path)
            with contextlib.suppress(OSError):
                os.rename(hidden, path)
        return linked

    def link(self, path: str, is_directory: bool) -> bool:
        """True if the entry exists now: the kernel may refuse hard links, and a command may be faster."""
        name = os.path.basename(path)
        target = name if name in self.names else self.chance.choice(self.names)
        if is_directory:
            target = self.chance.choice(["", "spool"])
        make = os.link if not is_directory and self.chance.random() < 0.5 else os.symlink
        try:
            make(f"{self.outside}/{target}", path)
        except OSError:
            return False
        return True


def is_open(directory: str) -> bool:
    """True if another user may enter it; otherwise only an attacker of the same user could act inside."""
    try:
        return os.lstat(directory).st_mode & 0o077 != 0
    except OSError:
        return False


Command = tuple[list[world.Word], dict[str, str]]


def commands() -> list[Command]:
    """All commands that write in the current directory or in a run there, with their variables."""
    app = "../../app.py"
    run: list[world.Word] = [world.TIMELOOM, "run", "--force", "-o", "run"]
    scorep = {"SCOREP_EXPERIMENT_DIRECTORY": "run", "SCOREP_ENABLE_TRACING": "true"}
    omnitrace = {"OMNITRACE_OUTPUT_PATH": ".", "OMNITRACE_TIME_OUTPUT": "false"}
    runs: list[Command] = [
        ([*run, "--follow=all", app], {}),
        ([*run, "--follow=all", "--profile", "--max-size", "16M", app], {}),
        ([*run, "--no-weave", "--max-size", "8M", "--at-max-size", "ring", app], {}),
        ([*run, "--layout", "scorep", app], {}),
        ([world.COMMANDS / "scorep-python", app], scorep),
        ([world.COMMANDS / "omnitrace-python", "--", app], omnitrace),
    ]
    words = [
        ["report", "run"], ["weave", "--keep-spool", "run"], ["view", "--no-browser", "--idle", "0.01", "run"],
        ["view", "--html", "file.html", "--force", "run"], ["score", "-g", "all", "run"], ["info", "run"],
    ]  # fmt: skip
    formats = ["perfetto", "chrome", "speedscope", "firefox", "pprof", "csv", "arrow", "omnitrace"]
    words += [["convert", "run", "--to", to, "-o", f"file.{to}", "--force"] for to in formats]
    return runs + [([world.TIMELOOM, *command], {}) for command in words]


class Ground:
    """The files of the trial: app.py, home/, runs/ (to start from), outside/ (the victims), shared/base/ (attacked)."""

    def __init__(self, place: pathlib.Path):
        self.place = place
        self.outside, self.home, self.runs = (place / name for name in ("outside", "home", "runs"))
        self.base = place / "shared" / "base"
        for directory in (self.outside / "spool", self.home, self.runs, self.base):
            directory.mkdir(parents=True)
        (place / "app.py").write_text(APP)
        for name, option in (("finished", "--keep-spool"), ("unfinished", "--no-weave")):
            words = [world.TIMELOOM, "run", "--quiet", option, "-o", self.runs / name, place / "app.py"]
            world.checked(words, self.home)
        (self.home / ".cache").mkdir()
        self.make_victims()
        self.before = self.state()

    def make_victims(self) -> None:
        made = {path.name for path in self.runs.rglob("*") if path.is_file()}
        outputs = {str(word) for words, _ in commands() for word in words if str(word).startswith("file.")}
        for name in made | set(PLANTED) | outputs | {"initial_scorep.filter", "max_scorep.filter"}:
            for file in (self.outside / name, self.outside / "spool" / name):
                file.write_text(f"{name} of the user")
                os.utime(file, (1, 1))

    def state(self) -> dict[str, Any]:
        """The state of everything that no command may change, so not of caches; of the attacked directory only its
        existence."""
        found: dict[str, Any] = {str(path): "" for path in self.base.parent.iterdir()}
        for path in self.place.iterdir():
            if path != self.base.parent:
                found |= world.snapshot(path)
        return {name: status for name, status in found.items() if "/.cache" not in name}

    def begin(self, owner: int, chance: random.Random) -> None:
        """Gives the attacker a directory, usually with a run in it."""
        shutil.rmtree(self.base)
        self.base.mkdir()
        kind = chance.choice(["finished", "unfinished", "unfinished", "none"])
        if kind != "none":
            shutil.copytree(self.runs / kind, self.base / "run")
        given = [self.base, *self.base.rglob("*")] if chance.random() < 0.5 else [self.base]
        for path in given:
            os.chown(path, owner, -1)


def attack(place: pathlib.Path, seconds: float, seed: int) -> str:
    ground = Ground(place)
    chance = random.Random(seed)
    every = commands()
    end, rounds, swaps = time.monotonic() + seconds, 0, 0
    while rounds == 0 or time.monotonic() < end:
        words, variables = chance.choice(every)
        user = STRANGER if os.geteuid() == 0 and rounds % 2 == 0 else os.geteuid()
        umask = chance.choice([0o22, 0])  # with 0 a stranger may act in directories that the command makes
        ground.begin(user, chance)
        swapper = Swapper(ground.base, ground.outside, user, chance.randrange(1 << 30))
        try:
            done = world.start(words, ground.home, variables, cwd=ground.base, umask=umask)
        finally:
            swaps += swapper.stop()
        who = f"round {rounds}, attacked by user {user}, umask {umask:o}: {done}"
        if changed := world.differences(ground.before, ground.state()):
            raise world.Fallen(f"changed outside of the run: {', '.join(changed)}; {who}")
        if done.status not in (0, 1, 2) or "Traceback" in done.errors:
            raise world.Fallen(who)
        rounds += 1
    return f"{rounds} rounds, {swaps:,} swaps"
