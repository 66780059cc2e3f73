"""The Python interface of Omnitrace's profiling in a program that was started without the launcher."""

import subprocess
import sys

import pytest
from omnitrace_runs import call_paths, run_directory, run_omnitrace

pytestmark = pytest.mark.any_python

PYTHON = (sys.executable,)
FUNCTIONS = "def f(n=0): return g() + n\ndef g(): return 1\ndef fails(): g(); raise ValueError('x')\n"


def run(directory, text, timeloom_program, status=0, head="import omnitrace\n" + FUNCTIONS):
    """Run the text plainly; return its output and its call paths (None: it has made no run)."""
    (directory / "app.py").write_text(head + text)
    done = run_omnitrace(directory, "app.py", command=PYTHON, status=status)
    runs = list(directory.rglob("timeloom-run*"))
    return done, call_paths(directory, timeloom_program) if runs else None


CASES = {
    "decorator": ("@omnitrace.profile()\ndef main(): return f()\nf(); main(); f()", {"main": 1, "main/f": 1, "main/f/g": 1}),
    "block": ("f()\nwith omnitrace.profile(): f()\nf()", {"f": 1, "f/g": 1}),
    "block yields None": ("with omnitrace.Profiler() as value: print(value)", {}),
    "start and stop": ("p = omnitrace.Profiler()\nprint(p.start(), p.start(), p.stop()); f(); print(p.stop()); f(); print(p.stop())",
                       {"f": 1, "f/g": 1}),
    "run": ("p = omnitrace.Profiler(debug=True)\nassert p.run('f()') is p and p.run(['f', '()']) is p", {"f": 2, "f/g": 2}),
    "runctx": ("names = {'f': f}\nlocal = {}\nomnitrace.profile().runctx('x = f(2)', names, local)\nprint(local)", {"f": 1, "f/g": 1}),
    "runcall": ("print(omnitrace.profile().runcall(f, n=3))", {"f": 1, "f/g": 1}),
    "nested": ("with omnitrace.profile():\n    with omnitrace.profile(): f()\n    g()\ng()", {"f": 1, "f/g": 1, "g": 1}),
    "crossed": ("p, q = omnitrace.Profiler(), omnitrace.Profiler()\np.start(); q.start(); p.stop(); g(); q.stop(); g()", {"g": 1}),
    "one for several": ("p = omnitrace.Profiler()\n@p\ndef a(): return g()\n@p\ndef b(): return a()\nb(); g(); a()",
                        {"b": 1, "b/a": 1, "b/a/g": 1, "a": 1, "a/g": 1}),
    "raising block": ("try:\n    with omnitrace.profile(): fails()\nexcept ValueError: g()", {"fails": 1, "fails/g": 1}),
    "raising function": ("try: omnitrace.profile()(fails)()\nexcept ValueError: g()", {"fails": 1, "fails/g": 1}),
    "raising run": ("try: omnitrace.profile().run('fails()')\nexcept ValueError: g()", {"fails": 1, "fails/g": 1}),
    "fake block": ("with omnitrace.profile():\n    g()\n    with omnitrace.noprofile(): f()\n    g()", {"g": 2}),
    "fake function": ("@omnitrace.noprofile()\ndef no(): return f()\nwith omnitrace.profile(): no(); g()", {"g": 1}),
    "raising fake": ("with omnitrace.profile():\n    try: omnitrace.noprofile()(fails)()\n    except ValueError: g()", {"g": 1}),
    "condition": ("omnitrace.Profiler.condition(lambda: False)\nprint(omnitrace.profile.is_enabled())\n"
                  "with omnitrace.profile(): f()\nomnitrace.Profiler.condition(lambda: 1 / 0)\nprint(omnitrace.profile.is_enabled())\n"
                  "omnitrace.Profiler.condition(lambda: True)\nwith omnitrace.profile(): g()\nprint(omnitrace.noprofile.is_enabled())", {"g": 1}),
    "low level": ("omnitrace.profiler_init(); f(); omnitrace.profiler_finalize(); g()", {"f": 1, "f/g": 1}),
    "user region": ("from omnitrace.user import region\nwith region('mine'): f()\n@region('yours')\ndef a(): return g()\n"
                    "with omnitrace.profile(): a()\nregion('third').runcall(f)", {"mine": 1, "yours": 1, "yours/a": 1, "yours/a/g": 1, "third": 1}),
    "user functions": ("from omnitrace.user import *\nprint(push_region('a'), push_region('b'), pop_region('b'), pop_region('a'))",
                       {"a": 1, "a/b": 1}),
    "region starts": ("from omnitrace.user import Region\na, b = Region('a'), Region('b')\na.start(); b.start(); b.stop(); a.stop()",
                      {"a": 1, "a/b": 1}),
    "stopped trace": ("from omnitrace.user import *\nwith omnitrace.profile():\n    g(); print(stop_trace())\n    with region('r'): f()\n"
                      "    print(start_trace()); g()\ng()", {"g": 2, "r": 1}),
    "stopped thread": ("import threading\nfrom omnitrace.user import *\n"
                       "def other(): g()\nomnitrace.config.restrict_modules = ['/app.py$']\nwith omnitrace.profile():\n    g(); stop_thread_trace()\n    with region('r'): f()\n"
                       "    thread = threading.Thread(target=other); thread.start(); thread.join()\n    start_thread_trace(); g()",
                       {"g": 2, "r": 1, "other": 1, "other/g": 1}),
    "config": ("c = omnitrace.config\nc.restrict_functions += ['f', 'g']\nc.include_args = True\nwith omnitrace.profile(): f(2)",
               {"f(n=2)": 1, "f(n=2)/g()": 1}),
    "config later": ("c = omnitrace.profiler.config\nwith omnitrace.profile(): f()\nc.exclude_functions += ['^g$']\nwith omnitrace.profile(): f(); g()",
                     {"f": 2, "f/g": 1}),
    "config replaced": ("omnitrace.Config.exclude_functions = []\nwith omnitrace.profile(): (lambda: g())()", {"<lambda>": 1, "<lambda>/g": 1}),
    "initialize": ("print(omnitrace.is_initialized(), omnitrace.is_finalized())\nomnitrace.initialize(['other.py', 'x'])\n"
                   "print(omnitrace.is_initialized())\nf()\nwith omnitrace.profile(): g()\nomnitrace.finalize()\n"
                   "print(omnitrace.is_initialized(), omnitrace.is_finalized())\nwith omnitrace.profile(): f()", {"g": 1}),
    "coroutine": ("import asyncio\n@omnitrace.profile()\nasync def work():\n    g(); await asyncio.sleep(0); g()\n"
                  "async def main():\n    await asyncio.gather(work(), between())\nasync def between(): f()\n"
                  "omnitrace.config.restrict_modules = ['/app.py$']\nasyncio.run(main())", {"work": 2, "work/g": 2}),
    "generator": ("@omnitrace.profile()\ndef make():\n    yield g()\n    yield g()\nfor _ in make(): f()", {"make": 3, "make/g": 2}),
    "fake generator": ("@omnitrace.noprofile()\ndef make():\n    yield g()\n    yield g()\nwith omnitrace.profile():\n    for _ in make(): f()",
                       {"f": 2, "f/g": 2}),
    "fork": ("import os\nwith omnitrace.profile():\n    pid = os.fork()\n    g()\n    if pid == 0: os._exit(0)\n    os.waitpid(pid, 0)", {"g": 2}),
}  # fmt: skip
PRINTED = {
    "block yields None": "None\n", "start and stop": "1 2 1\n0\n0\n", "runctx": "{'x': 3}\n", "runcall": "4\n",
    "condition": "False\nFalse\nFalse\n", "user functions": "0 0 0 0\n", "stopped trace": "0\n0\n",
    "initialize": "False False\nTrue\nTrue True\n",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_interface(tmp_path, case, timeloom_program):
    text, expected = CASES[case]
    done, calls = run(tmp_path, text, timeloom_program)
    assert (done.stdout, done.stderr) == (PRINTED.get(case, ""), "")
    assert (calls or {}) == expected


@pytest.mark.parametrize("case", ["decorator", "raising block", "fake generator", "config", "stopped thread"])
@pytest.mark.parametrize("instrumenter", ["frame", "profile"])
def test_interface_with_other_instrumenters(tmp_path, case, instrumenter, timeloom_program, monkeypatch):
    text, expected = CASES[case]
    (tmp_path / "app.py").write_text("import omnitrace\n" + FUNCTIONS + text)
    run_omnitrace(tmp_path, "app.py", command=PYTHON, TIMELOOM_INSTRUMENTER=instrumenter)
    assert call_paths(tmp_path, timeloom_program) == expected


@pytest.mark.parametrize(
    "text, error",
    [
        ("omnitrace.initialize('x'); omnitrace.initialize('x')", "RuntimeError: Error! omnitrace is already initialized"),
        ("omnitrace.finalize(); omnitrace.finalize()", "RuntimeError: Error! omnitrace is already finalized"),
        ("from omnitrace.user import Region\na, b = Region('a'), Region('b')\na.start(); b.start(); a.stop()",
         "RuntimeError: a was not popped in the order it was pushed. Current stack number: 2, expected stack number: 1"),
        ("from omnitrace.user import Region\nRegion('a').stop()",
         "RuntimeError: a was not popped in the order it was pushed. Current stack number: 0, expected stack number: 0"),
        ("omnitrace.config.include_arg = True", "AttributeError: config has no property 'include_arg' that can be set"),
        ("omnitrace.config.include_arg", "AttributeError: config has no property 'include_arg'"),
        ("omnitrace.config.exclude_functions = 'x'", "TypeError: exclude_functions is a list of regular expressions, not a str"),
        ("omnitrace.config.exclude_functions += [1]", "TypeError: exclude_functions is a list of regular expressions, not of int"),
        ("omnitrace.config.exclude_functions += ['a(b']\nomnitrace.profile().start()",
         "timeloom.Error: function_exclude: 'a(b' is not a regular expression: missing ), unterminated subpattern at position 1 [TL122]"),
        ("omnitrace.user.push_region(1)", "TypeError: region_begin() takes a str, not int"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, text, error, timeloom_program):
    done, _ = run(tmp_path, text, timeloom_program, status=1)
    assert done.stderr.splitlines()[-1] == error


@pytest.mark.parametrize("variable, value, error", [
    ("OMNITRACE_PROFILE", "maybe", "variable OMNITRACE_PROFILE: 'maybe' cannot be read; write ON or OFF"),
    ("TIMELOOM_INSTRUMENTER", "none", "variable TIMELOOM_INSTRUMENTER: 'none' is not accepted"),
    ("OMNITRACE_TIMEMORY_COMPONENTS", "wallclock",
     "OMNITRACE_TIMEMORY_COMPONENTS: no metric is called 'wallclock'; see docs/omnitrace.md"),
])  # fmt: skip
def test_a_variable_that_cannot_be_read_leaves_the_program_alone(tmp_path, variable, value, error):
    """With one line, however often something is profiled."""
    (tmp_path / "app.py").write_text("import omnitrace\n" + FUNCTIONS + "omnitrace.profile()(f)(); f = omnitrace.profile()(f)\n"
                                     "with omnitrace.user.region('r'): print(f(2), omnitrace.is_initialized())")  # fmt: skip
    done = run_omnitrace(tmp_path, "app.py", command=PYTHON, **{variable: value})
    assert done.stdout == "3 False\n"
    assert done.stderr.startswith(f"omnitrace: nothing is measured: {error}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("rank, lines", [("0", ["omnitrace: MPI is not recorded: start Python with "
                                                "LD_PRELOAD=$(timeloom preload --print --mpi) [TL024]"]), ("1", [])])
