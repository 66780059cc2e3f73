"""Minimal Debian systems in which a release is tried. Needs root, debootstrap and the network.

A base, build/chroots/SUITE-ARCHITECTURE, is created once and kept unchanged; a step works in a layer over it, which the
next step does not see. Nothing outside is changed: mounts are gone when the step ends, whether it succeeds or fails.
But the kernel knows the emulator of another architecture from then on, by binfmt_misc, until the machine is restarted.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

from scripts import environments
from scripts.release import release_tools

CHROOTS = environments.BUILD / "chroots"
# Settings for reaching the network, copied from this machine.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
SETTINGS = ("/etc/hosts", "/etc/resolv.conf", "/etc/pip.conf", CERTIFICATES)
# The certificates of this machine under a name that no package of certificates overwrites.
KEPT_CERTIFICATES = "/etc/ssl/certificates-of-host.crt"
BINFMT = pathlib.Path("/proc/sys/fs/binfmt_misc")
EMULATORS = {"arm64": pathlib.Path("/usr/lib/binfmt.d/qemu-aarch64.conf")}  # of qemu-user-static
MOUNT = """
base=$1 layer=$2 dist=$3 script=$4
mkdir -p "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
for place in proc sys dev; do mount --rbind "/$place" "$layer/root/$place"; done
mkdir -p "$layer/root/dist"
mount --bind "$dist" "$layer/root/dist"
exec chroot "$layer/root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PIP_CERT=$5 bash -euo pipefail -c "$script"
"""


@dataclasses.dataclass(frozen=True)
class System:
    suite: str
    architecture: str = "amd64"

    @property
    def base(self) -> pathlib.Path:
        return CHROOTS / f"{self.suite}-{self.architecture}"


def register_emulator(architecture: str) -> None:
    """Makes the kernel run programs of that architecture, in every chroot."""
    line = EMULATORS.get(architecture)
    if line is None or (BINFMT / line.stem).exists():
        return
    if not line.exists():
        sys.exit(f"no emulator of {architecture}: install qemu-user-static")
    if not (BINFMT / "register").exists():
        subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)], check=True)
    (BINFMT / "register").write_bytes(line.read_bytes().strip())


def make(system: System) -> None:
    register_emulator(system.architecture)
    marker = system.base / "made"
    if not marker.exists():
        release_tools.say(f"making a system of Debian {system.suite} for {system.architecture}")
        shutil.rmtree(system.base, ignore_errors=True)
        CHROOTS.mkdir(parents=True, exist_ok=True)
        options = ["--variant=minbase", f"--arch={system.architecture}"]
        command = ["debootstrap", *options, system.suite, str(system.base), release_tools.mirror()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        marker.touch()
    for name in SETTINGS:
        source = os.path.realpath(name)
        if os.path.exists(source):
            target = system.base / name.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    if os.path.exists(CERTIFICATES):
        shutil.copy(CERTIFICATES, system.base / KEPT_CERTIFICATES.lstrip("/"))
    # A mirror may lag behind by more than the validity of a release file.
    (system.base / "etc/apt/apt.conf.d/90timeloom").write_text('Acquire::Check-Valid-Until "false";\n')


def run(system: System, name: str, script: str, files: dict[str, pathlib.Path]) -> None:
    """Runs a script of bash in a fresh layer, with build/dist as /dist and copies of `files` in it;
    subprocess.CalledProcessError if it fails."""
    if os.geteuid() != 0:
        sys.exit("a chroot needs root")
    make(system)
    layer = CHROOTS / f"layer-{name}"
    shutil.rmtree(layer, ignore_errors=True)
    for place, source in files.items():
        target = layer / "upper" / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)
    command = ["unshare", "--mount", "--propagation", "private", "bash", "-euc", MOUNT, "-"]
    certificates = KEPT_CERTIFICATES if os.path.exists(CERTIFICATES) else ""
    words = [str(system.base), str(layer), str(release_tools.DIST), script, certificates]
    subprocess.run([*command, *words], check=True)
    shutil.rmtree(layer)
