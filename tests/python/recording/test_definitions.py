"""A run defines the regions entered in it, and nothing else of its process or of earlier measurements."""

import json

import pytest
from profile_files import Profile
from spool_reader import spools_of
from streams import INSTRUMENTERS, each_instrumenter, run_python
from test_guest import output_of

pytestmark = pytest.mark.any_python


def entered(spool):
    return {name for at in spool.locations() for kind, name, *_ in spool.events(at) if kind == "enter"}


def assert_names_what_was_entered(spool, expected):
    names = [region["name"] for region in spool.regions.values()]
    assert set(names) == entered(spool) == set(expected)
    assert len(names) == len(set(names))


def size_of_definitions(spool):
    """The size of the file without costs and CPU times, whose digits vary, and without time-dependent records."""
    digits = sum(len(spool.properties[key]) for key in ("timeloom::process_cost", "timeloom::cpu_times"))
    return len((spool.directory / "defs").read_bytes()) - digits - spool.sync_bytes


@each_instrumenter
def test_200_measurements_of_one_process(tmp_path, instrumenter):
    program = f"""
    import timeloom
    def common(): pass
    for number in range(200):
        exec(f"def only_in_{{number}}(): common()", globals())
        function = globals()[f"only_in_{{number}}"]
        with timeloom.Measurement(output=f"run-{{number}}", instrumenter={instrumenter!r}, weave=False):
            for _ in range(number % 3 + 1): function()
    """
    output_of(program, tmp_path)
    sizes = set()
    for number in range(200):
        (spool,) = spools_of(tmp_path / f"run-{number}")
        assert_names_what_was_entered(spool, {f"__main__.only_in_{number}", "__main__.common"})
        assert [name for kind, name, *_ in spool.events(0) if kind == "enter"] == [
            f"__main__.only_in_{number}", "__main__.common"
        ] * (number % 3 + 1)  # fmt: skip
        if number >= 100:
            sizes.add(sum(len(region["name"]) for region in spool.regions.values()))
    assert len(sizes) == 1


@each_instrumenter
def test_the_trace_and_the_profile_of_a_later_measurement(tmp_path, instrumenter, timeloom):
    program = f"""
    import timeloom
    def first(): pass
    def second(): pass
    def both(): pass
    for name, function in (("a", first), ("b", second), ("c", second)):
        for mode, profile in (("trace", False), ("profile", True)):
            with timeloom.Measurement(output=f"{{name}}-{{mode}}", instrumenter={instrumenter!r}, profile=profile):
                both(); function(); both()
    """
    output_of(program, tmp_path)
    for name, other in (("a", "first"), ("b", "second"), ("c", "second")):
        for mode in ("trace", "profile"):
            run = tmp_path / f"{name}-{mode}"
            assert set(Profile(run).regions) == {"__main__.both", f"__main__.{other}"}
            report = json.loads(timeloom("report", "--json", run).stdout)
            visits = {row["name"]: row["visits"] for row in report["flat"]["rows"]}
            assert visits == {"__main__.both": 2, f"__main__.{other}": 1}


def test_what_the_program_names_itself(tmp_path):
    program = """
    import timeloom
    kept = timeloom.region("kept")
    @timeloom.region("decorated")
    def decorated(): pass
    def work(number):
        with timeloom.region(f"region {number}"):
            with kept: pass
            decorated()
            timeloom.parameter_string(f"parameter {number}", f"text {number}")
            timeloom.parameter_int("common", number)
            timeloom.counter(f"counter {number}", number)
            timeloom.region_begin("by call"); timeloom.region_end("by call")
            timeloom.region_end("never begun")
    for number in range(5):
        with timeloom.Measurement(output=f"run-{number}", instrumenter="dummy", weave=False) as m: work(number)
    """
    output_of(program, tmp_path)
    sizes = set()
    for number in range(5):
        (spool,) = spools_of(tmp_path / f"run-{number}")
        assert_names_what_was_entered(spool, {f"region {number}", "kept", "decorated", "by call"})
        assert set(spool.parameters.values()) == {f"parameter {number}", "common"}
        assert set(spool.strings.values()) == {f"text {number}"}
        assert [name for name, *_ in spool.metrics.values()] == [f"counter {number}"]
        values = [(kind, name, value) for kind, name, value, _ in spool.events(0) if value is not None]
        assert values == [
            ("parameter_string", f"parameter {number}", f"text {number}"),
            ("parameter_int", "common", number),
            ("metric", (f"counter {number}", ""), number),
        ]
        sizes.add(size_of_definitions(spool))
    assert len(sizes) == 1


def test_the_place_of_a_region_is_that_of_its_own_measurement(tmp_path):
    program = """import timeloom
def here():
    with timeloom.region("x"): pass
def there():
    with timeloom.region("x"): pass
for name, function in (("a", here), ("b", there)):
    with timeloom.Measurement(output=name, instrumenter="dummy", weave=False): function(); here()
"""
    output_of(program, tmp_path)
    for run, line in (("a", 3), ("b", 5)):
        (spool,) = spools_of(tmp_path / run)
        assert [(region["name"], region["first"]) for region in spool.regions.values()] == [("x", line)]


def test_nothing_is_named_while_recording_is_off(tmp_path):
    program = """
    import timeloom
    def off(): pass
    def on(): pass
    for number in range(3):
        with timeloom.Measurement(output=f"run-{number}", weave=False):
            timeloom.disable_recording()
            off()
            with timeloom.region("off"): pass
            timeloom.enable_recording()
            on()
            with timeloom.region("on"): pass
    """
    output_of(program, tmp_path)
    for number in range(3):
        assert_names_what_was_entered(spools_of(tmp_path / f"run-{number}")[0], {"__main__.on", "on"})


