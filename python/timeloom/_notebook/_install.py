"""``python -m timeloom_kernel.install``: tells Jupyter of the kernel."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from timeloom import _core
from timeloom._notebook import _wrappers

# Kernelspec and display names of the Score-P kernel and its predecessors.
DROP_IN = {"scorep_jupyter": "Score-P_Python", "scorep-python": "scorep-python", "jumper": "JUmPER"}



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
    for name, option in _wrappers.OPTIONS.items():
        parser.add_argument(f"--{name}", nargs="?", const=True, metavar="WHAT",
                            help=f"cells can record {option.what}, where %%%%timeloom --{name} asks for it")
    return parser


def _wrappers_of(arguments: argparse.Namespace) -> dict[str, str | bool]:
    """Return the wrappers that the kernel shall load; prints a line for those that do not exist."""
    settings: dict[str, str | bool] = {}
    for name, option in _wrappers.OPTIONS.items():
        value = getattr(arguments, name)
        if value is None:
            continue
        if name not in _core.wrappers():
            print(f"--{name}: this Timeloom has no wrapper for {option.what}; "
                  "the kernel is installed without it [TL638]", file=sys.stderr)
            continue
        settings[name] = option.value if value is True else value
    return settings


class Kernel(NamedTuple):
    """Return the command that a front end starts, and its variables."""

    wrappers: dict[str, str | bool]
    variables: dict[str, str]


def spec(display_name: str, kernel: Kernel) -> dict[str, Any]:
    """Return the contents of kernel.json."""
    words = _wrappers.words_of(kernel.wrappers)
    return {
        "argv": [sys.executable, "-m", "timeloom_kernel", *words, "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "metadata": {"debugger": True},
        **({"env": kernel.variables} if kernel.variables else {}),
    }


def install(names: dict[str, str], kernel: Kernel, user: bool, prefix: str | None) -> list[str]:
    """Install kernelspecs, given as display names by name; return their directories. Raises OSError, and ImportError
    without Jupyter."""
    from jupyter_client.kernelspec import KernelSpecManager

    places = []
    for name, display_name in names.items():
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory) / "kernel"
            source.mkdir(mode=0o755)
            (source / "kernel.json").write_text(json.dumps(spec(display_name, kernel), indent=1) + "\n")
            places.append(KernelSpecManager().install_kernel_spec(str(source), name, user=user, prefix=prefix))
    return places


def main(words: Sequence[str] | None = None) -> int:
    """Install the kernels that the command line requests; return the status."""
    arguments = _parser().parse_args(words)
    kernel = Kernel(_wrappers_of(arguments), dict(arguments.env))
    names = {arguments.name: arguments.display_name or f"Timeloom (Python {sys.version_info[0]}.{sys.version_info[1]})"}
    if arguments.drop_in:
        names |= DROP_IN
    prefix = sys.prefix if arguments.sys_prefix else arguments.prefix
    try:
        places = install(names, kernel, user=prefix is None, prefix=prefix)
    except ImportError:
        print("timeloom_kernel.install: Jupyter is not installed; pip install 'timeloom[jupyter]' [TL639]",
              file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"timeloom_kernel.install: {error} [TL639]", file=sys.stderr)
        return 1
    for place in places:
        print(f"installed {place}")
    return 0

