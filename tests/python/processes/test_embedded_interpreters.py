"""Sub-interpreters of a C program that embeds Python, and interpreters that cannot join the measurement."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from interpreter_runs import calls_by_interpreter, measured, said
from profile_files import Profile, visits_by_region
from streams import environment

RECORDED = sys.version_info >= (3, 12)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory):
    """The program, linked with the library of this Python."""
    made = tmp_path_factory.mktemp("embedder") / "embedder"
    variables = sysconfig.get_config_vars()
    places = [Path(variables["LIBDIR"]), Path(variables["LIBPL"])]
    if not any(list(place.glob(f"libpython{variables['LDVERSION']}.*")) for place in places):
        pytest.skip("this Python has no library to embed")
    words = [variables[name] or "" for name in ("LINKFORSHARED", "LIBS", "SYSLIBS")]
    subprocess.run(
        ["cc", Path(__file__).with_name("embedder.c"), "-o", made, "-pthread", f"-I{variables['INCLUDEPY']}",
         *[f"-L{place}" for place in places], f"-Wl,-rpath,{places[0]}",
         # Modules of C need functions of a static library that the program does not.
         "-Wl,--whole-archive", f"-lpython{variables['LDVERSION']}", "-Wl,--no-whole-archive",
         *" ".join(words).split()],
        check=True,
    )  # fmt: skip
    return made


GILS = ["common", "own"] if RECORDED else ["common"]


@pytest.mark.parametrize("gil", GILS)
def test_a_server_that_embeds_python(tmp_path, embedder, gil):
    """Three threads of C make 40 requests each to four interpreters in turn."""
    done = subprocess.run(
        [embedder, sys.executable, gil, "4", "3", "40"],
        cwd=tmp_path, capture_output=True, text=True, timeout=240, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "served\n", "")
    found = calls_by_interpreter(tmp_path / "run", "step")
    if not RECORDED:
        assert found == {}
        return
    assert found == {f"interpreter {number}": 300 for number in range(1, 5)}
    assert calls_by_interpreter(tmp_path / "run", "handle") == {f"interpreter {number}": 30 for number in range(1, 5)}
    profile = Profile(tmp_path / "run")
    visits = [visits_by_region(profile, location) for location in profile.locations]
    assert [counts.get("__main__.handle", 0) for counts in visits] == [0, 40, 40, 40]


@pytest.mark.skipif(not RECORDED, reason="sys.monitoring came with Python 3.12")
@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(
    "obstacle",
    [
        "for tool in range(6): sys.monitoring.get_tool(tool) or sys.monitoring.use_tool_id(tool, 'another')",
        "timeloom_follow.__file__ = '/nowhere/timeloom_follow.py'",
    ],
)
def test_one_that_cannot_join(tmp_path, isolated, obstacle):
    """One line counts it, and the program runs: no tool is free, the extension is not there."""
    code = f"""
import os, sys, timeloom_follow
{obstacle}
os.environ["TIMELOOM_PARENT"] = os.environ["PARENT"]
timeloom_follow.follow()  # as at the start of an interpreter
"""
    hidden = "os.environ['PARENT'] = os.environ.pop('TIMELOOM_PARENT')\n"
    done = measured(f"{hidden}in_other({code!r}, {isolated})\nprint('done')\n", tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert said(done) == ["timeloom: 1 sub-interpreter not recorded [TL002]"]


@pytest.mark.skipif(not RECORDED, reason="sys.monitoring came with Python 3.12")
def test_the_module_of_sub_interpreters_does_not_show(tmp_path):
    code = "import sys; assert not [name for name in sys.modules if name.partition('.')[0] == 'timeloom'], sys.modules"
    done = measured(f"in_other({code!r})\n", tmp_path)
    assert (done.returncode, said(done)) == (0, []), done.stderr
