"""Commands on PATH as programs, children that are not measured, and the output of `timeloom info`."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.any_python

HELLO = "import sys\n\ndef hello():\n    print(sys.argv[1:], sys.argv[0], __name__)\n\nhello()\n"
SHEBANGS = {
    "plain": f"#!{sys.executable}\n",
    "env": "#!/usr/bin/env python3\n",
    "too long": "#!/bin/sh\n'''exec' \"/a path/with blanks/python3\" \"$0\" \"$@\"\n' '''\n",
}


def make_command(directory, name, text):
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def start(program, directory, *words, **variables):
    path = f"{directory / 'bin'}:{os.environ['PATH']}"
    return subprocess.run([program, "run", "-o", "run", *words], cwd=directory, capture_output=True, text=True,
                          env={**os.environ, "PATH": path, **variables}, timeout=60)


@pytest.mark.parametrize("kind", SHEBANGS)
def test_a_script_on_path_is_found_by_its_name(program, timeloom, tmp_path, kind):
    command = make_command(tmp_path / "bin", "hello", SHEBANGS[kind] + HELLO)
    done = start(program, tmp_path, "hello", "a", "--b")
    assert (done.returncode, done.stdout) == (0, f"['a', '--b'] {command} __main__\n"), done.stderr
    rows = json.loads(timeloom("report", "--json", tmp_path / "run").stdout)["flat"]["rows"]
    assert {row["name"]: row["visits"] for row in rows}["__main__.hello"] == 1


def test_a_file_comes_first_and_other_commands_are_none(program, tmp_path):
    make_command(tmp_path / "bin", "hello", "#!/bin/sh\necho no\n")
    done = start(program, tmp_path, "hello")
    assert done.returncode != 0 and done.stdout == "" and "hello" in done.stderr
    (tmp_path / "hello").write_text("print('file')\n")
    make_command(tmp_path / "bin", "hello", SHEBANGS["plain"] + HELLO)
    assert start(program, tmp_path, "--force", "hello").stdout == "file\n"


CHILDREN = """\
import subprocess, sys
for _ in range(2):
    subprocess.run([sys.executable, "-c", "pass"], check=True)
"""


def test_children_that_are_not_measured_are_named(program, timeloom, tmp_path):
    said = "2 Python processes not measured: --follow all [TL001]"
    done = start(program, tmp_path, "-c", CHILDREN)
    assert f"timeloom: {said}\n" in done.stderr
    assert f"! {said}" in timeloom("report", tmp_path / "run").stdout.splitlines()
    assert said in json.loads(timeloom("info", "--json", tmp_path / "run").stdout)["losses"]
    for follow in ("all", "none"):
        done = start(program, tmp_path, "--force", "--follow", follow, "-c", CHILDREN)
        assert "not measured" not in done.stderr + timeloom("report", tmp_path / "run").stdout


def test_info_has_ids_of_processes_and_whole_names(program, timeloom, tmp_path):
    name = "a thread with a name of many words that no third of a screen would ever hold"
    text = f"import os, threading\nt = threading.Thread(target=print, name={name!r}); t.start(); t.join(); print(os.getpid())"
    done = start(program, tmp_path, "-c", text)
    process = done.stdout.split()[-1]
    short = timeloom("info", tmp_path / "run", COLUMNS="80").stdout
    assert any(line.split() == ["process", "id", process] for line in short.splitlines())
    assert name in short and "timeloom::python" not in short and "properties of the run: --all" in short
    everything = timeloom("info", "--all", tmp_path / "run", COLUMNS="80").stdout
    assert "timeloom::python" in everything and "location" in everything


def test_settings_of_a_child_are_read_from_a_file_alone(tmp_path):
    import timeloom_follow

    place = tmp_path / "settings"
    place.write_bytes(b"A=1\0B=2")
    assert timeloom_follow.records_of(str(tmp_path / "1-0")) is None  # of another run by now
    (tmp_path / "1-0").mkdir()
    assert timeloom_follow.records_of(str(tmp_path / "1-0")) == [b"A=1", b"B=2"]
    place.rename(tmp_path / "other")
    place.symlink_to(tmp_path / "other")
    assert timeloom_follow.records_of(str(tmp_path / "1-0")) is None
    place.unlink()
    os.mkfifo(place)
    assert timeloom_follow.records_of(str(tmp_path / "1-0")) == [b""]


def test_counting_a_child_follows_no_link_and_waits_for_nobody(tmp_path):
    import timeloom_follow

    spool = tmp_path / "spool"
    (spool / "1-0").mkdir(parents=True)
    (tmp_path / "precious").write_text("precious")
    place = spool / "unmeasured"
    place.symlink_to(tmp_path / "precious")
    timeloom_follow.note_unmeasured(str(spool / "1-0"))
    assert (tmp_path / "precious").read_text() == "precious"
    place.unlink()
    os.mkfifo(place)
    timeloom_follow.note_unmeasured(str(spool / "1-0"))
    place.unlink()
    for _ in range(2):
        timeloom_follow.note_unmeasured(str(spool / "1-0"))
    (spool / "1-0").rmdir()
    timeloom_follow.note_unmeasured(str(spool / "1-0"))  # of another run by now
    assert place.read_bytes() == b".."