def test_a_rank_says_that_calls_of_mpi_are_missing(tmp_path, rank, lines):
    (tmp_path / "app.py").write_text("import omnitrace\nwith omnitrace.profile(): print(1)")
    variables = {"PMI_RANK": rank, "PMI_SIZE": "2", "MPI_LOCALNRANKS": "1", "TIMELOOM_JOB": "a"}
    done = run_omnitrace(tmp_path, "app.py", command=PYTHON, **variables)
    assert (done.stdout, [line for line in done.stderr.splitlines() if "MPI" in line]) == ("1\n", lines)


def test_defaults_of_the_configuration():
    text = ("from omnitrace import config as c\n"
            "print([getattr(c, n) for n in ('include_args include_line include_filename full_filepath include_internal "
            "trace_c annotate_trace verbosity _is_running restrict_functions restrict_modules include_functions "
            "include_modules exclude_functions exclude_modules').split()])\n"
            "c.exclude_functions.append('x')\nprint(c.exclude_functions)\n")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    values = [False] * 7 + [0, False, [], [], [], [], ["^<.*>$"], ["(encoder|decoder|threading).py$", "^<.*>$"]]
    assert done.stdout == f"{values}\n['^<.*>$']\n"


def test_the_configuration_that_the_command_line_has_set(tmp_path):
    text = "from omnitrace.profiler import config as c\nprint(c.include_args, c.trace_c, c.exclude_functions, c.verbosity, c._is_running)\n"
    (tmp_path / "app.py").write_text(text)
    done = run_omnitrace(tmp_path, "--label", "args", "--trace-c", "-E", "x", "-v", "1", "--", "app.py")
    assert done.stdout == "True True ['^<.*>$', 'x'] 1 True\n"


