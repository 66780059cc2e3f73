"""``python -m timeloom_kernel.install``: tells Jupyter of the kernel."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager

# Kernelspec and display names of the Score-P kernel and its predecessors.
DROP_IN = {"scorep_jupyter": "Score-P_Python", "scorep-python": "scorep-python", "jumper": "JUmPER"}
_LATER = "the wrappers for {} do not exist yet; the kernel is installed without them"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m timeloom_kernel.install", description=__doc__)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user (the default)")
    where.add_argument("--sys-prefix", action="store_true", help="for this environment")
    where.add_argument("--prefix", metavar="DIR", help="in share/jupyter/kernels of a directory")
    parser.add_argument("--name", default="timeloom", help="the name of the kernelspec")
    parser.add_argument("--display-name", metavar="NAME", help="the name that people see")
    parser.add_argument("--env", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"),
                        help="a variable of the kernel; can be repeated")
    parser.add_argument("--drop-in", action="store_true",
                        help=f"also under the names of the Score-P kernel: {', '.join(DROP_IN)}")
    for name, what in (("--io", "I/O"), ("--mpi", "MPI"), ("--thread", "threads of native code")):
        parser.add_argument(name, nargs="?", const="", metavar="WHAT", help=f"not there yet: wrappers for {what}")
    return parser


def spec(display_name: str, variables: dict[str, str]) -> dict[str, Any]:
    """The contents of kernel.json."""
    return {
        "argv": [sys.executable, "-m", "timeloom_kernel", "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "metadata": {"debugger": True},
        **({"env": variables} if variables else {}),
    }


def install(names: dict[str, str], variables: dict[str, str], user: bool, prefix: str | None) -> list[str]:
    """Install kernelspecs, display names by their names; return their directories. Raises OSError."""
    places = []
    for name, display_name in names.items():
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory) / "kernel"
            source.mkdir(mode=0o755)
            (source / "kernel.json").write_text(json.dumps(spec(display_name, variables), indent=1) + "\n")
            places.append(KernelSpecManager().install_kernel_spec(str(source), name, user=user, prefix=prefix))
    return places


def main(words: Sequence[str] | None = None) -> int:
    """Install what the command line asks for; return the status."""
    arguments = _parser().parse_args(words)
    for name, what in (("io", "I/O"), ("mpi", "MPI"), ("thread", "threads of native code")):
        if getattr(arguments, name) is not None:
            print(f"--{name}: {_LATER.format(what)}", file=sys.stderr)
    names = {arguments.name: arguments.display_name or f"Timeloom (Python {sys.version_info[0]}.{sys.version_info[1]})"}
    if arguments.drop_in:
        names |= DROP_IN
    prefix = sys.prefix if arguments.sys_prefix else arguments.prefix
    try:
        places = install(names, dict(arguments.env), user=prefix is None, prefix=prefix)
    except (OSError, ValueError) as error:
        print(f"timeloom_kernel.install: {error}", file=sys.stderr)
        return 1
    for place in places:
        print(f"installed {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
