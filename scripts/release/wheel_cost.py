"""Compares the cost of a recorded call with a wheel of build/dist and with a local build, in instructions.

usage: python3 -m scripts.release.wheel_cost [--only 3.X]

Needs valgrind. Its callgrind runs a program that calls an empty function 20,000 times, and one that does so
120,000 times, under every instrumenter of that Python (the newest that this machine has a wheel for). The
difference of the instructions inside the extension and the recorder belongs to 100,000 calls. Fails if a call
costs 3 % more or less with the wheel.
"""

import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

from scripts import environments, pythons
from scripts.release import release_tools

FEW, MANY = 20_000, 120_000  # calls
LIMIT = 0.03
PROGRAM = """
import sys, timeloom
def step():
    pass
def work(count):
    for _ in range(count):
        step()
with timeloom.Measurement(output=sys.argv[1], instrumenter=sys.argv[2], weave=False):
    work({calls})
"""
OURS = ("_core.", "libtimeloom.")


def name_in(names: dict[str, str], word: str) -> str:
    """Returns the meaning of "(3) name", and of "(3)" from then on."""
    number, _, name = word.partition(" ")
    return names.setdefault(number, name)


def costs(output: pathlib.Path) -> dict[str, int]:
    """The instructions executed in each object (a program, a library) itself."""
    found: dict[str, int] = collections.defaultdict(int)
    objects: dict[str, str] = {}
    current, is_cost_of_call = "", False
    for line in output.read_text().splitlines():
        key, equals, word = line.partition("=")
        if key == "ob":
            current = name_in(objects, word)
        elif key == "cob":
            name_in(objects, word)
        elif key == "calls":
            is_cost_of_call = True
        elif not equals and line[:1] in {*"0123456789+-*"}:
            if not is_cost_of_call:
                found[current] += int(line.split()[1])
            is_cost_of_call = False
    return found


def instructions(interpreter: pathlib.Path, instrumenter: str, calls: int) -> int:
    """The instructions of a program with so many calls, in the extension and the recorder."""
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        program, output = directory / "app.py", directory / "callgrind.out"
        program.write_text(PROGRAM.format(calls=calls))
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", str(interpreter), str(program)]
        done = subprocess.run(
            [*command, str(directory / "run"), instrumenter],
            capture_output=True, text=True, env=environments.clean_environment(),
        )  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"wheel_cost: {' '.join(command)} failed: {done.stderr}")
        return sum(own for place, own in costs(output).items() if pathlib.PurePath(place).name.startswith(OURS))


def instructions_of_call(interpreter: pathlib.Path, instrumenter: str) -> float:
    few, many = (instructions(interpreter, instrumenter, calls) for calls in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def with_wheel(python: pythons.Python) -> pathlib.Path:
    """The interpreter of an environment with the wheel for it."""
    interpreter = environments.make(python, "wheel")
    tag = f"cp{python.tag.replace('.', '')}"
    wheels = sorted(release_tools.DIST.glob(f"timeloom-*-{tag}-{tag}-*_{os.uname().machine}.whl"))
    if not wheels:
        sys.exit(f"wheel_cost: there is no wheel for Python {python.tag} in build/dist; `make wheels` builds it")
    command = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*command, "--force-reinstall", str(wheels[-1])], check=True)
    return interpreter


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=pythons.SUPPORTED, default=pythons.SUPPORTED[-1], help="not newer than that")
    usable = [python for python in pythons.find(dict(os.environ)) if not python.problem]
    python = environments.newest_supported(usable, parser.parse_args().only)
    wheel, local = with_wheel(python), environments.install(python, werror=True)
    failed = False
    for instrumenter in ("monitoring", "frame", "profile", "trace"):
        if instrumenter == "monitoring" and python.tag == "3.11":
            continue
        of_local, of_wheel = (instructions_of_call(one, instrumenter) for one in (local, wheel))
        more = of_wheel / of_local - 1
        failed |= abs(more) > LIMIT
        print(
            f"Python {python.full_version}, {instrumenter}: {of_local:.1f} instructions of a local build, "
            f"{of_wheel:.1f} of the wheel, {more:+.1%}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
