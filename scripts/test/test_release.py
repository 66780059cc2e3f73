"""Tries the release in build/dist on systems like its users': minimal systems of Debian.

usage: python3 -m scripts.test.test_release [--list] [STEP]...

Without a STEP runs all of them, which takes hours; needs root, the network, and for arm64 the package
qemu-user-static. Prints a line for each step at the end, writes them to build/release-results.txt, and
fails if one failed.
"""

import argparse
import dataclasses
import datetime
import pathlib
import shutil
import subprocess
import sys
import time
import zipfile

from scripts import environments
from scripts.release import release_tools
from scripts.test import chroots

PROGRAM = environments.ROOT / "scripts" / "release" / "release_program.py"
RESULTS = environments.BUILD / "release-results.txt"

APT = "apt-get -qq update; apt-get -qq install --no-install-recommends --yes {packages} >/dev/null 2>&1"
WITHOUT_COMPILER = """
for program in cc gcc c++ g++ clang cmake ninja; do
  ! command -v $program || { echo "there is a compiler"; exit 1; }
done
"""
# Without network: the wheel contains everything.
INSTALL = """
python3 -m venv /venv
/venv/bin/pip install --quiet --no-index --find-links /dist timeloom
/venv/bin/python /release_program.py
"""
# The two commands of README.md.
SOURCE = """
apt-get -qq update
cd /timeloom
scripts/install_deps.sh build >/dev/null 2>&1
python3 -m venv .venv
.venv/bin/pip install --quiet .
.venv/bin/python /release_program.py
"""
# Without the OTF2 library, whose source is in the sdist.
SDIST = """
apt-get -qq update
cd /timeloom
scripts/install_deps.sh build >/dev/null 2>&1
apt-get -qq purge --yes "$(dpkg --search '*/otf2/otf2.h' | cut -d: -f1)" >/dev/null
python3 -m venv /venv
/venv/bin/pip install --quiet /dist/timeloom-*.tar.gz
/venv/bin/python /release_program.py
"""
# An ordinary user with root's installation.
AS_USER = """
apt-get -qq update
cd /timeloom
scripts/install_deps.sh build >/dev/null 2>&1
useradd --create-home user
chown -R user /timeloom
chmod 644 /release_program.py
su user -c 'python3 -m venv ~/venv && ~/venv/bin/pip install --quiet . && ~/venv/bin/python /release_program.py'
"""
# A Python that no release of Debian packages for that system is built there from Debian's source.
BUILD_PYTHON = """
cd /tmp
tar xf /python.tar
cd Python-3.*
./configure --quiet {options} --prefix=/opt/python >/dev/null 2>&1
make -j"$(nproc)" --silent install >/dev/null 2>&1
cd /
apt-get -qq purge --yes --autoremove gcc g++ make >/dev/null 2>&1
mkdir -p /usr/local/bin
ln -s /opt/python/bin/python3 /usr/local/bin/python3
"""
# Without a Python: the program reads a run of another tool, fails as intended, and the recorder is loaded.
ALONE = """
cd /timeloom/tests/data
timeloom=/wheel/timeloom/bin/timeloom
chmod +x $timeloom
$timeloom --version
$timeloom report --json scorep-fib >/report.json
[ -s /report.json ]
! $timeloom report /nowhere
LD_PRELOAD=/wheel/timeloom/lib/libtimeloom.so.0 /bin/true 2>&1 | { ! grep .; }
echo "passed: $(ldd --version | head -n 1)"
"""


@dataclasses.dataclass(frozen=True)
class Source:
    """The source of a CPython, as Debian keeps it."""

    path: str  # on the mirror
    sha256: str
    options: str = ""  # of its configure


SOURCE_311 = Source(
    "pool/main/p/python3.11/python3.11_3.11.2.orig.tar.gz",
    "2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849",
)
SOURCE_313T = Source(
    "pool/main/p/python3.13/python3.13_3.13.5.orig.tar.xz",
    "93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640",
    "--disable-gil",
)


@dataclasses.dataclass(frozen=True)
class Step:
    what: str
    system: chroots.System | None  # None: on this machine, in a separate environment
    script: str
    source: bool = False  # needs a copy of the tree
    python_source: Source | None = None
    unpacked: bool = False  # needs the contents of a wheel


