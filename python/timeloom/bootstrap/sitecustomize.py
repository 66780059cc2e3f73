"""Stands in for timeloom.pth where Python does not read it: in directories that are on PYTHONPATH only. It then runs
the sitecustomize that it hides."""

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


if os.environ.get("TIMELOOM_PARENT"):
    from timeloom_follow import follow

    follow()
_step_aside()
