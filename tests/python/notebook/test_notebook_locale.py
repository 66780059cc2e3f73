"""Files written by magics, in an ASCII locale: Python reads source text as UTF-8."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("ipykernel")

PROGRAM = """
import locale, sys
from pathlib import Path
from types import SimpleNamespace
from timeloom._notebook._separate import _write
from timeloom._notebook._writefile import WriteMode

assert locale.getencoding() == "ANSI_X3.4-1968"
text = "word = 'h\\u00e4'\\n"
here = Path.cwd()
notebook = SimpleNamespace(shell=SimpleNamespace(user_ns={}, user_ns_hidden={}))
mode = WriteMode()
mode.start("cells")
mode.add(text, True)
mode.add("from __future__ import annotations\\n" + text, False)
mode.end()
for script, count in ((_write(here, notebook, text, []), 1), (here / "cells.py", 2)):
    assert script.read_text(encoding="utf-8").count(text) == count, script
    compile(script.read_bytes(), script, "exec")
"""


def test_cells_in_any_locale(tmp_path):
    variables = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env={**os.environ, **variables},
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