def wheel(suite: str, architecture: str = "amd64") -> Step:
    script = APT.format(packages="python3 python3-venv") + WITHOUT_COMPILER + INSTALL
    return Step(f"wheel in Debian {suite}, {architecture}", chroots.System(suite, architecture), script)


def built_python(suite: str, what: str, source: Source) -> Step:
    script = APT.format(packages="gcc g++ make xz-utils zlib1g-dev libffi-dev libssl-dev")
    script += BUILD_PYTHON.format(options=source.options) + WITHOUT_COMPILER + INSTALL
    return Step(f"wheel with {what} from Debian's source", chroots.System(suite), script, python_source=source)


def steps() -> dict[str, Step]:
    made = {"recipes": Step("recipes of packaging, as their tools read them", None, "scripts.release.recipes")}
    for suite in ("bookworm", "trixie", "testing", "unstable"):
        made[f"wheel-{suite}"] = wheel(suite)
    for suite in ("bookworm", "trixie", "unstable"):
        made[f"wheel-{suite}-arm64"] = wheel(suite, "arm64")
    for suite in ("bookworm", "trixie", "testing"):
        system = chroots.System(suite)
        made[f"source-{suite}"] = Step(f"README's commands in Debian {suite}", system, SOURCE, source=True)
    made["sdist-trixie"] = Step(
        "sdist in Debian trixie without the OTF2 library", chroots.System("trixie"), SDIST, source=True
    )
    made["source-user-bookworm"] = Step(
        "README's commands in Debian bookworm as a plain user", chroots.System("bookworm"), AS_USER, source=True
    )
    made["program-old-glibc"] = Step(
        "program and recorder of a wheel with glibc 2.31 of Debian bullseye",
        chroots.System("bullseye"), ALONE, source=True, unpacked=True,
    )  # fmt: skip
    made["wheel-old-glibc"] = built_python("bullseye", "glibc 2.31 of Debian bullseye and CPython 3.11.2", SOURCE_311)
    made["wheel-no-gil"] = built_python("trixie", "Debian trixie and CPython 3.13.5 without a GIL", SOURCE_313T)
    return made


def unpacked_wheel() -> pathlib.Path:
    target = chroots.CHROOTS / "wheel"
    shutil.rmtree(target, ignore_errors=True)
    wheel = next(iter(sorted(release_tools.DIST.glob("*_x86_64.whl"))))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


def run(name: str, step: Step) -> str:
    """The result in words."""
    release_tools.say(f"{name}: {step.what}")
    begin = time.monotonic()
    files = {"/release_program.py": PROGRAM}
    if step.source:
        files["/timeloom"] = release_tools.copy_of_tree(chroots.CHROOTS / "tree")
    if step.unpacked:
        files["/wheel"] = unpacked_wheel()
    if step.python_source is not None:
        files["/python.tar"] = release_tools.download(step.python_source.path, step.python_source.sha256)
    try:
        if step.system is None:
            subprocess.run([sys.executable, "-m", step.script], check=True, cwd=environments.ROOT)
        else:
            chroots.run(step.system, name, step.script, files)
        outcome = "passed"
    except subprocess.CalledProcessError as error:
        outcome = f"FAILED ({error.returncode})"
    return f"{datetime.date.today()} {name}: {step.what}: {outcome}, {time.monotonic() - begin:.0f} s"


def keep(lines: dict[str, str]) -> None:
    """Results of steps that were not repeated stay."""
    before = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    kept = {line.split()[1].rstrip(":"): line for line in before} | lines
    RESULTS.write_text("".join(f"{kept[name]}\n" for name in sorted(kept)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the steps")
    parser.add_argument("steps", nargs="*", metavar="STEP")
    arguments = parser.parse_args()
    known = steps()
    if arguments.list:
        print("\n".join(f"{name}: {step.what}" for name, step in known.items()))
        return 0
    unknown = [name for name in arguments.steps if name not in known]
    if unknown:
        parser.error(f"no step {unknown[0]}; --list prints them")
    lines = {name: run(name, known[name]) for name in arguments.steps or known}
    keep(lines)
    release_tools.say("Results")
    print("\n".join(lines.values()))
    return 1 if any("FAILED" in line for line in lines.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
