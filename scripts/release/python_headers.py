"""Headers of Pythons, so that extensions can be compiled for Pythons that this machine cannot run.

If this machine has an interpreter of that version, its headers are used. They are the same for every 64-bit Linux,
except for properties of the compiler that Timeloom does not use. Otherwise they come from Debian's packages.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess

from scripts import pythons
from scripts.release import old_glibc, release_tools

# The oldest release of Debian that has it.
RELEASES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "unstable", "3.15": "unstable"}
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


@dataclasses.dataclass(frozen=True)
class Headers:
    directories: tuple[pathlib.Path, ...]  # the first has Python.h
    origin: str


def apt(directory: pathlib.Path, architecture: str, *words: str) -> None:
    """Runs apt-get with separate lists, without root."""
    settings = {
        "Dir": directory,
        "Dir::State::status": directory / "status",
        "Dir::Etc::SourceList": directory / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "Acquire::Check-Valid-Until": "false",
        "APT::Sandbox::User": "",
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    subprocess.run(["apt-get", "-qq", *options, *words], check=True, cwd=directory)


def from_debian(tag: str, architecture: old_glibc.Architecture) -> Headers:
    release, package = RELEASES[tag], f"libpython{tag}-dev"
    directory = release_tools.WHEELS / architecture.name / f"headers-{tag}"
    made = directory / "made"
    if not made.exists():
        shutil.rmtree(directory, ignore_errors=True)
        for name in (
            "etc/apt/preferences.d",
            "etc/apt/apt.conf.d",
            "var/lib/apt/lists/partial",
            "var/cache/apt/archives/partial",
        ):
            (directory / name).mkdir(parents=True)
        (directory / "status").touch()
        source = f"deb [signed-by={KEYS}] {release_tools.mirror()} {release} main\n"
        (directory / "sources.list").write_text(source)
        apt(directory, architecture.debian, "update")
        apt(directory, architecture.debian, "download", package)
        (archive,) = directory.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(directory / "root")], check=True)
        made.write_text(f"{package} {archive.name.split('_')[1].replace('%3a', ':')} of Debian {release}")
    include = directory / "root" / "usr" / "include"
    return Headers((include / f"python{tag}", include), made.read_text())


def from_machine(tag: str) -> Headers | None:
    for python in pythons.find(dict(os.environ)):
        if python.tag == tag and not python.problem:
            probe = "import json, sysconfig; print(json.dumps(sysconfig.get_path('include')))"
            said = subprocess.run([python.path, "-c", probe], check=True, capture_output=True, text=True)
            return Headers((pathlib.Path(json.loads(said.stdout)),), f"Python {python.full_version} of this machine")
    return None


def headers(tag: str, architecture: old_glibc.Architecture) -> Headers | None:
    """None: neither this machine nor Debian has that Python. A build without a GIL ("3.14t") has the headers of the
    other build, but for one line of pyconfig.h, which cmake/TimeloomPython.cmake defines."""
    version = tag.removesuffix("t")
    here = from_machine(version)
    return from_debian(version, architecture) if here is None and version in RELEASES else here
