"""Files of the current directory with the names of modules, packages, libraries and programs.

Each notes that it was run, and then acts as the module or program that it replaces, so that later ones are tried as
well. Every command is started in that directory. It must run no more of these files than the same program under plain
Python does there: none, except for code on the command line and its children, such as workers of multiprocessing.
"""

import contextlib
import dataclasses
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

from scripts.trials import connections, world

OURS = ("timeloom", "timeloom_follow", "scorep", "omnitrace", "rocprofsys", "sitecustomize",
        "usercustomize", "_core", "pytest", "conftest")  # fmt: skip
LIBRARIES = ("libtimeloom.so", "libtimeloom.so.0", "libtimeloom-cuda.so", "libtimeloom_wrap_io.so", "libcuda.so.1",
             "libtimeloom_wrap_thread.so", "libtimeloom_wrap_mpi.so", "libtimeloom_wrap_compiler.so",
             "libtimeloom_wrap_memory.so", "libtimeloom_wrap_openmp.so", "libtimeloom-kokkos.so", "libcupti.so",
             "libotf2.so.10")  # fmt: skip
FORMS = ("{}.py", "{}/__init__.py")  # paths of modules by their names
PROGRAMS = ("python", "python3", "timeloom", "sh", "gzip", "xdg-open", "dirname", "readlink", "ldconfig")

# Uses modules that are part of the interpreter.
MODULE = """
import sys, _frozen_importlib, _frozen_importlib_external
with open({mark!r}, "a") as file:
    file.write({name!r} + " ")
path = [entry for entry in sys.path if entry not in ("", {here!r})]
spec = _frozen_importlib_external.PathFinder.find_spec(__name__, path)
if spec is None:
    raise ModuleNotFoundError(f"No module named {{__name__!r}}", name=__name__)
_frozen_importlib._load_unlocked(spec)
"""
LIBRARY = """
#include <stdio.h>
__attribute__((constructor)) static void run(void) {
  FILE* file = fopen("%s", "a");
  if (file != NULL) fprintf(file, "library "), fclose(file);
}
"""
APP = """
import multiprocessing, os, subprocess, sys

def work(how=""):
    return len(how)

if __name__ == "__main__":
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    os.waitpid(child, 0)
    for method in ("fork", "spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=work, args=(method,))
        process.start()
        process.join()
        print(method, process.exitcode)
    print(subprocess.run([sys.executable, sys.argv[1]]).returncode)
    import csv, decimal
"""
BLOCK = """
import sys, timeloom
with timeloom.Measurement(output=sys.argv[1]):
    sorted([2, 1], key=lambda n: n)
run = timeloom.read(sys.argv[1])
print(len(run.tree))
"""
APPS = {"app.py": APP, "block.py": BLOCK, "small.py": "import json\n", "sleep.py": "import time\ntime.sleep(600)\n",
        "test_it.py": "import json\ndef test_it():\n    assert json.dumps([]) == '[]'\n"}  # fmt: skip

Words = list[world.Word]


@dataclasses.dataclass(frozen=True)
class Case:
    """A command, and the measured program under plain Python; it ends with the same status and output."""

    words: Words
    plain: Words = dataclasses.field(default_factory=list)
    status: int = 0


