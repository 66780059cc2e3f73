"""Stands in for timeloom.pth where Python does not read it: in directories that are on PYTHONPATH only, or known to the
launcher only. It then runs the sitecustomize that it hides."""

import os
import sys


def _step_aside() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    ours = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError as error:
        sys.modules["sitecustomize"] = ours
        if error.name != "sitecustomize":
            raise


def _follow() -> None:
    packages = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    sys.path.insert(0, packages)  # a sub-interpreter may not have it
    try:
        from timeloom_follow import follow

        follow()
    finally:
        sys.path.remove(packages)


if os.environ.get("TIMELOOM_PARENT"):
    _follow()
_step_aside()
