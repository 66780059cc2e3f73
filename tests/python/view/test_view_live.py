"""`timeloom view` of a program that runs: its states grow, and the last one is the woven run."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from streams import environment
from view_client import Viewer
from view_runs import named_table, single_samples

pytestmark = pytest.mark.any_python
PROGRAM = """
import os, threading, time

def step():
    return sum(range(1000))

def late():
    while not os.path.exists("stop"):
        time.sleep(0.005)

def serve():
    threads = []
    while not os.path.exists("stop"):
        step()
        time.sleep(0.002)
        if os.path.exists("more") and not threads:
            threads.append(threading.Thread(target=late, name="latecomer"))
            threads[0].start()
        open("ready", "w").close()
    for thread in threads:
        thread.join()

serve()
"""


@pytest.fixture
def running(tmp_path, program, monkeypatch):
    """A program that runs until the file "stop" appears."""
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(PROGRAM)
    with subprocess.Popen([program, "run", "--quiet", "-o", "run", "app.py"], env=environment()) as process:
        try:
            until_ready(process)
            yield process
        finally:
            Path("stop").touch()
            process.wait(timeout=120)


class LiveViewer(Viewer):
    def live(self):
        status, _, answer = self.request("POST", "/api/live", X_Timeloom_Token=self.token)
        assert status == 200, answer
        return json.loads(answer)

    def await_live(self, wanted):
        """Ask until the newest state is as `wanted`, and ask about it from then on."""
        end = time.monotonic() + 120
        while not wanted(live := self.live()):
            assert time.monotonic() < end, live
            time.sleep(0.02)
        self.place = f"@{live['state']}/"
        return live

    def next_state(self):
        before = self.live()["state"]
        self.await_live(lambda live: live["state"] > before)
        return self.description()

    def await_woven(self):
        self.await_live(lambda live: live["stage"] == "woven")
        return self.description()


BUSY = """
import os, time

def spin():
    end = time.thread_time() + 0.05
    while time.thread_time() < end: pass

while not os.path.exists("stop"):
    spin()
    open("ready", "w").close()
"""


@pytest.mark.parametrize(
    "option",
    ["--sample=1ms", pytest.param("--sampling", marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring"))],
)
def test_the_samples_so_far(tmp_path, program, monkeypatch, option):
    """They grow with the run, and the ones of a state are the first ones of the next."""
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(BUSY)
    with subprocess.Popen([program, "run", "--quiet", "-o", "run", option, "app.py"], env=environment()) as process:
        try:
            until_ready(process)
            with LiveViewer(program, Path("run")) as viewer:
                states = []
                while len(states) < 3:
                    assert viewer.next_state()["samples"]
                    states.append(samples_of_main_thread(viewer))
                Path("stop").touch()
                viewer.await_woven()
                states.append(samples_of_main_thread(viewer))
        finally:
            Path("stop").touch()
            process.wait(timeout=120)
    for before, after in itertools.pairwise(states):
        first = after[: len(before)]
        assert 0 < len(before) < len(after)
        assert [one["ns"] for one in first] == [one["ns"] for one in before]
        # The rate of the clock becomes known better.
        assert [one["first"] for one in first] == pytest.approx([one["first"] for one in before], rel=0.01)
    assert "__main__.spin" in {one["region"] for one in states[0]}


def until_ready(process):
    while not Path("ready").exists():
        assert process.poll() is None
        time.sleep(0.01)


def samples_of_main_thread(viewer):
    return single_samples(viewer, tracks=(0,))


def pid_of_program():
    (spool,) = [entry for entry in Path("run/spool").iterdir() if entry.name != "settings"]
    return int(spool.name.split("-")[1])


def files_of(directory):
    return sorted(str(path) for path in Path(directory).rglob("*") if "spool" not in path.parts)


def visits(table):
    """Of calls: `unmeasured` is the time since the last reading of a thread's clocks, and ends with the next."""
    return {names: row[0] for names, row in table.items() if names[-1] != "unmeasured"}


