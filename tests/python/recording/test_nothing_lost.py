"""No record is lost: starts that fail, daemons, interrupted weaves, runs named by a file, damaged profiles."""

import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import textwrap
import time

import pytest
from process_runs import COMMON, Run, measure  # noqa: F401
from streams import environment

KILLED = "work(1000)\nos.kill(os.getpid(), signal.SIGKILL)\n"


def start(tmp_path, text, *options, **settings):
    """A program that runs under Timeloom with the run `run`."""
    program = tmp_path / "program.py"
    program.write_text(COMMON + textwrap.dedent(text))
    command = [sys.executable, "-m", "timeloom", "-o", "run", *options, program]
    return subprocess.Popen(
        command, cwd=tmp_path, text=True, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **settings
    )


def ended(tmp_path, text, *options, **settings):
    process = start(tmp_path, text, *options, **settings)
    output, errors = process.communicate(timeout=200)
    return process.returncode, output, errors


@pytest.fixture
def killed(tmp_path):
    status, _, errors = ended(tmp_path, KILLED, "--quiet")
    assert (status, errors) == (-signal.SIGKILL, "")
    return tmp_path / "run"


def visits(timeloom, run):
    rows = json.loads(timeloom("report", "--json", run).stdout)["flat"]["rows"]
    return {row["name"]: row["visits"] for row in rows}


# ---- Starts that fail


def no_space():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("existed", [False, True])
@pytest.mark.parametrize("options", [[], ["--force"]])
def test_a_start_without_space_is_forgotten(tmp_path, timeloom_program, existed, options):
    if existed:
        (tmp_path / "run").mkdir()
    status, output, errors = ended(tmp_path, "print('ran')", *options, preexec_fn=no_space)
    assert (status, output) == (0, "ran\n")
    assert errors.startswith("timeloom: nothing is measured: cannot write the run to ") and errors.count("\n") == 1
    assert list((tmp_path / "run").iterdir()) == [] if existed else not (tmp_path / "run").exists()
    assert ended(tmp_path, "work(3)", "--quiet")[0] == 0
    assert Run(tmp_path / "run", timeloom_program).visits("__main__.step") == [3]


