"""Recorded and omitted regions: filter files, words for modules and packages, only my code, imports, depth. Whole
streams, with every instrumenter, are compared with the unfiltered stream."""

import itertools

import pytest
from spool_reader import spools_of, stream
from streams import INSTRUMENTERS, assert_balanced, assert_same, each_instrumenter, run_python

pytestmark = pytest.mark.any_python

HELPER = """
def square(x): return multiply(x, x)
def multiply(x, y): return x * y
def twice(function): function(); function()
"""
PROGRAM = """
import timeloom, helper
class Shape:
    def area(self):
        timeloom.parameter_int("side", 2)
        return helper.square(2)
    @staticmethod
    def unit(): return Shape()
def work():
    timeloom.parameter_int("before", 7)
    with timeloom.region("phase"):
        timeloom.parameter_string("inside", "x")
        leaf()
    timeloom.parameter_int("after", 8)
    helper.twice(leaf)
def leaf(): timeloom.parameter_int("leaf", 1)
def generator():
    for n in range(2): leaf(); yield n
@timeloom.region("phase")
def decorated(): leaf()
def raiser(): leaf(); raise ValueError
def hides():
    leaf()
    with timeloom.region("phase2"): timeloom.parameter_int("of phase2", 1); leaf()
    timeloom.parameter_int("of hides", 1)
hides(); work(); Shape().area(); Shape.unit(); list(generator()); decorated()
try: raiser()
except ValueError: work()
"""


def of_program(name):
    return name.startswith(("__main__.", "helper.", "phase"))


@pytest.fixture
def work(tmp_path):
    directory = tmp_path / "work"
    directory.mkdir()
    (directory / "helper.py").write_text(HELPER)
    (directory / "app.py").write_text(PROGRAM)
    return directory


def record(work, instrumenter, *options, program="app.py", keep=of_program, env=None):
    """Streams of the locations of a run with events to keep."""
    command = ["-m", "timeloom", "--quiet", "--no-weave", "--force", "--instrumenter", instrumenter]
    done = run_python([*command, "-o", "run", *options, program], work, env=env)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    (spool,) = spools_of(work / "run")
    for location in spool.locations():
        assert_balanced(spool, location)
    streams = [[list(event) for event in stream(spool, at, keep)] for at in spool.locations()]
    return [events for events in streams if events]


def without(events, left_out):
    """Return the stream without some regions and the parameters that belong to them."""
    result, open_regions = [], []
    for event in events:
        kind, name = event[:2]
        if kind == "enter":
            open_regions.append(name)
        region = name if kind in ("enter", "leave") else open_regions[-1]
        if not left_out(region):
            result.append(event)
        if kind == "leave":
            open_regions.pop()
    return result


REGIONS = "SCOREP_REGION_NAMES_BEGIN {}\nSCOREP_REGION_NAMES_END\n"
FILES = "SCOREP_FILE_NAMES_BEGIN {}\nSCOREP_FILE_NAMES_END\n"
AREA = {"__main__.Shape.area"}
OF_HELPER = {"helper.<module>", "helper.square", "helper.multiply", "helper.twice"}
FILTERS = [
    (REGIONS.format("EXCLUDE __main__:leaf"), {"__main__.leaf"}),
    (REGIONS.format("EXCLUDE __main__.leaf"), {"__main__.leaf"}),
    (REGIONS.format("EXCLUDE __main__:area"), AREA),
    (REGIONS.format("EXCLUDE __main__.Shape:area"), AREA),
    (REGIONS.format("EXCLUDE MANGLED __main__.Shape.area"), AREA),
    (REGIONS.format("EXCLUDE MANGLED __main__.Shape:ar[e-f]a"), AREA),
    (REGIONS.format("EXCLUDE work leaf area Shape.area"), set()),
    (REGIONS.format("INCLUDE __main__:leaf"), set()),
    (REGIONS.format("EXCLUDE user:phase"), {"phase"}),
    (REGIONS.format("EXCLUDE phase __main__:generator"), {"phase", "__main__.generator"}),
    (REGIONS.format("EXCLUDE * INCLUDE __main__:*"), OF_HELPER | {"phase", "phase2"}),
    (REGIONS.format("EXCLUDE helper* INCLUDE helper:mul* # a comment"), OF_HELPER - {"helper.multiply"}),
    (REGIONS.format("EXCLUDE __main__:work EXCLUDE __main__:raiser"), {"__main__.work", "__main__.raiser"}),
    (REGIONS.format("EXCLUDE __main__:hides __main__:leaf"), {"__main__.hides", "__main__.leaf"}),
    (FILES.format("EXCLUDE */helper.py"), OF_HELPER),
    (FILES.format("EXCLUDE *.py INCLUDE */app.py"), OF_HELPER),
    (FILES.format("EXCLUDE */helper.py") + REGIONS.format("EXCLUDE * INCLUDE *"), OF_HELPER),
    ("", set()),
    ("# nothing\n\n", set()),
]  # fmt: skip


