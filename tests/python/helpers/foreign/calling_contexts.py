"""Prints the events of call paths in an OTF2 archive, for Debian's Python: a JSON list of these and of the generators.

An event has its thread, kind, time, the regions of its path from the outermost one, the source line, and the distance.
The value of `sampled time` behind a sample is among them.
"""

import json
import sys

import otf2

found, generators = [], set()
with otf2.reader.open(sys.argv[1]) as trace:
    for location, event in trace.events:
        kind = type(event).__name__
        if kind in ("Enter", "Leave"):
            found.append([location.name, kind])
        elif kind == "Metric" and event.member.name == "sampled time":
            found.append([location.name, kind, event.time, event.value])
        if not kind.startswith("CallingContext"):
            continue
        path, at = [], event.calling_context
        place = at.source_code_location
        line = [place.file, place.line_number] if place else None
        while at is not None:
            path.append(at.region.name)
            at = at.parent
        found.append([location.name, kind, event.time, path[::-1], line, getattr(event, "unwind_distance", 1)])
        if kind == "CallingContextSample":
            one = event.interrupt_generator
            generators.add((one.name, str(one.base), one.exponent, one.period))
print(json.dumps([found, sorted(generators)]))
