"""``python -m scorep_jupyter.kernel``: what kernelspecs of the Score-P kernel run."""

from __future__ import annotations

from timeloom_kernel.__main__ import main

if __name__ == "__main__":
    main()