def test_importing_it_begins_nothing(tmp_path):
    (tmp_path / "app.py").write_text("import omnitrace, omnitrace.user, rocprofsys\nomnitrace.noprofile()(len)\n")
    run_omnitrace(tmp_path, "app.py", command=PYTHON)
    assert not list(tmp_path.rglob("timeloom-run*"))


def test_the_names_of_the_successor_are_the_same(tmp_path, timeloom_program):
    text = ("import omnitrace, rocprofsys.profiler, rocprofsys.user\nfrom rocprofsys.profiler import config\n"
            "assert config is omnitrace.config and rocprofsys.user.region is omnitrace.user.region\n"
            "assert set(rocprofsys.__all__) == set(omnitrace.__all__)\n"
            "with rocprofsys.profile(): f()\n")  # fmt: skip
    _, calls = run(tmp_path, text, timeloom_program, head=FUNCTIONS)
    assert calls == {"f": 1, "f/g": 1}


def test_finalize_in_a_program_of_the_command(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text(FUNCTIONS + "import omnitrace\nprint(omnitrace.is_initialized())\nf()\nomnitrace.finalize()\nf()\n")
    assert run_omnitrace(tmp_path, "app.py").stdout == "True\n"
    assert call_paths(tmp_path, timeloom_program) == {"f": 1, "f/g": 1}


def test_under_another_door_it_belongs_to_that_run(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text("import omnitrace\n" + FUNCTIONS + "with omnitrace.profile(): f()\nwith omnitrace.user.region('r'): g()\n")
    command = [sys.executable, "-m", "timeloom", "--paused", "-o", "timeloom-run", "app.py"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert run_directory(tmp_path) == tmp_path / "timeloom-run"
    assert call_paths(tmp_path, timeloom_program) == {"__main__.f": 1, "__main__.f/__main__.g": 1, "r": 1}
