"""``python -m scorep_jupyter.install``: installs Timeloom's kernel under the name of the Score-P kernel."""

from __future__ import annotations

import sys

from timeloom._notebook._install import DROP_IN, main

if __name__ == "__main__":
    name = "scorep_jupyter"
    status = main(["--name", name, "--display-name", DROP_IN[name], *sys.argv[1:]])
    if status == 0:
        print("installed the scorep jupyter python kernel")
    sys.exit(status)