@pytest.mark.parametrize("text", ["", "# A run of Timel"])
@pytest.mark.parametrize("door", ["timeloom", "scorep"])
def test_a_husk_is_no_run_in_the_way(tmp_path, timeloom, text, door):
    """The remains of a start that was killed before it had written its first line."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "scorep.cfg").write_text(text)
    options = ["--layout", "scorep"] if door == "scorep" else []
    status, _, errors = ended(tmp_path, "work(3)", "--quiet", *options)
    assert (status, errors) == (0, "")
    assert visits(timeloom, tmp_path / "run")["__main__.step"] == 3


def test_a_husk_with_something_else_is_not_ours(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "scorep.cfg").write_text("")
    (tmp_path / "run" / "mine").write_text("kept")
    status, _, errors = ended(tmp_path, "print('ran')")
    assert status != 0 and "is not a run of Timeloom" in errors
    assert sorted(os.listdir(tmp_path / "run")) == ["mine", "scorep.cfg"]


def test_where_nothing_can_be_measured_the_program_runs(tmp_path):
    """The directory that it was started in is gone, which is not the user's mistake."""
    gone = tmp_path / "gone"
    gone.mkdir()
    program = tmp_path / "program.py"
    program.write_text("print('ran')")
    done = subprocess.run(
        [sys.executable, "-m", "timeloom", "-o", "run", program],
        cwd=gone, text=True, capture_output=True, env=environment(), preexec_fn=gone.rmdir,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr.startswith("timeloom: nothing is measured: the current directory is gone")


# ---- Processes that live on


DAEMON = """
    ready, go = {ready!r}, {go!r}
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        work(50)
        os.closerange(0, 5000)
        for n in range(3): os.open("/dev/null", os.O_RDWR)
        os.mkdir(ready)
        while not os.path.exists(go): time.sleep(0.01)
        work(7)
        os.rename(ready, ready + "-done")
        os._exit(0)
    os.wait()
    while not os.path.exists(ready): time.sleep(0.01)
    """


def wait_for(path):
    for _ in range(2000):
        if path.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{path} does not come")


@pytest.mark.parametrize("options", [[], ["--profile"]])
def test_a_quiet_daemon_keeps_its_spool(tmp_path, timeloom, timeloom_program, options):
    """It has closed all descriptors, including the lock that shows it is alive, when its parent's run is woven."""
    ready, go = tmp_path / "ready", tmp_path / "go"
    text = DAEMON.format(ready=str(ready), go=str(go))
    status, _, errors = ended(tmp_path, text, "--quiet", *options)
    assert (status, errors) == (0, "")
    run = tmp_path / "run"
    assert len(list((run / "spool").glob("*-*"))) == 3
    assert "had not ended" in (run / "MANIFEST.md").read_text()
    refused = ended(tmp_path, "", "--force")
    assert refused[0] != 0 and "is still running" in refused[2]
    so_far = Run(run, timeloom_program)
    assert so_far.visits("__main__.step") == [0, 50] and "1 process still running" in so_far.ending
    go.mkdir()
    wait_for(tmp_path / "ready-done")
    for _ in range(200):  # its end has been recorded, and it is a process a little longer
        woven = Run(run, timeloom_program)
        if woven.ending == "":
            break
        time.sleep(0.01)
    assert woven.visits("__main__.step") == [0, 57] and woven.ending == ""
    assert not (run / "spool").exists()


def test_a_process_that_became_another_does_not_live(tmp_path, timeloom_program):
    """Its id and its start equal those of the recorded process."""
    status, child, errors = ended(tmp_path, """
        import subprocess
        own = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        print(subprocess.Popen(["sleep", "1000"], preexec_fn=lambda: work(5), **own).pid)
        """, "--quiet")  # fmt: skip
    try:
        os.kill(int(child), 0)  # it lives on as sleep
        assert (status, errors) == (0, "")
        assert not (tmp_path / "run" / "spool").exists()
        assert "still running" not in Run(tmp_path / "run", timeloom_program).ending
    finally:
        os.kill(int(child), signal.SIGKILL)


# ---- Weaves that were interrupted


@pytest.mark.any_python
def test_leftovers_go_when_the_run_is_opened(timeloom, killed):
    timeloom("weave", killed)
    before = sorted(os.listdir(killed))
    for command in ("report", "info", "weave"):
        for name in (".weaving", ".woven"):
            (killed / name / "1-0").mkdir(parents=True)
            (killed / name / "1-0" / "defs").write_text("x")
        timeloom(command, killed)
        assert sorted(os.listdir(killed)) == before


@pytest.mark.any_python
def test_an_interrupted_weave_is_finished(timeloom, killed):
    """All results are in place, and the spool is still there."""
    timeloom("weave", "--keep-spool", killed)
    (killed / ".weaving").mkdir()
    assert visits(timeloom, killed)["__main__.step"] == 1000
    assert not (killed / "spool").exists() and not (killed / ".weaving").exists()


@pytest.mark.any_python
def test_a_kept_spool_stays(timeloom, killed):
    timeloom("weave", "--keep-spool", killed)
    timeloom("report", killed)
    assert (killed / "spool").exists()


@pytest.mark.any_python
@pytest.mark.parametrize("name", ["profile.cubex", "MANIFEST.md", "traces.def"])
def test_a_directory_in_the_place_of_a_file_stays(tmp_path, timeloom, killed, name):
    (killed / name).unlink(missing_ok=True)
    notes = killed / name / "notes"
    notes.parent.mkdir()
    notes.write_text("precious")
    message = f"{killed / name} is a directory that is not of the run; move it elsewhere [TL233]\n"
    assert timeloom("weave", killed, status=1).stderr == f"timeloom: {message}"
    assert ended(tmp_path, "print('ran')", "--force") == (2, "", f"timeloom: {message}")
    assert notes.read_text() == "precious"
    notes.parent.rename(tmp_path / "elsewhere")
    assert visits(timeloom, killed)["__main__.step"] == 1000


# ---- Runs that are named by a file


NAMES = ["profile.cubex", "traces.otf2", "traces.def", "traces", "MANIFEST.md", "scorep.cfg", "spool", "traces/0.evt"]


@pytest.mark.any_python
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["report", "info", "score", "weave"])
def test_an_unfinished_run_is_known_by_any_of_its_files(timeloom, killed, name, command):
    first = timeloom(command, killed / name)
    said = first.stdout if command == "weave" else first.stderr
    assert f"{killed}" in said and "cut off by the end of the program" in said
    assert not (killed / "spool").exists() and (killed / "profile.cubex").exists()
    again = timeloom(command, killed / name).stderr
    losses = ["timeloom: ended before the measurement could be finished [TL251]", "timeloom: 1 region still open at the end; closed at the last event [TL252]"]
    assert again.splitlines() == (losses if command == "score" else [])


