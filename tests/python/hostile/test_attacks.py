"""The attacks of scripts/trials detect the weaknesses that they test; `make trials` runs them against Timeloom."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.trials import attacks, connections, modules, recursion, world

pytestmark = pytest.mark.any_python


@pytest.fixture(autouse=True)
def program(monkeypatch, timeloom_program):
    monkeypatch.setattr(world, "TIMELOOM", timeloom_program)


@pytest.fixture
def other_program(monkeypatch, tmp_path):
    """Replaces timeloom by a program of the test."""

    def put(text):
        path = tmp_path / "other"
        path.write_text(text)
        path.chmod(0o755)
        monkeypatch.setattr(world, "TIMELOOM", str(path))

    return put


def test_a_fault_is_said(monkeypatch, capsys):
    def fall(place, seconds, seed):
        assert (place.is_dir(), seconds, seed) == (True, 1, 7)
        raise world.Fallen("what was seen")

    monkeypatch.setattr(attacks, "ATTACKS", {"holds": lambda place, seconds, seed: "3 rounds", "falls": fall})
    monkeypatch.setattr(sys, "argv", ["attacks.py", "--seconds", "1", "--seed", "7"])
    assert attacks.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("holds: held; 3 rounds; ")
    assert lines[1:] == ["FAILED falls (seed 7): what was seen", "attacks: 2, 1 of them failed"]
    monkeypatch.setattr(sys, "argv", ["attacks.py", "--only", "holds"])
    assert attacks.main() == 0


# Writes to files of a run by path until a path has led to a file outside.
NAIVE = """
import os, pathlib, sys
sys.path.insert(0, sys.argv[1])
from scripts.trials import races, world

ground = races.Ground(pathlib.Path(sys.argv[2]))
(ground.base / "run").mkdir()
swapper = races.Swapper(ground.base, ground.outside, os.geteuid(), 1)
try:
    while not (changed := world.differences(ground.before, ground.state())):
        try:
            (ground.base / "run" / "settings").write_text("written")
        except OSError:
            pass
finally:
    print(swapper.stop() > 0, all(path.startswith(str(ground.outside)) for path in changed))
"""


def test_races_change_what_is_written_by_its_path(tmp_path, timeloom_program):
    done = subprocess.run([sys.executable, "-c", NAIVE, Path(__file__).parents[3], tmp_path], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("True True\n", "")


# Serves one connection after the other.
ONE_BY_ONE = f"""#!{sys.executable}
import http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

if sys.argv[1] == "view":
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{{server.server_port}}/#t=token", flush=True)
    server.serve_forever()
"""


def test_connections_find_a_server_that_waits_for_them(other_program, monkeypatch, tmp_path):
    other_program(ONE_BY_ONE)
    monkeypatch.setattr(connections, "ANSWERED", 1)  # it never answers
    monkeypatch.setattr(connections, "COUNTS", [4])
    with pytest.raises(world.Fallen, match="GET / of localhost was not answered"):
        connections.attack(tmp_path, 0, 1)


@pytest.mark.parametrize("form", modules.FORMS)
def test_modules_that_run_are_found(form, tmp_path):
    directory = modules.Directory(tmp_path / "place", form)
    (tmp_path / "small.py").write_text("import json\n")
    python = world.COMMANDS / "python3"
    plain = [python, tmp_path / "small.py"]
    modules.try_case(directory, modules.Case([world.TIMELOOM, "run", "-o", tmp_path / "run", *plain[1:]], plain))
    code = [python, "-c", "import json"]
    modules.try_case(directory, modules.Case(code, code))
    with pytest.raises(world.Fallen, match=r"ran of the current directory \S+: .*\bjson\b"):
        modules.try_case(directory, modules.Case(code, plain))
    for words in (["./sh"], ["/usr/bin/env", f"LD_PRELOAD={directory.here}/libtimeloom.so", "true"]):
        with pytest.raises(world.Fallen, match="ran of the current directory"):
            modules.try_case(directory, modules.Case(words))


def test_recursion_finds_what_grows_with_the_square(other_program, tmp_path):
    other_program("#!/bin/sh\nhead -c 1000001 /dev/zero\n")
    with pytest.raises(world.Fallen, match=r"report run: wrote 1,000,001 bytes of a recursion 200 deep"):
        recursion.try_commands(tmp_path, 200)
    other_program(f"#!{sys.executable}\nx = bytearray({recursion.MEMORY})\n")
    with pytest.raises(world.Fallen, match="MemoryError"):
        recursion.try_commands(tmp_path, 200)


@pytest.mark.one_python
@pytest.mark.parametrize("kernel", ["timeloom_kernel", "scorep_jupyter.kernel"])
def test_a_kernel_begins_with_nothing_of_the_current_directory(kernel, tmp_path):
    """Except for files that `python -m` itself uses from there."""
    pytest.importorskip("ipykernel")
    directory = modules.Directory(tmp_path / "place", modules.FORMS[0])
    modules.try_case(directory, modules.kernel_case(kernel))
