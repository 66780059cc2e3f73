"""timeloom.Measurement, pauses and regions: what they promise, and their errors."""

import os
import shutil
import textwrap

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
    """Another program has put a woven run of its own in its place."""
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
    assert process.stderr.endswith("timeloom: nothing of it is left: the run was removed meanwhile\n")


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
