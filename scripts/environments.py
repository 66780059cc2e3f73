"""Installs Timeloom into a separate environment for each Python of this machine.

usage: python3 -m scripts.environments [--newest [--up-to 3.X]] [--variant NAME] [--extra NAME] [-r REQUIREMENTS]
       [--werror]

Prints the interpreters of the environments, build/venv-3.X/bin/python: for all usable Pythons
(scripts/pythons.py), with --newest for the newest supported one only, with --up-to for the newest
that is not newer than the given one. --variant: environments with other packages, beside the environments of the tests.
With --werror Timeloom is compiled with the options of build/release, with the same compiler cache. pip's messages go to
stderr.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import tomllib

from scripts import pythons

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"

# Files by which packages of the tests make every interpreter import modules at its start: half of the time that an
# empty program takes, and modules that a program of a test has not imported. The tests need libraries of these
# packages, or import them themselves.
START_FILES = ("a1_coverage.pth", "cmeel.pth", "distutils-precedence.pth")


def directory_for(python: pythons.Python, variant: str = "") -> pathlib.Path:
    return BUILD / f"venv-{python.tag}{variant and '-'}{variant}"


def clean_environment() -> dict[str, str]:
    """This process's environment without variables that select another Python or other modules."""
    gone = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV"}
    return {k: v for k, v in os.environ.items() if k not in gone and not k.startswith("TIMELOOM_")}


def make(python: pythons.Python, variant: str = "") -> pathlib.Path:
    """The interpreter of the environment, which is created again for another base interpreter."""
    directory = directory_for(python, variant)
    marker = directory / "made-of"
    base = f"{python.path} {python.full_version}"
    if not marker.exists() or marker.read_text() != base:
        shutil.rmtree(directory, ignore_errors=True)
        command = [python.path, "-m", "venv", str(directory)]
        subprocess.run(command, check=True, stdout=sys.stderr, env=clean_environment())
        marker.write_text(base)
    return directory / "bin" / "python"


_making_uv = threading.Lock()


def uv() -> str | None:
    """The installer uv, of this machine or of an environment of its own; None: PyPI has none for this machine."""
    if found := shutil.which("uv"):
        return found
    with _making_uv:
        return own_uv()


def own_uv() -> str | None:
    directory = BUILD / "venv-uv"
    program = directory / "bin" / "uv"
    if not program.exists():
        make_it = [sys.executable, "-m", "venv", str(directory)]
        fill_it = [str(directory / "bin" / "pip"), "install", "--disable-pip-version-check", "--quiet", "uv"]
        for command in (make_it, fill_it):
            if subprocess.run(command, stdout=sys.stderr, env=clean_environment()).returncode != 0:
                return None
    return str(program)


def packages_of(extras: str) -> list[str]:
    """The requirements of the extras, which are separated by commas."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return [package for extra in extras.split(",") if extra for package in known[extra]]


# Nothing imports these while tests run.
NOT_COMPILED = "/tests?/|/pip/|/setuptools/|/Cython/"


def install_packages(interpreter: pathlib.Path, extras: str, files: list[str]) -> None:
    """Installs what pip would install, in a twentieth of the time, and compiles half of it; pip compiles all.

    Where that fails nothing is lost: pip installs what is missing, and Python compiles what it imports."""
    wanted = [*packages_of(extras), *files]
    program = uv() if wanted else None
    if program is None:
        return
    packages = interpreter.parent.parent / "lib"
    install = [program, "pip", "install", "--quiet", "--python", str(interpreter), *wanted]
    compile_them = [str(interpreter), "-m", "compileall", "-qq", "-x", NOT_COMPILED, str(packages)]
    for command in (install, compile_them):
        subprocess.run(command, stdout=sys.stderr, env=clean_environment(), cwd=ROOT)


def install(  # noqa: PLR0913  # one call for everything that an environment can have
    python: pythons.Python,
    extras: str = "",
    requirements: tuple[str, ...] = (),
    *,
    quiet: bool = True,
    werror: bool = False,
    variant: str = "",
) -> pathlib.Path:
    """Installs the working tree and the requested packages; subprocess.CalledProcessError if it fails.

    A `variant` is a further environment of the same Python, with other packages. A build directory that stays makes the
    next installation compile only the changes. One name of the compiler, where each Python has its own, makes ccache
    treat them as the same."""
    interpreter = make(python, variant)
    project = f"{ROOT}[{extras}]" if extras else str(ROOT)
    settings = [
        f"--config-settings=build-dir={BUILD / f'wheel-{python.tag}'}",
        f"--config-settings=cmake.define.TIMELOOM_WERROR={'ON' if werror else 'OFF'}",
    ]
    files = [word for file in requirements for word in ("-r", file)]
    install_packages(interpreter, extras, files)
    command = [str(interpreter), "-m", "pip", "install", "--disable-pip-version-check"]
    if quiet:
        command.append("--quiet")
    subprocess.run(
        [*command, *settings, project, *files],
        check=True, stdout=sys.stderr, env={"CC": "cc", "CXX": "c++", **clean_environment()}, cwd=ROOT,
    )  # fmt: skip
    for name in START_FILES:
        for file in interpreter.parent.parent.glob(f"lib/python*/site-packages/{name}"):
            file.unlink()
    return interpreter


def newest_supported(usable: list[pythons.Python], up_to: str = pythons.SUPPORTED[-1]) -> pythons.Python:
    supported = [python for python in usable if python.tag in pythons.SUPPORTED]
    old_enough = pythons.SUPPORTED[: pythons.SUPPORTED.index(up_to) + 1]
    return ([python for python in supported if python.tag in old_enough] or supported or usable)[-1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--newest", action="store_true")
    parser.add_argument("--up-to", choices=pythons.SUPPORTED, default=pythons.SUPPORTED[-1])
    parser.add_argument("--variant", default="")
    parser.add_argument("--extra", default="")
    parser.add_argument("-r", dest="requirements", action="append", default=[])
    parser.add_argument("--werror", action="store_true")
    arguments = parser.parse_args()
    usable = [python for python in pythons.find(dict(os.environ)) if not python.problem]
    if not usable:
        sys.exit("environments.py: no usable Python; scripts/pythons.py says why")
    for python in [newest_supported(usable, arguments.up_to)] if arguments.newest else usable:
        interpreter = install(
            python, arguments.extra, tuple(arguments.requirements),
            quiet=False, werror=arguments.werror, variant=arguments.variant,
        )  # fmt: skip
        print(interpreter, flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"environments.py: {error}")
