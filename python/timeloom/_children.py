"""The environment that children of a measured program get.

Part of the package, so that it does not depend on the directories in which the program searches for modules.
"""

import os
import sys


def extend_python_path() -> "str | None":
    """Lets children find bootstrap/sitecustomize.py, and returns its directory, unless they read timeloom.pth."""
    package = os.path.dirname(os.path.abspath(__file__))
    packages = os.path.dirname(package)
    site = sys.modules.get("site")
    places = [*site.getsitepackages(), site.USER_SITE] if site else []
    if packages in places and os.path.exists(os.path.join(packages, "timeloom.pth")):
        return None
    bootstrap = os.path.join(package, "bootstrap")
    wanted = [bootstrap, packages]
    present = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    wanted = [entry for entry in wanted if entry not in present]
    os.environ["PYTHONPATH"] = os.pathsep.join(wanted + present)
    return bootstrap
