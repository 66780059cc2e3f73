"""Names that would control a terminal, or move the text around them: no output contains them unchanged."""

import json
import subprocess
import sys

import pytest
from streams import environment

pytestmark = pytest.mark.any_python

COMMANDS = [*range(0x20), 0x7F, *range(0x80, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]
NAME = "é" + "".join(map(chr, COMMANDS[1:])) + "\u200d"  # a name ends with its first NUL
# As a CUBE profile has it, which XML lets have no others of C0.
IN_PROFILE = "".join(chr(0x2400 + ord(one)) if one < " " and one not in "\t\n\r" else one for one in NAME)

PROGRAM = f"""
import threading, timeloom
name = {NAME!a}

def f():
    timeloom.parameter_string(name, name)
    timeloom.counter(name, 1.5)
    timeloom.marker(name)
    with timeloom.region(name):
        sum(range(1000))

f.__code__ = f.__code__.replace(co_name=name, co_qualname=name, co_filename="/" + name + ".py")
f()
thread = threading.Thread(target=f, name=name)
thread.start()
thread.join()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("names")
    (place / "app.py").write_text(PROGRAM)
    for run in ("run", "again"):
        subprocess.run([sys.executable, "-m", "timeloom", "--quiet", "-o", run, "app.py", NAME], cwd=place,
                       env=environment(), check=True, timeout=60)  # fmt: skip
    return place


def raw(text, allowed="\n"):
    return sorted({hex(ord(one)) for one in text if ord(one) in COMMANDS and one not in allowed})


TEXTS = [["report"], ["report", "--flat"], ["report", "--tree"], ["report", "--by", "thread"], ["report", "--slowest"],
         ["report", "--function", NAME], ["info", "--all"], ["score"], ["view", "--text"], ["check", "run", "visits(*f) >= 0"],
         ["check", "run", f"visits(no{NAME}) == 3"], ["check", "--json", "run", f"visits(no{NAME}) == 3"],
         ["report", "--thread", "no" + NAME], ["report", "--function", "no" + NAME],
         ["report", "--json"], ["report", "--by", "thread", "--json"], ["info", "--json"], ["report", "--csv"],
         ["report", "--csv", "--flat"], ["report", "--io"], ["report", "--mpi"]]  # fmt: skip


@pytest.mark.parametrize("words", TEXTS, ids=lambda words: "-".join(words).encode("ascii", "replace").decode())
def test_commands(program, place, words):
    words = words if "run" in words else [*words, "run"]
    done = subprocess.run([program, *words], cwd=place, env=environment(), capture_output=True, timeout=60)
    said = (done.stdout + done.stderr).decode()
    assert raw(said, "\n\t" if "--csv" in words else "\n") == [] and said


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_differences(timeloom, place, words):
    done = timeloom("diff", *words, "run", "again", cwd=place)
    assert raw(done.stdout + done.stderr) == []


@pytest.mark.parametrize("words", [
    ["chrome"], ["speedscope"], ["speedscope", "--paths"], ["firefox"], ["json"], ["json", "--events"], ["json", "--flat"],
    ["collapsed"], ["callgrind"], ["csv"], ["csv", "--events"],
], ids=" ".join)  # fmt: skip
def test_files_for_other_tools(timeloom, place, words):
    done = timeloom("convert", "run", "--to", *words, "-o", "-", cwd=place)
    assert raw(done.stdout, "\n\t" if words[0] == "csv" else "\n") == [] and raw(done.stderr) == []


def test_json_has_the_name_itself(timeloom, place):
    rows = json.loads(timeloom("report", "--json", "run", cwd=place).stdout)["flat"]["rows"]
    assert IN_PROFILE in {row["name"] for row in rows}
    rows = json.loads(timeloom("convert", "run", "--to", "json", "--events", "-o", "-", cwd=place).stdout)
    assert NAME in {row["name"] for row in rows} and NAME in {row["text"] for row in rows}


def test_csv_has_the_name_as_json_writes_it(timeloom, place):
    escaped = "".join(one if one in "\n\t" or ord(one) not in COMMANDS else f"\\u{ord(one):04x}" for one in NAME)
    text = timeloom("convert", "run", "--to", "csv", "--events", "-o", "-", cwd=place).stdout
    assert f'"{escaped}"' in text
