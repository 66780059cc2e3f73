# cython: language_level=3
"""Marks regions in Cython, with and without the interpreter lock."""

from libc.stdint cimport int64_t, uint32_t


cdef extern from "timeloom/timeloom.h" nogil:
    ctypedef struct timeloom_region:
        pass
    timeloom_region* timeloom_region_define(const char* name, const char* file, uint32_t line)
    void timeloom_enter(timeloom_region* region)
    void timeloom_leave(timeloom_region* region)
    void timeloom_parameter_int(const char* name, int64_t value)
    void timeloom_disable_recording()
    void timeloom_enable_recording()


cdef timeloom_region* solve_region = timeloom_region_define(b"solve", b"marks.pyx", 1)
cdef timeloom_region* part_region = timeloom_region_define(b"part", b"marks.pyx", 2)


def solve(int count, callback=None):
    timeloom_enter(solve_region)
    timeloom_parameter_int(b"count", count)
    with nogil:
        for _ in range(count):
            timeloom_enter(part_region)
            timeloom_leave(part_region)
    if callback is not None:
        callback()
    timeloom_leave(solve_region)


def enter_only():
    timeloom_enter(solve_region)


def leave_only():
    timeloom_leave(solve_region)


def record(bint on):
    with nogil:
        if on:
            timeloom_enable_recording()
        else:
            timeloom_disable_recording()
