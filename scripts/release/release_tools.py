"""Code shared by the scripts of a release: the environment of their tools, files of Debian's mirror."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

from scripts import environments

WHEELS = environments.BUILD / "wheels"
DIST = environments.BUILD / "dist"
REQUIREMENTS = environments.ROOT / "scripts" / "release" / "release_tools.txt"


def say(text: str) -> None:
    print(f"== {text}", flush=True)


def version() -> str:
    """The version of Timeloom, from the one place that has it."""
    (found,) = re.findall(r"project\(timeloom VERSION ([0-9.]+)", (environments.ROOT / "CMakeLists.txt").read_text())
    return str(found)


def made_environment(directory: pathlib.Path, requirements: pathlib.Path) -> pathlib.Path:
    """The interpreter of an environment with these requirements, created once."""
    marker = directory / "made-of"
    wanted = f"{sys.executable} {sys.version}\n{requirements.read_text()}"
    python = directory / "bin" / "python"
    if not marker.exists() or marker.read_text() != wanted:
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "-r", str(requirements)], check=True)
        marker.write_text(wanted)
    return python


def tools() -> pathlib.Path:
    """The interpreter of the environment with scripts/release/release_tools.txt."""
    return made_environment(WHEELS / "tools", REQUIREMENTS)


def environment(**variables: str) -> dict[str, str]:
    """This process's environment with the tools on PATH: auditwheel calls patchelf."""
    path = f"{tools().parent}{os.pathsep}{os.environ['PATH']}"
    return {**environments.clean_environment(), "PATH": path, **variables}


def mirror() -> str:
    """The mirror of Debian that this machine's apt uses, or TIMELOOM_DEBIAN_MIRROR."""
    named = os.environ.get("TIMELOOM_DEBIAN_MIRROR")
    if named:
        return named.rstrip("/")
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    known = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    usual = [uri for uri in known if uri.rstrip("/").endswith("/debian")]
    return (usual or ["http://deb.debian.org/debian"])[0].rstrip("/")


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def download(place: str, expected: str) -> pathlib.Path:
    """A file of Debian's pool, fetched once; SystemExit if it differs from the expected one."""
    path = WHEELS / "downloads" / pathlib.PurePosixPath(place).name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        with urllib.request.urlopen(f"{mirror()}/{urllib.parse.quote(place)}", timeout=300) as there:
            part.write_bytes(there.read())
        part.rename(path)
    if sha256(path) != expected:
        sys.exit(f"release: {path} is not the file that was expected; remove it to fetch it again")
    return path


def copy_of_tree(target: pathlib.Path) -> pathlib.Path:
    """Copies the files that git does not ignore to `target`, and returns it."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
        check=True, capture_output=True, cwd=environments.ROOT,
    ).stdout  # fmt: skip
    there = b"\0".join(name for name in names.split(b"\0") if name and (environments.ROOT / name.decode()).exists())
    packed = subprocess.run(
        ["tar", "--create", "--null", "--files-from=-"],
        input=there,
        check=True,
        capture_output=True,
        cwd=environments.ROOT,
    )
    subprocess.run(["tar", "--extract", "--directory", str(target)], input=packed.stdout, check=True)
    return target
