import contextlib

import numba


@numba.njit
def function(x):
    return x + 1


@numba.njit
def fails(x):
    raise ValueError


@numba.njit
def later(x):
    return x + 1


# They are compiled here, all but the last.
function(1)
with contextlib.suppress(ValueError):
    fails(1)
