#!/usr/bin/env python3
"""Builds the page of `timeloom view` from viewer/, or checks that the committed page is what would be built.

usage: scripts/viewer.py [--check] [--browser]

The page, viewer/dist/index.html, is committed, so nobody who installs Timeloom needs npm. With
--check, nothing is written: the types are checked, the tests run, and the page is built elsewhere
and compared byte for byte. With --browser, the page is also used in Debian's Chromium, or in the
browser that TIMELOOM_CHROMIUM names. Without npm, or where it cannot fetch the packages of
viewer/package-lock.json, --check says so and succeeds.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIEWER = ROOT / "viewer"
PAGE = VIEWER / "dist" / "index.html"


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


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds or checks the page of timeloom view.")
    parser.add_argument("--check", action="store_true", help="write nothing, check everything")
    parser.add_argument("--browser", action="store_true", help="use the page in Chromium, too")
    options = parser.parse_args()
    try:
        install()
        if options.check and not check():
            return 1
        if not options.check:
            run("node", "build.mjs")
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
