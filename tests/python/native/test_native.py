"""Native code in the stream: C, C++ and Cython through the C interface, and programs without Python."""

import ctypes.util
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from native_programs import NATIVE, calls, config, output, record
from process_runs import Run
from spool_reader import spools_of, stream
from streams import environment, run_python

import timeloom

__all__ = ["config", "record"]  # fixtures

PACKAGE = Path(timeloom.__file__).parent
LIBRARY = PACKAGE / "lib" / "libtimeloom.so.0"

pytestmark = [pytest.mark.any_python, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")]


@pytest.fixture(scope="module")
def built(tmp_path_factory, config):
    """The programs of tests/native, built as a user's CMake project."""
    directory = tmp_path_factory.mktemp("native")
    output("cmake", "-S", NATIVE, "-B", directory, f"-Dtimeloom_DIR={config('--cmakedir')[0]}")
    output("cmake", "--build", directory)
    return directory


EVERYTHING = [
    ("enter", "outer"),
    ("parameter_int", "n", -5),
    ("parameter_uint", "size", 2**64 - 1),
    ("parameter_float", "x", 0.5),
    ("parameter_string", "file", "a.dat"),
    *calls("inner."),
    ("metric", ("queue", "items"), -7),
    ("metric", ("load", ""), 1.25),
    ("enter", "by name"),
    ("leave", "by name"),
    ("recording_off", None),
    ("recording_on", None),
    ("leave", "outer"),
]


def test_a_c_program_records_everything_in_order(built, record, tmp_path, config):
    assert record(built / "regions", "everything", 7, status=7).split()[1:] == ["1", "1"]
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended and spool.lost == 0 and spool.threads == {0: "Master thread"}
    assert stream(spool, 0) == EVERYTHING
    assert [(place, text) for place, _, text in spool.markers] == [(0, "half way")]
    assert spool.properties["timeloom::unmatched_leaves"] == "1"
    outer = next(region for region in spool.regions.values() if region["name"] == "outer")
    assert outer["file"].endswith("tests/native/regions.c")
    assert (NATIVE / "regions.c").read_text().splitlines()[outer["first"] - 1].startswith("static timeloom_region outer")


def test_a_cpp_program_leaves_its_scopes(built, record, tmp_path):
    record(built / "scopes")
    (spool,) = spools_of(tmp_path / "run")
    step = calls("step rest_of_step. .")
    plain = [(kind, name.replace(" ", "_")) for kind, name in stream(spool, 0)]
    assert plain == [("enter", "main"), *step, *calls("step."), *step, ("leave", "main")]
    assert [(kind, name.replace(" ", "_")) for kind, name in stream(spool, 1)] == step


def test_the_flags_of_timeloom_config_are_enough(config, tmp_path, timeloom_program):
    program = tmp_path / "regions"
    output("cc", *config("--cflags"), NATIVE / "regions.c", "-o", program, "-pthread", *config("--libs"))
    assert output(program).split() == [timeloom.__version__, "0", "0"]
    assert config("--version") == [timeloom.__version__]
    beside = output(PACKAGE / "bin" / "timeloom-config", "--cflags", "--libs")
    assert beside.split() == config("--cflags", "--libs")
    wrong = subprocess.run([PACKAGE / "bin" / "timeloom-config", "--nonsense"], capture_output=True)
    assert wrong.returncode == 2


@pytest.mark.parametrize(
    "where, prefix",
    [
        ("bin", "."),  # CMake
        ("bin", "lib/python3.12/site-packages/timeloom"),  # an environment, --user
        ("bin", "timeloom"),  # --target
        ("timeloom/bin", "timeloom"),  # the package itself
    ],
)
def test_timeloom_config_finds_the_library_in_every_layout(tmp_path, where, prefix):
    (tmp_path / where).mkdir(parents=True)
    shutil.copy(PACKAGE / "bin" / "timeloom-config", tmp_path / where)
    (tmp_path / prefix / "include" / "timeloom").mkdir(parents=True)
    (tmp_path / prefix / "include" / "timeloom" / "timeloom.h").touch()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / where / "timeloom-config")
    assert output(link, "--prefix") == f"{(tmp_path / prefix).resolve()}\n"


