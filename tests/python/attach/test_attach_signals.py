"""`timeloom attach`: signal handlers and their stacks, in a program that has its own."""

import json
import os
import sys

import pytest
from attached_programs import Attaching, Running

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")

# The results of sigaltstack(2) and the kernel; the thread `own` has a stack before it is recorded.
PROGRAM = """
import ctypes

class Stack(ctypes.Structure):
    _fields_ = [("place", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

libc = ctypes.CDLL(None)
DISABLED = 2
memory = ctypes.create_string_buffer(1 << 16)
wanted, said = threading.Semaphore(0), threading.Semaphore(0)
stacks = {}

def look(who):
    stack = Stack()
    assert libc.sigaltstack(None, ctypes.byref(stack)) == 0
    kind = "own" if stack.place == ctypes.addressof(memory) else "none" if stack.flags & DISABLED else "given"
    stacks[who] = [kind, stack.size if kind != "none" else 0]

def own():
    stack = Stack(ctypes.addressof(memory), 0, len(memory))
    assert libc.sigaltstack(ctypes.byref(stack), None) == 0
    while wanted.acquire() and not ended:
        look("thread")
        said.release()

def ask():
    wanted.release()
    said.acquire()
    look("main")
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    with open("stacks", "w") as file:
        json.dump([stacks, status["SigCgt"].strip()], file)

ended = False
thread = threading.Thread(target=own)
thread.start()
serve(ask=ask)
ended = True
wanted.release()
thread.join()
"""


@pytest.fixture
def program(tmp_path):
    running = Running(tmp_path, PROGRAM)
    yield running
    running.kill()


def test_a_stack_of_the_program_stays_and_a_missing_one_is_given(program, tmp_path, monkeypatch):
    """Handlers are removed when the recording ends; a stack given to a thread stays until the thread ends."""

    def asked():
        program.call("ask")
        return json.loads((tmp_path / "stacks").read_text())

    size = 1 << 16
    before, caught = asked()
    assert before == {"thread": ["own", size], "main": ["none", 0]}
    attaching = Attaching(tmp_path, "--output", "run", program.pid)
    attaching.begun()
    during, caught_during = asked()
    assert during == {"thread": ["own", size], "main": ["given", 32 << 10]}
    terminated = 1 << 14  # SIGTERM, as the kernel counts
    assert int(caught_during, 16) & terminated and not int(caught, 16) & terminated
    attaching.end()
    assert asked() == [during, caught]
    assert program.end() == ("", "")
    assert not os.path.exists(f"/proc/{program.pid}/exe")
