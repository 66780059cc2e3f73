"""`timeloom attach` to a program that closes descriptors it does not know."""

import sys

import pytest
from attached_programs import Attaching, Running
from profile_files import Profile, visits_by_region

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

CLOSES = """
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
        assert f"process {program.pid} has ended, become another program, or closed the connection\n" in said
        assert (tmp_path / "mine").read_bytes() == b""
        profile = Profile(tmp_path / "run")
        assert visits_by_region(profile, profile.locations[0])["__main__.calls"] == 1
        assert program.end() == ("", "")
    finally:
        program.kill()