def test_threads_have_streams_and_names_of_their_own(built, record, tmp_path):
    record(built / "regions", "threads")
    (spool,) = spools_of(tmp_path / "run")
    assert sorted(spool.threads.values()) == ["Master thread", "first", "second"]
    for location, name in spool.threads.items():
        if location > 0:
            assert stream(spool, location) == calls(f"{name} inner. .") * 1000


def test_a_process_may_end_and_pause_while_its_threads_record(built, record, tmp_path):
    record(built / "regions", "busy")
    (spool,) = spools_of(tmp_path / "run")
    assert spool.ended and spool.lost == 0
    for location in (1, 2, 3):
        kinds = set(stream(spool, location))
        assert kinds <= {("enter", "inner"), ("leave", "inner"), ("recording_off", None), ("recording_on", None)}


def test_a_forked_child_has_a_spool_of_its_own(built, record, tmp_path, timeloom_program):
    record(built / "regions", "fork", options=("--quiet",))
    run = Run(tmp_path / "run", timeloom_program)
    parent, child = sorted(run.names, key=len)
    assert child == parent + " (fork)"
    assert run.visits("outer") == [1, 0] and sorted(run.visits("inner")) == [0, 1]


def test_a_program_that_becomes_another_goes_on(built, record, tmp_path, timeloom_program):
    record(built / "regions", "exec", options=("--quiet",))
    run = Run(tmp_path / "run", timeloom_program)
    assert sum(run.visits("inner")) == 2 and sorted(run.visits("outer")) == [0, 1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_what_a_killed_program_recorded_is_in_the_run(built, record, tmp_path, timeloom_program, number):
    record(built / "regions", "signal", int(number), options=("--quiet",), status=128 + number)
    run = Run(tmp_path / "run", timeloom_program)
    assert run.visits("outer") == [1] and run.visits("inner") == [1]


@pytest.mark.race
def test_exit_in_a_handler_that_interrupts_the_recorder(built, record, tmp_path, timeloom_program):
    """The interrupted call never ends, so it is not waited for."""
    record(built / "ends", "exit", options=("--quiet",), status=3)
    assert Run(tmp_path / "run", timeloom_program).visits("inner")[0] > 0


@pytest.mark.race
def test_threads_that_are_cancelled_while_they_begin(built, record):
    record(built / "ends", "cancel", options=("--quiet", "--thread", "pthread"))


@pytest.mark.race
def test_children_of_a_process_whose_threads_name_regions(built, record, tmp_path, timeloom_program):
    record(built / "ends", "fork", options=("--quiet", "--max-size", "1G"))
    assert sum(Run(tmp_path / "run", timeloom_program).visits("child")) == 200


def test_the_ends_of_processes_of_a_shell(record, tmp_path, timeloom_program):
    """A shell ends by _exit(), its children likewise or as another program, which has a separate process in the run."""
    for name, text in (("well", "(/bin/echo a); (echo b); exit 0"), ("ill", "(exit 3); exit 4")):
        record("sh", "-c", text, options=("--quiet", "--io", "posix", "-o", name), status=0 if name == "well" else 4)
    ends = {}
    for name in ("well", "ill"):
        done = subprocess.run([timeloom_program, "info", "--json", tmp_path / name], capture_output=True, text=True, check=True)
        ends[name] = [(one["name"], one.get("ending") or "") for one in json.loads(done.stdout)["groups"]]
    assert ends["ill"] == [("sh", "ended by _exit(4)"), ("sh (fork)", "ended by _exit(3)")]
    assert ("sh", "") in ends["well"] and ("sh (fork)", "") in ends["well"]
    assert {end for _, end in ends["well"]} <= {"", "became another program (exec)"}


@pytest.mark.parametrize("options", [(), ("--thread", "pthread", "--io", "posix"), ("--max-size", "1G")])
def test_the_last_thread_ends_the_program(built, record, tmp_path, timeloom_program, options):
    """The main thread ends by pthread_exit(); the process when its last thread has ended, with exit()."""
    assert record(built / "ends", "main", options=("--quiet", *options)) == "exit\n"
    run = Run(tmp_path / "run", timeloom_program)
    assert run.visits("of the main thread") == run.visits("of the last thread") == [1]


def test_the_summary_and_the_profile(built, tmp_path, timeloom_program):
    done = subprocess.run(
        [timeloom_program, "run", "-o", "run", "--profile", "--program", built / "regions", "threads"],
        cwd=tmp_path, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    first, second = done.stderr.splitlines()
    assert first.startswith("timeloom: ") and first.endswith(" of 3 threads in 1 process")
    assert second == "timeloom: next: timeloom report run"
    assert Run(tmp_path / "run", timeloom_program).visits("inner") == [2000]


def test_without_a_measurement_nothing_happens(built, tmp_path):
    for mode in ("everything", "threads", "fork", "busy"):
        assert output(built / "regions", mode, cwd=tmp_path) in ("", f"{timeloom.__version__} 0 0\n")
    assert list(tmp_path.iterdir()) == []


def test_a_program_without_the_library_runs_all_the_same(record, tmp_path):
    said = "timeloom: nothing was recorded: the program has not loaded libtimeloom [TL021]\n"
    assert record("sh", "-c", "echo ran; exit 3", status=3, said=said) == "ran\n"
    assert not (tmp_path / "run").exists()


FILTERED = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ALLOW(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit), ALLOW(SYS_exit_group), ALLOW(SYS_fstat),
      ALLOW(SYS_newfstatat), ALLOW(SYS_rt_sigreturn), ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap),
      BPF_STMT(BPF_RET | BPF_K, ACTION)};
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  puts("before");
  fflush(stdout);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return 77;
  puts("after");
  fflush(stdout);
  END
}
"""


@pytest.mark.parametrize("end", ["return 6;", "_exit(6);"])
@pytest.mark.parametrize("action", ["SECCOMP_RET_ERRNO | EPERM", "SECCOMP_RET_KILL_PROCESS", "SECCOMP_RET_KILL_THREAD"])
def test_a_program_that_forbids_itself_system_calls(tmp_path, timeloom_program, action, end):
    """One more call would be its last, or fail where it is not noticed."""
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(FILTERED)
    output("cc", f"-DACTION=({action})", f"-DEND={end}", source, "-o", program)
    plain = subprocess.run([program], capture_output=True, text=True, timeout=20)
    if plain.returncode == 77:
        pytest.skip("this kernel has no seccomp")
    done = subprocess.run(
        [timeloom_program, "run", "--io", "posix", "-o", tmp_path / "run", "--program", program],
        capture_output=True, text=True, timeout=20, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (6, "before\nafter\n")
    said = "had forbidden itself calls of the system (seccomp) when it ended" if "return" in end else "ended by _exit(6)"
    assert said in done.stderr
    assert Run(tmp_path / "run", timeloom_program).visits("fflush") == [2]


def test_options_after_program_are_said(record):
    said = "timeloom: after --program comes the program; --io goes before it [TL428]\n"
    record("--io", "posix", "./program", status=2, said=said)


def test_a_static_program_runs_all_the_same(record, tmp_path):
    (tmp_path / "static.c").write_text("int main(void) { return 3; }")
    output("cc", "-static", tmp_path / "static.c", "-o", tmp_path / "static")
    said = "timeloom: nothing was recorded: the program is linked statically, so the system loads no libtimeloom [TL021]\n"
    record(tmp_path / "static", status=3, said=said)


def test_results_none_records_nothing(built, record, tmp_path):
    assert record(built / "regions", options=("--results=none",)).split()[1:] == ["0", "0"]
    assert not (tmp_path / "run").exists()


def test_wrong_usage_is_refused_in_a_line(record, tmp_path):
    said = "timeloom: --imports is for Python programs; leave it out with --program [TL427]\n"
    record("true", options=("--imports",), status=2, said=said)
    said = "timeloom: there is no program no-such-program to run [TL428]\n"
    record("no-such-program", status=2, said=said)
    assert not (tmp_path / "run").exists()
    done = run_python(["-m", "timeloom", "--program", "true"], tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and "timeloom run --program true" in done.stderr


def test_a_run_that_is_gone_does_not_keep_the_program_from_running(built, tmp_path):
    done = subprocess.run(
        [built / "regions"], capture_output=True, text=True,
        env=environment({"TIMELOOM_NATIVE_SETTINGS": str(tmp_path / "none" / "scorep.cfg")}),
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[1:]) == (0, ["0", "0"])
    assert done.stderr.startswith("timeloom: process ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("settings", ["fifo", "directory", "no number"])
def test_settings_that_cannot_be_do_not_keep_the_program_from_running(built, settings, tmp_path):
    file = tmp_path / "scorep.cfg"
    if settings == "fifo":
        os.mkfifo(file)
    elif settings == "directory":
        file.mkdir()
    else:
        file.write_text("TIMELOOM_BUFFER_SIZE=4M\n")
    (tmp_path / "spool").mkdir()
    done = subprocess.run(
        [built / "regions"], capture_output=True, text=True, timeout=60,
        env=environment({"TIMELOOM_NATIVE_SETTINGS": str(file)}),
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[1:]) == (0, ["0", "0"])
    assert done.stderr.startswith("timeloom: process ") and done.stderr.count("\n") == 1
    assert not list((tmp_path / "spool").iterdir())


def test_a_run_that_is_woven_wants_no_more_events(built, record, tmp_path):
    record(built / "regions", options=("--quiet",))
    done = subprocess.run(
        [built / "regions"], capture_output=True, text=True,
        env=environment({"TIMELOOM_NATIVE_SETTINGS": str(tmp_path / "run" / "scorep.cfg")}),
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[1:], done.stderr) == (0, ["0", "0"], "")
    assert not (tmp_path / "run" / "spool").exists()


def test_a_library_loaded_late_finds_room_for_its_thread_local_variable(config, record, tmp_path):
    program = tmp_path / "load_late"
    output("cc", *config("--cflags"), NATIVE / "load_late.c", "-o", program, "-ldl")
    jemalloc, *others = map(ctypes.util.find_library, ("jemalloc", "gomp", "mpi"))
    assert jemalloc and all(others), "scripts/install_deps.sh installs them"
    record(program, *others, LIBRARY, LD_PRELOAD=jemalloc)  # which can only be loaded first
    (spool,) = spools_of(tmp_path / "run")
    assert stream(spool, 0) == calls("late.")


def test_two_pointers_are_all_that_is_thread_local_and_no_call_finds_them():
    headers = output("readelf", "-lW", LIBRARY).splitlines()
    (line,) = [line.split() for line in headers if line.split()[:1] == ["TLS"]]
    assert int(line[5], 16) == 16  # bytes in memory: the recorder of the thread, and its samples
    for library in (LIBRARY, *PACKAGE.glob("_core.*.so")):
        assert "__tls_get_addr" not in output("readelf", "-sW", library)
        assert "STATIC_TLS" in output("readelf", "-dW", library)


def test_the_extension_has_no_second_copy_of_the_state():
    (core,) = PACKAGE.glob("_core.*.so")
    symbols = [line.split() for line in output("readelf", "--dyn-syms", "-W", core).splitlines()]
    where = {words[7].split("@")[0]: words[6] for words in symbols if len(words) > 7}
    for name in ("_ZN8timeloom6record10t_recorderE", "_ZN8timeloom2os6detail14g_counter_usedE"):
        assert where[name] == "UND"


def test_a_run_inside_a_run_is_a_run_of_its_own(record, tmp_path, timeloom_program):
    (tmp_path / "program.py").write_text("def f(): pass\nf()\n")
    said = "timeloom: nothing was recorded: the program has not loaded libtimeloom [TL021]\n"
    record(timeloom_program, "run", "--quiet", "-o", "inner", "program.py", said=said, PATH=os.environ["PATH"])
    assert (tmp_path / "inner" / "traces.otf2").exists()
