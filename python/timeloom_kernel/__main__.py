"""``python -m timeloom_kernel -f CONNECTION_FILE``: runs the kernel."""

from __future__ import annotations

from ipykernel.kernelapp import IPKernelApp

from timeloom_kernel.kernel import TimeloomKernel


def main() -> None:
    """Run the kernel as its front end says on the command line."""
    IPKernelApp.launch_instance(kernel_class=TimeloomKernel)


if __name__ == "__main__":
    main()
