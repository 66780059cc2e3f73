"""Switches of the instrumentation in coroutines that overlap: each coroutine has its own state."""

import pytest
from spool_reader import spools_of, stream
from streams import INSTRUMENTERS, run_python, write_program

PROGRAM = """
import asyncio, threading
import timeloom
from scorep.instrumenter import disable, enable

def outside(): pass
def inside(): pass

@disable()
async def quiet(order):
    for event in order:
        inside()
        await event.wait()
    inside()

@enable()
async def loud(order):
    for event in order:
        outside()
        await event.wait()
    outside()

@disable()
async def quiet_values():
    for i in range(2):
        inside()
        await asyncio.sleep(0)
        yield i

@disable()
def quiet_generator():
    for i in range(2):
        inside()
        yield i

async def overlap(first, second):
    \"\"\"The one that begins first ends first.\"\"\"
    a, b, c = asyncio.Event(), asyncio.Event(), asyncio.Event()
    one = asyncio.ensure_future(first([a, b]))
    await asyncio.sleep(0)
    two = asyncio.ensure_future(second([b, c]))
    await asyncio.sleep(0)
    outside()
    a.set()
    await asyncio.sleep(0)
    outside()
    b.set()
    await one
    outside()
    c.set()
    await two
    outside()

async def block(switch, steps, inner):
    with switch():
        for _ in range(steps):
            inner()
            await asyncio.sleep(0)

async def main():
    BODY

asyncio.run(main())
"""


def enters(body, instrumenter, directory, *options):
    path = write_program(directory, PROGRAM.replace("BODY", body))
    run = directory / "run"
    done = run_python(
        ["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "-o", run, *options, path], directory)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (spool,) = spools_of(run)
    names = [name for location in spool.locations() for kind, name, *_ in stream(spool, location) if kind == "enter"]
    return {name: names.count(f"__main__.{name}") for name in ("inside", "outside")}


@pytest.mark.parametrize("first, second, calls", [
    ("quiet", "quiet", 4), ("quiet", "loud", 7), ("loud", "quiet", 7), ("loud", "loud", 10),
])  # fmt: skip
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_coroutines_that_end_in_the_order_in_which_they_began(instrumenter, first, second, calls, tmp_path):
    assert enters(f"await overlap({first}, {second})", instrumenter, tmp_path) == {"inside": 0, "outside": calls}


@pytest.mark.parametrize("instrumenter", [one for one in INSTRUMENTERS if one in ("monitoring", "frame")])
def test_tasks_that_overlap(instrumenter, tmp_path):
    body = "await overlap(quiet, loud)"
    assert enters(body, instrumenter, tmp_path, "--async-tasks") == {"inside": 0, "outside": 7}


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_between_the_values_of_a_generator_its_caller_is_recorded(instrumenter, tmp_path):
    body = """
    for _ in quiet_generator():
        outside()
    async for _ in quiet_values():
        outside()
"""
    assert enters(body.strip(), instrumenter, tmp_path) == {"inside": 0, "outside": 4}


@pytest.mark.parametrize("first, second", [("disable", "enable"), ("disable", "disable"), ("enable", "disable"),
                                           ("timeloom.stop", "timeloom.stop"), ("timeloom.stop", "timeloom.start")])
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_when_all_blocks_have_ended_it_is_as_before(instrumenter, first, second, tmp_path):
    """Blocks apply to all code, as before; none of them undoes another one that continues."""
    body = f"""
    def nothing(): pass
    await asyncio.gather(block({first}, 1, nothing), block({second}, 3, nothing))
    outside()
    with {first}(), {second}(): pass
    outside()
"""
    assert enters(body.strip(), instrumenter, tmp_path) == {"inside": 0, "outside": 2}


def test_a_child_forgets_the_blocks_of_threads_that_it_does_not_have(tmp_path):
    body = """
    begun, over = threading.Event(), threading.Event()
    def other():
        with disable():
            begun.set()
            over.wait()
    import os
    with disable():
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        child = os.fork()
        if child: over.set(); thread.join()
    outside()
    if child == 0: os._exit(0)
    os.wait()
"""
    path = write_program(tmp_path, PROGRAM.replace("BODY", body.strip()))
    run = tmp_path / "run"
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", run, path], tmp_path)
    assert done.returncode == 0
    for spool in spools_of(run):
        names = [name for location in spool.locations() for kind, name, *_ in stream(spool, location)]
        assert "__main__.outside" in names
