"""OpenMP with LLVM's runtime, recorded by OMPT: code of GCC and of Clang, with the runtimes of PyPI and of Debian."""

import collections
import json
import re
import shutil
import subprocess

import pytest
from native_programs import NATIVE, config, output, record
from ompt_runs import OPTIONS, PYPI, RUNTIMES, counted, linked, needs_runtime, wrapper
from spool_reader import spools_of, stream
from streams import environment

__all__ = ["config", "record", "wrapper"]  # fixtures

pytestmark = [pytest.mark.any_python, needs_runtime]

SOURCE = NATIVE / "openmp_counts.c"


def build(compiler, runtime, program, *flags):
    """Links with LLVM's runtime in the place of GNU's: it serves code of GCC as well."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    compiled = program.with_suffix(".o")
    include = [f"-I{PYPI / 'include'}"] if compiler == "clang" else []
    output(compiler, "-g", "-O1", "-fPIC", "-fopenmp", *include, "-c", SOURCE, "-o", compiled, *flags)
    shared = ["-shared"] if "-DAS_LIBRARY" in flags else []
    output("cc", *shared, compiled, runtime, f"-Wl,-rpath,{runtime.parent}", "-pthread", "-o", program)
    return program


@pytest.fixture(scope="module", params=[(c, r) for c in ("gcc", "clang") for r in RUNTIMES], ids="-".join)
def program(request, tmp_path_factory):
    compiler, runtime = request.param
    return build(compiler, RUNTIMES[runtime], tmp_path_factory.mktemp("openmp") / f"counts_{compiler}")


def assert_counts(spool, own):
    met = counted(spool)
    assert spool.lost == 0
    assert met["team fork"] == met["team join"] == own["parallel"]
    assert met["team begin"] == met["team end"] == met["!$omp parallel"] == own["implicit tasks"]
    # The calls of GCC's code do not tell the two kinds of barriers apart.
    barriers = own["barrier"] + own["implicit barrier"]
    assert met["!$omp barrier"] + met["!$omp implicit barrier"] == barriers
    assert met["!$omp barrier"] in (0, own["barrier"])
    assert met["task create"] == met["!$omp create task"] == met["!$omp task"] == met["task complete"] == own["task"]
    for region in ("critical", "single", "taskwait", "for", "taskgroup"):
        assert met[f"!$omp {region}"] == own[region]
    assert met["!$omp critical sblock"] == own["critical"]
    assert met["omp_set_lock"] == own["lock"]


def test_counts_are_those_of_the_program(program, record, wrapper, tmp_path):
    own = json.loads(record(program, options=OPTIONS, LD_PRELOAD=wrapper))
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended
    assert_counts(spool, own)
    names = [name for place, name in spool.threads.items() if place != 0]
    assert names and all(re.fullmatch(r"libomp thread \d+", name) for name in names)
    assert {region["group"] for region in spool.regions.values()} == {"OMP"}
    # Each has a place in the code of the program.
    assert [spool.regions[key]["name"] for key in set(spool.regions) - set(spool.addresses)] == []
    assert set(spool.addresses) <= set(spool.regions)
    assert {spool.objects[key][0] for key, _, _ in spool.addresses.values()} == {str(program)}


TEAM = ("team fork", "team join", "team begin", "team end")


def test_each_member_of_a_team_has_its_region_and_its_wait(program, record, wrapper, tmp_path):
    record(program, options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    frames = {0: [], 1: []}
    for location in frames:
        team = [
            (kind, name) if kind in ("enter", "leave") else (kind,)
            for kind, name, *_ in stream(spool, location)
            if kind in TEAM or name in ("!$omp parallel", "!$omp implicit barrier")
        ]
        frames[location] = team
    first, other = frames[0], frames[1]
    wait = [("enter", "!$omp implicit barrier"), ("leave", "!$omp implicit barrier")]
    assert first[:3] == [("enter", "!$omp parallel"), ("team fork",), ("team begin",)]
    assert first[-5:] == [*wait, ("team end",), ("team join",), ("leave", "!$omp parallel")]
    assert other[:2] == [("team begin",), ("enter", "!$omp parallel")]
    assert other[-4:] == [*wait, ("leave", "!$omp parallel"), ("team end",)]


def test_members_wait_no_longer_than_their_team(program, record, wrapper, tmp_path):
    """The runtime tells a thread that its last barrier has ended when it needs the thread again."""
    record(program, options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    joined, ended = {}, collections.defaultdict(list)
    for location in spool.locations():
        for kind, _, value, ticks in spool.events(location):
            if kind == "team join":
                joined[value] = ticks
            elif kind == "team end":
                ended[value].append(ticks)
    assert len(joined) == 8
    assert all(len(ended[team]) == 2 and max(ended[team]) <= ticks for team, ticks in joined.items())


def test_a_single_construct_ends_before_its_barrier(program, record, wrapper, tmp_path):
    record(program, options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    seen = 0
    for location in spool.locations():
        inside = []
        for kind, name, *_ in stream(spool, location):
            if kind == "enter":
                assert not (name == "!$omp implicit barrier" and "!$omp single" in inside)
                inside.append(name)
                seen += name == "!$omp single"
            elif kind == "leave":
                inside.pop()
    assert seen == 3


def test_a_forked_child_has_teams_of_its_own(program, record, wrapper, tmp_path):
    text = record(program, "fork", options=OPTIONS, LD_PRELOAD=wrapper)
    parent, child = (json.loads(line) for line in text.splitlines())
    spools = spools_of(tmp_path / "run")
    assert len(spools) == 2
    assert_counts(spools[0], parent)
    assert_counts(spools[1], child)


def test_two_runtimes_in_one_process(record, wrapper, tmp_path):
    """A copy under another name, as wheels bring them."""
    copy = tmp_path / "libomq.so"
    copy.write_bytes((PYPI / "lib" / "libomp.so").read_bytes().replace(b"\0libomp.so\0", b"\0libomq.so\0"))
    one = build("gcc", PYPI / "lib" / "libomp.so", tmp_path / "libone.so", "-DAS_LIBRARY")
    two = build("gcc", copy, tmp_path / "libtwo.so", "-DAS_LIBRARY")
    source = tmp_path / "both.c"
    source.write_text("""\
