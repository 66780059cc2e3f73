"""Programs, libraries and modules built with -finstrument-functions: every call, by its own list of them."""

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from compiled_calls import named, recorded, symbols
from native_programs import NATIVE, calls, config, output, record
from process_runs import Run
from spool_reader import spools_of, stream
from streams import environment

__all__ = ["config", "record"]  # fixtures

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")]

ALL = ("--no-weave", "--quiet")
NOT_LINKED = (*ALL, "--compiler")


@pytest.fixture(scope="module")
def build(tmp_path_factory, config):
    """Builds a source with the flags of timeloom-config; linked=True: with libtimeloom."""
    directory = tmp_path_factory.mktemp("compiled")

    @functools.cache
    def build(source, *flags, linked=False, name="", compiler="cc"):
        program = directory / (name or f"{source}-{linked}")
        program.parent.mkdir(exist_ok=True)
        libraries = config("--libs") if linked else []
        output(compiler, "-O2", "-g", *config("--cflags", "--compiler"), NATIVE / source, "-o", program, "-pthread", *flags,
               *libraries, cwd=directory)  # fmt: skip
        return program

    return build


@pytest.fixture(params=[False, True], ids=["wrapper", "linked"])
def program(request, build):
    """compiled.c, and the options with which it is recorded."""
    return build("compiled.c", linked=request.param), ALL if request.param else NOT_LINKED


@pytest.mark.parametrize("mode", ["calls", "jump", "tail"])
def test_every_call_of_a_program(program, record, tmp_path, mode):
    path, options = program
    done = record(path, mode, options=options)
    assert len(calls(done)) > 2 and recorded(tmp_path / "run") == calls(done)


def test_allocations_of_the_program_are_calls_as_well(program, record, tmp_path):
    path, options = program
    record(path, "calls", options=options)
    (spool,) = spools_of(tmp_path / "run")
    inside = stream(named(spool), 0)
    assert inside.count(("enter", "malloc")) == inside.count(("leave", "malloc"))


def test_threads(program, record, tmp_path):
    path, options = program
    record(path, "threads", options=options)
    for location in (1, 2, 3):
        assert recorded(tmp_path / "run", location) == calls("silent. " * 1000)
    assert recorded(tmp_path / "run") == calls("main.")


def test_a_forked_child_defines_its_functions_anew(program, record, tmp_path):
    path, options = program
    done = record(path, "fork", options=options)
    streams = [stream(named(spool), 0, lambda name: name != "malloc") for spool in spools_of(tmp_path / "run")]
    assert sorted(streams, key=len) == [calls(done), calls("main silent. .")]


def test_the_child_of_vfork_records_nothing(build, record, tmp_path):
    done = record(build("compiled.c"), "vfork", options=NOT_LINKED)
    assert recorded(tmp_path / "run") == calls(done)


def test_a_profile_has_the_same_calls(program, record, tmp_path, timeloom_program):
    path, options = program
    record(path, "calls", options=("--quiet", "--profile", *options[len(ALL):]))
    run = Run(tmp_path / "run", timeloom_program)
    stand_ins = {name: f"{address:#x} in {path.name}" for address, name in symbols(path).items()}
    visits = {name: sum(run.visits(name)) + sum(run.visits(stand_ins[name])) for name in ("main", "twice", "leaf")}
    assert visits == {"main": 1, "twice": 1, "leaf": 2}


def test_depth_is_limited(program, record, tmp_path):
    path, options = program
    record(path, "calls", options=(*options, "--max-depth", "2"))
    (spool,) = spools_of(tmp_path / "run")
    assert [event for event in stream(named(spool), 0) if event[1] == "leaf"] == []
    assert recorded(tmp_path / "run") == calls("main twice. .")


@pytest.fixture(scope="module")
def libraries(build):
    """Two libraries that differ in the name of a function only."""
    flags = ("-shared", "-fPIC")
    return [build("compiled_library.c", *flags, f"-DNAME={name}", name=f"{name}/libsame.so") for name in ("first", "second")]


