"""timeloom.Measurement, pauses and regions: their contracts, and their errors."""

import os
import shutil
import textwrap

from profile_files import Profile
from spool_reader import spools_of
from streams import run_python
from test_guest import each_instrumenter, output_of


def test_finish_ends_its_own_measurement_only(tmp_path):
    program = """
    import os, timeloom
    a = timeloom.Measurement(output="a", weave=False).start()
    first = a.finish()
    b = timeloom.Measurement(output="b", weave=False).start()
    print(a.finish() == first, a.run == first, a.totals["run"] == first, b.run)
    print(os.path.basename(b.finish()), os.path.basename(b.finish()), b.totals is None)
    """
    assert output_of(program, tmp_path) == "True True True None\nb b False\n"


def test_what_is_asked_wrongly_is_an_error_of_ours(tmp_path):
    program = """
    import timeloom
    for settings in ({"instrumentor": "x"}, {"weave": "x"}, {"output": []}):
        try:
            timeloom.Measurement(**settings).start()
        except timeloom.Error as error:
            print(error)
    """
    first, second, third = output_of(program, tmp_path).splitlines()
    assert "did you mean instrumenter?" in first and "weave:" in second and "output:" in third


def test_a_broken_pyproject_is_an_error_of_ours(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.timeloom]\nbroken\n")
    program = """
    import timeloom
    try:
        timeloom.Measurement().start()
    except timeloom.Error as error:
        print(error)
    """
    assert output_of(program, tmp_path).startswith(str(tmp_path / "pyproject.toml") + ": ")


def test_a_directory_whose_name_is_no_text(tmp_path):
    directory = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(directory)
    program = f"""
    import os, timeloom
    os.chdir({directory!r})
    with timeloom.Measurement(output="run", weave=False) as m: pass
    print(os.fsencode(m.run) == {directory!r} + b"/run", ascii(m.totals["run"]) == ascii(m.run))
    try:
        timeloom.Measurement(output="run").start()
    except timeloom.Error as error:
        print(ascii(str(error)))
    """
    first, second = output_of(program, tmp_path).splitlines()
    assert first == "True True"
    assert "caf\\udce9" in second and "exists" in second


def test_a_run_that_was_replaced_is_no_success(tmp_path):
    """Another program has replaced it by a woven run."""
    replace = """
    import shutil, timeloom
    shutil.rmtree({0!r})
    with timeloom.Measurement(output="other", instrumenter="dummy"): pass
    os.rename("other", {0!r})
    """
    (tmp_path / "replace.py").write_text(textwrap.dedent(replace).format("run").replace("import", "import os,", 1))
    program = """
    import subprocess, sys, timeloom
    m = timeloom.Measurement(output="run", instrumenter="dummy").start()
    subprocess.run([sys.executable, "replace.py"], check=True)
    m.finish()
    print(m.totals["woven"], m.totals["error"] != 0)
    """
    assert output_of(program, tmp_path) == "False True\n"
    program = 'import subprocess, sys; subprocess.run([sys.executable, "replace.py"], check=True)'
    (tmp_path / "program.py").write_text(program)
    shutil.rmtree(tmp_path / "run")
    process = run_python(["-m", "timeloom", "--output=run", "program.py"], tmp_path)
    assert process.stderr.endswith("timeloom: not woven: the run was removed or renamed meanwhile [TL020]\n")


# --- Pauses and regions --------------------------------------------------------------------


def entered_in(run):
    (spool,) = spools_of(run)
    return [name for kind, name, *_ in spool.events(0) if kind == "enter" and name.startswith("__main__.")]


@each_instrumenter
def test_a_pause_while_nothing_is_recorded_ends(instrumenter, tmp_path):
    program = f"""
    import timeloom
    def leaf(): pass
    m = timeloom.Measurement(output="first", instrumenter={instrumenter!r}, weave=False).start()
    timeloom.disable_recording()
    with timeloom.pause(): pass
    timeloom.enable_recording()
    leaf()
    m.finish()
    with timeloom.pause():
        m = timeloom.Measurement(output="second", instrumenter={instrumenter!r}, weave=False).start()
    leaf()
    m.finish()
    """
    assert output_of(program, tmp_path) == ""
    for name in ("first", "second"):
        assert entered_in(tmp_path / name) == ["__main__.leaf"]


def test_a_region_begun_while_nothing_is_recorded(tmp_path):
    program = """
    import threading, timeloom
    def work():
        timeloom.region_begin("r")
        timeloom.enable_recording()
        timeloom.region_end("r")
    m = timeloom.Measurement(output="run", instrumenter="dummy", weave=False).start()
    timeloom.disable_recording()
    thread = threading.Thread(target=work)
    thread.start(); thread.join()
    m.finish()
    print(m.totals["unmatched_leaves"])
    """
    assert output_of(program, tmp_path) == "0\n"


def test_a_generator_region_is_sent_a_tuple(tmp_path):
    program = """
    import timeloom
    @timeloom.region("r")
    def generator():
        value = None
        while True: value = yield value
    g = generator()
    next(g)
    print(g.send((1, 2)), g.send(()), g.send([3]))
    """
    assert output_of(program, tmp_path) == "(1, 2) () [3]\n"


