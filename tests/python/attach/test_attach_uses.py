"""Typical uses of `timeloom attach`: a worker of gunicorn, a stuck program, a program of another user."""

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest
from attached_programs import REAL, Attaching, Running, needs_a_way_in, until
from profile_files import Profile, visits_by_region
from streams import environment

pytestmark = needs_a_way_in
reads_stacks = pytest.mark.skipif(not REAL, reason="Python reads the stacks of others from 3.14 on")
ROOT = Path(__file__).resolve().parents[3]


def visits(run):
    profile = Profile(run)
    total = {}
    for location in profile.locations:
        for name, count in visits_by_region(profile, location).items():
            total[name] = total.get(name, 0) + count
    return total


APP = """
def answer(): return [b"answer"]
def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return answer()
"""


WRITE_PORT = """
import os
def when_ready(server):
    with open("port-new", "w") as file:
        file.write(str(server.LISTENERS[0].sock.getsockname()[1]))
    os.rename("port-new", "port")
"""


def ask(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as reply:
        return reply.read()


def children_of(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_worker_of_gunicorn(tmp_path):
    pytest.importorskip("gunicorn")
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "port.py").write_text(WRITE_PORT)
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--config", "port.py", "--workers", "1", "--bind", "127.0.0.1:0", "app:app"],
        cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port = until(lambda: (tmp_path / "port").exists() and (tmp_path / "port").read_text())
        assert ask(port) == b"answer"
        (worker,) = until(lambda: children_of(server.pid))
        attaching = Attaching(tmp_path, "-o", "run", "--within", "30s", worker, real=True)
        attaching.begun()
        for _ in range(3):
            assert ask(port) == b"answer"
        attaching.end()
        counted = visits(tmp_path / "run")
        assert (counted["app.app"], counted["app.answer"]) == (3, 3)
        assert counted["gunicorn.workers.sync.SyncWorker.run"] == 1  # it runs all the time
        assert ask(port) == b"answer"
        assert children_of(server.pid) == [worker]
    finally:
        server.terminate()
        server.wait()


def dumped(timeloom_program, pid):
    """The stacks of the process; empty while it has none."""
    done = subprocess.run([timeloom_program, "attach", "--dump", str(pid)], capture_output=True, text=True)
    return done.stdout


@reads_stacks
def test_a_stuck_program(tmp_path, timeloom_program):
    example = ROOT / "examples" / "stuck.py"
    stuck = subprocess.Popen([sys.executable, example], env=environment())
    try:
        said = until(lambda: (text := dumped(timeloom_program, stuck.pid)).count(":9 transfer\n") == 2 and text)
        assert said.startswith(f"process {stuck.pid}: {sys.executable} {example}\nmain thread {stuck.pid} (")
        main, other = said.split("\nthread ")
        assert main.endswith(f"  {example}:16 <module>\n  {example}:9 transfer")
        assert "(back):\n" in other
        assert other.endswith(f"  {example}:9 transfer\n")
        refused = Attaching(tmp_path, "--within", "200ms", stuck.pid, real=True).refused()
        assert f"timeloom attach --dump {stuck.pid} shows where it is" in refused
        assert os.listdir(tmp_path) == []
    finally:
        stuck.kill()
        stuck.wait()


@reads_stacks
def test_the_dump_disturbs_nothing(tmp_path, timeloom_program):
    program = Running(tmp_path, "def outer(): serve()\nouter()\n")
    before = program.facts()
    for _ in range(5):
        said = dumped(timeloom_program, program.pid)
        assert "program.py" in said
        assert " outer\n" in said
    assert program.facts() == before
    assert program.end() == ("", "")


@pytest.fixture
def home():
    """A directory that every user can get to."""
    with tempfile.TemporaryDirectory(prefix="attach-") as directory:
        yield Path(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root reaches processes of others")
def test_a_program_of_another_user(home):
    """The run belongs to the user of the command; the process can write only where it records."""
    try:
        subprocess.run([sys.executable, "-c", ""], user=65534, group=65534, extra_groups=[], check=True)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("another user cannot run this Python")
    home.chmod(0o777)
    tmp_path = home / "runs"
    tmp_path.mkdir()
    (home / "program.py").write_text("import os, select\ndef leaf(): pass\ndef outer():\n"
                                     "    while True:\n        leaf(); select.select((), (), (), 0.01)\nouter()\n")
    program = subprocess.Popen([sys.executable, "program.py"], cwd=home, user=65534, group=65534,
                               extra_groups=[], env=environment())  # fmt: skip
    try:
        until(lambda: "program.py" in Path(f"/proc/{program.pid}/cmdline").read_text())
        attaching = Attaching(tmp_path, "--for", "300ms", "-o", "run", program.pid, real=True)
        attaching.begun()
        attaching.end(interrupt=False)
        assert visits(tmp_path / "run")["__main__.outer"] == 1
        for place in [tmp_path / "run", *(tmp_path / "run").rglob("*")]:
            assert place.stat().st_uid == 0
    finally:
        program.kill()
        program.wait()


ASYNC = """
import asyncio
async def leaf(): await asyncio.sleep(0)
async def calls():
    for _ in range(3): await leaf()
async def main():
    while not os.access("end", os.F_OK):
        for name, call in (("calls", calls), ("facts", None)):
            if os.access(name + "-wanted", os.F_OK):
                os.unlink(name + "-wanted")
                if call is None: facts()
                else: await call()
                os.close(os.open(name + "-done", os.O_CREAT))
        await asyncio.sleep(0.005)
asyncio.run(main())
"""


def test_coroutines(tmp_path):
    program = Running(tmp_path, ASYNC)
    try:
        attaching = Attaching(tmp_path, "-o", "run", program.pid, real=True)
        attaching.begun()
        program.call("calls")
        attaching.end()
        counted = visits(tmp_path / "run")
        assert counted["__main__.leaf"] == 6  # begins, and goes on after its await
        assert counted["__main__.calls"] == 4
        assert program.end() == ("", "")
    finally:
        program.kill()


def test_by_the_program_timeloom(tmp_path, timeloom_program):
    program = Running(tmp_path, "def leaf(): pass\nserve(leaf=leaf)\n")
    try:
        done = subprocess.run([timeloom_program, "attach", "--for", "100ms", str(program.pid)], cwd=tmp_path,
                              capture_output=True, text=True, env=environment())  # fmt: skip
        assert done.returncode == 0, done.stderr
        (run,) = tmp_path.glob("timeloom-program-*")
        assert visits(run)["__main__.serve"] == 1
        assert shutil.which("otf2-print") is None or (run / "traces.otf2").exists()
        assert program.end() == ("", "")
    finally:
        program.kill()
