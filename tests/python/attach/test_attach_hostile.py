"""`timeloom attach` to a program that closes unknown descriptors, and to a program of a user who may be an attacker."""

import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

import pytest
from attached_programs import Attaching, Running
from profile_files import Profile, visits_by_region

from timeloom import _attach
from timeloom._process import Interpreter, Process, Refused

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

CLOSES = """
import warnings
warnings.simplefilter("ignore")  # the fork may come while the recording ends, in a thread
def calls(): pass
known = []
def remember(): known.extend(os.listdir("/proc/self/fd"))
def take():
    mine = os.open("mine", os.O_RDWR | os.O_CREAT)
    for number in set(os.listdir("/proc/self/fd")) - set(known) - {str(mine)}:
        os.dup2(mine, int(number))
    child = os.fork()
    if child == 0: os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
serve(remember=remember, calls=calls, take=take)
"""


def test_a_program_that_takes_our_descriptors(tmp_path):
    program = Running(tmp_path, CLOSES)
    try:
        program.call("remember")
        attaching = Attaching(tmp_path, "-o", "run", program.pid)
        attaching.begun()
        program.call("calls")
        program.call("take")
        said = attaching.end(interrupt=False)
        assert f"process {program.pid} has ended, become another program, or closed the connection [TL624]\n" in said
        assert (tmp_path / "mine").read_bytes() == b""
        profile = Profile(tmp_path / "run")
        assert visits_by_region(profile, profile.locations[0])["__main__.calls"] == 1
        assert program.end() == ("", "")
    finally:
        program.kill()


# The user of the process replaces the run as soon as it exists.
SWAPS = """
import os
from timeloom import _attach
real_find, real_make = _attach.find_process, _attach._core.make_attached_run
def find(text): return real_find(text)._replace(user=65534)
def make(*arguments):
    run = real_make(*arguments)
    os.rename(run, run + "-moved")
    os.symlink(os.path.abspath("foreign"), run)
    return run
_attach.find_process, _attach._core.make_attached_run = find, make
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_run_that_is_replaced_by_a_link(tmp_path):
    spool = tmp_path / "foreign" / "spool"
    spool.mkdir(parents=True, mode=0o700)
    (spool / "settings").write_text("precious")
    before = [os.stat(place) for place in (spool.parent, spool, spool / "settings")]
    program = Running(tmp_path, "serve()\n")
    try:
        attaching = Attaching(tmp_path, "-o", "run", program.pid, before=SWAPS)
        assert attaching.refused()
        after = [os.stat(place) for place in (spool.parent, spool, spool / "settings")]
        assert [(one.st_uid, stat.S_IMODE(one.st_mode)) for one in after] == [
            (one.st_uid, stat.S_IMODE(one.st_mode)) for one in before
        ]
        assert (spool / "settings").read_text() == "precious"
        assert (tmp_path / "run-moved" / "spool" / "settings").stat().st_uid == 65534
        assert program.end() == ("", "")
    finally:
        program.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_directory_of_the_meeting_that_is_replaced_by_a_link(monkeypatch, request):
    tmp_path = Path(tempfile.mkdtemp(dir="/tmp"))  # a socket's path is short
    request.addfinalizer(lambda: shutil.rmtree(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o700)
    (foreign / "script.py").write_text("precious")
    listen = _attach._Rendezvous._listen

    def swap(rendezvous):
        os.rename(rendezvous._directory, tmp_path / "moved")
        os.symlink(foreign, rendezvous._directory)
        listen(rendezvous)

    monkeypatch.setattr(_attach._Rendezvous, "_listen", swap)
    process = Process(os.getpid(), [], sys.executable, Interpreter(tuple(sys.version_info[:3]), False), 65534)
    with pytest.raises(Refused, match="was replaced by somebody else"):
        _attach._Rendezvous(process, "run", 0)
    assert (foreign / "script.py").read_text() == "precious"
    assert (foreign.stat().st_uid, foreign.stat().st_mode & 0o777) == (0, 0o700)
    assert (foreign / "script.py").stat().st_uid == 0
    assert os.listdir(tmp_path / "moved") == []
