"""Collections of Python's garbage collector, as regions: gc.collect below the function in which they happen."""

import json

import pytest
from profile_files import Profile
from spool_reader import spools_of, stream
from streams import INSTRUMENTERS, measure, run_python

ON = ("--gc",)
# Collections happen only where the program asks for them.
START = "import gc; gc.disable()\nclass Cycle:\n    def __init__(self): self.me = self\n"
REGIONS = {"gc.collect", "__main__.make", "__main__.other", "__main__.<module>", "__main__.mine", "__main__.Cycle.__del__"}


def events_of(run, location=0, spool=0):
    """Events without import machinery; of a collection its generation, then its number of objects."""
    return [event for event in stream(spools_of(run)[spool], location, lambda name: name in REGIONS)
            if event[0] in ("enter", "leave") or event[0].startswith(("param", "metric"))]  # fmt: skip


def collection(generation, inside=(), collected=None):
    events = [("enter", "gc.collect"), ("parameter_int", "generation", generation), *inside]
    return [*events, ("metric", ("gc.collected", "objects"), collected), ("leave", "gc.collect")]


def made(program, instrumenter, directory, *options):
    """The events of the function make() of a program, and the process."""
    _, process = measure(START + program, instrumenter, directory, *ON, *options)
    assert process.returncode == 0, process.stderr
    events = events_of(directory / f"run-{instrumenter}")
    first, last = events.index(("enter", "__main__.make")), events.index(("leave", "__main__.make"))
    return events[first + 1 : last], process


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_a_collection_lies_in_its_function(tmp_path, instrumenter):
    program = """
def make():
    found.append(gc.collect()); Cycle(); Cycle(); found.append(gc.collect(1))
found = []
make()
print(found)
"""
    events, process = made(program, instrumenter, tmp_path)
    whole, younger = json.loads(process.stdout)
    assert younger >= 2
    assert events == collection(2, (), whole) + collection(1, (), younger)


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_callbacks_of_the_program_and_finalizers_lie_inside(tmp_path, instrumenter):
    program = """
Cycle.__del__ = lambda self: None
Cycle.__del__.__qualname__ = "Cycle.__del__"
class Named(Cycle):
    def __del__(self): other()
def other(): pass
def mine(phase, info): pass
gc.callbacks.insert(0, mine); gc.callbacks.append(mine)
def make():
    Named(); gc.collect(0)
    gc.collect(0)
make()
"""
    events, _ = made(program, instrumenter, tmp_path)
    names = [(kind, name) for kind, name, *_ in events if kind in ("enter", "leave")]
    mine, region = [("enter", "__main__.mine"), ("leave", "__main__.mine")], ("gc.collect",)
    other = [("enter", "__main__.other"), ("leave", "__main__.other")]
    # The first that comes finds the program's callback before ours.
    first = [*mine, ("enter", *region), *mine, *other, *mine, *mine, ("leave", *region)]
    assert names == [*first, ("enter", *region), *mine, *mine, *mine, *mine, ("leave", *region)]


@pytest.mark.parametrize("change", [
    "gc.callbacks.clear()",
    "gc.callbacks[:] = [mine]",
    "del gc.callbacks[0]; del gc.callbacks[-1]",
])  # fmt: skip
def test_a_program_may_take_the_callbacks_away(tmp_path, change):
    program = f"""
seen = []
def mine(phase, info): seen.append(phase)
def make():
    {change}
    gc.collect(0)
make()
print(seen, [one.__name__ for one in gc.callbacks])
"""
    events, process = made(program, INSTRUMENTERS[0], tmp_path)
    assert ("enter", "gc.collect") not in events
    kept = "mine" in change
    assert process.stdout == (f"{['start', 'stop']} ['mine']\n" if kept else "[] []\n")


def test_a_program_may_put_another_list_there(tmp_path):
    program = "def make():\n    gc.callbacks = []\n    gc.freeze(); gc.collect(0); gc.unfreeze()\nmake()\n"
    events, _ = made(program, INSTRUMENTERS[0], tmp_path)
    assert [name for kind, name, *_ in events if kind == "enter"] == ["gc.collect"]


def test_callbacks_may_be_called_by_anybody(tmp_path):
    program = """
def make():
    for one in list(gc.callbacks):
        for arguments in [(), ("start",), ("start", {}), ("stop", {}), ("start", None), ("stop", {"collected": "x"}), (1, 2), ("start", {"generation": 1 << 80})]:
            assert one(*arguments) is None
    gc.collect(0)
make()
"""
    events, process = made(program, INSTRUMENTERS[0], tmp_path)
    assert process.stderr == ""
    assert ("leave", "gc.collect") in events


