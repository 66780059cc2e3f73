#!/usr/bin/env python3
"""Builds the page of `timeloom view` from viewer/, or checks that the committed page is up to date.

usage: python3 -m scripts.pages.viewer [--check] [--browser] [--compare PROGRAM RUN...]

The page, viewer/dist/index.html, is committed, so nobody who installs Timeloom needs npm. With
--check, nothing is written: the types are checked, the tests run, and the page is built elsewhere
and compared byte for byte. With --browser, the page is also used in Debian's Chromium and Firefox,
or in the browsers that TIMELOOM_CHROMIUM and TIMELOOM_FIREFOX name; Firefox shows a run of the
program that TIMELOOM_PROGRAM names, or of an installation for the newest Python. With --compare,
the server of a timeloom program and the page that it writes with --html are asked the same random
questions about some runs. Without npm, or where it cannot fetch the packages of a
package-lock.json, --check prints a message and succeeds.
"""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
VIEWER = ROOT / "viewer"
PAGE = VIEWER / "dist" / "index.html"
ROUNDS = "40"
RECORDED = """
import threading
def work(n):
    return sum(leaf(i) for i in range(n))
def leaf(n):
    return sum(range(n))
threads = [threading.Thread(target=work, args=(300,)) for _ in range(2)]
for one in threads: one.start()
work(500)
for one in threads: one.join()
"""


class NotHereError(Exception):
    """A part that is needed to build the viewer is missing on this machine."""


def run(*command: str) -> None:
    subprocess.run(command, cwd=VIEWER, check=True)


def install(folder: pathlib.Path = VIEWER) -> None:
    """Installs the packages of a folder's lock file, once for each version of it."""
    if shutil.which("npm") is None:
        raise NotHereError("npm is not installed")
    lock = folder / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = folder / "node_modules" / "made-of"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=folder)
    if done.returncode != 0:
        raise NotHereError(f"npm cannot fetch the packages of {lock.relative_to(ROOT)}")
    stamp.write_text(wanted)


def check() -> bool:
    """True if types, tests and the committed page are correct."""
    run("npm", "run", "--silent", "types")
    run("npm", "run", "--silent", "test")
    built = VIEWER / "build" / "index.html"
    run("node", "build.mjs", "--out", str(built))
    if built.read_bytes() == PAGE.read_bytes():
        return True
    print("viewer/dist/index.html is not what viewer/ builds: run make viewer and commit it", file=sys.stderr)
    return False


def browser(variable: str, *names: str) -> str:
    """The browser that a variable names, or the first installed one of some."""
    found = os.environ.get(variable) or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise NotHereError(f"{names[0]} is not installed, and {variable} names no browser")
    os.environ[variable] = found
    return found


@contextlib.contextmanager
def served(program: str, path: str) -> Iterator[str]:
    """The address of the page of a run, from a separate server."""
    command = [program, "view", "--no-browser", path]
    # Standard input stays open: the server may end with it.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield next((word for line in server.stdout for word in line.split() if "#t=" in word), "")
        finally:
            server.terminate()


def write_page(program: str, path: str, page: str) -> None:
    """A page that contains a run."""
    subprocess.run([program, "view", "--html", page, path], check=True, stderr=subprocess.DEVNULL)


def check_in_firefox() -> None:
    """Fails if the page of a new run does not work in Firefox."""
    browser("TIMELOOM_FIREFOX", "firefox-esr", "firefox")
    install(VIEWER / "firefox")
    program = os.environ.get("TIMELOOM_PROGRAM")
    if program is None:
        install_command = [sys.executable, "-m", "scripts.environments", "--newest", "--werror"]
        installed = subprocess.run(install_command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout
        program = str(pathlib.Path(installed.strip()).with_name("timeloom"))
    with tempfile.TemporaryDirectory() as folder:
        run_folder, page = os.path.join(folder, "run"), os.path.join(folder, "run.html")
        pathlib.Path(folder, "app.py").write_text(RECORDED)
        subprocess.run([program, "run", "--quiet", "-o", run_folder, os.path.join(folder, "app.py")], check=True)
        write_page(program, run_folder, page)
        report = subprocess.run([program, "report", "--json", run_folder], check=True, stdout=subprocess.PIPE).stdout
        first = json.loads(report)["flat"]["rows"][0]
        with served(program, run_folder) as address:
            pages = {"server": address, "file": page, "name": first["name"], "visits": first["visits"]}
            os.environ["TIMELOOM_PAGES"] = json.dumps(pages)
            run("npm", "run", "--silent", "test-firefox")


def compare(program: str, runs: list[str]) -> None:
    """Fails if the server of a run and the page that contains it give different answers."""
    run("node", "build.mjs", "--tests")
    for path in runs:
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "run.html")
            write_page(program, path, page)
            with served(program, path) as address:
                run("node", "build/tests/compare_sources.mjs", address, page, ROUNDS)


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds or checks the page of timeloom view.")
    parser.add_argument("--check", action="store_true", help="write nothing, check everything")
    compared = "compare the server of a run and the page with the run inside"
    parser.add_argument("--compare", nargs="+", metavar=("PROGRAM", "RUN"), help=compared)
    parser.add_argument("--browser", action="store_true", help="use the page in Chromium and Firefox, too")
    options = parser.parse_args()
    try:
        install()
        if options.check and not check():
            return 1
        if not options.check and not options.compare:
            run("node", "build.mjs")
        if options.compare:
            compare(options.compare[0], options.compare[1:])
        if options.browser:
            browser("TIMELOOM_CHROMIUM", "chromium")
            run("npm", "run", "--silent", "test-browser")
            check_in_firefox()
    except NotHereError as error:
        print(f"viewer.py: the page is not {'checked' if options.check else 'built'}: {error}", file=sys.stderr)
        return 0 if options.check else 1
    except subprocess.CalledProcessError as error:
        return int(error.returncode) or 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