@pytest.mark.any_python
def test_a_run_is_known_by_a_file_in_the_current_directory(timeloom, killed):
    timeloom("score", "profile.cubex", cwd=killed)
    assert (killed / "profile.cubex").exists()


@pytest.mark.any_python
def test_scorep_score_weaves_what_was_left(tmp_path, timeloom_program):
    status, _, _ = ended(tmp_path, KILLED, "--quiet", "--layout", "scorep")
    assert status == -signal.SIGKILL
    command = [os.path.dirname(timeloom_program) + "/scorep-score", "run/profile.cubex"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0 and "woven now" in done.stderr and "USR" in done.stdout


@pytest.mark.any_python
def test_names_that_are_none_of_a_run(timeloom, killed):
    for name in ("notes.txt", "spoon", "x/y"):
        assert "does not exist" in timeloom("report", killed / name, status=1).stderr
    assert (killed / "spool").exists()


@pytest.mark.any_python
@pytest.mark.parametrize("layout", ["timeloom", "scorep"])
def test_the_manifest_of_an_unfinished_run_says_what_to_do(tmp_path, timeloom, layout):
    ended(tmp_path, KILLED, "--quiet", "--layout", layout)
    text = (tmp_path / "run" / "MANIFEST.md").read_text()
    assert "`spool`" in text and "\n    timeloom weave .\n" in text
    timeloom("weave", ".", cwd=tmp_path / "run")
    woven = (tmp_path / "run" / "MANIFEST.md").read_text()
    assert ("spool" in woven) == (layout == "scorep")  # there it says "if"


# ---- Profiles that are damaged


PLACES = 64


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profiled")
    text = "def outer():\n    for _ in range(20): work(5)\nfor _ in range(3): outer()\n"
    assert ended(folder, text, "--quiet", "--profile", "--no-weave")[0] == 0
    return folder / "run"


@pytest.mark.any_python
def test_flipped_bits_of_a_profile_are_said(timeloom_program, profiled, tmp_path):
    """The run is read, damaged parts are left out and counted, and the spool stays."""
    (sound,) = profiled.glob("spool/*/profile-0")
    data = sound.read_bytes()
    (places,) = struct.unpack_from("<I", data, 16)
    assert places == struct.unpack_from("<I", data, 44)[0] > 3
    for offset in range(0, places * PLACES, 61):
        run = tmp_path / str(offset)
        shutil.copytree(profiled, run)
        changed = bytearray(data)
        changed[offset] ^= 1 << offset % 8
        (run / sound.relative_to(profiled)).write_bytes(changed)
        done = subprocess.run([timeloom_program, "weave", run], capture_output=True, text=True)
        assert done.returncode == 0, (offset, done.stderr)
        assert "1 damaged part left out" in done.stdout, offset
        assert (run / "spool").exists()
        report = subprocess.run([timeloom_program, "report", "--json", run], capture_output=True, text=True)
        assert report.returncode == 0 and json.loads(report.stdout)["losses"], (offset, report.stderr)
        shutil.rmtree(run)


@pytest.mark.any_python
def test_impossible_values_of_a_killed_profile_are_said(tmp_path, timeloom):
    ended(tmp_path, KILLED, "--quiet", "--profile")
    run = tmp_path / "run"
    (file,) = run.glob("spool/*/profile-0")
    data = bytearray(file.read_bytes())
    (places,) = struct.unpack_from("<I", data, 16)
    assert struct.unpack_from("<I", data, 44)[0] == 0  # nobody has sealed it
    # The kill may have come between taking the last place and its first visit.
    last = max(i for i in range(1, places) if struct.unpack_from("<Q", data, i * PLACES + 8)[0])
    data[last * PLACES + 15] ^= 0x40  # the highest byte of the visits
    file.write_bytes(data)
    assert "1 damaged part left out" in timeloom("weave", run).stdout
    assert (run / "spool").exists()
    assert max(visits(timeloom, run).values()) < 1 << 20


@pytest.mark.any_python
def test_a_changed_profile_is_not_believed(timeloom, killed):
    """The trace beside it is read instead; without a trace it is an error."""
    expected = timeloom("report", "--json", killed).stdout
    file = killed / "profile.cubex"
    data = bytearray(file.read_bytes())
    data[data.index(b"CUBEX.DATA") + 20] ^= 1
    file.write_bytes(data)
    done = timeloom("report", "--json", killed)
    assert done.stdout == expected and "was changed since it was written; the trace is read instead [TL268]" in done.stderr
    assert "was changed" in timeloom("score", file, status=1).stderr


# ---- Signals


def test_a_default_action_that_is_restored_is_watched(measure):
    """As servers do it: their own handler, the default again, and the same signal once more."""
    run, _ = measure("""
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        os.kill(os.getpid(), signal.SIGTERM)
        work(10)
        signal.signal(signal.SIGTERM, before)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
        signal.raise_signal(signal.SIGTERM)
        """, status=-15)  # fmt: skip
    assert run.ending == "ended by SIGTERM" and run.visits("__main__.step") == [10]


def test_workers_that_are_told_to_end_alarm_nobody(measure):
    run, _ = measure("""
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGTERM, lambda *_: None)
            work(10)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)
        os.waitpid(pid, 0)
        """)  # fmt: skip
    assert run.groups[1]["ending"] == "ended by SIGTERM" and run.ending == ""
    assert run.info["losses"] == []


OVERFLOW = """
    import threading
    sys.setrecursionlimit(1_000_000)
    def deep(n=0): return max(map(deep, [n + 1]))
    def begin():
        work(10)
        deep()
    {how}
    """


@pytest.mark.skipif(sys.version_info < (3, 12), reason="measured recursion goes on on further stacks there")
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="RecursionError is raised before the stack ends there")
@pytest.mark.parametrize("how", ["begin()", "threading.stack_size(1 << 18)\n    t = threading.Thread(target=begin)\n    t.start()\n    t.join()"])
def test_a_stack_that_overflows_is_said(measure, how):
    def small_stack():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 18, 1 << 18))

    run, _ = measure(OVERFLOW.format(how=how), status=-11, before=small_stack)
    assert run.ending == "ended by SIGSEGV" and sum(run.visits("__main__.step")) == 10


# ---- Files that may not grow (ulimit -f)


def test_a_limit_of_files_does_not_end_the_report(tmp_path, timeloom_program):
    ended(tmp_path, "work(100_000)\nos.kill(os.getpid(), signal.SIGKILL)\n", "--quiet", "--no-weave")
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    done = subprocess.run([timeloom_program, "report", "run"], cwd=tmp_path, capture_output=True, text=True,
                          preexec_fn=limited)  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1) and "File is too large" in done.stderr
    assert Run(tmp_path / "run", timeloom_program).visits("__main__.step") == [100_000]


@pytest.mark.parametrize("ignored", [False, True])
def test_a_program_finds_the_signal_of_that_limit_as_it_was(tmp_path, timeloom_program, ignored):
    command = [timeloom_program, "run", "--quiet", "-o", "run", "--program", "/bin/sh", "-c", "kill -XFSZ $$; echo alive"]
    set_signal = lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, restore_signals=False,
                          preexec_fn=set_signal)  # fmt: skip
    assert (done.returncode, done.stdout) == ((0, "alive\n") if ignored else (128 + signal.SIGXFSZ, ""))