def test_states_grow_until_the_run_is_woven(running, program):
    before = files_of("run")
    with LiveViewer(program, Path("run")) as viewer:
        first = viewer.next_state()
        earlier = visits(named_table(viewer, first))
        assert any(names[-1] == "__main__.step" for names in earlier)
        assert [track["name"] for track in first["tracks"]] == ["MainThread"]
        Path("more").touch()
        while len((later := viewer.next_state())["tracks"]) < 2:
            pass
        assert {track["name"] for track in later["tracks"]} == {"MainThread", "latecomer"}
        assert later["events"] > first["events"] and later["length"] > first["length"]
        # Functions keep their numbers, and calls are not lost.
        assert later["regions"][: len(first["regions"])] == first["regions"]
        now = visits(named_table(viewer, later))
        assert all(now[names] >= count for names, count in earlier.items())
        assert files_of("run") == before
        Path("stop").touch()
        woven = viewer.await_woven()
        running.wait(timeout=120)
        with Viewer(program, Path("run")) as other:
            plain = other.wait().description()
            assert woven == plain
            assert named_table(viewer, woven) == named_table(other, plain)
            final = visits(named_table(viewer, woven))
            assert [count for names, count in final.items() if names[-1] == "__main__.serve"] == [1]


def test_open_calls_last_until_now(running, program):
    with LiveViewer(program, Path("run")) as viewer:
        for _ in range(2):
            run = viewer.next_state()
            (serve,) = [
                call for call in viewer.calls(0, depths=(0, 2)) if run["regions"][call[3]]["name"] == "__main__.serve"
            ]
            assert serve[1] == pytest.approx(run["length"], abs=1e9)
            assert run["processes"][0]["ending"] == "still running"
            assert run["losses"] == []


def test_old_states_are_gone(running, program):
    with LiveViewer(program, Path("run")) as viewer:
        viewer.next_state()
        old = viewer.place
        for _ in range(3):
            viewer.next_state()
        assert viewer.request("POST", f"/api/{old}run", X_Timeloom_Token=viewer.token)[0] == 410
        assert viewer.request("POST", "/api/run", X_Timeloom_Token=viewer.token)[0] == 404
        assert viewer.request("POST", "/api/live")[0] == 401


def test_process_is_found_by_its_number(running, program):
    with LiveViewer(program, Path(str(pid_of_program()))) as viewer:
        assert viewer.next_state()["tracks"][0]["name"] == "MainThread"


def test_program_that_is_killed(running, program):
    with LiveViewer(program, Path("run")) as viewer:
        viewer.next_state()
        os.kill(pid_of_program(), signal.SIGKILL)
        run = viewer.await_woven()
        assert run["processes"][0]["ending"] == "ended before the measurement could be finished"
        assert run["losses"] and run["events"] > 0
    # Nobody else has woven it.
    assert not Path("run/spool").exists() and Path("run/traces.otf2").exists()


def test_run_that_shall_not_be_woven(tmp_path, program, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(PROGRAM)
    words = [program, "run", "--quiet", "--no-weave", "-o", "run", "app.py"]
    with subprocess.Popen(words, env=environment()) as process:
        while not Path("ready").exists():
            assert process.poll() is None
            time.sleep(0.01)
        with LiveViewer(program, Path("run")) as viewer:
            viewer.next_state()
            Path("stop").touch()
            run = viewer.await_woven()
            assert run["processes"][0]["ending"] != "still running"
        process.wait(timeout=120)
    assert Path("run/spool").exists() and not Path("run/traces.otf2").exists()


def test_run_that_is_moved_away(running, program):
    with LiveViewer(program, Path("run")) as viewer:
        viewer.next_state()
        Path("run").rename("elsewhere")
        lost = viewer.await_live(lambda live: live["stage"] == "lost")
        assert lost["message"].endswith("[TL471]")
        assert viewer.description()["events"] > 0  # the last state is still there
        Path("elsewhere").rename("run")
        viewer.await_live(lambda live: live["stage"] == "running")


def test_profile_has_no_timeline(tmp_path, program, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("app.py").write_text(PROGRAM)
    words = [program, "run", "--quiet", "--profile", "-o", "run", "app.py"]
    with subprocess.Popen(words, env=environment()) as process:
        while not Path("ready").exists():
            assert process.poll() is None
            time.sleep(0.01)
        view = subprocess.run([program, "view", "run"], capture_output=True, text=True, check=False)
        Path("stop").touch()
        process.wait(timeout=120)
    assert view.returncode == 1 and view.stderr.rstrip().endswith("[TL472]")


def test_other_forms_show_the_run_so_far(running, timeloom):
    assert "serve" in timeloom("view", "--text", "run").stdout


def test_run_that_gets_another_name(running, program, timeloom):
    with LiveViewer(program, Path("run")) as viewer:
        viewer.next_state()
        Path("run").rename("final")
        Path("stop").touch()
        running.wait(timeout=120)
        timeloom("weave", "final")
        viewer.await_woven()
