"""Two hosts on one machine, made of namespaces: `a`, and `b` with its own resources like another machine.

Both have a name and a network, joined by a cable; `b` also has its own processes, monotonic clock and boot id. So `a`
cannot see whether a process of `b` is alive, and vice versa. They share all files, like the nodes of a cluster. Open
MPI starts ranks on `b` through a script in place of ssh. The namespaces live as long as a process in them; nothing else
is left behind.
"""

import os
import re
import shutil
import subprocess
import time
import uuid
from pathlib import Path

import pytest
from mpi_runs import Mpi

# The clock of `b` is ahead of the clock of `a` by this.
SECONDS_AHEAD = 5000
# Longer than the silence after which a process of another host counts as gone.
LONG_AGO = 3600
ADDRESSES = {"a": "10.213.71.1", "b": "10.213.71.2"}
OF_B = ["--ipc", "--pid", "--mount-proc", "--fork", "--kill-child", "--time",
        "--monotonic", str(SECONDS_AHEAD), "--boottime", str(SECONDS_AHEAD)]  # fmt: skip


class NotPossible(Exception):
    """The machine does not permit such hosts; the message has the reason."""


def missing():
    """The parts that this machine lacks for them; empty: none known."""
    if os.geteuid() != 0:
        return "two hosts on one machine need root"
    names = [name for name in ("ip", "unshare", "nsenter") if shutil.which(name) is None]
    return f"{names[0]} is not installed (Debian's iproute2 and util-linux)" if names else ""


class Host:
    def __init__(self, name, namespaces, settings):
        script = " && ".join([f"hostname {name}", *settings, "ip link set lo up", "echo ready", "exec cat"])
        self.name = name
        # It ends with its input, even if no process is left to close it.
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--uts", "--mount", *namespaces, "sh", "-c", script],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if self.holder.stdout.readline() != "ready\n":
            raise NotPossible(self.holder.communicate()[1].strip())
        outer = self.holder.pid
        children = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
        self.has_processes = "--fork" in namespaces
        self.process = int(children[0]) if self.has_processes else outer

    def command(self, directory, *words):
        """The command that runs another one on this host."""
        # Without a child, which a signal to nsenter would leave behind; processes of `b` end with their namespace.
        child = [] if self.has_processes else ["--no-fork"]
        return ["nsenter", "--target", str(self.process), "--all", *child, f"--wdns={directory}", *map(str, words)]

    def close(self):
        self.holder.communicate()


class Hosts:
    """A context: the hosts, with a directory for their files."""

    def __init__(self, directory):
        self.directory = directory
        self.a = self.b = None

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for host in (self.a, self.b):
            if host is not None:
                host.close()

    def _make(self):
        names, boot_id = self.directory / "hosts", self.directory / "boot_id"
        names.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in ADDRESSES.items()))
        boot_id.write_text(f"{uuid.uuid4()}\n")
        system = self.directory / "sys"
        system.mkdir()
        # A /sys that shows the interfaces of the host, with the groups of processes from the other one; files in /run
        # that no other host has.
        both = [f"mount --bind {names} /etc/hosts", f"mount -t sysfs sysfs {system}",
                f"mount --rbind /sys/fs/cgroup {system}/fs/cgroup", f"mount --rbind {system} /sys",
                "mount -t tmpfs tmpfs /run"]  # fmt: skip
        self.a = Host("a", [], both)
        self.b = Host("b", OF_B, [*both, f"mount --bind {boot_id} /proc/sys/kernel/random/boot_id"])
        ends = [["netns", str(host.process)] for host in (self.a, self.b)]
        commands = [["ip", "link", "add", "cable", *ends[0], "type", "veth", "peer", "name", "cable", *ends[1]]]
        for host in (self.a, self.b):
            commands += [
                host.command("/", "ip", "address", "add", ADDRESSES[host.name] + "/30", "dev", "cable"),
                host.command("/", "ip", "link", "set", "cable", "up"),
            ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise NotPossible(f"{' '.join(command)}: {done.stderr.strip()}")

    def mpi(self, open_mpi, directory, *variables):
        """The machine's Open MPI, with two ranks on each host; `variables` are passed on in addition to its own."""
        agent = self.directory / "agent"
        # As ssh does it: little of the environment, and a line for a shell.
        start = " ".join(self.b.command("/", "env", "-i", f"PATH={os.environ['PATH']}", "HOME=/root", "sh", "-c"))
        agent.write_text(f'#!/bin/sh\nshift\nexec {start} "$*"\n')
        agent.chmod(0o755)
        options = [*open_mpi.options, "--host", "a:2,b:2", "--mca", "plm_rsh_agent", str(agent)]
        for name in ("MPI4PY_LIBMPI", *variables):
            options += ["-x", name]
        launcher, *words = self.a.command(directory, open_mpi.launcher, *options)
        return Mpi("Open MPI on two hosts", launcher, words, open_mpi.library,
                   **{**open_mpi.variables, "OMPI_MCA_btl": "self,vader,tcp"})  # fmt: skip


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    if missing():
        pytest.skip(missing())
    try:
        with Hosts(tmp_path_factory.mktemp("hosts")) as made:
            yield made
    except NotPossible as error:
        pytest.skip(f"no namespaces: {error}")


RANKS = [f"MPI Rank {rank}" for rank in range(4)]
ON_TWO_HOSTS = dict(zip(RANKS, "aabb", strict=True))


@pytest.fixture
def apart(hosts, tmp_path):
    """A directory for the program that has no files on the other host; the other host has no common files either."""
    for name in ("program", "tmp"):
        (tmp_path / name).mkdir()
        subprocess.run(hosts.b.command("/", "mount", "-t", "tmpfs", "tmpfs", tmp_path / name), check=True)
    return tmp_path / "program"


def files_of(host, directory):
    return subprocess.run(host.command(directory, "ls"), check=True, capture_output=True, text=True).stdout.split()


def nodes(run):
    """The host of each rank."""
    printed = subprocess.run(["otf2-print", "-G", run / "traces.otf2"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r'LOCATION_GROUP .*Name: "(.*?)".*Parent: "node::(.*?)"', printed))


def fall_silent(run):
    """As if processes that cannot be seen from here had been silent for longer than allowed."""
    for life in run.glob("spool/rank-*/*/life"):
        os.utime(life, (time.time() - LONG_AGO,) * 2)
