"""Workers of Ray that do not see the directory of the run record on their own host."""

import os
import re
import subprocess
import sys

import pytest
from streams import environment

from timeloom._engines import _clocks, _host_records, _ray_hosts

pytestmark = pytest.mark.any_python

TOKEN = "0" * 32


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The directory of records of this host."""
    monkeypatch.setattr(_host_records.tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"timeloom-{os.getuid()}-{TOKEN}"


@pytest.fixture
def parent(tmp_path):
    """The spool of a program whose run is gone, with settings as they were."""
    (tmp_path / "settings").write_bytes(b"A=1\0B=2")
    return str(tmp_path / "host-1-2-1")


def test_a_worker_that_sees_the_files_of_the_program(own, parent):
    """It does not record into a directory of its own if the run is gone."""
    assert _host_records.begin_apart(parent, _ray_hosts.variable_of(TOKEN, parent)) == ""
    assert not own.exists()


@pytest.mark.parametrize("where", ["another host", "a container of the host"])
def test_a_worker_that_does_not(own, parent, where):
    seen, _, rest = _ray_hosts.variable_of(TOKEN, parent).partition(" ")
    elsewhere = "of-another-boot:1" if where == "another host" else seen.partition(":")[0] + ":1"
    here = _host_records.begin_apart(parent, f"{elsewhere} {rest}")
    assert here == str(own / "spool" / "host-1-2-1")
    assert _host_records.settings_of(here) == b"A=1\0B=2"


@pytest.mark.parametrize("wrong", ["", "boot token", "boot ../x QQ=="])
def test_a_wrong_variable(own, parent, wrong):
    with pytest.raises(ValueError, match=r"unpack|\.\./x"):
        _host_records.begin_apart(parent, wrong)
    assert not own.exists()


def test_a_worker_that_cannot_record(own, parent, tmp_path):
    """It works, and tells."""
    own.mkdir()
    own.chmod(0o777)
    script = tmp_path / "ray/_private/workers/default_worker.py"
    script.parent.mkdir(parents=True)
    script.write_text("import os; print(os.environ.keys() & {'TIMELOOM_HOME', 'TIMELOOM_PARENT'})")
    _, _, rest = _ray_hosts.variable_of(TOKEN, parent).partition(" ")
    variables = {"TIMELOOM_PARENT": parent, "TIMELOOM_HOME": f"of-another-boot:1 {rest}", "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment(variables))
    assert (done.returncode, done.stdout) == (0, "set()\n")
    assert re.fullmatch(r"timeloom: process \d+ is not recorded: .* belongs to somebody else \[TL018\]\n", done.stderr)


def test_the_boot_and_the_namespace_of_files():
    boot, _, namespace = _host_records.files_seen_here().partition(":")
    assert (boot, int(namespace)) == (_clocks.clock_here()[0], os.stat("/proc/self/ns/mnt").st_ino)
