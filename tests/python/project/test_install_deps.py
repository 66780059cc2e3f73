"""scripts/install_deps.sh on made-up systems, with small programs in place of dpkg and apt."""

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_python

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "install_deps.sh"

# dpkg-query takes patterns.
STAND_INS = {
    "dpkg-query": 'for name in $INSTALLED; do case $name in $4) echo "ii " ;; esac; done',
    "apt-cache": "printf '%s\\n' $KNOWN",
    "apt-get": 'echo "$*" | sed "s/-o [^ ]* //g" >> "$CALLS"',
    "id": "echo 0",
}
BUILD = (
    "build-essential ccache cmake ninja-build ca-certificates libopen-trace-format2-dev libexpat1-dev zlib1g-dev"
    " libzstd-dev libcli11-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev libboost-dev python3 python3-dev python3-venv"
)


@pytest.fixture
def install(tmp_path):
    """Runs the script with some groups; returns the calls of apt-get and the messages."""
    for name, text in STAND_INS.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\nset -f\n{text}\n")
        path.chmod(0o755)

    def run(*groups, installed, known=""):
        calls = tmp_path / "calls"
        calls.write_text("")
        variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(calls)}
        variables |= {"INSTALLED": installed, "KNOWN": known}
        done = subprocess.run([SCRIPT, *groups], env=variables, capture_output=True, text=True, check=True)
        return calls.read_text().splitlines(), done.stderr.splitlines()

    return run


def test_nothing_is_done_where_all_is_there(install):
    assert install("build", installed=BUILD) == ([], [])


def test_a_group_needs_no_package_of_another(install):
    without = BUILD.replace(" libfmt-dev", "")
    calls, _ = install("build", installed=without, known=f"{BUILD} clang libgtest-dev")
    assert calls == ["update -qq", "install -qq -y --no-install-recommends libfmt-dev"]


def test_any_version_that_is_installed_is_enough(install):
    assert install("fuzz", installed="clang-16 libclang-rt-16-dev libomp-14-dev") == ([], [])
    calls, _ = install("fuzz", installed="clang-16-doc libclang-rt-16-dev libomp-dev", known="clang-16 clang")
    assert calls[1:] == ["install -qq -y --no-install-recommends clang"]


def test_a_pattern_is_the_newest_that_matches(install):
    known = "libpython3.9-testsuite libpython3.13-testsuite libpython3.11-testsuite libpython3.13-dev"
    there = "libgtest-dev otf2-tools python3-otf2 python3-six clang-tidy"
    calls, _ = install("test", installed=there, known=known)
    assert calls[1:] == ["install -qq -y --no-install-recommends libpython3.13-testsuite"]


def test_a_package_that_the_system_lacks_is_said_and_the_others_are_installed(install):
    known = BUILD.replace("libopen-trace-format2-dev", "libotf2-dev").replace(" libcli11-dev", "")
    calls, messages = install("build", installed="python3", known=known)
    assert "libotf2-dev" in calls[1] and "libcli11-dev" not in calls[1]
    assert messages == ["install_deps: this system has no package libcli11-dev"]
