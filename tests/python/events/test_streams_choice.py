"""Choices of what to record: C functions; filters; several measurements."""

import json
import py_compile

import pytest
from streams import (
    C_INSTRUMENTERS,
    INSTRUMENTERS,
    assert_same,
    each_instrumenter,
    measure,
    run_program,
    run_python,
    streams_of,
)
from test_streams_programs import calls, kept

# --- C functions ----------------------------------------------------------------------------

C_PROGRAM = """
import timeloom, datetime, collections, itertools
def key(x): return -x
def fails(x): raise ValueError
class List(list):
    def own(self): super().append(1)
class Meta(type): pass
class Made(metaclass=Meta):
    def __new__(cls): return super().__new__(cls)
    def __init__(self): super().__init__()
def attempts(function, *arguments, **keywords):
    try: return function(*arguments, **keywords)
    except (ValueError, KeyError, TypeError, IndexError): return None
len([1]); [3, 1].sort(); [3, 1].sort(key=key); sorted([2, 1], key=key)
attempts(sorted, [1], key=fails); attempts([].pop); attempts({}.pop, 1); attempts(len, 1)
sum(map(key, [1])); int("3"); str(4); dict(a=1); isinstance(1, int)
List([1]).append(2); List().own(); list.append([], 1); [].append(2)
datetime.datetime.now(); datetime.datetime.fromisoformat("2020-01-01"); dict.fromkeys([1]); collections.OrderedDict.fromkeys([1])
Made(); object.__new__(Made); int.__new__(int, 3); str.maketrans("a", "b"); "a".join(["b"]); "{}".format(1)
attempts("x".index, "y"); getattr(1, "real"); max(1, 2); next(iter([1])); [*itertools.chain([1])]; hash(1); print(*[1], sep="")
f = len; f([]); len(*[[]]); abs(-1)
with timeloom.region("user:r"): timeloom.region_begin("user:s"); len([]); timeloom.region_end("user:s")
"""


def of_program_and_c(events):
    """The program's own calls, because imports call C functions, too."""
    result, stack = [], []
    for kind, name, *_ in events:
        if kind == "enter":
            of_c = name.split(".")[0] in ("builtins", "datetime", "collections", "_thread", "itertools") and not name.endswith("<module>")
            stack.append(name.startswith(("__main__.", "user:")) or (of_c and stack and stack[-1]))
        if stack[-1]:
            result.append([kind, name])
        if kind == "leave":
            stack.pop()
    return result


def everything(name):
    return True


def c_reference(program, tmp_path):
    """The same by a profile function in Python."""
    observer = '''
import sys, json
seen = []
def name_of(f):
    owner = getattr(f, "__self__", None)
    if owner is None or type(owner).__name__ == "module": return f"{f.__module__ or 'builtins'}.{f.__qualname__}"
    kind = owner if isinstance(owner, type) else type(owner)
    for base in kind.__mro__:
        found = base.__dict__.get(f.__name__)
        if type(found).__name__ in ("method_descriptor", "classmethod_descriptor"): kind = base; break
    return f"{kind.__module__}.{kind.__qualname__}.{f.__name__}"
def observe(frame, event, argument):
    if frame.f_code.co_filename != "c.py": return
    if event in ("call", "return"): name = "__main__." + frame.f_code.co_qualname
    else: name = name_of(argument)
    seen.append(["enter" if event in ("call", "c_call") else "leave", name])
code = compile(open("c.py").read(), "c.py", "exec")
import timeloom, datetime, collections, itertools
sys.setprofile(observe)
exec(code, {"__name__": "__main__", "__builtins__": __builtins__})
sys.setprofile(None)
json.dump(seen, open("c.json", "w"))
'''
    (tmp_path / "c.py").write_text(program)
    process = run_python(["-c", observer], tmp_path)
    assert process.returncode == 0, process.stderr
    events = json.loads((tmp_path / "c.json").read_text())
    return [event for event in events if not event[1].startswith("timeloom.")]


