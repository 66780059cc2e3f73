#!/usr/bin/env python3
"""Builds the page of `timeloom view` from viewer/, or checks that the committed page is what would be built.

usage: scripts/viewer.py [--check] [--browser] [--compare PROGRAM RUN...]

The page, viewer/dist/index.html, is committed, so nobody who installs Timeloom needs npm. With
--check, nothing is written: the types are checked, the tests run, and the page is built elsewhere
and compared byte for byte. With --browser, the page is also used in Debian's Chromium, or in the
browser that TIMELOOM_CHROMIUM names. With --compare, the server of a timeloom program and the page
that it writes with --html are asked the same random questions about some runs. Without npm, or
where it cannot fetch the packages of viewer/package-lock.json, --check says so and succeeds.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIEWER = ROOT / "viewer"
PAGE = VIEWER / "dist" / "index.html"
ROUNDS = "40"


class NotHereError(Exception):
    """Something that the viewer is built with cannot be had on this machine."""


def run(*command: str) -> None:
    subprocess.run(command, cwd=VIEWER, check=True)


def install() -> None:
    """Puts the packages of the lock file in place, once for each version of it."""
    if shutil.which("npm") is None:
        raise NotHereError("npm is not installed")
    wanted = hashlib.sha256((VIEWER / "package-lock.json").read_bytes()).hexdigest()
    stamp = VIEWER / "node_modules" / "made-of"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=VIEWER)
    if done.returncode != 0:
        raise NotHereError("npm cannot fetch the packages of viewer/package-lock.json")
    stamp.write_text(wanted)


def check() -> bool:
    """Whether types, tests and the committed page are right."""
    run("npm", "run", "--silent", "types")
    run("npm", "run", "--silent", "test")
    built = VIEWER / "build" / "index.html"
    run("node", "build.mjs", "--out", str(built))
    if built.read_bytes() == PAGE.read_bytes():
        return True
    print("viewer/dist/index.html is not what viewer/ builds: run scripts/viewer.py and commit it", file=sys.stderr)
    return False


def check_in_browser() -> None:
    browser = os.environ.get("TIMELOOM_CHROMIUM") or shutil.which("chromium")
    if browser is None:
        raise NotHereError("chromium is not installed, and TIMELOOM_CHROMIUM names no browser")
    os.environ["TIMELOOM_CHROMIUM"] = browser
    run("npm", "run", "--silent", "test-browser")


def compare(program: str, runs: list[str]) -> None:
    """Fails when the server of a run and the page that holds it have different answers."""
    run("node", "build.mjs", "--tests")
    for path in runs:
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "run.html")
            subprocess.run([program, "view", "--html", page, path], check=True, stderr=subprocess.DEVNULL)
            command = [program, "view", "--no-browser", path]
            # Standard input stays open: the server may end with it.
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
                try:
                    assert server.stdout is not None
                    address = next((word for line in server.stdout for word in line.split() if "#t=" in word), "")
                    run("node", "build/tests/compare_sources.mjs", address, page, ROUNDS)
                finally:
                    server.terminate()


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds or checks the page of timeloom view.")
    parser.add_argument("--check", action="store_true", help="write nothing, check everything")
    compared = "compare the server of a run and the page with the run inside"
    parser.add_argument("--compare", nargs="+", metavar=("PROGRAM", "RUN"), help=compared)
    parser.add_argument("--browser", action="store_true", help="use the page in Chromium, too")
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
            check_in_browser()
    except NotHereError as error:
        print(f"scripts/viewer.py: the page is not {'checked' if options.check else 'built'}: {error}", file=sys.stderr)
        return 0 if options.check else 1
    except subprocess.CalledProcessError as error:
        return int(error.returncode) or 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
