"""The kernel, for users of its class: ``timeloom_kernel.kernel.TimeloomKernel``."""

from timeloom._notebook._kernel import TimeloomKernel

__all__ = ["TimeloomKernel"]
