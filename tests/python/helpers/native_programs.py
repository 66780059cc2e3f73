"""Native programs that record through the C interface: building and running them."""

import subprocess
from pathlib import Path

import pytest
from streams import environment

NATIVE = Path(__file__).resolve().parents[2] / "native"


def output(*command, **options):
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, **options).stdout

@pytest.fixture(scope="module")
def config(timeloom_program):
    """Runs the timeloom-config beside the program."""
    return lambda *options: output(Path(timeloom_program).with_name("timeloom-config"), *options).split()

@pytest.fixture
def record(tmp_path, timeloom_program):
    """Runs a program with --program and returns its output."""

    def record(*words, options=("--no-weave", "--quiet"), status=0, said="", **variables):
        done = subprocess.run(
            [timeloom_program, "run", "-o", tmp_path / "run", *options, "--program", *map(str, words)],
            cwd=tmp_path, capture_output=True, text=True, timeout=120, env=environment(variables),
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (status, said)
        return done.stdout

    return record

def calls(text):
    """ "a b. ." as events: a word enters a region, a dot leaves the innermost one."""
    events, inside = [], []
    for word in text.replace(".", " . ").split():
        if word == ".":
            events.append(("leave", inside.pop()))
        else:
            inside.append(word)
            events.append(("enter", word))
    return events
