"""Prints the contents of an OTF2 archive as another tool reads it: with the Python bindings of OTF2.

/usr/bin/python3 foreign_reader.py ANCHOR

Prints JSON: for each location its name, its process, and its events as [KIND, NANOSECONDS, ...] since the start of the
run, and the markers as [TEXT, NANOSECONDS, LOCATION].
"""

import json
import sys

import otf2
from otf2.events import Enter, Leave, Metric, ParameterInt, ParameterString, ParameterUnsignedInt

NUMBERED = {"ThreadCreate": "create", "ThreadBegin": "begin", "ThreadEnd": "end", "ThreadWait": "wait"}
# Parameters that are not properties of a call: the ends of wakes.
WAKES = {"timeloom::wakes": "wakes", "timeloom::woken": "woken"}


def described(event):
    if isinstance(event, (Enter, Leave)):
        return [type(event).__name__.lower(), event.region.name]
    if isinstance(event, ParameterUnsignedInt) and event.parameter.name in WAKES:
        return [WAKES[event.parameter.name], event.value]
    if isinstance(event, (ParameterInt, ParameterUnsignedInt)):
        return ["parameter", event.parameter.name, event.value]
    if isinstance(event, ParameterString):
        return ["parameter", event.parameter.name, event.string]
    if isinstance(event, Metric):
        return ["metric", [[one.name, value] for one, value in zip(event.metric.members, event.values)]]
    if type(event).__name__ in NUMBERED:
        return [NUMBERED[type(event).__name__], event.sequence_count]
    return None


def main():
    with otf2.reader.open(sys.argv[1]) as trace:
        clock = trace.definitions.clock_properties

        def since_begin(time):
            return (time - clock.global_offset) * 10**9 // clock.timer_resolution

        locations = {
            one._ref: {"name": one.name, "process": one.group.name, "events": []} for one in trace.definitions.locations
        }
        for location, event in trace.events:
            if (words := described(event)) is not None:
                locations[location._ref]["events"].append([words[0], since_begin(event.time), *words[1:]])
    json.dump({"locations": locations}, sys.stdout)


if __name__ == "__main__":
    main()
