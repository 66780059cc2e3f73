"""``python -m timeloom_kernel.install``: tells Jupyter of the kernel."""

import sys

from timeloom._notebook._install import main

if __name__ == "__main__":
    sys.exit(main())