def test_other_code_at_the_addresses_of_unloaded_code(program, libraries, record, tmp_path):
    path, options = program
    words = [path, "unload", *libraries, *libraries]
    plain = subprocess.run(words, capture_output=True, text=True, check=True, env=environment({"SHOW_ADDRESSES": "1"}))
    if len(set(plain.stderr.split())) != 1:
        pytest.skip("this system does not load the second library where the first was")
    done = record(*words, options=(*options, "--compiler"))
    assert done == plain.stdout and recorded(tmp_path / "run") == calls(done)


def test_two_libraries_of_one_name(program, libraries, record, tmp_path):
    path, options = program
    done = record(path, "load", *libraries, options=(*options, "--compiler"))
    assert "first" in done and "second" in done and recorded(tmp_path / "run") == calls(done)


@pytest.mark.parametrize("linked", [False, True])
def test_exceptions_through_three_functions(build, record, tmp_path, linked):
    program = build("compiled.cpp", linked=linked, compiler="c++")
    done = record(program, options=ALL if linked else NOT_LINKED)
    assert done.split()[1:4] == ["first", "second", "third"] and recorded(tmp_path / "run") == calls(done)


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="no gfortran")
def test_fortran(build, record, tmp_path):
    record(build("compiled.f90", compiler="gfortran"), options=NOT_LINKED)
    assert recorded(tmp_path / "run") == calls("main MAIN__ solve_ __grids_MOD_relax. __grids_MOD_relax. . . .")


# Without the allocator of compiled.c, which is not for sanitizers and static programs.
SMALL = """
#include <stdio.h>
#define PLAIN __attribute__((no_instrument_function))
PLAIN static void in(const char* name) { printf("%s ", name); }
PLAIN static void out(void) { printf(". "); }
__attribute__((noinline, noclone)) static int inner(int n) {
  in("inner");
  int result = n > 0 ? inner(n - 1) + 1 : 0;
  out();
  return result;
}
int main(void) {
  in("main");
  int result = inner(3);
  out();
  return result - 3;
}
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.c"
    path.write_text(SMALL)
    return path


def test_a_static_program_runs_and_a_line_gives_the_reason(build, small, record):
    program = build(small, "-static", name="static")
    said = "timeloom: nothing was recorded: the program is linked statically, so the system loads no libtimeloom [TL021]\n"
    assert len(calls(record(program, options=NOT_LINKED, said=said))) == 10


@functools.cache
def has_sanitizer(compiler, kind):
    words = [compiler, f"-fsanitize={kind}", "-x", "c", "-", "-o", os.devnull]
    return shutil.which(compiler) is not None and subprocess.run(words, input=b"int main(void) { return 0; }").returncode == 0


@pytest.mark.parametrize("linked", [False, True], ids=["wrapper", "linked"])
@pytest.mark.parametrize("kind", ["address", "undefined", "thread"])
def test_sanitizers(build, small, record, tmp_path, kind, linked):
    if not has_sanitizer("cc", kind):
        pytest.skip(f"the compiler has no {kind} sanitizer")
    program = build(small, f"-fsanitize={kind}", linked=linked, name=f"{kind}-{linked}")
    done = record(program, options=ALL if linked else NOT_LINKED)
    assert len(calls(done)) == 10 and recorded(tmp_path / "run") == calls(done)


def test_a_sanitizer_finds_its_errors(build, timeloom_program, tmp_path):
    if not has_sanitizer("cc", "address"):
        pytest.skip("the compiler has no address sanitizer")
    (tmp_path / "error.c").write_text("int main(int n, char** a) { volatile int x[2] = {0}; (void)a; return x[n + 1]; }")
    program = build(tmp_path / "error.c", "-fsanitize=address", name="error")
    plain = subprocess.run([program], capture_output=True, text=True)
    command = [timeloom_program, "run", "-o", tmp_path / "run", *NOT_LINKED, "--program", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment({}))
    assert "stack-buffer-overflow" in plain.stderr and "stack-buffer-overflow" in done.stderr
    assert done.returncode == plain.returncode


HANDLER = """
#include <signal.h>
#include <stdlib.h>
#define PLAIN __attribute__((no_instrument_function))
static volatile int g_calls;
__attribute__((noinline)) void inner(void) { ++g_calls; }
void handler(int number) { (void)number; inner(); }
void outer(void) { for (int i = 0; i < 5; ++i) raise(SIGUSR1); }
PLAIN int main(void) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  inner();
  outer();
  return g_calls - 6;
}
"""


@pytest.mark.parametrize("options, lost", [((), 20), (("--profile",), 20), (("--exclude", "inner"), 0)])
def test_calls_on_a_signal_stack_are_counted_as_lost(build, timeloom_program, tmp_path, options, lost):
    (tmp_path / "handler.c").write_text(HANDLER)
    program = build(tmp_path / "handler.c", name="handler")
    command = [timeloom_program, "run", "-o", "run", *NOT_LINKED, *options, "--program", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment({}))
    assert done.returncode == 0
    (spool,) = spools_of(tmp_path / "run")
    assert spool.lost == lost


def test_without_the_option_only_linked_code_is_recorded(build, record):
    said = "timeloom: nothing was recorded: the program has not loaded libtimeloom [TL021]\n"
    record(build("compiled.c"), "calls", said=said)


def test_a_program_that_is_not_measured(build):
    for linked in (False, True):
        assert calls(output(build("compiled.c", linked=linked), "calls")) == calls("main twice leaf. leaf. . .")


MODULE = """
import compiled_module

