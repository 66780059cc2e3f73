"""The command ``scorep``, which in Score-P precedes a compiler.

Timeloom does not instrument native code, so the command runs unchanged. A Python program, as in ``scorep app.py``, is
measured.
"""

import os
import sys

from timeloom import _core

_USAGE = f"""\
Usage: scorep [options] <compiler or other command> [args]
       scorep [options] <script.py> [args]

A command runs as it is: native code is not instrumented. A Python script is run as by
python -m scorep, with its options; see python -m scorep --help.

  --version    Print the version of Score-P whose conventions are followed, {_core.SCOREP_VERSION}.
  --help       Print this help; also -h.
"""


def main() -> None:
    """Run the command of the command line in the place of this process."""
    words = sys.argv[1:]
    place = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    options, command = words[:place], words[place:]
    if "--version" in options:
        print(f"Score-P {_core.SCOREP_VERSION}")
    elif "--help" in options or "-h" in options:
        print(_USAGE, end="")
    elif not command:
        raise SystemExit("scorep: there is no command to run; see scorep --help [TL724]")
    elif command[0].endswith(".py"):
        # By its path: with -m, Python would search the current directory first.
        door = os.path.join(os.path.dirname(__file__), "__main__.py")
        os.execv(sys.executable, [sys.executable, door, *words])
    else:
        _run(command)


def _run(command: list[str]) -> None:
    sys.stderr.write("scorep: native code is not instrumented; the command runs as it is [TL725]\n")
    sys.stderr.flush()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise SystemExit(f"scorep: cannot run {command[0]}: {error.strerror} [TL430]") from None


if __name__ == "__main__":
    main()