def test_inside_a_run_it_is_part_of_it(tmp_path):
    program = """
    import timeloom
    def f(): pass
    f()
    for n in (1, 2):
        with timeloom.Measurement(output="elsewhere", instrumenter="dummy") as m:
            for _ in range(10 * n): f()
        print(m.run == RUN, m.finish() == RUN, m.totals["joined"], m.totals["woven"], m.totals["events"] >= 20 * n,
              m.totals["events"] < 20 * n + 30, m.totals["wall_seconds"] > 0)
    outer = timeloom.Measurement().start()
    inner = timeloom.Measurement().start()
    inner.finish(); outer.finish()
    f()
    """
    text = textwrap.dedent(program).replace("RUN", repr(str(tmp_path / "run")))
    (tmp_path / "program.py").write_text(text)
    done = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", "run", "program.py"], tmp_path)
    assert done.returncode == 0 and done.stdout == (" ".join(["True"] * 3 + ["False"] + ["True"] * 3) + "\n") * 2
    assert done.stderr == (
        f"timeloom: timeloom.Measurement is part of the run {tmp_path / 'run'} here, and its settings do not count [TL012]\n"
    )
    assert not (tmp_path / "elsewhere").exists()
    (spool,) = spools_of(tmp_path / "run")
    calls = [kind for kind, name, *_ in spool.events(0) if name == "__main__.f"]
    assert calls.count("enter") == calls.count("leave") == 32


def test_two_measurements_of_one_process_are_refused_all_the_same(tmp_path):
    program = """
    import timeloom
    m = timeloom.Measurement(output="run", weave=False).start()
    try: timeloom.Measurement(output="other").start()
    except timeloom.Error as error: print(error)
    m.finish()
    print(m.totals["joined"])
    """
    first, second = output_of(program, tmp_path).splitlines()
    assert "already running" in first and second == "False"


def test_the_output_is_a_path(tmp_path):
    program = """
    import os, pathlib, timeloom
    class Bytes:
        def __fspath__(self): return b"caf\\xe9"
    for path in (pathlib.Path("run"), Bytes()):
        with timeloom.Measurement(output=path, weave=False) as m: pass
        print(os.path.basename(os.fsencode(m.run)))
    class Broken:
        def __fspath__(self): return 5
    try: timeloom.Measurement(output=Broken()).start()
    except TypeError as error: print("TypeError")
    """
    assert output_of(program, tmp_path) == "b'run'\nb'caf\\xe9'\nTypeError\n"


def test_names_of_any_text(tmp_path):
    """OTF2 ends a text at its first zero, and UTF-8 has no lone surrogates."""
    program = """
    import timeloom
    zero, half = "a" + chr(0) + "b", "c" + chr(0xdc80) + "d"
    with timeloom.Measurement(output="run", instrumenter="dummy") as m:
        for name in (zero, half):
            with timeloom.region(name): pass
            timeloom.region_begin(name); timeloom.region_end(name)
            timeloom.parameter_int(name, 1)
            timeloom.parameter_string(name, name)
            timeloom.counter(name, 1, name)
            timeloom.marker(name)
    print(m.totals["woven"], m.totals["lost_events"])
    """
    assert output_of(program, tmp_path) == "True 0\n"
    assert Profile(tmp_path / "run").regions == ["a\\x00b", "c\\udc80d"]


def test_overhead_of_what_is_not_recorded(tmp_path):
    """The interpreter calls Timeloom's function for every line, though lines are not events."""
    (tmp_path / "program.py").write_text(r"""
import timeloom

def overhead_of_event(lines):
    text = "def f():\n" + "    x = 1\n" * lines + "for _ in range(200_000): f()\n"
    with timeloom.Measurement(output=f"run-{lines}", instrumenter="trace", weave=False) as m:
        exec(compile(text, "p.py", "exec"), {})
    return m.totals["overhead_seconds"] / m.totals["events"]

print(overhead_of_event(50) / overhead_of_event(1))
""")
    done = run_python(["program.py"], tmp_path)
    # Events alone would give 1; fifty lines cost more than the two events of their function.
    assert done.returncode == 0 and float(done.stdout) > 2


def test_variables_of_score_p_hold_for_a_block_that_asks_for_them(tmp_path):
    """Its directory stays one of Timeloom."""
    (tmp_path / "program.py").write_text("""
import timeloom
for layout in ("scorep", "timeloom"):
    with timeloom.Measurement(output=layout, layout=layout) as m:
        pass
    print(m.totals["profile"])
""")
    done = run_python(["program.py"], tmp_path, env={"SCOREP_ENABLE_PROFILING": "true"})
    assert done.stdout.split() == ["True", "False"], done.stderr
    assert not (tmp_path / "scorep" / "traces.otf2").exists() and (tmp_path / "timeloom" / "traces.otf2").exists()


def test_threads_that_are_kept_off_are_never_recorded(tmp_path):
    (tmp_path / "program.py").write_text("""
import threading, timeloom
from timeloom import _core

def work(): pass

def serve():
    while not over.wait(0):
        asked.acquire()
        work()
        answered.release()

over, asked, answered = threading.Event(), threading.Semaphore(0), threading.Semaphore(0)
host = threading.Thread(target=serve, daemon=True)
host.start()
_core.keep_off_threads([host.native_id])
for number in range(2):
    with timeloom.Measurement(output=f"run{number}", weave=False) as m:
        work()
        asked.release()
        answered.acquire()
    print(m.totals["threads"])
""")
    done = run_python(["program.py"], tmp_path)
    assert done.stdout.split() == ["1", "1"], done.stderr
    for number in range(2):
        (spool,) = spools_of(tmp_path / f"run{number}")
        assert [event[1] for event in spool.events(0) if event[0] == "enter"].count("__main__.work") == 1
