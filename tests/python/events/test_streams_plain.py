"""A program sees and does the same under an instrumenter as without."""

import pytest
from streams import INSTRUMENTERS, PROGRAMS, plain, run_python, said_of_hook

each_instrumenter = pytest.mark.parametrize("instrumenter", INSTRUMENTERS)


@pytest.mark.parametrize("instrumenter", [*INSTRUMENTERS, "monitoring C", "profile C"])
def test_a_profile_function_sees_what_it_sees_without_us(instrumenter, tmp_path):
    """The first return would be sys.setprofile's, whose call was not seen."""
    name, *c_functions = instrumenter.split()
    if name not in INSTRUMENTERS:
        pytest.skip("not of this version")
    program = """
import sys
seen = []
def mine(frame, event, argument): seen.append((event, getattr(argument, "__name__", None)))
def other(frame, event, argument): seen.append(("other", event, getattr(argument, "__name__", None)))
def f(): len([])
def sets():
    sys.setprofile(mine)
    f()
    sys.setprofile(other)
    f()
    sys.setprofile(None)
f()
sets()
sets()
for function in map(sys.setprofile, [mine, None]): f()
class Broken:
    def __call__(self, *_): raise ValueError
try:
    sys.setprofile(Broken())
    f()
except ValueError: print("ValueError", sys.getprofile())
f()
print(seen)
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    plain = run_python([path], tmp_path)
    options = ["--c-functions"] if c_functions else []
    measured = run_python(["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", name, *options, path], tmp_path)
    assert (measured.stdout, measured.stderr) == (plain.stdout, said_of_hook(name, "sys.setprofile"))


@each_instrumenter
def test_recursion_ends_where_it_does_without_us(instrumenter, tmp_path):
    expected = plain("recursion_limits.py", tmp_path).stdout.splitlines()
    program = PROGRAMS / "recursion_limits.py"
    measured = run_python(
        ["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, program], tmp_path
    )
    assert (measured.returncode, measured.stderr) == (0, "")
    got = measured.stdout.splitlines()
    if instrumenter == "frame":  # may go on where a limit of C calls ends plain Python
        for index, (ours, theirs) in enumerate(zip(got, expected)):
            if "RecursionError" in theirs and ours == theirs.replace("RecursionError", "True"):
                got[index] = theirs
    assert got == expected
