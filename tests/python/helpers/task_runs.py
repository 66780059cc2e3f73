"""Programs with tasks, run with --async-tasks, and the records of each task."""

import importlib.util
import sys

import pytest
from spool_reader import spools_of, stream
from streams import assert_balanced, plain, run_python, write_program

INSTRUMENTERS = ["monitoring", "frame"] if sys.version_info >= (3, 12) else ["frame"]
each_instrumenter = pytest.mark.parametrize("instrumenter", INSTRUMENTERS)


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


class Recorded:
    def __init__(self, spool):
        self.spool = spool

    def lines(self, name):
        """Return the program's records on the only location with this name, indented by depth."""
        (location,) = [index for index, known in self.spool.threads.items() if known == name]
        return self.lines_of(location)

    def all(self, end):
        """Return the same for every location whose name ends so, in order."""
        return [self.lines_of(i) for i, known in sorted(self.spool.threads.items()) if known.endswith(end)]

    def names(self):
        return [name for index, name in sorted(self.spool.threads.items()) if index in self.spool.owners]

    def lines_of(self, location):
        lines, depth, kept = [], 0, []
        for kind, name, *value in stream(self.spool, location):
            if kind == "leave":
                if kept.pop():
                    depth -= 1
            elif kind == "enter":
                kept.append(name.startswith(("__main__.", "user")) or name in ("task", "suspended"))
                if kept[-1]:
                    lines.append("  " * depth + name.removeprefix("__main__."))
                    depth += 1
            elif kind == "parameter_string" and name != "timeloom::task":
                lines[-1] += f" [{value[0]}]"
        return lines


def measure(program, instrumenter, directory, *options, status=0, layout="locations"):
    run = directory / f"run-{instrumenter}"
    path = write_program(directory, program)
    done = run_python(
        ["-m", "timeloom", "--quiet", "--no-weave", "--async-tasks", "--task-layout", layout,
         "--instrumenter", instrumenter, "--output", run, *options, path],
        directory,
    )  # fmt: skip
    without = plain(program, directory)
    assert (done.returncode, done.stdout, done.stderr) == (without.returncode, without.stdout, without.stderr)
    assert done.returncode == status
    (spool,) = spools_of(run)
    assert spool.ended and spool.lost == 0
    for location in spool.locations():
        if location not in spool.owners:
            assert_balanced(spool, location)
    return Recorded(spool)


CHILDREN = """
import asyncio

async def leaf(n):
    await asyncio.sleep(0.001 * n)
    step()

def step(): pass

async def child(n):
    await leaf(n)
    await leaf(n)

async def main():
    one = asyncio.create_task(child(1), name="child 1")
    two = asyncio.create_task(child(2), name="child 2")
    await asyncio.gather(one, two)
    await asyncio.create_task(last())

async def last(): pass

asyncio.run(main())
"""
