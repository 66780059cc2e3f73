"""The functions that the door of Omnitrace records: the order and precedence of its filters, and their dialect."""

import pytest
from omnitrace_runs import call_paths, profile, run_omnitrace

from timeloom._search import compile_expression

pytestmark = pytest.mark.any_python

# main calls a (twice), which calls b, which calls c; all of them call lib.helper, which calls lib.inner.
LIB = "def helper(): return inner()\ndef inner(): return 1\n"
APP = """import lib
def c(): return lib.helper()
def b(): return c() + lib.helper()
def a(): return b() + lib.helper()
def start():
    return [f() for f in (a, a)]
start()
"""
PLAIN = {"start": 1, "start/a": 2, "start/a/b": 2, "start/a/b/c": 2, "start/a/b/c/helper": 2, "start/a/b/c/helper/inner": 2,
         "start/a/b/helper": 2, "start/a/b/helper/inner": 2, "start/a/helper": 2, "start/a/helper/inner": 2}  # fmt: skip
OF_APP = {"start": 1, "start/a": 2, "start/a/b": 2, "start/a/b/c": 2}


@pytest.fixture
def app(tmp_path):
    (tmp_path / "lib.py").write_text(LIB)
    return tmp_path


CASES = {
    # Without options: neither <module> and <listcomp> nor the functions of imports.
    "nothing": ([], PLAIN),
    # An excluded function is left out with all its callees, on every path.
    "exclude": (["-E", "^b$"], {"start": 1, "start/a": 2, "start/a/helper": 2, "start/a/helper/inner": 2}),
    "exclude, found anywhere in the name": (["-E", "elpe"], OF_APP),
    "exclude all": (["-E", "start"], {}),
    "several excludes": (["-E", "^helper$", "^c$"], {"start": 1, "start/a": 2, "start/a/b": 2}),
    "two options": (["-E", "^helper$", "-E", "^c$"], {"start": 1, "start/a": 2, "start/a/b": 2}),
    # Where an expression also excludes a frame without a name, only that frame goes.
    "exclude a frame": (["-E", "module"], PLAIN),
    # An include takes precedence over an exclude, but not over the exclusion of its caller.
    "include": (["-I", "^b$", "-E", "^b$"], PLAIN),
    "include inside excluded": (["-I", "^c$", "-E", "^b$"], {"start": 1, "start/a": 2, "start/a/helper": 2, "start/a/helper/inner": 2}),
    "include the module": (["-I", "^<module>$"], None),
    "include beats files": (["-I", "^inner$", "-ME", r"/lib\.py$"], {**OF_APP, "start/a/b/c/inner": 2, "start/a/b/inner": 2, "start/a/inner": 2}),
    "include beats restricted files": (["-I", "^a$", "-MR", r"/lib\.py$"],
                                       {"a": 2, "a/helper": 6, "a/helper/inner": 6}),
    # With restricted functions nothing else is tested; their callees are.
    "restrict": (["-R", "^a$", "^inner$"], {"a": 2, "a/inner": 6}),
    "restrict beats exclude": (["-R", "^[ab]$", "-E", "^a$", "-ME", "app"], {"a": 2, "a/b": 2}),
    "restrict beats include": (["-R", "^c$", "-I", "^a$"], {"c": 2}),
    "restrict beats restricted files": (["-R", "^c$", "-MR", r"/lib\.py$"], {"c": 2}),
    # Files leave out a frame; its callees stay.
    "exclude files": (["-ME", r"lib\.py$"], OF_APP),
    "exclude the program": (["-ME", "app.py"], {"helper": 6, "helper/inner": 6}),
    "include files": (["-MI", r"/lib\.py$", "-ME", "py$"], {"helper": 6, "helper/inner": 6}),
    "restrict to files": (["-MR", r"lib\.py$"], {"helper": 6, "helper/inner": 6}),
    "restricted files beat excluded": (["-MR", r"/lib\.py$", "-ME", r"/lib\.py$"], {"helper": 6, "helper/inner": 6}),
    "restrict to either file": (["-MR", "nothere", r"/app\.py$"], OF_APP),
    "exclude functions, then files": (["-E", "^c$", "-MR", r"/lib\.py$"], {"helper": 4, "helper/inner": 4}),
    # POSIX and Python.
    "a class of POSIX": (["-R", "^[[:alpha:]]$"], {"a": 2, "a/b": 2, "a/b/c": 2}),
    "alternatives": (["-R", "^(a|inner)$"], {"a": 2, "a/inner": 6}),
    "look ahead": (["-R", r"^(?!start|cb)\w{1,5}$"], {"a": 2, "a/b": 2, "a/b/c": 2, "a/b/c/inner": 2, "a/b/inner": 2, "a/inner": 2}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_filters(app, case, timeloom_program):
    options, expected = CASES[case]
    _, calls = profile(app, APP, *options, timeloom_program=timeloom_program)
    if case == "include the module":
        expected = {"<module>": 1, "<module>/<module>": 1, **{f"<module>/{path}": n for path, n in PLAIN.items()}}
    assert calls == expected


@pytest.mark.parametrize("instrumenter", ["frame", "profile", "trace"])
def test_other_instrumenters_leave_out_the_same(app, instrumenter, timeloom_program):
    options = ["-E", "^b$", "-ME", r"/lib\.py$"]
    _, calls = profile(app, APP, *options, timeloom_program=timeloom_program, TIMELOOM_INSTRUMENTER=instrumenter)
    assert calls == {"start": 1, "start/a": 2}


RECURSIVE = """
def down(n): return n and up(n - 1)
def up(n): return n and down(n - 1)
def generate(n):
    for i in range(n): yield leaf(i)
def leaf(n): return n
def fails(): raise ValueError(leaf(1))
def main():
    down(5), up(4), sum(generate(3))
    try: fails()
    except ValueError: pass
    return leaf(2)
main()
"""


@pytest.mark.parametrize("instrumenter", ["auto", "frame", "profile"])
def test_what_is_hidden_ends_with_the_function(tmp_path, instrumenter, timeloom_program):
    """Also if it raises, yields, or is entered again inside itself."""
    options = ["-E", "^(down|generate|fails)$"]
    _, calls = profile(tmp_path, RECURSIVE, *options, timeloom_program=timeloom_program, TIMELOOM_INSTRUMENTER=instrumenter)
    assert calls == {"main": 1, "main/up": 1, "main/leaf": 1}


def test_user_regions_inside_of_hidden_functions_are_recorded(tmp_path, timeloom_program):
    text = ("from omnitrace.user import region\ndef leaf(): return 1\n"
            "def hidden():\n    with region('mine'): return leaf()\ndef main(): return hidden() + leaf()\nmain()\n")  # fmt: skip
    _, calls = profile(tmp_path, text, "-E", "^hidden$", timeloom_program=timeloom_program)
    assert calls == {"main": 1, "main/mine": 1, "main/leaf": 1}


def test_threads_are_hidden_each_for_itself(tmp_path, timeloom_program):
    text = ("import threading\ndef leaf(): return 1\ndef hidden(begun, go):\n    begun.set(); go.wait(); leaf()\n"
            "def main():\n    begun, go = threading.Event(), threading.Event()\n"
            "    thread = threading.Thread(target=hidden, args=(begun, go)); thread.start(); begun.wait()\n"
            "    leaf(); go.set(); thread.join()\nmain()\n")  # fmt: skip
    _, calls = profile(tmp_path, text, "-E", "^hidden$", "-MR", r"/app\.py$", timeloom_program=timeloom_program)
    assert calls == {"main": 1, "main/leaf": 1}


def test_an_expression_that_fits_the_launch_of_threads_leaves_their_functions(tmp_path, timeloom_program):
    text = ("import threading\ndef work(): return 1\nthread = threading.Thread(target=work)\nthread.start()\nthread.join()\n")
    _, calls = profile(tmp_path, text, "-E", "^_", "-MR", r"/app\.py$", timeloom_program=timeloom_program)
    assert calls == {"work": 1}


def test_a_module_that_is_run_is_not_hidden_by_what_runs_it(tmp_path, timeloom_program):
    (tmp_path / "app.py").write_text("def f(): return 1\nf()\n")
    run_omnitrace(tmp_path, "-E", "^_run", "--", "-m", "app")
    assert call_paths(tmp_path, timeloom_program) == {"f": 1}


def test_greenlets_are_hidden_each_for_itself(tmp_path, timeloom_program):
    pytest.importorskip("greenlet")
    text = ("import greenlet\ndef leaf(): return 1\ndef hidden(): other.switch(); leaf()\ndef seen(): leaf(); one.switch(); leaf()\n"
            "one, other = greenlet.greenlet(hidden), greenlet.greenlet(seen)\none.switch()\nother.switch()\n")  # fmt: skip
    _, calls = profile(tmp_path, text, "-E", "^hidden$", "-MR", r"/app\.py$", timeloom_program=timeloom_program)
    assert calls == {"seen": 2, "seen/leaf": 2}  # a switch leaves the open functions


@pytest.mark.parametrize(
    "expression, text, found",
    [
        ("^[[:digit:][:upper:]_]+$", "A_1", True), ("^[[:digit:][:upper:]_]+$", "a", False),
        ("[^[:space:]]", " \t", False), ("[]a]", "]", True), ("[^]a]", "]a", False), ("[[]", "[", True),
        ("[[:punct:]]", "a.b", True), ("a{2}", "caab", True), (r"\bb\d$", "a b1", True), ("(?:ab)+?c", "ababc", True),
        (r"[\]x]", "x", True), (r"\[:digit:\]", "[:digit:]", True), ("(?P<n>a)(?P=n)", "baa", True), ("", "x", True),
    ],
)  # fmt: skip
def test_the_dialect(expression, text, found):
    assert bool(compile_expression(expression).search(text)) is found


@pytest.mark.parametrize(
    "expression, message",
    [
        ("a(b", "missing ), unterminated subpattern at position 1"),
        ("[[:alpha:]]+*", "multiple repeat at position 12"),
        ("[[:alpha:][:beta:]]", "unknown class [:beta:] at position 10"),
        ("x[a", "unterminated character set at position 1"),
        ("[[:digit:]]a{3,2}", "min repeat greater than max repeat at position 13"),
        ("\\", "bad escape (end of pattern) at position 0"),
    ],
)
def test_what_is_no_expression_is_said_with_its_position(expression, message):
    with pytest.raises(ValueError) as caught:
        compile_expression(expression)
    assert str(caught.value) == f"{expression!r} is not a regular expression: {message}"