@each_instrumenter
def test_filter_files(instrumenter, work):
    """Omitted regions are neither entered nor left; their callees stay, their parameters go."""
    (everything,) = record(work, instrumenter)
    assert sum(event[0] == "enter" for event in everything) == 33
    for text, names in FILTERS:
        (work / "my.filter").write_text(text)
        got = record(work, instrumenter, "--filter-file", "my.filter")
        assert_same(got, [without(everything, names.__contains__)])


def test_ten_thousand_rules(work):
    rules = ["EXCLUDE"]
    for number in range(2_500):
        rules += [f"app{number}:f", f"*.f{number}", f"m[{number % 10}]x{number}", f"*x{number}*y"]
    rules += ["__main__:leaf", "EXCLUDE *generator", "INCLUDE nobody"]
    (work / "my.filter").write_text(REGIONS.format("\n".join(rules)))
    (everything,) = record(work, INSTRUMENTERS[0])
    got = record(work, INSTRUMENTERS[0], "--filter-file=my.filter")
    assert_same(got, [without(everything, {"__main__.leaf", "__main__.generator"}.__contains__)])


@each_instrumenter
def test_filtered_user_regions_do_not_disturb_others(instrumenter, work):
    """Not even where they overlap with functions."""
    (work / "overlap.py").write_text("""
import timeloom
def begins(): timeloom.region_begin("phase"); leaf()
def ends(): leaf(); timeloom.region_end("phase"); leaf()
def overlap():
    timeloom.region_begin("phase"); timeloom.region_begin("phase2"); ends(); timeloom.region_end("phase2"); leaf()
def leaf(): pass
timeloom.region_end("phase"); begins(); ends(); overlap()
timeloom.region_begin("phase2"); timeloom.region_begin("phase"); timeloom.region_end("phase2"); timeloom.region_end("phase"); leaf()
""")
    (work / "my.filter").write_text(REGIONS.format("EXCLUDE user:phase"))
    got = record(work, instrumenter, "--filter-file=my.filter", program="overlap.py")
    m, leaf = "__main__.", [["enter", "__main__.leaf"], ["leave", "__main__.leaf"]]
    function = lambda name, *inside: [["enter", m + name], *itertools.chain(*inside), ["leave", m + name]]
    phase2 = lambda *inside: [["enter", "phase2"], *itertools.chain(*inside), ["leave", "phase2"]]
    ends = function("ends", leaf, leaf)
    expected = function("<module>", function("begins", leaf), ends, function("overlap", phase2(ends), leaf), phase2(), leaf)
    assert_same(got, [expected])


