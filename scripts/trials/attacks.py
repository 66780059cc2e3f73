"""Attacks Timeloom from outside, for a given time.

usage: python3 -m scripts.trials.attacks [--only NAME]... [--seconds N] [--seed N] [--keep]

races        links replace a run, its entries and its outputs, while commands write there
connections  connections to `timeloom view` that never finish their requests
modules      files of the current directory with the names of modules, libraries and programs
recursion    runs of a very deep recursion, given to every command and format

Each runs for N seconds (default: 30), finishes its current round, and prints a line. A weakness is reported
by a line that begins with FAILED. With --keep the files of an attack that fails are kept, and named. The
interpreter is the one that runs this; the `timeloom` program is the one beside it, or TIMELOOM_PROGRAM.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable

from scripts.trials import connections, modules, races, recursion, world

# Each attack takes a private directory, the seconds and a seed. It returns a description of its work, or raises Fallen.
ATTACKS: dict[str, Callable[[pathlib.Path, float, int], str]] = {
    "races": races.attack,
    "connections": connections.attack,
    "modules": modules.attack,
    "recursion": recursion.attack,
}


def attack(name: str, seconds: float, seed: int, keep: bool) -> bool:
    """Runs an attack and prints its line; True if Timeloom resisted."""
    place = pathlib.Path(tempfile.mkdtemp(prefix=f"timeloom-{name}-"))
    place.chmod(0o755)  # the attacker may be another user
    begin = time.monotonic()
    held = True
    try:
        what = ATTACKS[name](place, seconds, seed)
        print(f"{name}: held; {what}; {time.monotonic() - begin:.0f} s", flush=True)
    except world.Fallen as fault:
        held = False
        print(f"FAILED {name} (seed {seed}): {fault}", flush=True)
        if keep:
            print(f"{name}: the files are in {place}", flush=True)
    finally:
        if held or not keep:
            shutil.rmtree(place, ignore_errors=True)
    return held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=ATTACKS, default=[])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    names = options.only or list(ATTACKS)
    held = [attack(name, options.seconds, options.seed, options.keep) for name in names]
    print(f"attacks: {len(held)}, {held.count(False)} of them failed")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
