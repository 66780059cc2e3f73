"""docs/workflow.md: its commands are run, and their output must be the page's.

Parts that depend on the machine, the clock and the versions are blotted out on both sides: all times, and all numbers
that are not the program's own.

    python tests/python/project/test_workflow.py

writes the page again, with the `timeloom` that is found beside this Python.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "workflow.md"
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
OWN = re.compile(r"__main__\.|\b(halo|relax|residual|wait|solve)\b")


def run(command, directory, program):
    variables = {"PATH": f"{Path(program).parent}:{os.environ['PATH']}", "COLUMNS": "114", "LC_ALL": "C",
                 "HOME": str(directory)}
    return subprocess.run(["bash", "-c", command], cwd=directory, text=True, env=variables, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, timeout=120).stdout


def replay(page, program):
    """The page with the present output of its commands."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        shutil.copy(ROOT / "examples" / "stencil.py", directory)

        def block(match):
            commands = [line[2:] for line in match[0].splitlines() if line.startswith("$ ")]
            return "".join(f"$ {command}\n{run(command, directory, program)}" for command in commands)

        return BLOCK.sub(block, page)


def blotted(line):
    if line.startswith(("$ ", "PASS", "FAIL", "ERROR")):
        return re.sub(r"\d+\.\d+", "#", line) if not line.startswith("$ ") else line
    if " wall time" in line:
        return "headline"
    line = re.sub(r"python[\d.]*", "python", line)
    number = r"[+-]?\d[\d,]*\.?\d*"
    exact = OWN.search(line) and not line.startswith("Not shown")
    if exact:  # whole numbers stay
        number = r"[+-]?\d[\d,]*\.\d+|\d+(?=(ns|us|ms|s|%))"
    line = re.sub(rf"(?<![\w.])({number})( ?(ns|us|ms|s|min|%|kB|MB|B)\b|%)?", "#", line)
    return " ".join(re.sub(r"[|`]-?", " ", line).split())


def comparable(page):
    """The blocks of a page; rows may change places, as times differ, and NumPy may have its own threads."""
    return [sorted(blotted(line) for line in block.splitlines() if not line.startswith("+ ")) for block in BLOCK.findall(page)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="list comprehensions are functions before 3.12")
def test_the_page_says_what_comes(timeloom_program):
    pytest.importorskip("numpy")
    page = PAGE.read_text(encoding="utf-8")
    found, expected = comparable(replay(page, timeloom_program)), comparable(page)
    assert len(found) == len(expected) >= 6
    for new, old in zip(found, expected):
        assert new == old, "the page is not what comes; python tests/python/project/test_workflow.py writes it anew"


def test_what_is_blotted_out():
    assert blotted(" 5.8%  2.44ms 46.9us    200 12.2us  |-__main__.Plate.step  stencil.py:93") == (
        "# # # 200 # __main__.Plate.step stencil.py:93")
    assert blotted("         USR     42,328  1,628    0.00     0.1           0.31  re._parser.get") == (
        "USR # # # # # re._parser.get")
    assert blotted("PASS   visits(wait) == 400  400") != blotted("PASS   visits(wait) == 400  401")


if __name__ == "__main__":
    PAGE.write_text(replay(PAGE.read_text(encoding="utf-8"), Path(sys.executable).with_name("timeloom")),
                    encoding="utf-8")