@pytest.mark.parametrize("instrumenter", C_INSTRUMENTERS)
def test_c_functions(instrumenter, tmp_path):
    expected = c_reference(C_PROGRAM, tmp_path)
    (got,), process = measure(C_PROGRAM, instrumenter, tmp_path, "--c-functions", keep=everything)
    got = of_program_and_c(got)
    assert (process.returncode, process.stdout, process.stderr) == (0, "1\n", "")
    assert [event for event in got if event[1].startswith("user:")] == calls("user:r user:s. .")
    assert_same([[event for event in got if not event[1].startswith("user:")]], [expected])


@pytest.mark.parametrize("instrumenter", C_INSTRUMENTERS)
def test_c_functions_called_from_excluded_code(instrumenter, tmp_path):
    program = """
def key(x):
    other = [2, 1]; other.sort(key=inner)
    return x
def inner(x): return x
[2, 1].sort(key=key)
"""
    sort = ["builtins.list.sort"]
    expected = calls("<module> S K S inner. inner. . . K S inner. inner. . . . .")
    names = {"__main__.S": sort[0], "__main__.K": None}
    expected = [[kind, names.get(name, name)] for kind, name in expected if names.get(name, name)]
    (got,), _ = measure(program, instrumenter, tmp_path, "--c-functions", "--exclude", "__main__.key", keep=everything)
    assert_same([of_program_and_c(got)], [expected])


# --- Filters --------------------------------------------------------------------------------

FILTERED = """
def outer(): excluded(); generator_caller(); leaf()
def excluded(): leaf(); raiser_caller()
def leaf(): pass
def raiser(): leaf(); raise ValueError
def raiser_caller():
    try: raiser()
    except ValueError: leaf()
def generator():
    leaf()
    try: yield
    except KeyError: leaf()
    yield
def generator_caller():
    for _ in generator(): leaf()
    g = generator(); next(g); g.throw(KeyError); g.close()
outer(); outer()
"""


def without(stream, *names):
    return [event for event in stream if event[1] not in {f"__main__.{name}" for name in names}]


@each_instrumenter
def test_excluded_functions_hide_nothing(instrumenter, tmp_path):
    (everything,), _ = measure(FILTERED, instrumenter, tmp_path)
    for number, names in enumerate((["excluded"], ["raiser"], ["generator"], ["outer", "generator_caller"], ["<module>", "leaf"])):
        directory = tmp_path / str(number)
        directory.mkdir()
        options = [word for name in names for word in ("--exclude", f"__main__.{name}")]
        got, process = measure(FILTERED, instrumenter, directory, *options)
        assert (process.returncode, process.stderr) == (0, "")
        assert_same(got, [without(everything, *names)])


@each_instrumenter
def test_include_only(instrumenter, tmp_path):
    (everything,), _ = measure(FILTERED, instrumenter, tmp_path)
    (tmp_path / "x").mkdir()
    got, _ = measure(FILTERED, instrumenter, tmp_path / "x", "--include", "__main__.*", "--exclude", "*generator*", keep=lambda _: True)
    assert_same(got, [without(everything, "generator", "generator_caller")])


# --- Several measurements -------------------------------------------------------------------


