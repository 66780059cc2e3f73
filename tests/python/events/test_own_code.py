"""Timeloom's own code is never recorded, whatever a program uses first; regions that were not entered are not
defined."""

import pytest
from spool_reader import spools_of, stream
from streams import INSTRUMENTERS, run_python, write_program

USES = {
    "decorators": """
import scorep.user, timeloom
@scorep.user.region()
def one(): pass
@scorep.user.region("named")
async def two(): pass
@timeloom.region
def three():
    yield 1
@timeloom.region("four")
async def four():
    yield 1
one()
for _ in three(): pass
""",
    "switches": """
import scorep.instrumenter
@scorep.instrumenter.disable()
def quiet(): pass
@scorep.instrumenter.enable("named")
async def loud(): pass
quiet()
""",
    "the interface of the bindings": """
import scorep
scorep.helper.get_python_version()
scorep.subsystem.generate_subsystem_lib_name()
scorep._bindings.abspath("/x")
scorep.user.region_begin("x"); scorep.user.region_end("x")
scorep.user.parameter_int("n", 1)
""",
    "a block in a run": """
import timeloom
with timeloom.Measurement(), timeloom.region("x"), timeloom.stop(), timeloom.start():
    timeloom.counter("n", 1)
timeloom.disable_recording(); timeloom.enable_recording()
""",
}


def recorded(program, instrumenter, directory, *options):
    run = directory / f"run-{instrumenter}"
    path = write_program(directory, program)
    command = ["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "-o", run, *options, path]
    done = run_python(command, directory)
    assert done.returncode == 0, done.stderr
    return spools_of(run)


def entered(spool):
    return {name for location in spool.locations() for kind, name, *_ in stream(spool, location) if kind == "enter"}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_what_is_used_first(instrumenter, use, tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.timeloom]\n")  # which is read with tomllib
    (spool,) = recorded(USES[use], instrumenter, tmp_path)
    # posixpath is called for the program, Python ends threading after its import, and setuptools of older environments
    # hooks into the program's imports.
    theirs = ("__main__.", "user:", "x", "posixpath.", "threading.", "_distutils_hack.")
    assert {name for name in entered(spool) if not name.startswith(theirs)} == set()


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_regions_that_are_defined_were_entered(instrumenter, tmp_path):
    program = """
import json, os, threading, timeloom, scorep.user
def never(): pass
@timeloom.region("never")
def neither(): pass
left_out = timeloom.region("not entered")
scorep.user.region("nor this")
def function(): return json.dumps([1])
thread = threading.Thread(target=function)
thread.start()
thread.join()
if os.fork() == 0:
    function()
    os._exit(0)
os.wait()
with timeloom.stop():
    json.loads("[1]")
timeloom.disable_recording()
never(), neither()
"""
    spools = recorded(program, instrumenter, tmp_path)
    assert len(spools) == 2
    for spool in spools:
        assert {region["name"] for region in spool.regions.values()} == entered(spool)


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_without_a_call_nothing_is_defined(instrumenter, tmp_path):
    (spool,) = recorded("def one(): pass\ndef two(): one()\ntwo()\n", instrumenter, tmp_path)
    assert {region["name"] for region in spool.regions.values()} == {"__main__.<module>", "__main__.one", "__main__.two"}


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_the_start_of_children_is_not_theirs(instrumenter, tmp_path):
    program = """
import subprocess, sys
def step(): pass
if __name__ == "__main__":
    subprocess.run([sys.executable, "-c", "def child(): pass\\nchild()"], check=True)
    step()
"""
    spools = recorded(program, instrumenter, tmp_path, "--follow", "all")
    assert len(spools) == 2
    names = set().union(*map(entered, spools))
    assert {"__main__.step", "__main__.child"} <= names
    assert not [name for name in names if name.startswith("timeloom")]
