"""``python -m timeloom_kernel -f CONNECTION_FILE``: runs the kernel.

``--io=posix`` and ``--mpi`` load wrapper libraries, for cells that request their records.
"""

import os
import sys

try:
    if sys.path[0] in ("", os.getcwd()):  # none of its modules come from there; IPython adds it again, for the cells
        del sys.path[0]
except FileNotFoundError:
    pass

from timeloom._notebook import _wrappers


def main() -> None:
    """Run the kernel with the front end's command line."""
    _wrappers.load(_wrappers.take(sys.argv))  # before any work that a restart would repeat
    from ipykernel.kernelapp import IPKernelApp

    from timeloom._notebook._kernel import TimeloomKernel

    IPKernelApp.launch_instance(kernel_class=TimeloomKernel)


if __name__ == "__main__":
    main()