#include <dlfcn.h>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    void* library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (library == 0) return 1;
    ((void (*)(void))dlsym(library, "run_openmp"))();
  }
  return 0;
}
""")
    output("cc", source, "-o", tmp_path / "both", "-ldl", "-pthread")
    text = record(tmp_path / "both", one, two, options=OPTIONS, LD_PRELOAD=wrapper, KMP_DUPLICATE_LIB_OK="TRUE")
    own = collections.Counter()
    for line in text.splitlines():
        own.update(json.loads(line))
    (spool,) = spools_of(tmp_path / "run")
    assert_counts(spool, own)
    assert {name.split(" ")[0] for place, name in spool.threads.items() if place != 0} == {"libomp", "libomq"}


UNTIED = """\
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task untied
    {
#pragma omp task
      { __asm__ volatile(""); }
#pragma omp taskwait
#pragma omp taskyield
    }
  }
  return 0;
}
"""


def test_an_untied_task_that_goes_on_is_one_visit(record, wrapper, tmp_path):
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    (tmp_path / "untied.c").write_text(UNTIED)
    output("clang", "-fopenmp", "-c", tmp_path / "untied.c", "-o", tmp_path / "untied.o")
    runtime = RUNTIMES["PyPI"]
    output("cc", tmp_path / "untied.o", runtime, f"-Wl,-rpath,{runtime.parent}", "-pthread", "-o", tmp_path / "untied")
    record(tmp_path / "untied", options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    met = counted(spool)
    assert met["!$omp task"] == met["!$omp create task"] == met["task create"] == met["task complete"] == 40
    assert met["!$omp task resumed"] >= 20  # each goes on behind its taskwait


# Teams of LLVM's runtime in a team: their memory goes to the teams of other threads while they end.
# A loop that has a task group around it, and one that has none, of so many tasks that tasks create others.
TASKLOOP = r"""
volatile int sum;
__attribute__((noinline)) static void loops(void) {
#pragma omp taskloop grainsize(10)
  for (int i = 0; i < 100; ++i) {
#pragma omp atomic
    ++sum;
  }
#pragma omp taskloop grainsize(1) nogroup
  for (int i = 0; i < 500; ++i) {
#pragma omp task
    {
#pragma omp atomic
      ++sum;
    }
  }
}
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  loops();
  return sum != 600;
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_tasks_of_a_task_loop_have_its_place(record, wrapper, tmp_path, compiler, runtime):
    (tmp_path / "taskloop.c").write_text(TASKLOOP)
    program = linked(compiler, RUNTIMES[runtime], tmp_path / "taskloop.c")
    record(program, options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    places = {key: spool.objects[address[0]][0] for key, address in spool.addresses.items()}
    assert set(places) == set(spool.regions) and set(places.values()) == {str(program)}
    kinds = collections.Counter(region["name"] for region in spool.regions.values() if "task" in region["name"])
    # Both loops, and the task inside the second one.
    assert kinds == {"!$omp taskgroup": 1, "!$omp taskloop": 2, "!$omp create task": 3, "!$omp task": 3}
    assert counted(spool)["!$omp task"] >= 10 + 500 + 500


# Each barrier of a team that can be cancelled: of a loop, one that stands alone.
CANCELLED = r"""
volatile int sum;
int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      ++sum;
    }
#pragma omp barrier
#pragma omp cancel parallel if (sum < 0)
  }
  return sum != 10;
}
"""


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_barriers_of_a_team_that_can_be_cancelled_have_their_places(record, wrapper, tmp_path, runtime):
    (tmp_path / "cancelled.c").write_text(CANCELLED)
    program = linked("clang", RUNTIMES[runtime], tmp_path / "cancelled.c")
    record(program, options=OPTIONS, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    files = {spool.objects[address[0]][0] for address in spool.addresses.values()}
    assert set(spool.addresses) == set(spool.regions) and files == {str(program)}
    kinds = [region["name"] for region in spool.regions.values() if "barrier" in region["name"]]
    # Of the loop, alone, of the team.
    assert len(kinds) == 3


DISABLED = (
    "timeloom: OpenMP of LLVM's and Intel's runtimes is not recorded: OMP_TOOL=disabled turns their interface for "
    "tools off; unset it [TL483]\n"
)


def test_a_disabled_interface_is_heeded(program, record, wrapper, tmp_path):
    record(program, options=OPTIONS, said=DISABLED, LD_PRELOAD=wrapper, OMP_TOOL="disabled")
    (spool,) = spools_of(tmp_path / "run")
    assert sum(counted(spool).values()) == 0


def test_a_value_that_runtimes_do_not_know_disables_the_interface_too(program, tmp_path, timeloom_program):
    command = [timeloom_program, "run", "--quiet", "--thread", "omp", "-o", "run", "--program", program]
    variables = environment({"OMP_TOOL": "bogus"})
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=variables)
    assert done.stderr.endswith(DISABLED.replace("=disabled", "=bogus"))  # the runtime may warn before


def test_the_variable_is_nothing_to_programs_without_such_a_runtime(record, wrapper, tmp_path):
    (tmp_path / "plain.c").write_text("int main(void) { return 0; }")
    output("cc", tmp_path / "plain.c", "-o", tmp_path / "plain")
    record(tmp_path / "plain", options=OPTIONS, LD_PRELOAD=wrapper, OMP_TOOL="disabled")


def test_the_report_does_not_advise_the_option_that_was_given(program, tmp_path, timeloom_program):
    command = [timeloom_program, "run", "--quiet", "--thread", "omp", "-o", "run", "--program", program]
    variables = environment({"OMP_TOOL": "disabled"})
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=variables)
    assert done.stderr == DISABLED
    done = subprocess.run([timeloom_program, "report", "--omp", "run"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("or its runtime reported none, as the run's messages tell [TL484]\n")


def test_another_tool_comes_first(program, record, wrapper, tmp_path):
    said = "timeloom: OpenMP is not recorded: OMP_TOOL_LIBRARIES names another tool, /opt/libother.so [TL059]\n"
    record(program, options=OPTIONS, said=said, LD_PRELOAD=wrapper, OMP_TOOL_LIBRARIES="/opt/libother.so")
    (spool,) = spools_of(tmp_path / "run")
    assert sum(counted(spool).values()) == 0


def test_a_tool_of_the_program_comes_first(record, wrapper, tmp_path):
    tool = tmp_path / "libtool.so"
    (tmp_path / "tool.c").write_text("""\
#include <stdio.h>
static int begin(void* lookup, int device, void* data) { puts("{}"); fflush(stdout); return 1; }
static void end(void* data) {}
static struct { void* begin; void* end; long data; } result = {(void*)begin, (void*)end, 0};
void* ompt_start_tool(unsigned version, const char* runtime) { return &result; }
""")
    output("cc", "-shared", "-fPIC", tmp_path / "tool.c", "-o", tool)
    program = build("gcc", PYPI / "lib" / "libomp.so", tmp_path / "counts")
    output("cc", tmp_path / "counts.o", "-Wl,--no-as-needed", tool, PYPI / "lib" / "libomp.so",
           f"-Wl,-rpath,{tmp_path}:{PYPI / 'lib'}", "-pthread", "-o", program)  # fmt: skip
    said = f"timeloom: OpenMP is not recorded: the program has a tool of its own, {tool} [TL059]\n"
    text = record(program, options=OPTIONS, said=said, LD_PRELOAD=wrapper)
    assert text.startswith("{}\n")
    (spool,) = spools_of(tmp_path / "run")
    assert sum(counted(spool).values()) == 0


def test_a_tool_in_the_program_itself_comes_first(record, wrapper, tmp_path):
    """The program stands before our library where the runtime looks for a tool."""
    (tmp_path / "tool.c").write_text("void* ompt_start_tool(unsigned version, const char* runtime) { return 0; }")
    output("cc", "-c", tmp_path / "tool.c", "-o", tmp_path / "tool.o")
    program = build("gcc", PYPI / "lib" / "libomp.so", tmp_path / "counts")
    output("cc", tmp_path / "counts.o", tmp_path / "tool.o", PYPI / "lib" / "libomp.so", f"-Wl,-rpath,{PYPI / 'lib'}",
           "-rdynamic", "-pthread", "-o", program)  # fmt: skip
    said = f"timeloom: OpenMP is not recorded: the program has a tool of its own, {program} [TL059]\n"
    record(program, options=OPTIONS, said=said, LD_PRELOAD=wrapper)
    (spool,) = spools_of(tmp_path / "run")
    assert sum(counted(spool).values()) == 0


def test_without_a_measurement_the_program_runs_alone(program, wrapper):
    own = json.loads(output(program, env={"LD_PRELOAD": wrapper}))
    assert own["parallel"] == 8
