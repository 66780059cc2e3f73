"""The end of the measured program: weaving, and one block on stderr."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SUMMARY = re.compile(
    r"timeloom: \d+\.\d{3} s, (?P<events>[\d,]+) events of (?P<threads>\d+) threads?"
    r"( in (?P<processes>[\d,]+) processes(, [\d,]+ of which had not ended)?)?, "
    r"(beside (?P<children>[\d,]+) child process(es)?, )?"
    # There is no estimate where a very busy machine has left no sound calibration.
    r"[\d.]+ k?B(, estimated overhead \d+\.\d % of CPU time \(\d+\.\d to \d+\.\d %\), \d+\.\d % of wall time)?"
    r"(, without (a process|[\d,]+ processes) that did not record it)?\n"
    r"(?P<more>(timeloom: .*\n)*?)"
    r"timeloom: next: (?P<next>.*)\n"
)


@pytest.fixture
def work(tmp_path):
    directory = tmp_path / "work"
    directory.mkdir()
    return directory


def run(work, text, *options, arguments=(), python=sys.executable, **settings):
    (work / "app.py").write_text(text)
    command = [python, "-m", "timeloom", *options, "app.py", *arguments]
    settings = {"capture_output": True, "text": True, "timeout": 120, "cwd": work, **settings}
    return subprocess.run(command, **settings)


def runs_in(directory: Path) -> list[Path]:
    return sorted(path for path in directory.iterdir() if path.name.startswith("timeloom-"))


def is_woven(run: Path) -> bool:
    return (run / "traces.otf2").is_file() and not (run / "spool").exists()


CALLS = "def f(): pass\nfor _ in range(100): f()\nprint('out')\n"


FORBIDDEN = """
import ctypes, platform, struct
x86 = platform.machine() == "x86_64"
forbidden = (56, 57, 58, 59, 435) if x86 else (220, 221, 435)  # clone, fork, vfork, execve, clone3
filters = [(0x20, 0, 0, 0)]  # the number of the call
filters += [(0x15, len(forbidden) - i, 0, number) for i, number in enumerate(forbidden)]
filters += [(6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x80000000)]  # allowed; or the end of the process
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in filters))
program = struct.pack("HxxxxxxQ", len(filters), ctypes.addressof(code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
assert libc.prctl(22, 2, program) == 0, "no filter"  # PR_SET_SECCOMP
"""


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_a_program_that_forbids_itself_to_start_others(work, options, timeloom):
    """The kernel would end it to get memory for the weaving process."""
    process = run(work, FORBIDDEN + CALLS, *options)
    if "no filter" in process.stderr:
        pytest.skip("this kernel has no seccomp")
    assert (process.returncode, process.stdout) == (0, "out\n"), process.stderr
    line = "timeloom: not woven: the program has forbidden itself calls of the system (seccomp); the next command does it [TL048]"
    assert line in process.stderr.splitlines()
    (run_directory,) = runs_in(work)
    report = json.loads(timeloom("report", "--json", run_directory).stdout)
    assert ("__main__.f", 100) in [(row["name"], row["visits"]) for row in report["flat"]["rows"]]


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
def test_a_program_that_changes_its_root(work, timeloom):
    text = "import os; os.mkdir('root'); os.chroot('root'); os.chdir('/')\n" + CALLS
    process = run(work, text, "--quiet", "-o", "run")
    assert (process.returncode, process.stdout) == (0, "out\n"), process.stderr
    assert process.stderr == (
        "timeloom: not woven: the program has changed its root directory (chroot); the next command outside of that "
        "does it [TL049]\n"
    )
    report = json.loads(timeloom("report", "--json", work / "run").stdout)
    assert ("__main__.f", 100) in [(row["name"], row["visits"]) for row in report["flat"]["rows"]]


def test_summary_says_what_was_recorded_and_what_to_do_next(work):
    process = run(work, CALLS)
    assert (process.returncode, process.stdout) == (0, "out\n")
    summary = SUMMARY.fullmatch(process.stderr)
    assert summary, process.stderr
    # 100 calls and the module, entered and left; and the events of python's own exit code.
    assert 202 <= int(summary["events"].replace(",", "")) <= 230
    assert (summary["threads"], summary["more"]) == ("1", "")
    (run_directory,) = runs_in(work)
    assert re.fullmatch(r"timeloom-app-\d{8}-\d{6}", run_directory.name)
    assert summary["next"] == f"timeloom report {run_directory.name}"
    assert is_woven(run_directory)


def test_the_command_that_is_printed_works(work, timeloom_program):
    process = run(work, CALLS, "--output=a run's")
    command = SUMMARY.fullmatch(process.stderr)["next"]
    assert command == """timeloom report 'a run'\\''s'"""
    report = subprocess.run(
        command.replace("timeloom", f"'{timeloom_program}'", 1) + " --json",
        shell=True,
        cwd=work,
        capture_output=True,
        text=True,
    )
    assert report.returncode == 0, report.stderr
    assert '"__main__.f"' in report.stdout
    json.loads(report.stdout)


def test_quiet_says_nothing(work):
    process = run(work, CALLS, "--quiet")
    assert (process.stdout, process.stderr) == ("out\n", "")
    assert is_woven(runs_in(work)[0])


def test_without_weaving_the_run_stays_unfinished(work, timeloom_program):
    process = run(work, CALLS, "--no-weave")
    assert SUMMARY.fullmatch(process.stderr)["more"] == (
        "timeloom: not woven yet; the next command does it\n"
    )
    (run_directory,) = runs_in(work)
    assert (run_directory / "spool").is_dir() and not (run_directory / "traces.otf2").exists()
    assert (
        subprocess.run([timeloom_program, "info", run_directory], capture_output=True).returncode
        == 0
    )
    assert is_woven(run_directory)


def test_keep_spool(work):
    run(work, CALLS, "--keep-spool")
    (run_directory,) = runs_in(work)
    assert (run_directory / "traces.otf2").is_file() and (run_directory / "spool").is_dir()


@pytest.mark.parametrize(
    "end, status",
    [("raise SystemExit(7)", 7), ("1/0", 1), ("raise KeyboardInterrupt", -signal.SIGINT)],
)
def test_the_end_of_the_program_is_kept(work, end, status):
    process = run(work, end)
    assert process.returncode == status
    assert SUMMARY.search(process.stderr)
    assert is_woven(runs_in(work)[0])


def test_summary_comes_after_the_output_of_the_program(work):
    text = "import sys; sys.stdout.write('no newline'); sys.stderr.write('err')"
    process = run(
        work, text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, capture_output=False
    )
    before, _, after = process.stdout.partition("timeloom: ")
    # Python writes its buffers at its end.
    assert before in ("no newlineerr", "errno newline")
    assert SUMMARY.fullmatch("timeloom: " + after)


def test_threads_that_outlive_main_are_recorded(work):
    process = run(
        work,
        """
import threading, time
def late():
    time.sleep(0.2)
    for _ in range(1000): inner()
def inner(): pass
threading.Thread(target=late).start()
""",
    )
    summary = SUMMARY.fullmatch(process.stderr)
    assert summary["threads"] == "2"
    assert int(summary["events"].replace(",", "")) > 2000


def test_closed_stderr(work):
    command = f"exec {sys.executable} -m timeloom app.py 2>&-"
    (work / "app.py").write_text(CALLS)
    process = subprocess.run(["sh", "-c", command], cwd=work, capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr) == (0, "out\n", "")
    assert is_woven(runs_in(work)[0])


def test_all_descriptors_closed(work):
    command = f"exec {sys.executable} -m timeloom app.py <&- >&- 2>&-"
    (work / "app.py").write_text(
        "import os; os.open('kept', os.O_CREAT | os.O_WRONLY); os.write(0, b'mine')"
    )
    process = subprocess.run(["sh", "-c", command], cwd=work, capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")
    assert (work / "kept").read_text() == "mine"
    assert is_woven(runs_in(work)[0])


def test_a_file_that_took_the_place_of_stderr_is_left_alone(work):
    process = run(
        work,
        "import os; os.close(2); os.open('data', os.O_CREAT | os.O_WRONLY); os.write(2, b'mine')",
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert (work / "data").read_text() == "mine"
    assert is_woven(runs_in(work)[0])


@pytest.mark.parametrize(
    "before",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.signal(signal.SIGCHLD, lambda *_: print('a child of mine?'))",
        "signal.pthread_sigmask(signal.SIG_BLOCK, list(signal.valid_signals()))",
        "signal.signal(signal.SIGCHLD, lambda *_: os.waitpid(-1, 0))",
        "os.environ.clear()",
        "os.chdir('/')",
        "sys.stdout = sys.stderr = None",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))",
    ],
)
def test_whatever_the_program_does_to_its_process(work, before):
    process = run(work, f"import os, signal, sys\nprint('out', flush=True)\n{before}\n")
    assert (process.returncode, process.stdout) == (0, "out\n")
    (run_directory,) = runs_in(work)
    summary = SUMMARY.fullmatch(process.stderr)
    assert summary, process.stderr
    assert (summary["more"], summary["next"]) == ("", f"timeloom report {run_directory.name}")
    assert is_woven(run_directory)


def test_the_summary_counts_all_processes(work, timeloom_program):
    process = run(
        work,
        """
import os, threading
def f(): pass
children = []
for n in range(3):
    pid = os.fork()
    if pid == 0:
        for _ in range(1000): f()
        if n == 0:
            t = threading.Thread(target=f); t.start(); t.join()
        os._exit(0)
    children.append(pid)
for pid in children: os.waitpid(pid, 0)
""",
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    summary = SUMMARY.fullmatch(process.stderr)
    assert (summary["threads"], summary["processes"], summary["children"]) == ("5", "4", None)
    done = subprocess.run([timeloom_program, "info", "--json", *runs_in(work)], capture_output=True, text=True)
    assert json.loads(done.stdout)["events"] == int(summary["events"].replace(",", "")) > 6000


def test_the_summary_of_a_run_that_is_not_woven_counts_the_first_process(work):
    text = "import os\npid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)\n"
    process = run(work, text, "--no-weave", env={**os.environ, "PYTHONWARNINGS": "ignore"})
    assert SUMMARY.fullmatch(process.stderr)["children"] == "1"


def test_a_forked_child_finishes_nothing(work):
    process = run(
        work,
        """
import os, sys
def leaf(): pass
pid = os.fork()
if pid == 0: leaf(), sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
        python=sys.executable,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert process.stdout == "3\n"
    assert SUMMARY.fullmatch(process.stderr)["processes"] == "2"
    assert len(runs_in(work)) == 1 and is_woven(runs_in(work)[0])


def test_a_child_that_outlives_its_parent(work, timeloom_program):
    process = run(
        work,
        """
import os, time
parent = os.getpid()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, b".")
    while os.getppid() == parent: time.sleep(0.01)
    print("child", flush=True)
else:
    os.read(read, 1)
""",
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert process.stdout == "child\n"
    assert SUMMARY.fullmatch(process.stderr)["processes"] == "2"
    (run_directory,) = runs_in(work)
    assert (run_directory / "traces.otf2").is_file() and not is_woven(run_directory)
    report = subprocess.run([timeloom_program, "report", run_directory], capture_output=True, text=True)
    assert report.returncode == 0 and "still running" not in report.stdout
    assert is_woven(run_directory)


def test_killed_program_can_be_read(work, timeloom_program):
    process = run(work, CALLS + "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (process.returncode, process.stderr) == (-signal.SIGKILL, "")
    (run_directory,) = runs_in(work)
    report = subprocess.run(
        [timeloom_program, "report", "--json", run_directory], capture_output=True, text=True
    )
    assert report.returncode == 0 and '"__main__.f"' in report.stdout
    assert is_woven(run_directory)


OTHER_ENDS = {
    "exit": ("os._exit(3)", 3, "ended by os._exit(3)"),
    "thread": ("threading.Thread(target=os._exit, args=(4,)).start(); time.sleep(60)", 4, "ended by os._exit(4)"),
    "exec": ("os.execvp('true', ['true'])", 0, "becomes another program (exec)"),
    "signal": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, "ended by SIGTERM"),
    "fault": ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV, "ended by SIGSEGV"),
}


@pytest.mark.parametrize("end", OTHER_ENDS)
def test_an_end_without_a_summary_names_the_run(work, end):
    """Once, whatever else fails on the way, and not in children that end so."""
    text, status, words = OTHER_ENDS[end]
    before = "import os, signal, threading, time\n"
    child = "pid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)\n"
    failed = "try: os.execv('/none', ['x'])\nexcept OSError: pass\n"
    process = run(work, before + child + failed + text, "-o", "a run")
    assert (process.returncode, process.stderr) == (status, f"timeloom: {words}; next: timeloom report 'a run'\n")
    assert run(work, before + text, "--quiet", "-o", "other").stderr == ""


@pytest.mark.parametrize("end", ["exit", "exec"])
@pytest.mark.parametrize("door", ["scorep", "omnitrace"])
def test_the_doors_of_other_tools_name_the_run_too(work, timeloom_program, door, end):
    text, status, words = OTHER_ENDS[end]
    (work / "app.py").write_text("import os\n" + text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OMNITRACE_")}
    process = subprocess.run(
        [sys.executable, "-m", door, *(["--"] if door == "omnitrace" else []), "app.py"],
        cwd=work, capture_output=True, text=True, env={**environment, "OMNITRACE_VERBOSE": "-1"},
    )  # fmt: skip
    start = f"{door}: {words}; next: timeloom report "
    assert process.returncode == status and process.stderr.startswith(start) and process.stderr.count("\n") == 1
    named = process.stderr.removeprefix(start).strip()
    report = subprocess.run([timeloom_program, "report", named], cwd=work, capture_output=True, text=True)
    assert "! " + words.replace("becomes", "became") + " [TL251]" in report.stdout.splitlines(), report.stderr


def test_standard_error_of_the_program_gets_no_line(work):
    """It has opened a file in place of the terminal, and has not written yet."""
    text = "import os\nos.dup2(os.open('file', os.O_CREAT | os.O_WRONLY), 2)\nprint('lost', end='')\nos._exit(0)"
    process = run(work, text, env={**os.environ, "PYTHONUNBUFFERED": ""})
    assert (process.stdout, process.stderr, (work / "file").read_text()) == ("", "", "")


def test_program_that_finishes_the_measurement_itself(work):
    process = run(work, "from timeloom import _core; print(_core.finish()['threads'])")
    assert (process.returncode, process.stdout, process.stderr) == (0, "1\n", "")
