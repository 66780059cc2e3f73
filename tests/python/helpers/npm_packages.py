"""Files of npm packages, for tests that check Timeloom's files against schemas that others publish."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

PACKAGES = Path(__file__).parents[3] / "build" / "npm"


def npm_file(package: str, path: str) -> bytes:
    """A file of a package, given as NAME@VERSION, which is fetched once; skips the test if it cannot be fetched."""
    archive = PACKAGES / (package.replace("@", "-") + ".tgz")
    if not archive.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        PACKAGES.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "pack", "--silent", package], cwd=PACKAGES, capture_output=True, timeout=120)
        if done.returncode != 0:
            pytest.skip(f"npm cannot fetch {package}")
    with tarfile.open(archive) as packed:
        member = packed.extractfile(f"package/{path}")
        assert member is not None
        return member.read()