def caller():
    return compiled_module.run(callback)

def callback():
    compiled_module.run(None)

assert caller() == 2
"""


@pytest.fixture(scope="module")
def module(build):
    """The directory of the module, which is not linked with libtimeloom."""
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").exists():
        pytest.skip("no Python.h")
    name = f"module/compiled_module{sysconfig.get_config_var('EXT_SUFFIX')}"
    return build("compiled_module.c", "-shared", "-fPIC", f"-I{include}", name=name).parent


def of_module(run):
    """The calls of the program and its module."""
    (spool,) = spools_of(run)
    events = [(kind, name.rpartition(".")[2]) for kind, name, *_ in stream(named(spool), 0)]
    return [event for event in events if event[1] in ("caller", "callback", "run", "step")]


INSIDE = calls("caller run step. callback run step. step. . . step. . .")
PYTHON = calls("caller callback. .")


@pytest.mark.parametrize(
    "command, expected",
    [
        (["timeloom", "--no-weave", "--quiet", "--compiler", "-o", "run"], INSIDE),
        (["timeloom", "--no-weave", "--quiet", "--compiler", "--exclude", "compiled_module", "-o", "run"], PYTHON),
        (["timeloom", "--no-weave", "--quiet", "--compiler", "--exclude", "*/module/*.so", "-o", "run"], PYTHON),
        (["timeloom", "--no-weave", "--quiet", "-o", "run"], PYTHON),
    ],
)
def test_a_module_below_python(module, tmp_path, command, expected):
    (tmp_path / "app.py").write_text(MODULE)
    done = subprocess.run(
        [sys.executable, "-m", *command, "app.py"], cwd=tmp_path, capture_output=True, text=True,
        env=environment({"PYTHONPATH": str(module)}),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert of_module(tmp_path / "run") == expected


@pytest.mark.parametrize("option, expected", [("--compiler", INSIDE), ("--nocompiler", PYTHON)])
def test_the_door_of_score_p(module, tmp_path, option, expected):
    (tmp_path / "app.py").write_text(MODULE)
    done = subprocess.run(
        [sys.executable, "-m", "scorep", "--keep-files", option, "app.py"], cwd=tmp_path, capture_output=True, text=True,
        env=environment({"PYTHONPATH": str(module), "SCOREP_EXPERIMENT_DIRECTORY": "run",
                         "SCOREP_ENABLE_TRACING": "true"}),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (spool,) = spools_of(tmp_path / "run")
    kinds = [(kind, name.rpartition(":")[2]) for kind, name, *_ in stream(named(spool), 0)]
    assert [event for event in kinds if event[1] in ("caller", "callback", "run", "step")] == expected


def test_the_flags_of_other_compilers(config, timeloom_program):
    program = Path(timeloom_program).with_name("timeloom-config")
    assert config("--compiler")[0].startswith("-finstrument-functions")
    if shutil.which("clang-14") is not None:
        flags = output(program, "--compiler", env=environment({"CC": "clang-14"}))
        assert flags == "-finstrument-functions-after-inlining\n"


CLANG = next((name for name in ("clang", *(f"clang-{n}" for n in range(21, 13, -1))) if shutil.which(name)), None)


@pytest.fixture(params=[False, True], ids=["wrapper", "linked"])
def of_clang(request, tmp_path_factory, config, timeloom_program):
    """compiled.c, built by Clang with the flags that are meant for it, and the options with which it is recorded."""
    directory = tmp_path_factory.mktemp("clang")
    program = Path(timeloom_program).with_name("timeloom-config")
    flags = output(program, "--compiler", env=environment({"CC": CLANG})).split()
    libraries = config("--libs") if request.param else []
    output(CLANG, "-O2", "-g", "-Wno-unknown-attributes", *config("--cflags"), *flags, NATIVE / "compiled.c", "-o", "compiled",
           "-pthread", *libraries, cwd=directory)  # fmt: skip
    return directory / "compiled", ALL if request.param else NOT_LINKED


@pytest.mark.skipif(CLANG is None, reason="no Clang; make test-all has one")
@pytest.mark.parametrize("mode", ["calls", "jump"])
def test_every_call_of_a_program_of_clang(of_clang, record, tmp_path, mode):
    path, options = of_clang
    done = record(path, mode, options=options)
    assert len(calls(done)) > 2 and recorded(tmp_path / "run") == calls(done)


@pytest.mark.skipif(CLANG is None, reason="no Clang; make test-all has one")
def test_a_filter_of_a_program_of_clang(of_clang, record, tmp_path):
    path, options = of_clang
    record(path, "calls", options=(*options, "--exclude", "leaf"))
    assert recorded(tmp_path / "run") == calls("main twice. .")


def test_the_target_of_cmake(config, record, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(compiled LANGUAGES C)\nfind_package(timeloom REQUIRED)\n"
        f"find_package(Threads REQUIRED)\nadd_executable(compiled {NATIVE / 'compiled.c'})\n"
        "target_link_libraries(compiled PRIVATE timeloom::compiler Threads::Threads)\n"
    )
    output("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-Dtimeloom_DIR={config('--cmakedir')[0]}")
    output("cmake", "--build", tmp_path / "build")
    done = record(tmp_path / "build" / "compiled", "calls", options=ALL)
    assert recorded(tmp_path / "run") == calls(done)


SOURCE = """
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "recipe", NULL, -1, NULL, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_recipe(void) { return PyModule_Create(&module); }
"""
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "{backend}"\n[project]\nname = "recipe"\nversion = "1"\n'
RECIPES = {
    "setuptools": ("setuptools.build_meta", "setup.py", "from setuptools import Extension, setup\n"
                   "setup(ext_modules=[Extension('recipe', ['recipe.c'])])\n"),
    "mesonpy": ("mesonpy", "meson.build", "project('recipe', 'c')\npy = import('python').find_installation(pure: false)\n"
                "py.extension_module('recipe', 'recipe.c', install: true)\n"),
    "scikit_build_core": ("scikit_build_core.build", "CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\n"
                          "project(recipe LANGUAGES C)\nfind_package(Python REQUIRED COMPONENTS Interpreter "
                          "Development.Module)\npython_add_library(recipe MODULE recipe.c WITH_SOABI)\n"
                          "install(TARGETS recipe DESTINATION .)\n"),
}  # fmt: skip


@pytest.mark.parametrize("tool", RECIPES)
def test_build_tools_take_the_flags_from_the_environment(config, tmp_path, tool):
    # Older ones make wheels with another package only.
    pytest.importorskip(tool, minversion={"setuptools": "70.1"}.get(tool))
    backend, name, text = RECIPES[tool]
    (tmp_path / "recipe.c").write_text(SOURCE)
    (tmp_path / name).write_text(text)
    (tmp_path / "pyproject.toml").write_text(PROJECT.format(backend=backend))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # meson and ninja
    variables = environment({"CFLAGS": " ".join(config("--compiler")), "PATH": path})
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps"]
    output(*pip, "--target", tmp_path / "target", tmp_path, env=variables)
    (module,) = (tmp_path / "target").glob("recipe*.so")
    assert "__cyg_profile_func_enter" in output("nm", "-D", "--undefined-only", module)