def test_measurements_in_turn(tmp_path):
    """Each with its own instrumenter and filter; code that one excludes is seen by the next."""
    program = """
import timeloom, threading
def f(): g()
def g(): pass
plans = json.loads(sys.argv[1])
for number, (instrumenter, exclude) in enumerate(plans):
    with timeloom.Measurement(output=f"run{number}", instrumenter=instrumenter, exclude=exclude, weave=False):
        f()
        thread = threading.Thread(target=f)
        thread.start()
        thread.join()
    f()
"""
    plans = [(i, exclude) for exclude in ([], ["__main__.g"], ["__main__.f"], []) for i in [*INSTRUMENTERS, *reversed(INSTRUMENTERS)]]
    process = run_python(["-c", "import json, sys" + program, json.dumps(plans)], tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    for number, (_, exclude) in enumerate(plans):
        expected = {"": "f g. .", "__main__.g": "f.", "__main__.f": "g."}[exclude[0] if exclude else ""]
        assert_same(streams_of(tmp_path / f"run{number}", kept), [calls(expected)] * 2)


def test_many_filters(tmp_path):
    """The interpreter has room for a limited number of them; beyond it a measurement is refused."""
    program = """
import timeloom
def f(): pass
begun = 0
try:
    for number in range(400):
        with timeloom.Measurement(output=f"run{number}", instrumenter="frame", exclude=[f"x{number}"], weave=False, buffer_size="2M"):
            f()
        begun += 1
except timeloom.Error as error:
    print(begun, error)
with timeloom.Measurement(output="again", instrumenter="frame", exclude=["x0"], weave=False):
    f()
"""
    process = run_python(["-c", program], tmp_path)
    assert process.returncode == 0, process.stderr
    begun = int(process.stdout.split()[0])
    assert 200 < begun < 256 and "no room left to mark code objects" in process.stdout
    for name in ("run0", f"run{begun - 1}", "again"):
        assert_same(streams_of(tmp_path / name, kept), [calls("f.")])


@each_instrumenter
def test_measurement_of_a_block_in_a_recursion(instrumenter, tmp_path):
    """Functions that started before it are not part of it, nor are later ones."""
    program = f"""
import timeloom
m = timeloom.Measurement(output="block", instrumenter={instrumenter!r}, weave=False)
def f(n):
    if n == 3: m.start()
    if n: f(n - 1)
    elif n == 0: leaf()
    if n == 5: m.finish()
    leaf()
def leaf(): pass
f(6)
"""
    process = run_program(program, tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    expected = "f f f leaf. leaf. . leaf. . leaf. . leaf. leaf."
    assert_same(streams_of(tmp_path / "block", kept), [calls(expected)])


@pytest.mark.parametrize("instrumenter", INSTRUMENTERS)
def test_an_empty_program_is_only_itself(instrumenter, tmp_path):
    """Python creates a loader for __main__ before, in Python code; that does not belong to the program."""
    (tmp_path / "empty.py").write_text("")
    run_python(["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "-o", "run", "empty.py"], tmp_path)
    # Functions at the end of Python (threading._shutdown and the like) cannot be avoided.
    first, second, *_ = streams_of(tmp_path / "run", keep=lambda name: True)[0]
    assert (first, second) == (["enter", "__main__.<module>"], ["leave", "__main__.<module>"])
    loader = "import sys; L = type(__loader__); print(L.__name__, L is sys.modules['_frozen_importlib_external'].SourceFileLoader, __loader__.path)"
    (tmp_path / "loader.py").write_text(loader)
    seen = run_python(["-m", "timeloom", "--quiet", "--no-weave", "--instrumenter", instrumenter, "-o", "run2", "loader.py"], tmp_path)
    assert seen.stdout == run_python(["loader.py"], tmp_path).stdout


@pytest.mark.parametrize("suffix", [".py", ".pyc"])
def test_the_program_finds_the_import_system_as_it_is(suffix, tmp_path):
    """Whichever loader Python makes for __main__, the program meets both classes (importlib.metadata registers them)."""
    source = tmp_path / "program.py"
    source.write_text(
        "import importlib.metadata, sys\n"
        "kinds = {name: type(value).__name__ for name, value in vars(sys.modules['_frozen_importlib_external']).items()}\n"
        "print(sorted(kinds.items()), type(__loader__))\n"
    )
    if suffix == ".pyc":
        py_compile.compile(str(source), cfile=str(tmp_path / "program.pyc"), doraise=True)
    program = f"program{suffix}"
    seen = run_python(["-m", "timeloom", "--quiet", "--no-weave", "-o", "run", program], tmp_path)
    assert (seen.stderr, seen.stdout) == ("", run_python([program], tmp_path).stdout)
