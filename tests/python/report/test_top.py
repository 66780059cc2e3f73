"""`timeloom top`: looks at a program that runs, which change nothing, and its end."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from streams import environment

pytestmark = pytest.mark.any_python
PROGRAM = """
import os, sys, threading, time

def step():
    return sum(range(20_000))

def serve():
    while not os.path.exists("stop"):
        step()
        time.sleep(0.001)
        open("ready", "w").close()

def rest():
    while not os.path.exists("stop"):
        time.sleep(0.01)

thread = threading.Thread(target=rest, name="rester")
thread.start()
serve()
thread.join()
"""


@pytest.fixture
def running(tmp_path, program, monkeypatch):
    """A program that runs until the file "stop" appears."""
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(PROGRAM)
    words = [program, "run", "--quiet", "-o", "run", "app.py"]
    with subprocess.Popen(words, env=environment()) as process:
        try:
            while not Path("ready").exists():
                assert process.poll() is None
                time.sleep(0.01)
            yield process
        finally:
            Path("stop").touch()
            process.wait(timeout=60)


def looks_of(timeloom, *words):
    return [json.loads(line) for line in timeloom("top", "--json", *words).stdout.splitlines()]


def files_of(directory):
    return sorted(str(path) for path in Path(directory).rglob("*") if "spool" not in path.parts)


def rows_of(look, key):
    return {row["name"]: row for row in look[key]}


def test_looks_tell_what_happened_between_them(running, timeloom):
    before = files_of("run")
    first, second = looks_of(timeloom, "--interval", "0.5", "--looks", "2", "run")
    assert files_of("run") == before
    assert first["interval_s"] == pytest.approx(first["wall_s"])
    assert second["interval_s"] == pytest.approx(second["wall_s"] - first["wall_s"])
    earlier, later = (rows_of(look, "functions")["__main__.step"] for look in (first, second))
    assert 0 < later["now_visits"] == later["visits"] - earlier["visits"]
    assert later["now_working_s"] == pytest.approx(later["working_s"] - earlier["working_s"])
    threads = rows_of(second, "thread_times")
    assert set(threads) == {"MainThread", "rester"}
    for row in threads.values():  # each instant of a thread is work or waiting
        assert row["now_working_s"] + row["now_waiting_s"] <= 1.2 * second["interval_s"]


def test_process_is_found_by_its_number(running, timeloom):
    pid = next(entry for entry in Path("run/spool").iterdir() if entry.name != "settings").name.split("-")[1]
    (look,) = looks_of(timeloom, "--looks", "1", pid)
    assert Path(look["run"]).samefile("run") and "__main__.serve" in rows_of(look, "functions")


def test_look_fits_the_terminal(running, timeloom):
    lines = timeloom("top", "--looks", "1", "run", COLUMNS="90", LINES="14").stdout.splitlines()
    assert len(lines) < 14 and max(map(len, lines)) <= 90
    assert any("__main__.step" in line for line in lines) and any("rester" in line for line in lines)


def test_ends_with_the_program(running, program):
    with subprocess.Popen([program, "top", "--interval", "0.2", "run"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as top:  # fmt: skip
        assert "__main__.step" in top.stdout.read(2000)
        Path("stop").touch()
        _, told = top.communicate(timeout=60)
    assert (top.returncode, told) == (0, "timeloom: next: timeloom report run\n")
    running.wait(timeout=60)
    done = subprocess.run([program, "top", "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.rstrip().endswith("[TL092]")


def test_process_without_measurement_is_refused(program):
    done = subprocess.run([program, "top", str(os.getppid())], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.rstrip().endswith("[TL094]")
