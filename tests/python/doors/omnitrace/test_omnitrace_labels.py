"""The labels of functions in the door of Omnitrace: the parts of labels, arguments, C functions."""

import pytest
from omnitrace_runs import call_paths, profile, run_omnitrace

from timeloom import _core

pytestmark = pytest.mark.any_python

APP = """def decorator(function): return function
class Thing:
    @decorator
    def method(self): return fib(3)
    def __repr__(self): return "<thing>"
def fib(n): return n if n < 2 else fib(n - 1)
def main():
    Thing().method()
main()
"""


@pytest.mark.parametrize(
    "options, method, fib",
    [
        ([], "method", "fib"),
        (["--label"], "method", "fib"),
        (["--label", "args"], "method(self=<thing>)", "fib(n=3)"),
        (["--label", "line"], "method:3", "fib:6"),
        (["--label", "args", "line"], "method(self=<thing>):3", "fib(n=3):6"),
        (["--label", "file"], "[method][app.py]", "[fib][app.py]"),
        (["--label", "file", "-F"], "[method][{path}]", "[fib][{path}]"),
        (["-F"], "method", "fib"),
        (["--label", "file", "line", "-F", "no"], "[method][app.py:3]", "[fib][app.py:6]"),
        (["--label", "args", "file"], "[method(self=<thing>)][app.py]", "[fib(n=3)][app.py]"),
        (["--label", "line", "file", "args"], "[method(self=<thing>)][app.py:3]", "[fib(n=3)][app.py:6]"),
        (["--label", "qualname"], "Thing.method", "fib"),
        (["--label", "qualname", "args", "line"], "Thing.method(self=<thing>):3", "fib(n=3):6"),
    ],
)
def test_labels(tmp_path, options, method, fib, timeloom_program):
    options = [*options, "-E", "^__", "decorator"]
    _, calls = profile(tmp_path, APP, *options, timeloom_program=timeloom_program)
    path = str(tmp_path / "app.py")
    last = {key.split("/[")[-1].split("/")[-1] if "{path}" not in method else key for key in calls}
    wanted = (method.format(path=path), fib.format(path=path))
    if "{path}" in method:
        assert all(any(label in key for key in last) for label in wanted)
    else:
        assert {label.removeprefix("[") for label in wanted} <= {key.removeprefix("[") for key in last}


def test_whole_paths_are_real_ones(tmp_path, timeloom_program):
    """Of a script and a module that are found through links."""
    real = tmp_path / "real"
    real.mkdir()
    (real / "app.py").write_text("import other\ndef main(): other.f()\nmain()\n")
    (real / "other.py").write_text("def f(): pass\n")
    (tmp_path / "link").symlink_to(real)
    work = tmp_path / "work"
    work.mkdir()
    run_omnitrace(work, "--label", "file", "-F", "--", "../link/app.py")
    calls = call_paths(work, timeloom_program)
    assert [key for key in calls if "[f]" in key] == [f"[main][{real}/app.py]/[f][{real}/other.py]"]


FORMS = """
def plain(a, b=2): pass
def keywords(a, *, b, **more): pass
def stars(a, *rest, last=1, **more): pass
def captured(n):
    def inner(): return n
    return inner
def nothing(): pass
def generate(n):
    n = yield n
    yield n
class Made:
    def __init__(self, size): self.size = size
    def __repr__(self): return "<made>"
class Broken:
    def __repr__(self): raise AttributeError("not yet")
class Rude:
    def __repr__(self): raise ValueError("rude")
class Calls:
    def __repr__(self): return helper()
def helper(): return "calls"
plain(1, "x"), plain("ü\\n", b=None)
keywords(1, b=[2], c={"q": 1})
stars(1, 2, 3, d=5), stars(0)
captured([1])
nothing()
list(generate(7))
for size in range(20): Made(size % 2)
plain(Broken()), plain(Rude()), plain(Calls())
plain("x" * 5000)
import types
plain(types.CellType(3))
"""


@pytest.mark.parametrize("instrumenter", ["auto", "frame", "profile", "trace"])
def test_arguments(tmp_path, instrumenter, timeloom_program):
    options = ["--label", "args", "-MR", r"/app\.py$", "-E", "^__repr", "^(Broken|Rude|Calls|Made)$"]
    _, calls = profile(tmp_path, FORMS, *options, timeloom_program=timeloom_program, TIMELOOM_INSTRUMENTER=instrumenter)
    long = [label for label in calls if "xxx" in label]
    assert [len(label) for label in long] == [len("plain") + 4096 + len("...)")]
    cell = [label for label in calls if "<cell at" in label]
    assert len(cell) == 1
    for label in long + cell:
        del calls[label]
    assert calls == {
        "plain(a=1, b='x')": 1, "plain(a='ü\\n', b=None)": 1, "keywords(a=1, b=[2], **more={'c': {'q': 1}})": 1,
        "stars(a=1, last=1, *rest=(2, 3), **more={'d': 5})": 1, "stars(a=0, last=1, *rest=(), **more={})": 1,
        "captured(n=[1])": 1, "nothing()": 1, "generate(n=7)": 2, "generate(n=None)": 1, "plain": 2,
        "plain(a=calls, b=2)": 1, "__init__(self=<made>, size=0)": 10, "__init__(self=<made>, size=1)": 10,
    }  # fmt: skip


