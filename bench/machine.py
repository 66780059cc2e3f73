"""The measuring machine, and its load by other programs meanwhile."""

import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import time


class OtherLoad:
    """The number of cores that other programs have used since this object was created, on average.

    A busy neighbour slows a measured process by a third where cores share their units, so that figures taken beside one
    are worth little.
    """

    def __init__(self) -> None:
        self._begin = self._sample()

    @staticmethod
    def _sample() -> tuple[float, float, float]:
        """Seconds: wall, all processors busy or stolen, of which this process and its children."""
        fields = pathlib.Path("/proc/stat").read_text(encoding="utf-8").split()[1:9]
        user, nice, system, _idle, _wait, interrupt, soft, steal = map(int, fields)
        busy = user + nice + system + interrupt + soft + steal
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        own = sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)
        return time.monotonic(), busy / os.sysconf("SC_CLK_TCK"), own

    def cores(self) -> float:
        wall, busy, own = (now - then for now, then in zip(self._sample(), self._begin))
        return round(max(0.0, (busy - own) / wall), 2)


def output_of(command: list[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def cpu_model() -> str:
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1) if match else platform.machine()


def compiler_version() -> str:
    name = os.environ.get("CXX", "c++")
    return output_of([name, "--version"]).splitlines()[0] if shutil.which(name) else "none found"


def file_system(directory: str) -> str:
    return output_of(["stat", "-f", "-c", "%T", directory])