def test_threads_and_forked_children(tmp_path):
    program = """
import os, threading
def make(): gc.collect(0)
thread = threading.Thread(target=make); thread.start(); thread.join()
child = os.fork()
if not child:
    make()
    import sys; sys.exit()
os.waitpid(child, 0)
"""
    path = tmp_path / "app.py"
    path.write_text(START + program)
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", *ON, "-o", tmp_path / "run", path], tmp_path)
    assert done.returncode == 0, done.stderr
    spools = spools_of(tmp_path / "run")
    assert len(spools) == 2
    for index, spool in enumerate(spools):
        found = [events_of(tmp_path / "run", location, index) for location in spool.locations()]
        entered = [[event[1] for event in events if event[0] == "enter" and event[1] in ("gc.collect", "__main__.make")] for events in found]
        assert ["__main__.make", "gc.collect"] in entered


def test_a_profile_tells_generations_apart(tmp_path):
    path = tmp_path / "app.py"
    path.write_text(START + (
        "def make():\n"
        "    found = [0, 0]\n"
        "    for generation in (0, 0, 1):\n"
        "        Cycle()\n"
        "        found[generation] += gc.collect(generation)\n"
        "    print(*found)\n"
        "make()\n"))  # fmt: skip
    for mode in ([], ["--profile"]):
        run = tmp_path / f"run{''.join(mode)}"
        done = run_python(["-m", "timeloom", "--quiet", *ON, *mode, "-o", run, path], tmp_path)
        assert done.returncode == 0, done.stderr
        profile = Profile(run)
        (location,) = profile.locations
        # Some readers of CUBE profiles (Extra-P, hatchet) cannot read tuples.
        assert [one["name"] for one in profile.metrics if one["type"] == "TAU_ATOMIC"] == []
        visits, collected = {}, {}
        for node, (count, *_) in location["cells"].items():
            if profile.nodes[node]["region"] != "gc.collect":
                continue
            parent = profile.nodes[profile.nodes[node]["parent"]]
            assert parent["region"] == "__main__.make"
            visits[profile.nodes[node]["parameters"][0]] = count
            collected[profile.nodes[node]["parameters"][0]] = location["counters"]["gc.collected", node][0]
        assert visits == {("generation", "0"): 2, ("generation", "1"): 1}
        assert [collected["generation", one] for one in ("0", "1")] == [*map(int, done.stdout.split())]


@pytest.mark.parametrize("options", [("--no-gc",), ("--gc", "--exclude", "gc.*")])
def test_without_collections(tmp_path, options):
    program = "import gc, sys\ndef make():\n    gc.collect()\nmake()\n"
    _, process = measure(program, INSTRUMENTERS[0], tmp_path, *options)
    assert process.returncode == 0, process.stderr
    assert "gc.collect" not in json.dumps(events_of(tmp_path / f"run-{INSTRUMENTERS[0]}"))


@pytest.mark.parametrize("variables", [{}, {"TIMELOOM_GC": "on"}])
def test_score_p_shows_collections_only_when_asked(tmp_path, variables):
    path = tmp_path / "app.py"
    path.write_text("import gc\ngc.collect()\n")
    environment = {"TIMELOOM_GC": "", **variables, "SCOREP_EXPERIMENT_DIRECTORY": str(tmp_path / "run"), "TIMELOOM_WEAVE": "off"}
    done = run_python(["-m", "scorep", path], tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    (spool,) = spools_of(tmp_path / "run")
    assert any(region["name"] == "gc.collect" for region in spool.regions.values()) == bool(variables)


def test_callbacks_are_there_for_as_long_as_a_part_is_recorded(tmp_path):
    path = tmp_path / "app.py"
    path.write_text("""
import gc, timeloom
before = list(gc.callbacks)
with timeloom.Measurement(output="part", gc=True):
    print(len(gc.callbacks) - len(before))
    gc.collect()
print(gc.callbacks == before)
""")
    done = run_python([path], tmp_path)
    assert (done.stdout, done.returncode) == ("2\nTrue\n", 0), done.stderr


def test_no_module_is_loaded_for_it(tmp_path):
    path = tmp_path / "app.py"
    path.write_text("import sys; print(sorted(sys.modules))\n")
    listed = [run_python(["-m", "timeloom", "--quiet", "--no-weave", option, "-o", tmp_path / f"run{option}", path], tmp_path).stdout
              for option in ("--gc", "--no-gc")]  # fmt: skip
    assert listed[0] == listed[1] != ""