def test_an_interrupt_while_the_arguments_are_shown_is_for_the_program(tmp_path):
    text = ("import os, signal\nclass Slow:\n    def __repr__(self):\n        os.kill(os.getpid(), signal.SIGINT)\n"
            "        return 'slow'\ndef f(slow): pass\ntry:\n    f(Slow())\n    for _ in range(10**6): pass\n"
            "except KeyboardInterrupt: print('interrupted')\n")  # fmt: skip
    (tmp_path / "app.py").write_text(text)
    assert run_omnitrace(tmp_path, "--label", "args", "--", "app.py").stdout == "interrupted\n"


ANSWERS = """
import collections
shown = 0
class Loud:
    def __repr__(self):
        global shown
        shown += 1
        return helper(collections.OrderedDict(a=1))
def helper(a): return "loud"
class Rude:
    def __repr__(self): raise KeyboardInterrupt
def f(a): return 1
f(Loud()), f(collections.Counter("aa")), f(Rude())
helper(2)
print(shown)
"""


@pytest.mark.parametrize("instrumenter", ["auto", "frame", "profile", "trace"])
def test_what_makes_a_label_is_not_observed(tmp_path, instrumenter, timeloom_program):
    """Or it had labels itself, without an end."""
    options = ["--label", "args", "-MR", r"/app\.py$", "-E", "^(Loud|Rude)$"]
    done, calls = profile(tmp_path, ANSWERS, *options, timeloom_program=timeloom_program, TIMELOOM_INSTRUMENTER=instrumenter)
    assert done.stdout == "1\n"
    assert calls == {"f(a=loud)": 1, "f(a=Counter({'a': 2}))": 1, "f": 1, "helper(a=2)": 1}


def test_objects_do_not_live_longer(tmp_path):
    text = ("import weakref\nclass Thing: pass\ndef f(thing): return weakref.ref(thing)\nprint(f(Thing())())\n")
    (tmp_path / "app.py").write_text(text)
    assert run_omnitrace(tmp_path, "--label", "args", "--", "app.py").stdout == "None\n"


C_CALLS = """
import json
def f(): return len(json.dumps([1]) + max("a", "b"))
f()
try: int("x")
except ValueError: pass
"".join(["a"])
"""


def test_c_functions_are_called_by_their_names(tmp_path, timeloom_program):
    options = ["--trace-c", "-MR", r"/app\.py$"]
    _, calls = profile(tmp_path, C_CALLS, *options, timeloom_program=timeloom_program)
    assert calls == {"f": 1, "f/len": 1, "f/max": 1, "join": 1}


def test_c_functions_are_filtered_by_their_names(tmp_path, timeloom_program):
    options = ["--trace-c", "--label", "qualname", "-MR", r"/app\.py$", "-E", "^max$"]
    _, calls = profile(tmp_path, C_CALLS, *options, timeloom_program=timeloom_program)
    assert calls == {"f": 1, "f/len": 1, "str.join": 1}


def test_parts_of_labels_are_checked(tmp_path):
    with pytest.raises(_core.Error, match="'colour' is not accepted; write args, file, line, path, qualname"):
        _core.output_of_block({"label": "args,colour"}, None)


COROUTINES = """
import asyncio
async def leaf(n): await asyncio.sleep(0)
async def hidden(n): await leaf(n)
async def main(): await asyncio.gather(leaf(1), hidden(2))
asyncio.run(main())
"""


@pytest.mark.parametrize("instrumenter", ["auto", "frame"])
@pytest.mark.parametrize("tasks", ["off", "on"])
def test_coroutines_with_arguments_and_hidden_ones(tmp_path, instrumenter, tasks, timeloom_program):
    options = ["--label", "args", "-E", "^hidden$", "-MR", r"/app\.py$"]
    _, calls = profile(tmp_path, COROUTINES, *options, timeloom_program=timeloom_program,
                       TIMELOOM_INSTRUMENTER=instrumenter, TIMELOOM_ASYNC_TASKS=tasks)  # fmt: skip
    assert any(path.endswith("leaf(n=1)") for path in calls)
    assert not any("hidden(" in path or "leaf(n=2)" in path for path in calls)
