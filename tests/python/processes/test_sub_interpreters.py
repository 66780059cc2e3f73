"""Sub-interpreters: their functions are recorded from 3.12 on; otherwise one line reports it. The program runs."""

import subprocess
import sys

import pytest
from interpreter_runs import COMMON, measured, said
from profile_files import Profile, visits_by_region
from streams import INSTRUMENTERS, environment, run_python

CALLS = """
def inner(): pass
def outer():
    for _ in range(1000): inner()
outer()
"""


NOT_RECORDED = "timeloom: {} not recorded [TL002]"
RECORDED = sys.version_info >= (3, 12)  # by sys.monitoring
both_kinds = pytest.mark.parametrize("isolated", [True, False])


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
@both_kinds
def test_they_are_recorded_or_counted(tmp_path, instrumenter, isolated):
    """Together with the main interpreter, by threads that go from one to the other."""
    done = measured(
        f"""
def work():
    leaf()
    in_other({CALLS!r}, {isolated})
    leaf()

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(1000): leaf()
for thread in threads: thread.join()
print("done")
""",
        tmp_path, "--instrumenter", instrumenter,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert said(done) == ([] if RECORDED else [NOT_RECORDED.format("3 sub-interpreters")])
    profile = Profile(tmp_path / "run")
    visits = [visits_by_region(profile, location) for location in profile.locations]
    assert [counts.get("__main__.leaf", 0) for counts in visits] == [1000, 2, 2, 2]
    assert [counts.get("__main__.inner", 0) for counts in visits] == [0, *3 * [1000 if RECORDED else 0]]


@pytest.mark.parametrize("options", [["--instrumenter", "dummy"], ["--overhead", "50%"]])
def test_where_they_are_not_recorded_they_are_counted(tmp_path, options):
    done = measured(f"in_other({CALLS!r})\n", tmp_path, *options)
    assert NOT_RECORDED.format("1 sub-interpreter") in said(done)


@both_kinds
def test_without_start_files_they_are_counted(tmp_path, timeloom_program, isolated):
    """With -S nothing of Timeloom runs at their start, and with --follow none they do not find the run."""
    (tmp_path / "program.py").write_text(COMMON + f"for _ in range(2): in_other({CALLS!r}, {isolated})\n")
    for number, option in enumerate(["-S", "--follow=none"]):
        run = f"run-{number}"
        done = subprocess.run([timeloom_program, "run", option, "-o", run, "program.py"], cwd=tmp_path,
                              capture_output=True, text=True, env=environment())  # fmt: skip
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert NOT_RECORDED.format("2 sub-interpreters") in done.stderr.splitlines()
        assert "__main__.inner" not in visits_by_region(Profile(tmp_path / run), Profile(tmp_path / run).locations[0])


def test_those_that_are_older_than_the_measurement_are_counted(tmp_path, timeloom_program):
    program = COMMON + f"""
import timeloom
old = create(True)
with timeloom.Measurement(output="first"):
    run(old, {CALLS!r})
with timeloom.Measurement(output="second"):
    in_other({CALLS!r})
interpreters.destroy(old)
with timeloom.Measurement(output="third"):
    leaf()
"""
    done = run_python(["-c", program], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lost = 1 if RECORDED else 2
    for name, count in (("first", 1), ("second", lost), ("third", 0)):
        done = subprocess.run([timeloom_program, "info", name], cwd=tmp_path, capture_output=True, text=True,
                              check=True, env=environment())  # fmt: skip
        words = f"{count} sub-interpreter{'s' if count > 1 else ''} not recorded [TL002]"
        assert (words in done.stdout) == (count > 0), done.stdout
        assert ("not recorded" in done.stdout) == (count > 0), done.stdout


def test_report_and_info_say_it(tmp_path, timeloom_program):
    measured("in_other('pass')\n", tmp_path, "--instrumenter", "dummy")
    for command in ("info", "report"):
        done = subprocess.run([timeloom_program, command, "run"], cwd=tmp_path, capture_output=True, text=True,
                              check=True, env=environment())  # fmt: skip
        assert "! 1 sub-interpreter not recorded [TL002]" in done.stdout


def test_the_children_of_the_program_are_measured_all_the_same(tmp_path):
    """A new interpreter is not a new child: it takes nothing from the environment."""
    program = COMMON + """
import ctypes, timeloom
with timeloom.Measurement(output="run"):
    before = os.environ["TIMELOOM_PARENT"]
    in_other("import os; assert 'TIMELOOM_PARENT' in os.environ")
    ctypes.pythonapi.getenv.restype = ctypes.c_char_p
    assert ctypes.pythonapi.getenv(b"TIMELOOM_PARENT").decode() == before
"""
    done = run_python(["-c", program], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


USES = """
import timeloom
with timeloom.region("block") as block:
    assert block.name == "block"
@timeloom.region
def plain(n): return n
@timeloom.region("named")
def named(n): return n
assert (plain(1), named(2)) == (1, 2)
timeloom.region_begin("a")
timeloom.counter("c", 1.0, unit="s")
timeloom.parameter_int("p", 1)
timeloom.marker("m")
timeloom.region_end("a")
timeloom.disable_recording()
timeloom.enable_recording()
with timeloom.stop():
    pass
timeloom.start()
try:
    timeloom.Measurement().start()
except timeloom.Error as error:
    assert str(error) == "a sub-interpreter cannot be measured; begin the measurement in the main interpreter [TL602]"
else:
    assert False
"""


@pytest.mark.parametrize("isolated", [True, False])
def test_code_that_marks_regions_runs_in_them(tmp_path, isolated):
    text = f"in_other({USES!r}, {isolated})\nprint('done')\n"
    done = run_python(["-c", COMMON + text], tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)
    done = measured(text, tmp_path)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
    assert said(done) == ([] if RECORDED else [NOT_RECORDED.format("1 sub-interpreter")])


def test_a_process_ends_from_one_of_them(tmp_path):
    """os._exit() where no state of the main interpreter may be touched."""
    done = measured("leaf()\nin_other('import os; os._exit(3)')\n", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "timeloom: ended by os._exit(3); next: timeloom report run\n")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="InterpreterPoolExecutor came with Python 3.14")
def test_a_pool_of_interpreters(tmp_path):
    (tmp_path / "squares.py").write_text("def square(n): return n * n\n")
    done = measured("""
from concurrent.futures import InterpreterPoolExecutor
from squares import square
with InterpreterPoolExecutor(2) as pool:
    print(list(pool.map(square, range(5))))
""", tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[0, 1, 4, 9, 16]\n"), done.stderr
    assert said(done) == []
    profile = Profile(tmp_path / "run")
    visits = [visits_by_region(profile, location) for location in profile.locations]
    # CPython hands the function over without its module.
    names = ("squares.square", "__main__.square")
    assert sum(counts.get(name, 0) for counts in visits for name in names) == 5


@pytest.mark.skipif(sys.version_info < (3, 12, 1), reason="sub-interpreters have it from Python 3.12.1 on")
@pytest.mark.parametrize("how", [
    ["program.py"], ["-m", "program"], ["-P", "program.py"], ["-c", "import program"], ["-I", "program.py"],
])  # fmt: skip
def test_they_search_where_they_do_without_timeloom(tmp_path, how):
    (tmp_path / "program.py").write_text(COMMON + "run(create(True), 'import sys; print(sys.path)')\n")
    flags = [word for word in how if word in ("-P", "-I")]
    words = [word for word in how if word not in flags]
    plain = run_python([*flags, *words], tmp_path)
    done = run_python([*flags, "-m", "timeloom", "--quiet", "-o", "run", *words], tmp_path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
