"""A Slurm cluster on the two hosts of two_hosts.py, with separate daemons and files; nothing on the machine is
changed."""

import os
import secrets
import shutil
import subprocess
import time

from streams import environment

SYSTEM = "/usr/sbin:/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "squeue", "sinfo")
CONFIGURATION = """
ClusterName=two
SlurmctldHost=a(10.213.71.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=5
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
NodeName=a NodeAddr=10.213.71.1 CPUs=4
NodeName=b NodeAddr=10.213.71.2 CPUs=4
PartitionName=all Nodes=a,b Default=YES State=UP
"""
LONGEST = 60  # seconds until the nodes are there


def missing():
    """The parts that this machine lacks; empty: none."""
    names = [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:{SYSTEM}") is None]
    return f"{names[0]} is not installed (Debian's slurm-wlm and munge)" if names else ""


class Cluster:
    """A context."""

    def __init__(self, hosts, directory, programs):
        """`programs`: a directory on the jobs' PATH."""
        self.hosts, self.directory = hosts, directory
        self.variables = {"SLURM_CONF": str(directory / "slurm.conf"), "PATH": f"{programs}:{os.environ['PATH']}:{SYSTEM}"}
        self.daemons = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()

    def run(self, directory, *words, status=0, **variables):
        """A command on host `a`."""
        done = subprocess.run(
            self.hosts.a.command(directory, *words), capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL,
            env={**environment(), **self.variables, **variables}, check=False,
        )  # fmt: skip
        assert status is None or done.returncode == status, (done.stdout, done.stderr)
        return done

    def _daemon(self, host, *words):
        command = host.command(self.directory, *words)
        log = (self.directory / f"{words[0]}-{host.name}.said").open("w")
        self.daemons.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             env={**environment(), **self.variables}))  # fmt: skip

    def _start(self):
        (self.directory / "state").mkdir()
        (self.directory / "slurm.conf").write_text(CONFIGURATION.format(directory=self.directory))
        (self.directory / "mpi.conf").write_text("PMIxCliTmpDirBase=/run\n")  # not in /tmp, which both hosts see
        key = self.directory / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        files = [f"--{name}={self.directory}/munge.{end}" for name, end in (
            ("key-file", "key"), ("socket", "socket"), ("log-file", "log"), ("pid-file", "pid"), ("seed-file", "seed"))]  # fmt: skip
        self._daemon(self.hosts.a, "munged", "--foreground", "--force", *files)
        self._daemon(self.hosts.a, "slurmctld", "-D")
        for host in (self.hosts.a, self.hosts.b):
            self._daemon(host, "slurmd", "-D")
        end = time.monotonic() + LONGEST
        while self.run("/", "sinfo", "--noheader", "--format=%t %D", status=None).stdout.split() != ["idle", "2"]:
            assert time.monotonic() < end, (self.directory / "slurmctld.log").read_text()[-3000:]
            time.sleep(0.2)