def test_filters_by_turns(tmp_path):
    """Each one has its own decisions, and finds them again."""
    program = """
    import timeloom
    def f(): pass
    def g(): f()
    for number in range(6):
        exclude = [[], ["__main__.f"], ["__main__.g"]][number % 3]
        with timeloom.Measurement(output=f"run-{number}", exclude=exclude, weave=False): g()
    """
    output_of(program, tmp_path)
    for number in range(6):
        names = [{"__main__.f", "__main__.g"}, {"__main__.g"}, {"__main__.f"}][number % 3]
        assert_names_what_was_entered(spools_of(tmp_path / f"run-{number}")[0], names)


@each_instrumenter
def test_threads_go_on_from_one_measurement_to_the_next(tmp_path, instrumenter):
    program = f"""
    import queue, threading, timeloom
    def f(): pass
    def g(): pass
    functions, done = queue.SimpleQueue(), queue.SimpleQueue()
    def serve():
        while (function := functions.get()) is not None:
            function()
            done.put(1)
    thread = threading.Thread(target=serve)
    thread.start()
    for number in range(6):
        with timeloom.Measurement(output=f"run-{{number}}", instrumenter={instrumenter!r}, weave=False):
            functions.put((f, g)[number % 2])
            done.get()
    functions.put(None)
    thread.join()
    """
    output_of(program, tmp_path)
    for number in range(6):
        (spool,) = spools_of(tmp_path / f"run-{number}")
        assert {name for name in entered(spool) if name.startswith("__main__")} == {"__main__." + "fg"[number % 2]}
        assert {region["name"] for region in spool.regions.values()} == entered(spool)


@pytest.mark.parametrize("instrumenter", [name for name in INSTRUMENTERS if name in ("monitoring", "frame")])
def test_tasks(tmp_path, instrumenter):
    program = f"""
    import asyncio, timeloom
    async def f(): await asyncio.sleep(0)
    async def main(): await asyncio.gather(f(), f())
    def plain(): pass
    for number in range(4):
        with timeloom.Measurement(output=f"run-{{number}}", instrumenter={instrumenter!r}, async_tasks=True, weave=False):
            asyncio.run(main()) if number % 2 == 0 else plain()
    """
    output_of(program, tmp_path)
    for number in range(4):
        (spool,) = spools_of(tmp_path / f"run-{number}")
        names = entered(spool)
        assert {region["name"] for region in spool.regions.values()} == names
        if number % 2 == 0:
            assert {"task", "suspended", "__main__.f"} <= names
        else:
            assert names == {"__main__.plain"} and spool.parameters == {}


@each_instrumenter
def test_a_forked_child_of_a_later_measurement(tmp_path, instrumenter):
    """The child continues in the open regions, and defines these and the ones that it enters."""
    program = f"""
    import os, timeloom
    def f(): pass
    def g(): pass
    def outer():
        f()
        with timeloom.region("around"):
            child = os.fork()
            g()
        if child == 0: os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    for number in range(3):
        with timeloom.Measurement(output=f"run-{{number}}", instrumenter={instrumenter!r}, weave=False):
            outer()
    """
    output_of(program, tmp_path)
    context = ("__main__.outer (forked)", "around (forked)")
    for number in range(3):
        child, parent = sorted(spools_of(tmp_path / f"run-{number}"), key=lambda one: len(one.events(0)))
        assert {region["name"] for region in parent.regions.values()} == entered(parent)
        events = [(kind, name) for kind, name, *_ in child.events(0) if name in (*context, "__main__.g")]
        assert events[:5] == [
            ("enter", context[0]), ("enter", context[1]), ("enter", "__main__.g"), ("leave", "__main__.g"),
            ("leave", context[1]),
        ]  # fmt: skip
        assert {region["name"] for region in child.regions.values()} == entered(child)
        assert "__main__.f" not in entered(child) and "__main__.f" in entered(parent)


@each_instrumenter
def test_a_program_of_two_functions(tmp_path, instrumenter):
    """The launcher itself calls functions before and after the program, which are not recorded."""
    (tmp_path / "program.py").write_text("def f(): pass\ndef g(): f()\ng()\n")
    arguments = ["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "-o", "run", "program.py"]
    assert run_python(arguments, tmp_path).returncode == 0
    (spool,) = spools_of(tmp_path / "run")
    assert_names_what_was_entered(spool, {"__main__.<module>", "__main__.f", "__main__.g"})


def test_c_functions(tmp_path):
    program = """
    import timeloom
    def f(): return len([])
    def g(): return abs(1)
    for number in range(4):
        with timeloom.Measurement(output=f"run-{number}", c_functions=True, weave=False): (f, g)[number % 2]()
    """
    output_of(program, tmp_path)
    for number in range(4):
        (spool,) = spools_of(tmp_path / f"run-{number}")
        names = {region["name"] for region in spool.regions.values()}
        assert names == entered(spool)
        assert ("builtins.len" in names, "builtins.abs" in names) == (number % 2 == 0, number % 2 == 1)


def test_calls_beyond_the_depth_that_is_recorded(tmp_path):
    program = """
    import timeloom
    def inner(): pass
    def outer(): inner()
    for number in range(3):
        with timeloom.Measurement(output=f"run-{number}", max_depth=1, weave=False): outer()
    """
    output_of(program, tmp_path)
    for number in range(3):
        assert_names_what_was_entered(spools_of(tmp_path / f"run-{number}")[0], {"__main__.outer"})
