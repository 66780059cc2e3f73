"""Hooks of pytest that count the CPU time of each test, of its fixtures and of the programs that it waited for.

The summary lists the most expensive tests, because a suite slows down one test at a time.
"""

import itertools
import resource
from collections import Counter

import pytest

LISTED = 10
FEW = 100  # a run of fewer tests has no list

_before = 0.0


def used():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart():
    global _before
    _before = used()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Each phase of a test has a report, which a worker sends to the process that prints the summary."""
    global _before
    report = yield
    now = used()
    report.user_properties = [*report.user_properties, ("cpu_seconds", now - _before)]
    _before = now
    return report


def pytest_terminal_summary(terminalreporter):
    seconds = Counter()
    for report in itertools.chain(*terminalreporter.stats.values()):
        for name, value in getattr(report, "user_properties", ()):
            if name == "cpu_seconds":
                seconds[report.nodeid] += value
    if len(seconds) < FEW:
        return
    terminalreporter.section(f"most of {seconds.total():.0f} s of CPU time")
    for test, used_by_it in seconds.most_common(LISTED):
        terminalreporter.line(f"{used_by_it:.2f}s {test}")
