"""``python -m timeloom_kernel -f CONNECTION_FILE``: runs the kernel.

``--io=posix`` and ``--mpi`` load wrapper libraries, for cells that ask for what they record.
"""

import os
import sys

try:
    if sys.path[0] in ("", os.getcwd()):  # nothing of ours comes from there; IPython adds it again, for the cells
        del sys.path[0]
except FileNotFoundError:
    pass

from timeloom._notebook import _wrappers


def main() -> None:
    """Run the kernel as its front end says on the command line."""
    _wrappers.load(_wrappers.take(sys.argv))  # before anything that would have to be done again
    from ipykernel.kernelapp import IPKernelApp

    from timeloom._notebook._kernel import TimeloomKernel

    IPKernelApp.launch_instance(kernel_class=TimeloomKernel)


if __name__ == "__main__":
    main()
