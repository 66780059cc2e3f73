"""The page of `timeloom view` gives the same answers from the data in a file as the server of the same run, and the
program serves the committed page."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from converted import each_run

pytestmark = pytest.mark.any_python

__all__ = ["each_run"]

ROOT = Path(__file__).parents[3]
VIEWER = [sys.executable, "-m", "scripts.pages.viewer"]


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_page_answers_as_the_server(each_run, program, tmp_path):
    run = shutil.copytree(each_run, tmp_path / "run")
    command = [*VIEWER, "--compare", program, run]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250)
    if "cannot fetch" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no answer differs" in done.stdout


# More than 5 million events in two threads, with stacks and times that differ.
LARGE = """
import random
import threading
import time

def leaf():
    pass

def pair():
    leaf()
    leaf()

def nested(depth):
    if depth:
        nested(depth - 1)
    pair()

def work(seed, rounds):
    chance = random.Random(seed)
    for n in range(rounds):
        nested(chance.randrange(7))
        if n % 20000 == 0:
            time.sleep(0.002)

thread = threading.Thread(target=work, args=(1, 100_000))
thread.start()
work(2, 110_000)
thread.join()
"""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_the_outline_of_a_large_run_answers_as_the_server(program, tmp_path):
    script = tmp_path / "large.py"
    script.write_text(LARGE)
    run = tmp_path / "run"
    subprocess.run([program, "run", "--quiet", "-o", run, script], check=True)
    command = [*VIEWER, "--compare", program, run]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250)
    if "cannot fetch" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 rounds about an outline: no answer differs" in done.stdout


def test_the_file_holds_the_committed_page(each_run, program, tmp_path):
    run = shutil.copytree(each_run, tmp_path / "run")
    file = tmp_path / "run.html"
    subprocess.run([program, "view", "--html", file, run], check=True, capture_output=True)
    page = (ROOT / "viewer" / "dist" / "index.html").read_text()
    written = file.read_text()
    data = written[written.index('<script type="application/octet-stream"') :]
    data = data[: data.index("</script>") + len("</script>")]
    assert written.replace(data, "").replace("connect-src 'none'", "connect-src 'self'", 1).replace("\n", "") == page.replace("\n", "")
