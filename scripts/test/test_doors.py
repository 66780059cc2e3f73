"""Builds Timeloom without the door Omnitrace, runs the other C++ tests, and tries the commands of its users.

usage: python3 -m scripts.test.test_doors

The build is build/two-doors, the environment build/venv-3.X-two-doors of the newest Python.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from scripts import environments, pythons

DOORS = "timeloom;scorep"
LEFT_OUT = "was built without its door 'omnitrace'"


def installed() -> pathlib.Path:
    """The interpreter of an environment with two doors."""
    usable = [python for python in pythons.find(dict(os.environ)) if not python.problem]
    python = environments.newest_supported(usable)
    interpreter = environments.make(python, "two-doors")
    build = environments.BUILD / f"wheel-{python.tag}-two-doors"
    # With the options of build/release the compiler cache has most results already.
    settings = [f"build-dir={build}", f"cmake.define.TIMELOOM_DOORS={DOORS}", "cmake.define.TIMELOOM_WERROR=ON"]
    words = [word for setting in settings for word in ("--config-settings", setting)]
    pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    variables = {"CC": "cc", "CXX": "c++", **environments.clean_environment()}
    subprocess.run([*pip, *words, str(environments.ROOT)], check=True, env=variables, cwd=environments.ROOT)
    return interpreter


def lines(directory: str, status: int, *words: str) -> list[str]:
    """The standard error of a command; fails if it ends with another status."""
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, env=environments.clean_environment())
    if done.returncode != status:
        sys.exit(f"test_doors: {' '.join(words)} ended with {done.returncode}, not {status}: {done.stderr}")
    return done.stderr.splitlines()


def expect(found: list[str], text: str) -> None:
    """Fails unless there is one line, which contains the text."""
    if len(found) != 1 or text not in found[0]:
        sys.exit(f"test_doors: expected one line with {text!r}, found {found}")


def try_it(interpreter: pathlib.Path) -> None:
    python, bin_directory = str(interpreter), interpreter.parent
    with tempfile.TemporaryDirectory() as here:
        pathlib.Path(here, "app.py").write_text("print('done')\n")
        for setting in ("--layout", "--region-names"):
            expect(lines(here, 2, python, "-m", "timeloom", setting, "omnitrace", "app.py"), LEFT_OUT)
        for module in ("omnitrace", "rocprofsys"):
            expect(lines(here, 1, python, "-m", module, "--", "app.py"), LEFT_OUT)
        for command in ("omnitrace-python", "rocprof-sys-python"):
            expect(lines(here, 1, str(bin_directory / command), "--", "app.py"), LEFT_OUT)
        lines(here, 0, python, "-m", "scorep", "app.py")
        lines(here, 0, str(bin_directory / "timeloom"), "run", "--quiet", "-o", "run", "app.py")
        refused = lines(here, 2, str(bin_directory / "timeloom"), "convert", "run", "--to", "omnitrace")
        expect(refused, "--to")


def no_such_door() -> None:
    with tempfile.TemporaryDirectory() as build:
        command = ["cmake", "-S", str(environments.ROOT), "-B", build, "-DTIMELOOM_DOORS=timeloom;garage"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0 or "TIMELOOM_DOORS: there is no door 'garage'" not in done.stderr:
        sys.exit(f"test_doors: {' '.join(command)} says {done.stderr}")


def main() -> int:
    no_such_door()
    for command in (["cmake"], ["cmake", "--build"], ["ctest"]):
        subprocess.run([*command, "--preset", "two-doors"], check=True, cwd=environments.ROOT)
    try_it(installed())
    print("test_doors: all is well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