class Directory:
    """The user's current directory; programs and runs lie elsewhere."""

    def __init__(self, place: pathlib.Path, form: str):
        place.mkdir()
        self.here, self.mark, self.runs, self.home = (place / name for name in ("here", "mark", "runs", "home"))
        for directory in (self.here, self.runs, self.home):
            directory.mkdir()
        for name in (*OURS, *sys.stdlib_module_names):
            path = self.here / form.format(name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(MODULE.format(mark=str(self.mark), name=name, here=str(self.here)))
        (self.here / "timeloom.pth").write_text(f"import sys; open({str(self.mark)!r}, 'a').write('timeloom.pth ')\n")
        self.plant_programs(place)
        self.expected: dict[str, list[str]] = {"[]": []}  # by the words of plain Python

    def plant_programs(self, place: pathlib.Path) -> None:
        for name in PROGRAMS:
            program = self.here / name
            with contextlib.suppress(IsADirectoryError):  # a package
                program.write_text(f"#!/bin/sh\necho program:{name} >>{self.mark}\nexit 9\n")
                program.chmod(0o755)
        source, built = place / "library.c", place / "library.so"
        source.write_text(LIBRARY % self.mark)
        world.checked(["cc", "-shared", "-fPIC", "-o", built, source], place)
        for name in LIBRARIES:
            shutil.copy(built, self.here / name)

    def ran(self) -> list[str]:
        return sorted(set(self.mark.read_text().split())) if self.mark.exists() else []

    def start(self, words: Words) -> tuple[world.Done, list[str]]:
        """Runs the command, and returns the files that it has run."""
        self.mark.unlink(missing_ok=True)
        variables = {
            "OMNITRACE_VERBOSE": "-1", "OMNITRACE_OUTPUT_PATH": str(self.runs),
            "SCOREP_EXPERIMENT_DIRECTORY": str(self.runs / "scorep"), "SCOREP_OVERWRITE_EXPERIMENT_DIRECTORY": "true",
        }  # fmt: skip
        done = world.start(words, self.home, variables, cwd=self.here)
        return done, self.ran()

    def start_plain(self, case: Case) -> list[str]:
        """The files that plain Python runs; computed once."""
        key = str(case.plain)
        if key not in self.expected:
            plain, self.expected[key] = self.start(case.plain)
            if plain.status != case.status:
                raise world.Fallen(f"the trial itself: {plain}")
        return self.expected[key]


def doors(apps: pathlib.Path, runs: pathlib.Path) -> Iterator[Case]:
    """All commands that run a program."""
    python, commands = world.COMMANDS / "python3", world.COMMANDS
    run: Words = [world.TIMELOOM, "run", "--quiet", "--force", "-o", runs / "run"]
    module: Words = [python, "-P", "-m"]
    app: Words = [apps / "app.py", apps / "small.py"]
    for options in ([], ["--follow=all"], ["--profile"], ["--no-weave"], ["--io", "posix", "--thread", "pthread"]):
        yield Case([*run, *options, *app], [python, *app])
    for flag in ("-S", "-I", "-E", "-P", "-Xdev"):
        yield Case([*run, flag, *app], [python, flag, *app])
    for code in (["-c", "import json"], ["-m", "json.tool", "--help"]):
        yield Case([*run, *code], [python, *code])
    yield Case([*run, "--program", "/bin/true"])
    yield Case([commands / "scorep-python", *app], [python, *app])
    yield Case([commands / "scorep", "--thread=none", *app], [python, *app])
    yield Case([commands / "omnitrace-python", "--", *app], [python, *app])
    yield Case([commands / "rocprof-sys-python", "--", *app], [python, *app])
    yield Case([*module, "timeloom", "--quiet", "--force", "-o", runs / "run", *app], [*module[:2], *app])
    yield Case([*module, "scorep", *app], [*module[:2], *app])
    yield Case([*module, "omnitrace", "--", *app], [*module[:2], *app])
    yield Case([python, apps / "block.py", runs / "block"])
    yield Case(["/bin/sh", "-c", f'LD_PRELOAD="$({world.TIMELOOM} preload --print --io posix)" {python} {app[1]}'])
    if importlib.util.find_spec("pytest"):
        tests: Words = ["-q", "-p", "no:cacheprovider", apps / "test_it.py"]
        yield Case([commands / "pytest", "--timeloom", *tests], [commands / "pytest", *tests])
        yield Case([*module, "pytest", "--timeloom", *tests], [*module, "pytest", *tests])
    if importlib.util.find_spec("ipykernel"):
        yield from map(kernel_case, ("timeloom_kernel", "scorep_jupyter.kernel"))


def kernel_case(kernel: str) -> Case:
    """The start of a kernel, which is not in the current directory."""
    python = world.COMMANDS / "python3"
    return Case([python, "-m", kernel, "--help"], [python, "-m", "ipykernel_launcher", "--help"])


def readers(run: pathlib.Path, out: pathlib.Path) -> Iterator[Case]:
    """All other commands; `run` is unfinished at first."""
    for words in (["report"], ["report", "--json"], ["info"], ["view", "--text"], ["view", "--html", out, "--force"],
                  ["view", "--no-browser", "--idle", "0.01"], ["score"]):  # fmt: skip
        yield Case([world.TIMELOOM, *words, run])
    for to in ("perfetto", "json", "pstats", "pprof"):
        yield Case([world.TIMELOOM, "convert", run, "--to", to, "-o", f"{out}.gz", "--force"])
    yield Case([world.TIMELOOM, "diff", run, run])
    yield Case([world.TIMELOOM, "check", run, "visits(*) >= 0"])
    yield Case([world.TIMELOOM, "attach", "999999999"], status=1)
    yield Case([world.COMMANDS / "scorep-score", run])
    yield Case([world.COMMANDS / "scorep-config", "--version"])
    yield Case([world.COMMANDS / "scorep-info", "config-vars"])
    yield Case([world.COMMANDS / "timeloom-config", "--cflags"])


def try_case(directory: Directory, case: Case) -> None:
    expected = directory.start_plain(case)
    done, ran = directory.start(case.words)
    more = sorted(set(ran) - set(expected))
    if more:
        raise world.Fallen(f"ran of the current directory {directory.here}: {' '.join(more)}; {done}")
    if done.status != case.status:
        raise world.Fallen(str(done))


def try_attach(directory: Directory, apps: pathlib.Path) -> None:
    """A running program; its Python and the system decide whether it can be recorded."""
    words = [str(world.COMMANDS / "python3"), str(apps / "sleep.py")]
    target = subprocess.Popen(words, cwd=directory.here, env=world.environment(directory.home), start_new_session=True)
    try:
        for options in (["--dump"], ["--for", "200ms", "--output", str(directory.runs / "attached")]):
            done, ran = directory.start([world.TIMELOOM, "attach", *options, str(target.pid)])
            if ran or done.status not in (0, 1):
                raise world.Fallen(f"ran of the current directory {directory.here}: {' '.join(ran)}; {done}")
    finally:
        world.end_group(target)


def try_view(directory: Directory, run: pathlib.Path) -> None:
    """The server answers, and uses no file of the current directory."""
    directory.mark.unlink(missing_ok=True)
    with connections.Server(run, directory.home, cwd=directory.here) as server:
        connections.check_answers(server)
        server.interrupt()
    if ran := directory.ran():
        raise world.Fallen(f"timeloom view ran of the current directory {directory.here}: {' '.join(ran)}")


def attack(place: pathlib.Path, seconds: float, seed: int) -> str:
    apps = place / "apps"
    apps.mkdir()
    for name, text in APPS.items():
        (apps / name).write_text(text)
    end, commands = time.monotonic() + seconds, 0
    for form in FORMS:
        if commands and time.monotonic() > end:
            break
        directory = Directory(place / f"of{form.count('/')}", form)
        run = directory.runs / "unfinished"
        world.checked([world.TIMELOOM, "run", "--quiet", "--no-weave", "-o", run, apps / "small.py"], place)
        for case in (*doors(apps, directory.runs), *readers(run, directory.runs / "out")):
            try_case(directory, case)
            commands += 1
        try_attach(directory, apps)
        try_view(directory, run)
        commands += 3
    absent = [name for name in ("pytest", "ipykernel") if not importlib.util.find_spec(name)]
    return f"{commands} commands{'; not tried, as it is not installed: ' * bool(absent)}{', '.join(absent)}"
