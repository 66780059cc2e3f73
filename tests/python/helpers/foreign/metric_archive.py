"""Writes an OTF2 archive with metrics as another tool would: with the Python bindings of OTF2.

    /usr/bin/python3 metric_archive.py DIRECTORY [scaled]

Two threads, times are milliseconds. Each enter and leave of the first has the counters `instructions` and `cycles`;
the other values come alone: `temperature`, `balance` and, on a location without calls, `power`.

With `scaled` one thread visits `work` once, and its metrics have other factors than those of Timeloom: at the enter and
the leave all of SAMPLED, within it one value each of ALONE.
"""

import sys

import otf2
from otf2.enums import Base, LocationType, MetricMode, MetricOccurrence, Type

# By name: (unit, base, exponent, values).
SAMPLED = {"ru_utime": ("s", "DECIMAL", -3, (1500, 4000)), "ru_maxrss": ("Bytes", "BINARY", 20, (30, 250)), "steps": ("#", "DECIMAL", 3, (7, 9))}
ALONE = {"light": ("s", "DECIMAL", -12, 125), "half": ("Bytes", "BINARY", -1, 9), "day": ("s", "DECIMAL", 4, 8), "tick": ("s", "BINARY", -3, 5), "plain": ("", "DECIMAL", 2, 3)}


def write_archive(directory):
    with otf2.writer.open(directory, timer_resolution=1000) as trace:
        definitions = trace.definitions
        root = definitions.system_tree_node("node17")
        process = definitions.location_group("Process", system_tree_parent=root)
        region = definitions.region("work")

        def member(name, unit, value_type, mode=MetricMode.ABSOLUTE_POINT):
            return definitions.metric_member(name, unit=unit, metric_mode=mode, value_type=value_type)

        counted = [member(name, "#", Type.UINT64, MetricMode.ACCUMULATED_START) for name in ("instructions", "cycles")]
        counters = definitions.metric_class(counted, MetricOccurrence.SYNCHRONOUS_STRICT)
        alone = {name: definitions.metric_class([member(name, unit, value_type)])
                 for name, unit, value_type in (("temperature", "K", Type.DOUBLE), ("balance", "€", Type.INT64), ("power", "W", Type.UINT64))}  # fmt: skip
        first, second = (trace.event_writer(name, group=process) for name in ("first", "second"))
        meter = trace.event_writer("meter", group=process, type=LocationType.METRIC)
        for i in range(4):
            first.metric(10 * i, counters, [10 * i, 7])
            first.enter(10 * i, region)
            first.metric(10 * i + 5, counters, [10 * i, 7])
            first.leave(10 * i + 5, region)
        second.enter(0, region)
        for time, value in ((3, 271.5), (4, 271.5), (20, -1e300)):
            second.metric(time, alone["temperature"], [value])
        second.metric(21, alone["balance"], [-5])
        second.leave(40, region)
        for time, value in ((2, 2**40), (30, 0)):
            meter.metric(time, alone["power"], [value])


def write_scaled(directory):
    with otf2.writer.open(directory, timer_resolution=1000) as trace:
        definitions = trace.definitions
        root = definitions.system_tree_node("node17")
        process = definitions.location_group("Process", system_tree_parent=root)

        def member(name, unit, base, exponent, mode):
            return definitions.metric_member(name, unit=unit, metric_mode=mode, value_type=Type.UINT64, base=Base.__dict__[base], exponent=exponent)

        counted = [member(name, unit, base, exponent, MetricMode.ABSOLUTE_NEXT if name == "ru_maxrss" else MetricMode.ACCUMULATED_START)
                   for name, (unit, base, exponent, _) in SAMPLED.items()]  # fmt: skip
        sampled = definitions.metric_class(counted, MetricOccurrence.SYNCHRONOUS_STRICT)
        region = definitions.region("work")
        first = trace.event_writer("first", group=process)
        first.metric(0, sampled, [values[0] for *_, values in SAMPLED.values()])
        first.enter(0, region)
        for name, (unit, base, exponent, value) in ALONE.items():
            first.metric(5, definitions.metric_class([member(name, unit, base, exponent, MetricMode.ABSOLUTE_POINT)]), [value])
        first.metric(10, sampled, [values[1] for *_, values in SAMPLED.values()])
        first.leave(10, region)


if __name__ == "__main__":
    (write_scaled if sys.argv[2:] == ["scaled"] else write_archive)(sys.argv[1])
