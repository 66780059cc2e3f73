"""``python -m timeloom_kernel.install``: tells Jupyter of the kernel."""

import sys

from timeloom._notebook._install import DROP_IN, Kernel, install, main

__all__ = ["DROP_IN", "Kernel", "install", "main"]

if __name__ == "__main__":
    sys.exit(main())