WRONG = {
    "foo": "line 1: Unexpected token 'foo'",
    "\nSCOREP_REGION_NAMES_BEGIN foo": "line 2: Unexpected token 'foo'",
    "SCOREP_REGION_NAMES_BEGIN MANGLED foo": "line 1: Unexpected token 'MANGLED'",
    "SCOREP_REGION_NAMES_BEGIN\nSCOREP_REGION_NAMES_BEGIN": "line 2: Unexpected token 'SCOREP_REGION_NAMES_BEGIN'",
    "SCOREP_REGION_NAMES_BEGIN EXCLUDE a\nSCOREP_FILE_NAMES_END": "line 2: Unexpected token 'SCOREP_FILE_NAMES_END'",
    "SCOREP_FILE_NAMES_END": "line 1: Unexpected token 'SCOREP_FILE_NAMES_END'",
    "EXCLUDE a": "line 1: Unexpected token 'EXCLUDE'",
    "SCOREP_FILE_NAMES_BEGIN EXCLUDE\n\nDEMANGLED a": "line 3: Unexpected token 'DEMANGLED'",
    "SCOREP_REGION_NAMES_BEGIN exclude a": "line 1: Unexpected token 'exclude'",
    "SCOREP_REGION_NAMES_BEGIN EXCLUDE a \\\nb": "line 1: a line cannot be continued with a backslash at its end",
    "SCOREP_REGION_NAMES_BEGIN EXCLUDE a \\\r\nb": "line 1: a line cannot be continued with a backslash at its end",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_wrong_filter_files_are_refused(text, work):
    (work / "my.filter").write_bytes(text.encode())
    done = run_python(["-m", "timeloom", "--filter-file=my.filter", "-o", "run", "app.py"], work)
    assert (done.returncode, done.stderr) == (2, f"timeloom: my.filter, {WRONG[text]} [TL119]\n")
    assert not (work / "run").exists()


@pytest.mark.parametrize("name, why", [("none", "No such file or directory"), (".", "it is a directory"), ("/dev/zero", "it is larger than 64 MiB")])
def test_filter_files_that_cannot_be_read(name, why, work):
    done = run_python(["-m", "timeloom", "-o", "run", "app.py"], work, env={"TIMELOOM_FILTER_FILE": name})
    assert (done.returncode, done.stderr) == (2, f"timeloom: cannot read the filter file {name}: {why} [TL120]\n")
    assert not (work / "run").exists()
    block = "import timeloom\ntry: timeloom.Measurement(filter_file={!r}).start()\nexcept timeloom.Error as e: print(e)"
    done = run_python(["-c", block.format(name)], work)
    assert (done.stdout, done.stderr) == (f"cannot read the filter file {name}: {why} [TL120]\n", "")


def test_children_have_the_filter_of_the_run(work):
    """Wherever they run, and even if the file has changed."""
    (work / "parent.py").write_text("""
import os, subprocess, sys
def leaf(): pass
os.remove("my.filter"); os.mkdir("other")
subprocess.run([sys.executable, os.path.abspath("child.py")], cwd="other", check=True)
if os.fork() == 0: leaf()
else: os.wait()
""")
    (work / "child.py").write_text("def leaf(): other()\ndef other(): pass\nleaf()\n")
    (work / "my.filter").write_text(REGIONS.format("EXCLUDE __main__:leaf"))
    command = ["-m", "timeloom", "--quiet", "--no-weave", "--follow=all", "--filter-file=my.filter", "-o", "run"]
    done = run_python([*command, "parent.py"], work)
    assert (done.returncode, done.stderr) == (0, "")
    names = [[e[1] for at in spool.locations() for e in stream(spool, at, of_program)] for spool in spools_of(work / "run")]
    assert sorted(names) == [
        ["__main__.<module>"] * 2,
        ["__main__.<module>", "__main__.other", "__main__.other", "__main__.<module>"],
        ["__main__.<module> (forked)"] * 2,
    ]
    assert spools_of(work / "run")[0].properties["timeloom::filter_file"] == str(work / "my.filter")


def test_measurements_in_turn_have_filters_of_their_own(work):
    (work / "one.filter").write_text(REGIONS.format("EXCLUDE phase"))
    (work / "two.filter").write_text(REGIONS.format("EXCLUDE __main__:leaf"))
    program = """
import timeloom
def leaf(): pass
region = timeloom.region("phase")
decorated = timeloom.region("phase")(leaf)
for number, name in enumerate(["one", "two", "one", "", "two"]):
    settings = {"filter_file": name + ".filter"} if name else {}
    with timeloom.Measurement(output=f"run{number}", weave=False, **settings):
        with region: leaf()
        decorated()
        timeloom.region_begin("phase"); timeloom.region_end("phase")
"""
    done = run_python(["-c", program], work)
    assert (done.returncode, done.stderr) == (0, "")
    leaf, phase = "__main__.leaf", "phase"
    expected = {"one": [leaf, leaf, leaf, leaf], "two": [phase] * 6, "": [phase, leaf, leaf, phase] * 2 + [phase] * 2}
    for number, name in enumerate(["one", "two", "one", "", "two"]):
        (spool,) = spools_of(work / f"run{number}")
        assert [event[1] for event in stream(spool, 0, of_program)] == expected[name]


# --- Modules, packages, only my code ----------------------------------------------------------

LAYERS = """
import json, helper, installed
from installed import part
def hook(pairs): return helper.square(len(pairs))
json.loads('{"a": 1}', object_pairs_hook=hook)
installed.call(hook, [])
part.run(hook)
exec("def made(): hook([])\\nmade()")
"""


@pytest.fixture
def layers(work):
    package = work / "lib" / "site-packages" / "installed"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def call(f, *a): return f(*a)\n")
    (package / "part.py").write_text("def run(f): return f([])\n")
    (work / "layers.py").write_text(LAYERS)
    return work


def is_library(name):
    return not name.startswith(("__main__.", "helper.", "installed."))


def is_installed(name):
    return name.startswith("installed.")


CHOICES = [
    (["--exclude", "stdlib"], is_library),
    (["--exclude", "site-packages"], is_installed),
    (["--exclude", "installed"], is_installed),
    (["--exclude", "installed.part"], lambda name: name.startswith("installed.part.")),
    (["--exclude", "install"], lambda name: False),
    (["--exclude", "json,installed"], lambda name: is_installed(name) or name.startswith("json.")),
    (["--only-my-code"], lambda name: is_library(name) or is_installed(name)),
    (["--only-my-code", "--include", "installed"], is_library),
    (["--include", "site-packages"], lambda name: not is_installed(name)),
    (["--include", "helper", "--exclude", "helper.square"], lambda name: name not in OF_HELPER - {"helper.square"}),
]  # fmt: skip


@each_instrumenter
def test_modules_and_packages(instrumenter, layers):
    def recorded(*options):
        path = {"PYTHONPATH": str(layers / "lib" / "site-packages")}
        # An environment with setuptools has an additional importer among its packages.
        keep = lambda name: not name.startswith("_distutils_hack")
        (events,) = record(layers, instrumenter, *options, program="layers.py", keep=keep, env=path)
        # Python's work at its end is not part of the program.
        end = events.index(["leave", "__main__.<module>"]) if ["leave", "__main__.<module>"] in events else None
        return events[:end]

    everything = recorded()
    assert {name.split(".")[0] for _, name in everything} >= {"json", "re", "helper", "installed"}
    for options, left_out in CHOICES:
        assert_same([recorded(*options)], [without(everything, left_out)])


@each_instrumenter
def test_import_noise(instrumenter, layers):
    """Hidden by default; imported modules count as called by the importing code."""
    path = {"PYTHONPATH": str(layers / "lib" / "site-packages")}

    def recorded(*options):
        (events,) = record(layers, instrumenter, *options, program="layers.py", keep=lambda name: True, env=path)
        return events

    noise = ("importlib.", "importlib._bootstrap", "zipimport.", "encodings.")
    hidden, shown = recorded(), recorded("--imports")
    assert not any(name.startswith(noise) for _, name in hidden)
    names = {name for _, name in shown}
    assert {"importlib._bootstrap._find_and_load", "importlib._bootstrap_external.SourceLoader.get_code"} <= names
    assert_same([hidden], [without(shown, lambda name: name.startswith(noise))])
    assert "importlib._bootstrap._find_and_load" in {name for _, name in recorded("--include", "importlib")}
    assert_same([recorded("--include", "*")], [shown])


def test_a_module_is_called_by_nothing(layers):
    """The search for the program's module with -m is hidden as well."""
    def recorded(*options):
        keep = lambda name: not name.startswith("_distutils_hack")
        (events,) = record(layers, "profile", *options, program="-mhelper", keep=keep)
        return events

    assert recorded()[0] == ["enter", "__main__.<module>"]
    assert recorded("--imports")[0] == ["enter", "runpy._run_module_as_main"]
